"""Run one evaluation against known labels, and record its estimates."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn.base import clone

from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.simulation._metric_samples import metric_on_samples
from sklearn_ase.simulation._run_file import PLAIN
from sklearn_ase.simulation._scenario import (
    Scenario,
    check_scenario,
    draw_labels,
    ignore_new_classes,
    losses_of,
    training_rows,
    with_model,
)


@dataclass(frozen=True)
class Recording:
    """What to record of each run.

    Attributes
    ----------
    risks : dict of str to risk, or None
        Risk estimators by name; None means those that the selection allows.
    counts : list of int
        Label counts, sorted.
    level : float
        Level of the intervals.
    """

    risks: Mapping | None
    counts: list
    level: float


def run_evaluation(evaluator, scenario, seed, recording):
    """Return what was recorded of one evaluation.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator
    scenario : Scenario or callable
        A pool with known labels, or a function that makes one from a seed.
    seed : int
    recording : Recording

    Returns
    -------
    estimates : list of dict
        The columns of a :class:`Row`, except ``evaluator`` and ``run``.
    """
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
        truth = losses.mean()
        plain = _plain_samples(losses_of(evaluation, y), recording, rng)
        variance = {count: _mc_variance(losses, noise, count) for count in counts}
    else:
        truth, plain, variance = metric_on_samples(evaluation, y, counts, rng)
    with ignore_new_classes():
        found = [*_estimates(evaluation, y, truth, recording), *plain]
    about = {"seed": seed, "truth": truth}
    return [
        {**about, **each, "mc_variance": variance[each["n_labels"]]} for each in found
    ]


def _estimates(evaluation, y, truth, recording):
    """Buy labels one by one and yield the estimates at the label counts.

    Yields
    ------
    estimate : dict
        Some columns of a row: risk, n_labels, value, low, high, anytime, flagged.
    """
    counts, level, risks = recording.counts, recording.level, recording.risks
    risks = _usual_risks(evaluation) if risks is None else risks
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


def _usual_risks(evaluation):
    """Return the risks that the selection of an evaluation allows, by name."""
    if not evaluation.plan.selection.has_query_proba:
        return {"ASE": ASE()}
    risks = (GuardedASE(), ASE(), CorrectedASE(), LURE())
    return {type(risk).__name__: risk for risk in risks}


def _flagged(evaluation):
    """Return whether the diagnosis is bad, as 0.0 or 1.0; NaN without a diagnosis."""
    if not evaluation.can_diagnose:
        return np.nan
    return float(evaluation.diagnose().is_bad)


def _mc_variance(losses, noise, count):
    """Return the exact variance of the mean loss of a plain random sample.

    Parameters
    ----------
    losses, noise : ndarrays of shape (n_samples,)
        Mean and variance of the loss of each row over the draw of its label.
    count : int
        Size of the sample.
    """
    # Rows are drawn without replacement: hence the finite-population correction. The
    # noise of labels is independent from row to row and has none.
    finite = 1.0 - count / len(losses)
    return (losses.var(ddof=1) * finite + noise.mean()) / count


def _plain_samples(losses, recording, rng):
    """Return the means of plain random samples, with their t intervals.

    Each sample extends the one before. See :func:`_estimates` for the entries.
    """
    losses = losses[rng.permutation(len(losses))]
    found = []
    for count in recording.counts:
        some = losses[:count]
        value, reach = some.mean(), np.inf
        if count > 1:
            finite = 1.0 - count / len(losses)
            error = some.std(ddof=1) * np.sqrt(finite / count)
            reach = stats.t.ppf((1 + recording.level) / 2, count - 1) * error
        found.append(
            {
                "risk": PLAIN,
                "n_labels": count,
                "value": value,
                "low": value - reach,
                "high": value + reach,
                "anytime": np.nan,
                "flagged": np.nan,
            }
        )
    return found
