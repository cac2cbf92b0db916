"""A metric of one mean is estimated from the end that its values are close to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import (
    MIN_LABELS,
    UNCORRELATED_LABELS,
    UNSEEN_EVENTS,
    draw_variance,
    label_degrees,
    population_variance,
    proved_limits,
    tail_degrees,
    with_limits,
)
from sklearn_ase._inference._steps import row_weight, spread_of_picks, variances_of_mean
from sklearn_ase.metrics._numbers import RootMeanSquaredError, SquaredErrors
from sklearn_ase.metrics._pool_metric import FromEndMetric, PoolMetric
from sklearn_ase.risk._base import beyond_largest, heavy_tail, heavy_tail_before
from sklearn_ase.risk._estimators import GuardedASE
from sklearn_ase.risk._metric_estimate import ClassAverage, MetricEstimate, classes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._estimate import RiskEstimate


def from_an_end(pool_metric: PoolMetric, state_of: Callable) -> PoolMetric:
    """The metric as a function of how far its only mean is from the closer end.

    Intervals allow for rare values that no label has shown. If nearly all rows have
    the greatest value, the rare event is that one has less. So the same question has
    the same interval, in whatever units it is asked.
    """
    if len(pool_metric.parts) != 1:
        return pool_metric
    state = state_of(pool_metric.parts[0])
    least, most = _ends_of_rows(state)
    has_ends = np.isfinite([least, most]).all() and (most > least).any()
    if not (has_ends and getattr(state.loss.values, "is_bounded", True)):
        return pool_metric
    # Differences and tangents are no means of values of which one may be rare.
    if type(pool_metric) is not PoolMetric or pool_metric.line() is None:
        if least.min() < 0:
            return pool_metric
        least = np.zeros(len(most))
    expected = state.expected_loss
    if expected is not None and 2.0 * expected.mean() > (least + most).mean():
        return FromEndMetric.of(pool_metric, most, -1.0)
    return FromEndMetric.of(pool_metric, least, 1.0) if least.any() else pool_metric


def _ends_of_rows(state):
    """Least and greatest value of each row, such that their means are known.

    Nobody knows all rows that can be labelled. If some cannot, the ends are the same
    at all rows, times what a row counts.
    """
    least, most = state.loss.values.limits()
    if not state.settled.n_skipped:
        return least, most
    weight = row_weight(state)
    counts = weight > 0
    low, high = (side[counts] / weight[counts] for side in (least, most))
    return low.min() * weight, high.max() * weight


# Corrected means, and how far they may be wrong.


@dataclass(frozen=True, eq=False)
class Means:
    """Corrected means, and how their steps scatter.

    Attributes
    ----------
    corrected, least, most : ndarray of shape (n_means,)
        The means within the limits that the labels have proved.
    seen, believed : ndarray of shape (n_means,)
        Variance of each: from the scatter of the steps, and as the surrogate expected.
    deviations : ndarray of shape (n_means, n_steps)
    """

    corrected: np.ndarray
    least: np.ndarray
    most: np.ndarray
    seen: np.ndarray
    believed: np.ndarray
    deviations: np.ndarray

    @classmethod
    def of(cls, states, steps):
        """The means of some values, from their one-step estimates."""
        n_samples, n_steps = states[0].n_samples, len(steps[0].values)
        weights = _kernels.step_weights(n_steps, n_samples)
        values = np.array([each.values for each in steps])
        least, most = np.array([proved_limits(state) for state in states]).T
        both = [variances_of_mean(x.values, x.predicted, n_samples) for x in steps]
        seen, believed = np.transpose(both)
        deviations = [_kernels.step_deviations(each, n_samples) for each in values]
        corrected = np.clip(values @ weights, least, most)
        return cls(corrected, least, most, seen, believed, np.array(deviations))

    def variances(self, unseen=0.0) -> np.ndarray:
        """Variances, with an allowance for what no label has shown."""
        return np.maximum(self.seen, self.believed + unseen)

    @property
    def correlation(self):
        """Correlation of the means as the labels show it, moved towards none."""
        n_steps = self.deviations.shape[1]
        norm = np.linalg.norm(self.deviations, axis=1)
        product = self.deviations @ self.deviations.T
        found = np.zeros_like(product)
        np.divide(product, np.outer(norm, norm), out=found, where=product != 0)
        found *= (n_steps - 1) / (n_steps - 1 + UNCORRELATED_LABELS)
        np.fill_diagonal(found, 1.0)
        return found


def unseen_of(states: list[PoolState], training_labels: float) -> np.ndarray:
    """Variance of each mean by half an event more among all rows with labels."""
    picks, spread = states[0].settled, spread_of_picks(states[0])
    if len(picks) == states[0].n_samples:
        return np.zeros(len(states))
    rows, found = picks.indices[picks.answered], []
    for state in states:
        room = np.subtract(*state.loss.values.limits()[::-1])
        is_open = room > 0
        n_heard = 1.0 + is_open[rows].sum() + training_labels * is_open.mean()
        found.append(UNSEEN_EVENTS / n_heard * (room**2 @ spread))
    return np.nan_to_num(found, posinf=0.0)


# Estimates of a metric: means first, then the function of them.


_ALL_SKIPPED = "None of the rows that the question is about could be labelled."
_ALL_FORESEEN = (
    "No interval: all labels are what the surrogate was certain of, so nothing shows "
    "the error of the estimate. Label more rows."
)


def estimate_metric(risk, pool_metric, state_of, training_labels=0.0):
    """Estimate a metric with a risk estimator."""
    metric = pool_metric.metric
    worth = metric.surrogate_worth
    if isinstance(risk, GuardedASE) and worth < risk.worth:
        risk = GuardedASE(worth=worth)
    pool_metric = from_an_end(pool_metric, state_of)
    states = [state_of(part) for part in pool_metric.parts]
    if len(states) > 1:
        states = [replace(state, is_part=True) for state in states]
    risk.check(states[0])
    picks = states[0].settled
    found = [risk.estimate(state) for state in states]
    is_unbiased = pool_metric.is_linear and not risk.leans_on_surrogate
    pairs = zip(found, states, strict=True)
    if len(states) > 1 or not is_unbiased:  # A cut would bias what is unbiased.
        found = [with_limits(*each, cut=not is_unbiased) for each in pairs]
    basic = {
        "n_labels": found[0].n_labels,
        "n_skipped": found[0].n_skipped,
        "name": metric.name,
        "bounds": metric.bounds,
        "metric": metric,
    }
    if states[0].belief is not None:
        pool_metric.check_bounds([state.expected_loss.mean() for state in states])
    if _is_all_skipped(states[0]):
        return _refused(np.nan, _ALL_SKIPPED, basic)
    average, class_mean = None, classes_of(pool_metric)
    if class_mean is None:
        value = pool_metric.value(np.array([each.value for each in found]))
    else:
        average = ClassAverage.of(pool_metric, found, states, training_labels)
        value = average.value(class_mean)
    if not is_unbiased:
        value = float(np.clip(value, *metric.bounds))
    line = pool_metric.line()
    if line is not None and states[0].loss.min_loss >= 0:
        mean, at = with_limits(found[0], states[0], cut=False), [found[0].value]
        influence = state_of(pool_metric.linearised(at))
        at = pool_metric.known_influence(at)
        mean = replace(
            mean,
            population_variance=population_variance(influence, at) / line[1] ** 2,
            draw_variance=draw_variance(influence, at) / line[1] ** 2,
        )
        return of_one_mean(metric, line, mean)
    if isinstance(metric, RootMeanSquaredError):
        return of_root(metric, with_limits(found[0], states[0]))
    steps = [risk.steps(state) for state in states] if picks.n_labels else [None]
    refusal = found[0].refusal
    if any(each is None for each in steps):
        refusal = refusal or f"{type(risk).__name__} has no interval for this metric."
        return _refused(value, refusal, basic)
    means = Means.of(states, steps)
    centre = float(np.clip(pool_metric.value(means.corrected), *metric.bounds))
    if not np.isfinite(value) or not np.isfinite(centre):
        return _refused(value, _undefined(metric), basic)
    influence = state_of(pool_metric.linearised(means.corrected))
    values, predicted, _ = risk.steps(influence)
    variance = max(variances_of_mean(values, predicted, influence.n_samples))
    n_labels = picks.n_labels
    # A function of a mean, or of a mean of squares, has no interval if that has none.
    is_one = len(states) == 1 and states[0].loss.min_loss >= 0
    refusal = found[0].refusal if is_one else ""
    anytime_refusal = found[0].anytime_refusal if is_one else ""
    beyond, is_known = 0.0, len(picks) == influence.n_samples
    if isinstance(pool_metric.parts[0], SquaredErrors) and not is_known:
        refusal = refusal or heavy_tail(states[0])
        anytime_refusal = anytime_refusal or heavy_tail_before(states[0])
        slope = pool_metric.gradient(means.corrected)[0]
        beyond = float(slope * beyond_largest(found[0].value, states[0]))
    # Limits that labels prove hold with any number of labels.
    has_limits = line is not None and np.isfinite([means.least, means.most]).all()
    if n_labels < MIN_LABELS and not is_known and not has_limits:
        refusal = (
            f"No interval from {n_labels} labels: fewer than {MIN_LABELS} tell too "
            f"little about the error of {metric.name}. Label more rows."
        )
    elif variance <= (1e-12 * centre) ** 2 and not is_known and not has_limits:
        has_region = average is not None or len(states) == 2
        refusal = "" if has_region else _ALL_FORESEEN
    known_influence = pool_metric.known_influence(means.corrected)
    shape, unseen = {}, None
    if average is not None or len(states) == 2:
        unseen = unseen_of(states, training_labels)
    # The labels prove limits of the only mean, but not of rows that were not drawn.
    if line is not None and not found[0].undrawn_share:
        proved = means.least[0], means.most[0]
        basic["bounds"] = _within(metric.bounds, line, proved)
    if average is not None:
        average = average.corrected(pool_metric, means, unseen, variance)
        centre, shape = average.value(class_mean), {"average": average}
    elif len(states) == 2:
        error_of = np.sqrt(means.variances(unseen))
        covariance = means.correlation * np.outer(error_of, error_of)
        shape = {
            "means": tuple(means.corrected.tolist()),
            "known": tuple(pool_metric.known.tolist()),
            "covariance": tuple(map(tuple, covariance.tolist())),
            "least": tuple(means.least.tolist()),
            "most": tuple(means.most.tolist()),
        }
    return MetricEstimate(
        value=value,
        standard_error=float(variance**0.5),
        centre=centre,
        degrees_of_freedom=_degrees(influence, values),
        scale=metric.scale,
        population_variance=population_variance(influence, known_influence),
        draw_variance=draw_variance(influence, known_influence),
        undrawn_share=found[0].undrawn_share,
        refusal=refusal,
        anytime_refusal=anytime_refusal,
        beyond=beyond,
        free_share=found[0].free_share,
        **shape,
        **basic,
    )


def of_one_mean(
    metric: BaseMetric, line: tuple[float, float], mean: RiskEstimate
) -> MetricEstimate:
    """Estimate of a metric that is a straight line of one mean."""
    start, slope = line
    return MetricEstimate(
        value=start + slope * mean.value,
        standard_error=abs(slope) * mean.standard_error,
        centre=start + slope * (mean.value if mean.centre is None else mean.centre),
        degrees_of_freedom=mean.degrees_of_freedom or 1.0,
        mean=mean,
        line=line,
        n_labels=mean.n_labels,
        n_skipped=mean.n_skipped,
        name=metric.name,
        bounds=_within(metric.bounds, line, (mean.min_loss, mean.max_loss)),
        refusal=mean.refusal,
        anytime_refusal=mean.anytime_refusal,
        metric=metric,
    )


def of_root(metric, mean):
    """Estimate of the root of a mean, or of minus the root."""
    root = max(mean.value, 0.0) ** 0.5
    centre = mean.value if mean.centre is None else mean.centre
    found = of_one_mean(metric, (0.0, metric.value(np.ones(1))), mean)
    return replace(
        found,
        value=metric.value([mean.value]),
        centre=metric.value([centre]),
        standard_error=0.5 * mean.standard_error / root if root > 0 else 0.0,
        bounds=metric.bounds,
        scale="root",
    )


def _within(bounds, line, ends):
    """Bounds of a metric that is a line of a mean, which has ends itself."""
    low, high = sorted(line[0] + line[1] * end for end in ends)
    return max(bounds[0], low), min(bounds[1], high)


def _refused(value, refusal, basic):
    return MetricEstimate(value, np.nan, refusal=refusal, **basic)


def _undefined(metric):
    return (
        f"{metric.name} is not defined here: it divides by a share of rows that is 0 "
        "as far as the labels show. Label more rows, or ask for another metric."
    )


def _is_all_skipped(state):
    picks = state.settled
    counts = np.array(row_weight(state))
    counts[picks.indices[picks.skipped]] = 0.0
    return not counts.any()


def _degrees(state, steps):
    """Degrees of freedom of the variance of a linearised metric.

    Values without limits may have a heavy tail. Then a few steps carry the variance,
    and it has fewer, as that of a loss without a bound.
    """
    degrees = label_degrees(state)
    if np.isfinite(state.loss.values.limits()).all():
        return degrees
    deviations = _kernels.step_deviations(steps, state.n_samples)
    return float(min(degrees, tail_degrees(deviations)))
