"""Simulations: many evaluations against known labels, their rows, file and summary."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_type_hints

import numpy as np
from joblib import delayed
from scipy import stats
from sklearn.base import clone

from sklearn_ase._evaluation._questions import pool_metric, value_with_labels, weight_of
from sklearn_ase._utils._checks import (
    check_callable,
    check_integer,
    check_level,
    check_n_jobs,
    check_path,
    check_strategy,
    check_verbose,
    is_number,
    shown,
)
from sklearn_ase._utils._display import track, write_whole
from sklearn_ase._utils._estimators import check_seed, run_jobs
from sklearn_ase._utils._typing import Seed, StrPath
from sklearn_ase.metrics import as_metric
from sklearn_ase.risk import ASE, LURE, BaseRisk, CorrectedASE, GuardedASE
from sklearn_ase.simulation._scenario import (
    Scenario,
    check_evaluator,
    check_scenario,
    draw_labels,
    ignore_new_classes,
    losses_of,
    training_rows,
    with_model,
)

if TYPE_CHECKING:
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase.metrics import BaseMetric

PLAIN = "Monte Carlo"


class Row(NamedTuple):
    """One estimate of one run; see :class:`LabelEfficiency` for the columns."""

    evaluator: str
    run: int
    seed: int
    risk: str
    n_labels: int
    value: float
    low: float
    high: float
    anytime: float
    flagged: float
    truth: float
    mc_variance: float

    @property
    def run_key(self) -> tuple[str, int, int]:
        """What identifies the run: all its rows share it."""
        return self.evaluator, self.run, self.seed


COLUMNS = get_type_hints(Row)


def read_rows(path: StrPath) -> list[Row]:
    """Read the rows of a file; an incomplete last line is left out."""
    text = Path(check_path(path)).read_bytes().decode("utf-8")
    # A run that was killed while it wrote leaves an incomplete last line.
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    missing = set(COLUMNS) - set(reader.fieldnames or [])
    if missing:
        raise ValueError(
            f"{path} does not hold a simulation: columns {sorted(missing)} are "
            "missing. Give a file that LabelEfficiency.save wrote, or a path= of "
            "label_efficiency_curve."
        )
    return [
        Row(*(kind(line[name]) for name, kind in COLUMNS.items())) for line in reader
    ]


def finished_rows(path: StrPath, counts: list[int], seeds: np.ndarray) -> list[Row]:
    """Read the rows of finished runs; a run that was cut short is removed."""
    path = Path(path)
    # A file without a line is one that was killed before the first was written.
    is_begun = path.exists() and b"\n" in path.read_bytes()
    rows = read_rows(path) if is_begun else []
    # Plain samples are written last in a run, so they show how complete it is.
    runs: dict[tuple, list[int]] = {row.run_key: [] for row in rows}
    for row in rows:
        if row.risk == PLAIN:
            runs[row.run_key].append(row.n_labels)
    cut_short = {key for key, found in runs.items() if found != counts}
    seed_of = dict(enumerate(seeds.tolist()))  # A file may hold more runs than these.
    is_same = all(
        seed_of.get(run, seed) == seed and found == counts[: len(found)]
        for (_, run, seed), found in runs.items()
    )
    # Runs are written one after the other, so at most one of them is incomplete.
    if len(cut_short) > 1 or not is_same:
        raise ValueError(
            f"{path} holds another simulation, with other seeds or label counts. Use "
            "the same random_state and n_labels, or another file."
        )
    rows = [row for row in rows if row.run_key not in cut_short]
    replace_rows(path, rows)
    return rows


def append_rows(path: StrPath, rows: Iterable) -> None:
    """Append rows to a file."""
    with open(path, "a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def replace_rows(path: StrPath, rows: Iterable) -> None:
    """Write a file with the names of the columns in one step: a crash loses nothing."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows([COLUMNS, *rows])
    write_whole(check_path(path), file.getvalue().encode())


# Plain random samples, for comparison.


# Samples of each size, from which the error of a plain sample is found.
_N_SAMPLES = 100


def metric_on_samples(
    evaluation: Evaluation,
    y: np.ndarray,
    counts: list[int],
    rng: np.random.Generator,
    metric: str | BaseMetric | None = None,
) -> tuple[float, list[dict], dict[int, float]]:
    """Return the true value of a metric, and what plain random samples say of it."""
    problem, n_samples = evaluation.problem, len(y)
    classes = problem.classes_with(y)
    metric = evaluation.plan.metric if metric is None else as_metric(metric)

    def value(rows: np.ndarray) -> float:
        where = np.zeros(n_samples, dtype=bool)
        where[rows] = True
        weight = weight_of(where, problem.sample_weight)
        near = pool_metric(problem, metric, classes, weight)
        return value_with_labels(near, y, classes)

    truth = value(np.arange(n_samples))
    plain, variance = [], {}
    orders = [rng.permutation(n_samples) for _ in range(_N_SAMPLES)]
    for count in counts:
        values = np.array([value(order[:count]) for order in orders])
        known = values[np.isfinite(values)]
        variance[count] = np.mean((known - truth) ** 2) if len(known) else np.nan
        plain.append(_plain_row(count, values[0]))
    return truth, plain, variance


def _plain_row(count: int, value: float, reach: float = np.inf) -> dict[str, Any]:
    """The columns of a plain sample."""
    low, high = value - reach, value + reach
    row = {"risk": PLAIN, "n_labels": count, "value": value, "low": low, "high": high}
    return row | {"anytime": np.nan, "flagged": np.nan}


# One run.


@dataclass(frozen=True)
class Recording:
    """What to record of each run: `risks` by name, label `counts`, sorted, a `level`.

    None as risks means those that the selection allows.
    """

    risks: Mapping | None
    counts: list
    level: float


def run_evaluation(
    evaluator: Any,
    scenario: Scenario | Callable[[int], Scenario],
    seed: int,
    recording: Recording,
) -> list[dict]:
    """Return what was recorded of one evaluation."""
    counts = recording.counts
    if not isinstance(scenario, Scenario):
        scenario = scenario(seed)
        check_scenario(scenario)
    evaluator = with_model(clone(evaluator).set_params(random_state=seed), scenario)
    evaluation = evaluator.start(scenario.X, **training_rows(scenario))
    # The evaluator does not draw from this stream, so all have the same labels.
    rng = np.random.default_rng([seed, 2])
    y, losses, noise = draw_labels(evaluation, scenario, rng)
    if counts[-1] > len(losses):
        raise ValueError(
            f"n_labels={counts} goes beyond the pool, which has {len(losses)} rows. "
            "Use smaller label counts."
        )
    if evaluation.plan.metric is None:
        given = losses_of(evaluation, y)
        truth, plain, variance = losses_on_samples(
            given, losses, noise, recording, rng=rng
        )
    else:
        truth, plain, variance = metric_on_samples(evaluation, y, counts, rng)
    with ignore_new_classes():
        found = [*_estimates(evaluation, y, truth, recording), *plain]
    about = {"seed": seed, "truth": truth}
    return [
        {**about, **each, "mc_variance": variance[each["n_labels"]]} for each in found
    ]


def _estimates(
    evaluation: Evaluation, y: np.ndarray, truth: float, recording: Recording
) -> Iterator[dict]:
    """Buy labels one by one and yield the estimates at the label counts."""
    counts, level = recording.counts, recording.level
    risks = recording.risks or _usual_risks(evaluation)
    held = dict.fromkeys(risks, np.nan)
    for count in range(1, counts[-1] + 1):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
        if count in counts:
            evaluation.finish()
        if count < counts[0]:
            continue
        state = evaluation.state
        # Before the first fit an obstacle may still go away. Later it stays, as with
        # picks without probabilities, and `estimate` raises an error that says so.
        found = {
            key: evaluation.estimate(risk)
            for key, risk in risks.items()
            if state.belief is not None or not risk.obstacle(state)
        }
        # The anytime interval has to hold at every count, also between those reported.
        for key, risk in found.items():
            if not risk.refusal_of("anytime"):
                low, high = risk.interval(level, method="anytime")
                held[key] = float(held[key] != 0.0 and low <= truth <= high)
        if count in counts:
            flagged = _flagged(evaluation)
            for key, risk in found.items():
                low, high = (-np.inf, np.inf) if risk.refusal else risk.interval(level)
                yield {
                    "risk": key,
                    "n_labels": count,
                    "value": float(risk),
                    "low": low,
                    "high": high,
                    "anytime": held[key],
                    "flagged": flagged,
                }


def _usual_risks(evaluation: Evaluation) -> dict[str, BaseRisk]:
    """Return the risks that the selection of an evaluation allows, by name."""
    if not evaluation.plan.selection.has_query_proba:
        return {"ASE": ASE()}
    risks = (GuardedASE(), ASE(), CorrectedASE(), LURE())
    return {type(risk).__name__: risk for risk in risks}


def _flagged(evaluation: Evaluation) -> float:
    """Return whether the diagnosis is bad, as 0.0 or 1.0; NaN without a diagnosis."""
    if not evaluation.can_diagnose:
        return np.nan
    return float(evaluation.diagnose().is_bad)


def losses_on_samples(
    given: np.ndarray,
    losses: np.ndarray,
    noise: np.ndarray,
    recording: Recording,
    rng: np.random.Generator,
) -> tuple[float, list[dict], dict[int, float]]:
    """Return the true mean loss, and what plain random samples say of it.

    `given` are the losses of the labels that were drawn; `losses` and `noise` are the
    mean and the variance of the loss at each row. A sample extends the one before.
    """
    n_samples, plain, variance = len(losses), [], {}
    given = given[rng.permutation(n_samples)]
    for count in recording.counts:
        some, reach = given[:count], np.inf
        # Rows are drawn without replacement: hence the finite-population correction.
        # The noise of labels is independent from row to row and has none.
        finite = 1.0 - count / n_samples
        variance[count] = (losses.var(ddof=1) * finite + noise.mean()) / count
        if count > 1:
            error = some.std(ddof=1) * np.sqrt(finite / count)
            reach = stats.t.ppf((1 + recording.level) / 2, count - 1) * error
        plain.append(_plain_row(count, some.mean(), reach))
    return losses.mean(), plain, variance


# The result of many runs.


@dataclass(frozen=True, eq=False)
class LabelEfficiency:
    """Estimates of many runs, one entry per run, risk and label count.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_estimates,)
        ``evaluator``, ``run``, ``seed``, ``risk``, ``n_labels``
            Where the estimate comes from.
        ``value``, ``low``, ``high``
            The estimate and its interval; infinite ends if there is no interval.
        ``anytime``
            Whether the anytime interval held the truth at every label count, from the
            smallest of `n_labels` on; NaN without such an interval.
        ``flagged``
            Whether ``evaluation.diagnose()`` warned; NaN if it could not be used.
        ``truth``
            The true risk.
        ``mc_variance``
            Exact variance of a Monte Carlo estimate with the same number of labels.

    Examples
    --------
    See :func:`label_efficiency_curve`.
    """

    columns: dict

    def summary(self) -> dict[str, np.ndarray]:
        """Summarise the runs, one entry per evaluator, risk and label count.

        Returns
        -------
        figures : dict of str to ndarray of shape (n_entries,)
            ``mean_squared_error``, ``median_squared_error``, ``bias``
                Of the estimates.
            ``ratio``, ``ratio_error``
                Mean squared error divided by that of Monte Carlo, which is known
                exactly, and the standard error of this ratio.
            ``interval_rate``, ``coverage``, ``width``
                Share of estimates with an interval; share of these intervals that
                hold the truth, and their median width.
            ``anytime_coverage``, ``flagged``
                Means of the columns ``anytime`` and ``flagged``.

            ``pandas.DataFrame(figures)`` makes a table of it.
        """
        data = self.columns
        keys = list(zip(data["evaluator"], data["risk"], data["n_labels"], strict=True))
        groups: dict = {}
        for place, key in enumerate(keys):
            groups.setdefault(key, []).append(place)
        lines = [
            {
                "evaluator": evaluator,
                "risk": risk,
                "n_labels": n_labels,
                **_figures({name: column[places] for name, column in data.items()}),
            }
            for (evaluator, risk, n_labels), places in groups.items()
        ]
        names = lines[0] if lines else []
        return {name: np.array([line[name] for line in lines]) for name in names}

    def save(self, path: StrPath) -> None:
        """Write all columns to a CSV file; an existing file is replaced."""
        replace_rows(path, zip(*(self.columns[name] for name in COLUMNS), strict=True))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read a file of :meth:`save`, or the finished part of a running simulation."""
        return cls(columns_of(read_rows(path)))


def columns_of(rows: list) -> dict[str, np.ndarray]:
    """Return rows as columns."""
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return {
        name: np.array(column, dtype=kind)
        for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
    }


def _figures(part: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the figures of one evaluator, risk and label count."""
    error = part["value"] - part["truth"]
    # If all losses are equal, Monte Carlo has no error: do not divide by 0.
    variance = max(np.mean(part["mc_variance"]), np.finfo(float).tiny)
    ratio = np.mean(error**2) / variance
    # Delta method: the standard error of a ratio of two means.
    excess = error**2 - ratio * part["mc_variance"]
    has_interval = np.isfinite(part["low"])
    inside = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
    width = (part["high"] - part["low"])[has_interval]
    return {
        "n_runs": len(error),
        "mean_squared_error": np.mean(error**2),
        "median_squared_error": np.median(error**2),
        "bias": np.mean(error),
        "ratio": ratio,
        "ratio_error": _standard_error(excess) / variance,
        "interval_rate": np.mean(has_interval),
        "coverage": np.mean(inside[has_interval]) if has_interval.any() else np.nan,
        "width": np.median(width) if has_interval.any() else np.nan,
        "anytime_coverage": _mean_of_known(part["anytime"]),
        "flagged": _mean_of_known(part["flagged"]),
    }


def _standard_error(values: np.ndarray) -> float:
    """The standard error of a mean; NaN for one value."""
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def _mean_of_known(values: np.ndarray) -> float:
    """Mean of the values that are not NaN."""
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan


# Many runs, in a row or in parallel.


def label_efficiency_curve(
    evaluator: ActiveRiskEstimator | Mapping[str, ActiveRiskEstimator],
    scenario: Scenario | Callable[[int], Scenario],
    *,
    risks: Mapping[str, BaseRisk] | None = None,
    n_labels: Sequence[int] = (10, 25, 50, 100, 200),
    n_runs: int = 50,
    level: float = 0.9,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    path: StrPath | None = None,
) -> LabelEfficiency:
    """Run many evaluations against known labels.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator or dict of str to ActiveRiskEstimator
        What to simulate. A dict gives each evaluator a name and compares them.
    scenario : Scenario or callable
        A pool with known labels, or a function ``seed -> Scenario`` that draws new
        training rows, pool and model for every run.
    risks : dict of str to risk, default=None
        Risk estimators that are applied to the same labels, by name. None means
        GuardedASE, ASE, CorrectedASE and LURE, or ASE alone if the selection of the
        evaluator has no probabilities.
    n_labels : sequence of int, default=(10, 25, 50, 100, 200)
        Label counts at which estimates are recorded. The surrogate is refitted at each
        of them.
    n_runs : int, default=50
        Number of runs per evaluator.
    level : float, default=0.9
        Level of the intervals.
    random_state : int, RandomState instance or None, default=None
        Every run gets a seed that is drawn from it, the same for all evaluators.
    n_jobs : int, default=None
        Number of runs in parallel.
    verbose : int, default=0
        Whether to show a progress bar.
    path : str or path, default=None
        CSV file to which finished runs are added. Runs that it holds already are not
        repeated, so an interrupted simulation resumes; this needs an int as
        `random_state`. Runs are identified by the evaluator's name, seed and label
        counts: use another file for other settings.

    Returns
    -------
    result : LabelEfficiency
        It also has a risk named ``"Monte Carlo"``: the mean loss of plain random
        samples of the same pools.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> from sklearn_ase.simulation import Scenario, label_efficiency_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X[::5], y[::5]))
    >>> result = label_efficiency_curve(
    ...     ActiveRiskEstimator(model, surrogate=GaussianNB()),
    ...     Scenario(X, y, X_train=X[::5], y_train=y[::5]),
    ...     n_labels=[10], n_runs=2, random_state=0)
    >>> sorted(set(result.columns["risk"].tolist()))
    ['ASE', 'CorrectedASE', 'GuardedASE', 'LURE', 'Monte Carlo']
    """
    evaluators = evaluator if isinstance(evaluator, dict) else {"default": evaluator}
    _check(evaluators, scenario, risks, random_state, path)
    counts = _check_counts(n_labels)
    check_integer(n_runs, "n_runs")
    check_level(level)
    check_n_jobs(n_jobs)
    check_verbose(verbose)
    seeds = check_seed(random_state).randint(2**31 - 1, size=n_runs)
    rows = [] if path is None else finished_rows(path, counts, seeds)
    finished = {(row.evaluator, row.run) for row in rows}
    pairs = product(range(n_runs), evaluators)
    missing = [(name, run) for run, name in pairs if (name, run) not in finished]
    recording = Recording(risks, counts, level)
    jobs = (
        delayed(run_evaluation)(evaluators[name], scenario, int(seeds[run]), recording)
        for name, run in missing
    )
    results = track(run_jobs(jobs, n_jobs), len(missing), "evaluations", verbose)
    for (name, run), found in zip(missing, results, strict=True):
        new = [Row(evaluator=name, run=run, **each) for each in found]
        rows += new
        if path is not None:
            append_rows(path, new)
    # A file may hold more runs, and other evaluators.
    order = {name: place for place, name in enumerate(evaluators)}
    rows = [row for row in rows if row.evaluator in order and row.run < n_runs]
    rows.sort(key=lambda row: (order[row.evaluator], row.run))
    return LabelEfficiency(columns_of(rows))


def _check(
    evaluators: Any, scenario: Any, risks: Any, random_state: Any, path: Any
) -> None:
    """Raise an error if the simulation cannot be run."""
    if not evaluators:
        raise ValueError("evaluator={} must be a dict with at least one evaluator.")
    for name, each in evaluators.items():
        check_evaluator(each, f"evaluator {name!r}")
    if not isinstance(scenario, Scenario):
        check_callable(scenario, "scenario", "seed -> Scenario, or a Scenario")
    if risks is not None:
        if not isinstance(risks, dict) or not risks:
            raise TypeError(
                f"risks={shown(risks)} must be a dict from name to risk estimator."
            )
        for name, risk in risks.items():
            check_strategy(risk, BaseRisk, ("estimate", "obstacle"), f"risks[{name!r}]")
    if path is not None:
        check_path(path)
    if path is not None and not isinstance(random_state, (int, np.integer)):
        raise ValueError(
            f"path={str(path)!r} can be continued only with the same seeds: give an "
            f"int as random_state, not {random_state!r}."
        )


def _check_counts(n_labels: Any) -> list[int]:
    """Return label counts, sorted and each once."""
    is_list = isinstance(n_labels, Iterable) and not isinstance(n_labels, (str, dict))
    counts = list(n_labels) if is_list else []
    if not counts or not all(
        isinstance(count, Integral) and is_number(count) and int(count) >= 1
        for count in counts
    ):
        raise ValueError(
            f"n_labels={shown(n_labels)} must be a list of label counts, integers >= 1."
        )
    return sorted(set(map(int, counts)))
