"""Would intervals by betting be narrower than ours, for a fixed number of labels?

Two ways to draw labels are compared: a plain random sample without a surrogate, and the
picks of an evaluation with a frozen surrogate that knows a part of the errors, whose
one-step estimates (T1) are weighted and corrected. The losses are between 0 and 1:
zero-one with several error rates, and Brier. The intervals are

* Wilson's, with the effective size of the weights,
* ours, as it is (fixed, and anytime),
* a plain betting interval: the hedged capital of Waudby-Smith and Ramdas (JRSS B
  2024), without replacement,
* STaR-Bets of Voracek and Orabona (NeurIPS 2025): each bet aims at the target with the
  capital and the labels that are left. "Chance" decides by a random number where the
  capital has not reached the target, as the paper proposes. "Forecast" starts with the
  variance that the surrogate expects of the steps.

A betting interval holds every risk against which too little was won. Printed are the
coverage, its mean and the least over the losses, and the median width / that of our
fixed interval (geometric mean over the losses).

    python benchmarks/intervals/betting_intervals.py --out RUNS --runs 200
    python benchmarks/intervals/betting_intervals.py --out RUNS --report --every
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._steps import (
    limits_of_steps,
    steps_with_power,
    tuned_steps,
)
from sklearn_ase._state import Picks, PoolState
from sklearn_ase.losses import Brier
from sklearn_ase.risk import GuardedASE, MonteCarlo

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tables import slashed

SEED, DEVELOPMENT_SEED = 602214, 137035
COUNTS = (25, 50, 100, 200)
LEVEL = 0.9
N_POOL = 2000
RATES = (0.005, 0.02, 0.1, 0.4)
# How much the probability of an error varies between rows, and what of it the surrogate
# knows.
SLOPE, KNOWN = 1.5, 0.7
# Possible risks, closest to each other near 0 and 1.
RISKS = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 1001))
DRAWS = ("plain", "weighted")
METHODS = ("Wilson", "ours", "ours, anytime", "betting", "STaR-Bets", "STaR, chance")
METHODS += ("STaR, forecast",)


class Guess(ClassifierMixin, BaseEstimator):
    """Probabilities of two classes that depend on two features.

    Parameters
    ----------
    slope : float, default=4.0
        Of the log-odds by the first feature.
    doubt : tuple of float, default=None
        Offset and slope by the second feature of the log-odds that the sign of the
        first is wrong, in place of `slope`.
    """

    def __init__(self, slope=4.0, doubt=None):
        self.slope = slope
        self.doubt = doubt

    def fit(self, X=None, y=None):
        """Name the classes; there is nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        """Return probabilities of shape (n_rows, 2)."""
        if self.doubt is None:
            one = expit(self.slope * X[:, 0])
        else:
            wrong = expit(self.doubt[0] + self.doubt[1] * X[:, 1])
            one = np.where(X[:, 0] > 0, 1.0 - wrong, wrong)
        return np.column_stack([1.0 - one, one])

    def predict(self, X):
        """Return the labels."""
        return (X[:, 0] > 0).astype(int)


def pool(task, rng):
    """Features and labels of a pool, the loss, the model and the frozen surrogate."""
    X = rng.normal(size=(N_POOL, 2))
    if task == "Brier":
        y = (rng.random(N_POOL) < expit(1.5 * X[:, 0] + SLOPE * X[:, 1])).astype(int)
        model, surrogate = Guess(1.5).fit(), Guess(1.0).fit()
        return X, y, Brier(), model, surrogate
    rate = float(task.split()[-1].rstrip("%")) / 100.0
    # The mean probability of an error is the rate.
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    offset = brentq(
        lambda a: weights @ expit(a + SLOPE * nodes) / weights.sum() - rate, -20, 20
    )
    is_wrong = rng.random(N_POOL) < expit(offset + SLOPE * X[:, 1])
    y = ((X[:, 0] > 0) ^ is_wrong).astype(int)
    known = Guess(doubt=(offset, KNOWN * SLOPE)).fit()
    return X, y, "zero_one", Guess().fit(), known


TASKS = [*(f"zero-one {rate:.1%}" for rate in RATES), "Brier"]


@dataclass(frozen=True)
class _Bounded:
    """What an estimate without a surrogate has to know of a loss."""

    n_samples: int
    max_loss: float = 1.0
    is_bounded: bool = True


def plain_state(losses, n_labels, rng):
    """State after a plain random sample, without a surrogate."""
    n, rows = len(losses), rng.permutation(len(losses))[:n_labels]
    left = n - np.arange(n_labels, dtype=float)
    nothing, unknown = np.zeros(n_labels), np.full(n_labels, np.nan)
    picks = Picks(
        indices=rows,
        query_proba=1.0 / left,
        expected_loss=nothing,
        free_expected_loss=nothing,
        residual_moment=unknown,
        loss_moment=unknown,
        max_inverse_proba=left,
        max_expected_ratio=nothing,
        losses=losses[rows],
        answered=np.ones(n_labels, dtype=bool),
        skipped=np.zeros(n_labels, dtype=bool),
    )
    return PoolState(_Bounded(n), None, None, picks, losses[rows])


def runs_of(task, seed):
    """Rows of the file for one pool."""
    rng = np.random.default_rng([seed, TASKS.index(task)])
    X, y, loss, model, surrogate = pool(task, rng)
    evaluator = ActiveRiskEstimator(
        model, loss=loss, surrogate=FrozenEstimator(surrogate), random_state=seed
    )
    evaluation = evaluator.start(X)
    losses = evaluation.state.loss.observed(np.arange(N_POOL), y)
    about = {"task": task, "seed": seed, "truth": losses.mean()}
    for count in range(1, COUNTS[-1] + 1):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
        if count not in COUNTS:
            continue
        evaluation.finish()
        states = {"plain": plain_state(losses, count, rng)}
        states["weighted"] = evaluation.state
        for draw, state in states.items():
            for method, (low, high) in intervals(state, rng).items():
                row = {"draw": draw, "n_labels": count, "method": method}
                yield {**about, **row, "low": low, "high": high}


def intervals(state, rng):
    """All intervals from the same labels, by name."""
    if state.belief is None:
        steps, risk = steps_with_power(state, 0.0), MonteCarlo().estimate(state)
    else:
        steps, risk = tuned_steps(state), GuardedASE().estimate(state)
    centre, proved = risk.centre, risk.uncertainty
    bets = steps.values, *limits_of_steps(state, steps.power), LEVEL
    found = {
        "Wilson": wilson(centre, state),
        "ours": risk.interval(LEVEL),
        "ours, anytime": risk.interval(LEVEL, method="anytime"),
        "betting": hedged_ends(*bets),
        "STaR-Bets": star_ends(*bets),
        "STaR, chance": star_ends(*bets, rng=rng),
    }
    if state.belief is not None:
        picks = state.settled
        before = np.cumsum(picks.losses) - picks.losses
        mean = (before + picks.free_expected_loss) / state.n_samples
        forecast = mean, steps.predicted
        found["STaR, forecast"] = star_ends(*bets, forecast=forecast)
    # What the labels prove holds for all of them.
    return {
        name: (max(low, proved.least), min(high, proved.most))
        for name, (low, high) in found.items()
    }


def wilson(centre, state):
    """Wilson's interval with the effective size of the weights (Kish)."""
    picks, share = state.settled, float(np.clip(centre, 0.0, 1.0))
    n_free = state.n_samples - np.arange(len(picks))
    spread = np.mean(1.0 / (n_free * picks.query_proba) ** 2)
    n_labels = len(picks) / max(spread, 1.0) / (1.0 - len(picks) / state.n_samples)
    square = stats.norm.ppf(0.5 + 0.5 * LEVEL) ** 2 / n_labels
    half = np.sqrt(square * share * (1.0 - share) + 0.25 * square**2)
    middle = share + 0.5 * square
    return (middle - half) / (1.0 + square), (middle + half) / (1.0 + square)


def hedged_ends(steps, low, high, level):
    """Ends of the interval by hedged capital; the bets are known before each step."""
    n, target = len(steps), np.log(2.0 / (1.0 - level))
    count, first = np.arange(1.0, n + 1.0), high[0] - low[0]
    mean = (0.5 + np.cumsum(steps)) / (count + 1.0)
    variance = (0.25 * first**2 + np.cumsum((steps - mean) ** 2)) / (count + 1.0)
    variance = np.concatenate([[0.25 * first**2], variance[:-1]])
    bet = np.sqrt(2.0 * target / (n * variance))[:, None]
    below, above = _rooms(low[:, None], high[:, None])
    surprise = steps[:, None] - RISKS
    up = np.cumsum(np.log1p(np.minimum(bet, 0.5 / below) * surprise), axis=0)
    down = np.cumsum(np.log1p(-np.minimum(bet, 0.5 / above) * surprise), axis=0)
    won = np.maximum(up.max(axis=0), down.max(axis=0))
    return _hull(won < target, steps)


def star_ends(steps, low, high, level, rng=None, forecast=None):
    """Ends of STaR-Bets for the number of steps; with `rng`, chance decides the rest.

    Each bet is the one that reaches the target with the steps that are left, if they
    scatter as those before, and at most all of the capital. With `forecast`, the mean
    and variance that the surrogate expected of each step count as five steps before.
    """
    target = np.log(2.0 / (1.0 - level))
    possible = np.ones(len(RISKS), dtype=bool)
    for sign in (1.0, -1.0):
        capital, squares = np.zeros(len(RISKS)), np.zeros(len(RISKS))
        for place, step in enumerate(steps):
            below, above = _rooms(low[place], high[place])
            most = below * above  # No variance is greater.
            before = place + 1e-4
            if forecast is None:
                spread = squares / before + most * len(steps) / before**2
            else:
                mean, variance = (part[place] for part in forecast)
                expected = variance + (mean - RISKS) ** 2
                spread = (5.0 * expected + squares) / (5.0 + place) + 1e-12
            missing = np.maximum(target - capital, 0.0)
            left = len(steps) - place
            bet = np.sqrt(2.0 * missing / (left * np.minimum(spread, most)))
            bet = np.minimum(bet, 1.0 / (below if sign > 0 else above))
            surprise = step - RISKS
            with np.errstate(divide="ignore"):  # A capital of 0 is lost for good.
                capital += np.log1p(np.maximum(sign * bet * surprise, -1.0))
            squares += surprise**2
        enough = target if rng is None else target + np.log(rng.random())
        possible &= capital < enough
    return _hull(possible, steps)


def _rooms(low, high):
    """How far a step can be below and above each possible risk."""
    return np.maximum(RISKS - low, 1e-9), np.maximum(high - RISKS, 1e-9)


def _hull(possible, steps):
    """Least and greatest possible risk, up to the next ones of the grid."""
    places = np.flatnonzero(possible)
    if not len(places):
        places = np.array([np.argmin(np.abs(RISKS - steps.mean()))])
    first, last = max(places[0] - 1, 0), min(places[-1] + 1, len(RISKS) - 1)
    return RISKS[first], RISKS[last]


def simulate(args, seed):
    """Run all that is missing."""
    for task in TASKS:
        if not any(part in task for part in args.tasks):
            continue
        for run in range(args.runs):
            path = Path(args.out) / f"{task}-{seed + run}.csv"
            if not path.exists():
                pd.DataFrame(runs_of(task, seed + run)).to_csv(path, index=False)
        print(f"{task}: done", flush=True)


def report(args, seed):
    """Print a line for each draw and method, or also for each task."""
    print(f"{args.runs} runs of each task, seed {seed}; at", *COUNTS, "labels\n")
    runs = {task: _runs(task, args, seed) for task in TASKS}
    names = ["draw", "interval", "covers, mean", "covers, least", "width / ours"]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for draw in DRAWS:
        for method in METHODS if any(map(len, runs.values())) else ():
            found = [figures(part, draw, method) for part in runs.values() if len(part)]
            covers, widths = np.moveaxis(found, 1, 0)
            if np.isnan(covers).all():
                continue
            mean_width = np.exp(np.log(widths).mean(axis=0))
            columns = covers.mean(axis=0), covers.min(axis=0), mean_width
            print(f"| {' | '.join([draw, method, *map(slashed, columns)])} |")
    if args.every:
        report_every(runs)


def report_every(runs):
    """Print a line for each draw, task and method."""
    print(
        "\n| draw | losses | interval | covers | width / ours |\n|---|---|---|---|---|"
    )
    for draw in DRAWS:
        for task, part in runs.items():
            for method in METHODS if len(part) else ():
                cells = figures(part, draw, method)
                if not np.isnan(cells).all():
                    cells = [draw, task, method, *map(slashed, cells)]
                    print(f"| {' | '.join(cells)} |")


def _runs(task, args, seed):
    """All runs of one task, as a frame."""
    paths = [Path(args.out) / f"{task}-{seed + run}.csv" for run in range(args.runs)]
    found = [pd.read_csv(path) for path in paths if path.exists()]
    return pd.concat(found) if found else pd.DataFrame()


def figures(runs, draw, method):
    """Coverage, and median width / that of our fixed interval, at each label count."""
    covers, widths = [], []
    for count in COUNTS:
        at = runs[(runs["draw"] == draw) & (runs["n_labels"] == count)]
        own, ours = (at[at["method"] == name] for name in (method, "ours"))
        inside = (own["low"] <= own["truth"]) & (own["truth"] <= own["high"])
        covers.append(inside.mean())
        width, beside = ((part["high"] - part["low"]).median() for part in (own, ours))
        widths.append(width / beside)
    return covers, widths


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--development", action="store_true", help=f"seed {DEVELOPMENT_SEED}"
    )
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--report", action="store_true", help="only print the table")
    parser.add_argument("--every", action="store_true", help="a line for each task too")
    args = parser.parse_args(argv)
    seed = DEVELOPMENT_SEED if args.development else args.seed
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args, seed)
    report(args, seed)


if __name__ == "__main__":
    main()
