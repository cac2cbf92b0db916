"""Estimates of a metric: means first, then the function of them."""

from dataclasses import replace

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._intervals import MIN_LABELS, label_degrees, tail_degrees
from sklearn_ase._inference._limits import with_limits
from sklearn_ase._inference._population import population_variance
from sklearn_ase._inference._skips import row_weight
from sklearn_ase._inference._steps import variances_of_mean
from sklearn_ase.metrics._regression import RootMeanSquaredError, SquaredErrors
from sklearn_ase.risk._class_average import ClassAverage, classes_of
from sklearn_ase.risk._ends import from_an_end
from sklearn_ase.risk._guarded_ase import GuardedASE
from sklearn_ase.risk._heavy_tails import (
    beyond_largest,
    heavy_tail,
    heavy_tail_before,
)
from sklearn_ase.risk._means import Means, unseen_of
from sklearn_ase.risk._metric_estimate import MetricEstimate

_ALL_SKIPPED = "None of the rows that the question is about could be labelled."
_ALL_FORESEEN = (
    "No interval: all labels are what the surrogate was certain of, so nothing shows "
    "the error of the estimate. Label more rows."
)


def estimate_metric(risk, pool_metric, state_of, training_labels=0.0):
    """Estimate a metric with a risk estimator.

    Parameters
    ----------
    risk : BaseRisk
    pool_metric : PoolMetric
    state_of : callable
        ``RowValues -> PoolState``: the state for the mean of these values.
    training_labels : float, default=0.0
        Number of labels that the training rows are worth.

    Returns
    -------
    estimate : MetricEstimate
    """
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
        variance = population_variance(influence, pool_metric.known_influence(at))
        mean = replace(mean, population_variance=variance / line[1] ** 2)
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
    shape, unseen = {}, None
    if average is not None or len(states) == 2:
        unseen = unseen_of(states, training_labels)
    if line is not None:  # The labels prove limits of the only mean.
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
        population_variance=population_variance(
            influence, pool_metric.known_influence(means.corrected)
        ),
        refusal=refusal,
        anytime_refusal=anytime_refusal,
        beyond=beyond,
        free_share=found[0].free_share,
        **shape,
        **basic,
    )


def of_one_mean(metric, line, mean):
    """Estimate of a metric that is a straight line of one mean.

    Parameters
    ----------
    metric : BaseMetric
    line : tuple of two float
        Value at a mean of 0, and slope.
    mean : RiskEstimate

    Returns
    -------
    estimate : MetricEstimate
    """
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
    """Estimate of the root of a mean, or of minus the root.

    Parameters
    ----------
    metric : RootMeanSquaredError
    mean : RiskEstimate

    Returns
    -------
    estimate : MetricEstimate
    """
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
