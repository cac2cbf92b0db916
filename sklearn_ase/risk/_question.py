"""The estimate of a metric: means first, then the function of them, then its interval.

=============  =========================================================================
`pool_metric`  the metric as a function of the means of its parts
`part`         values at each row (RowValues), one for each mean
`state_of`     ``part -> PoolState``: the state of the pool for the mean of a part
`means`        corrected means, of shape (n_means,)
`influence`    what a label of each row adds to the metric, linearised at the means
=============  =========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import (
    MIN_LABELS,
    UNCORRELATED_LABELS,
    UNSEEN_EVENTS,
    PoolSample,
    label_degrees,
    proved_limits,
    tail_degrees,
)
from sklearn_ase._inference._steps import (
    chances_of_picks,
    row_weight,
    spread_of_picks,
    variances_of_mean,
)
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.risk._base import beyond_largest, heavy_tail, heavy_tail_before
from sklearn_ase.risk._estimate import Estimate
from sklearn_ase.risk._intervals import (
    BoundedInterval,
    ClassInterval,
    FunctionInterval,
    Interval,
    MeanInterval,
    RegionInterval,
    TangentInterval,
)

if TYPE_CHECKING:
    from sklearn_ase._inference._questions import StateOf
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk

Floats = np.ndarray
Curve = tuple[float, float, float]

_ALL_SKIPPED = "None of the rows that the question is about could be labelled."
_ALL_FORESEEN = (
    "No interval: all labels are what the surrogate was certain of, so nothing shows "
    "the error of the estimate. Label more rows."
)


def estimate_metric(
    risk: BaseRisk,
    pool_metric: PoolMetric,
    state_of: StateOf,
    training_labels: float = 0.0,
) -> Estimate:
    """Estimate a metric with a risk estimator."""
    asked = _Asked.of(risk, pool_metric, state_of, training_labels)
    pool_metric, state = asked.pool_metric, asked.states[0]
    if state.belief is not None:
        expected: list[Any] = [each.expected_loss for each in asked.states]
        pool_metric.check_bounds([each.mean() for each in expected])
    if _is_all_skipped(state):
        return asked.refused(np.nan, _ALL_SKIPPED)
    classes = asked.classes()
    value = asked.value() if classes is None else classes.value()
    if not asked.is_unbiased:
        value = float(np.clip(value, *pool_metric.metric.bounds))
    curve = pool_metric.curve()
    if curve is not None and (state.loss.min_loss >= 0 or curve[2] != 1.0):
        estimate = with_limits(asked.estimates[0], state, cut=False)
        if curve[2] == 1.0:
            estimate = _with_known_rows(estimate, asked, slope=curve[1])
        return of_one_mean(pool_metric.metric, curve, estimate)
    has_labels = state.settled.n_labels > 0
    steps = [asked.risk.steps(each) if has_labels else None for each in asked.states]
    if any(each is None for each in steps):
        name = type(risk).__name__
        no_interval = f"{name} has no interval for this metric."
        return asked.refused(value, asked.estimates[0].refusal or no_interval)
    means = CorrectedMeans.of(asked.states, steps)
    if not np.isfinite([value, pool_metric.value(means.corrected)]).all():
        return asked.refused(value, _undefined(pool_metric.metric))
    return _of_means(asked, means, value=value, classes=classes)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A metric of the pool, with the states and the estimates of its means.

    Attributes
    ----------
    risk : BaseRisk
    pool_metric : PoolMetric
    state_of : StateOf
    states : list of PoolState
    estimates : list of Estimate
    training_labels : float
        Number of labels of the pool that the training rows are worth.
    is_unbiased : bool
        Whether the estimate is. A cut to what is possible would bias it.
    """

    risk: BaseRisk
    pool_metric: PoolMetric
    state_of: StateOf
    states: list[PoolState]
    estimates: list[Estimate]
    training_labels: float
    is_unbiased: bool

    @classmethod
    def of(
        cls,
        risk: BaseRisk,
        pool_metric: PoolMetric,
        state_of: StateOf,
        training_labels: float,
    ) -> _Asked:
        """Estimate each mean that the metric depends on."""
        risk = risk.with_worth(pool_metric.metric.surrogate_worth)
        pool_metric = from_an_end(pool_metric, state_of)
        states = [state_of(part) for part in pool_metric.parts]
        if len(states) > 1:
            states = [replace(state, is_part=True) for state in states]
        risk.check(states[0])
        estimates = [risk.estimate(state) for state in states]
        is_unbiased = pool_metric.is_linear and not risk.leans_on_surrogate
        if len(states) > 1 or not is_unbiased:
            pairs = zip(estimates, states, strict=True)
            estimates = [with_limits(*pair, cut=not is_unbiased) for pair in pairs]
        return cls(
            risk,
            pool_metric,
            state_of,
            states=states,
            estimates=estimates,
            training_labels=training_labels,
            is_unbiased=is_unbiased,
        )

    @property
    def about(self) -> dict[str, Any]:
        """What an estimate of the metric says, whatever its value."""
        first, metric = self.estimates[0], self.pool_metric.metric
        return {
            "n_labels": first.n_labels,
            "n_skipped": first.n_skipped,
            "name": metric.name,
            "bounds": metric.bounds,
        }

    def refused(self, value: float, refusal: str) -> Estimate:
        """An estimate without an interval."""
        return Estimate(value, np.nan, refusal=refusal, **self.about)

    def value(self) -> float:
        """The metric at the estimates of its means."""
        return self.pool_metric.value(np.array([each.value for each in self.estimates]))

    def classes(self) -> ClassInterval | None:
        """What is known of each class, if the metric is an average over classes."""
        if self.pool_metric.class_mean is None:
            return None
        return _class_interval(
            self.pool_metric, self.estimates, self.states, self.training_labels
        )

    @property
    def has_tail(self) -> bool:
        """Whether the tail of the first part decides, and rows are left in it."""
        state = self.states[0]
        is_known = len(state.settled) == state.n_samples
        return not is_known and self.pool_metric.parts[0].has_tail


def _of_means(
    asked: _Asked, means: CorrectedMeans, value: float, classes: ClassInterval | None
) -> Estimate:
    """The estimate of a function of several means, or of a curve of one."""
    pool_metric, states, about = asked.pool_metric, asked.states, asked.about
    curve = pool_metric.curve()
    # The labels prove limits of the only mean, but not of rows that were not drawn.
    if curve is not None and states[0].inclusion_proba is None:
        about["bounds"] = _within(about["bounds"], curve, means.least[0], means.most[0])
    tangent = _tangent(asked, means, bounds=about["bounds"])
    interval: Interval = tangent
    if classes is not None:
        unseen = unseen_of(states, asked.training_labels)
        interval = _around(classes, pool_metric, means, unseen, tangent)
    elif len(states) == 2:
        unseen = unseen_of(states, asked.training_labels)
        interval = _region(pool_metric, means, unseen, tangent)
    are_proved = bool(np.isfinite([means.least, means.most]).all())
    refusals: dict[str, Any] = _refusals(
        asked,
        tangent,
        has_region=interval is not tangent,
        has_limits=curve is not None and are_proved,
    )
    return Estimate(
        value=value,
        standard_error=tangent.standard_error,
        uncertainty=interval,
        **refusals,
        **about,
    )


def of_one_mean(metric: BaseMetric, curve: Curve, estimate: Estimate) -> Estimate:
    """Estimate of a metric that is a straight line of one mean, or of its root."""
    mean = _mean_of(estimate)
    start, slope, power = curve
    interval = FunctionInterval(mean, start=start, slope=slope, power=power)
    bounds = metric.bounds
    if power == 1.0:
        bounds = _within(bounds, curve, mean.min_loss, mean.max_loss)
    return Estimate(
        value=interval.of_mean(estimate.value),
        standard_error=interval.standard_error,
        n_labels=estimate.n_labels,
        uncertainty=interval,
        name=metric.name,
        bounds=bounds,
        n_skipped=estimate.n_skipped,
        refusal=estimate.refusal,
        anytime_refusal=estimate.anytime_refusal,
    )


def with_limits(estimate: Estimate, state: PoolState, cut: bool = True) -> Estimate:
    """The estimate of a mean, with what the labels have proved."""
    least, most = proved_limits(state)
    value = min(max(estimate.value, least), most) if cut else estimate.value
    mean: Any = replace(_mean_of(estimate), value=value, least=least, most=most)
    is_asked = state.loss.is_bounded and not state.is_part
    if is_asked and getattr(mean, "largest", None) is None:
        # Rows outside of a group count 0, those inside more than once.
        greatest, picks = state.loss.limits()[1], state.settled
        told = picks.indices[picks.answered]
        seen = picks.losses[picks.answered]
        proved = {
            "max_loss": float(greatest.mean()),
            "largest": float(greatest.max()),
            "none_seen": not picks.losses.any(),
            "all_seen": bool((seen == greatest[told]).all()),
        }
        mean = BoundedInterval(**vars(mean) | proved)
    return replace(estimate, value=value, uncertainty=mean)


def _mean_of(estimate: Estimate) -> MeanInterval:
    """The interval of a mean; a user's own estimator may have given another one."""
    if isinstance(estimate.uncertainty, MeanInterval):
        return estimate.uncertainty
    return MeanInterval(estimate.value, estimate.standard_error, estimate.n_labels)


def _with_known_rows(estimate: Estimate, asked: _Asked, slope: float) -> Estimate:
    """The estimate of a mean, with the variance of the metric on other pools.

    Rows differ also in what no label changes.
    """
    pool_metric, state = asked.pool_metric, asked.states[0]
    at, picks = [estimate.value], state.settled
    values = np.zeros(len(picks))
    observed = asked.state_of.observed(pool_metric.linearised(at))
    values[picks.answered] = observed[: picks.n_labels]
    values = values + pool_metric.known_influence(at)[picks.indices]
    mean = _mean_of(estimate)
    found = PoolSample.of(state, values).scaled(1.0 / slope**2)
    mean = replace(mean, sample=replace(found, free_share=mean.sample.free_share))
    return replace(estimate, uncertainty=mean)


def _within(
    bounds: tuple[float, float], curve: Curve, least: float, most: float
) -> tuple[float, float]:
    """Bounds of a metric that is a line of a mean, which has ends itself."""
    start, slope, _ = curve
    low, high = sorted((start + slope * least, start + slope * most))
    return max(bounds[0], low), min(bounds[1], high)


def _undefined(metric: BaseMetric) -> str:
    return (
        f"{metric.name} is not defined here: it divides by a share of rows that is 0 "
        "as far as the labels show. Label more rows, or ask for another metric."
    )


def _is_all_skipped(state: PoolState) -> bool:
    picks = state.settled
    counts = np.array(row_weight(state))
    counts[picks.indices[picks.skipped]] = 0.0
    return not counts.any()


# A metric of one mean, counted from an end.


def from_an_end(pool_metric: PoolMetric, state_of: StateOf) -> PoolMetric:
    """The metric as a function of how far its only mean is from the closer end.

    Intervals allow for rare values that no label has shown. If nearly all rows have
    the greatest value, the rare event is that one has less. So the same question has
    the same interval, in whatever units it is asked.
    """
    if len(pool_metric.parts) != 1:
        return pool_metric
    part = pool_metric.parts[0]
    least, most = _ends_of_rows(part, state_of)
    has_ends = np.isfinite([least, most]).all() and (most > least).any()
    if not (has_ends and part.has_bound):
        return pool_metric
    # Differences and tangents are no means of values of which one may be rare.
    if pool_metric.is_derived or pool_metric.curve() is None:
        if least.min() < 0:
            return pool_metric
        least = np.zeros(len(most))
    expected = state_of.expected(part)
    if expected is not None and 2.0 * expected.mean() > (least + most).mean():
        return pool_metric.from_end(most, -1.0)
    return pool_metric.from_end(least, 1.0) if least.any() else pool_metric


def _ends_of_rows(part: Any, state_of: StateOf) -> tuple[Floats, Floats]:
    """Least and greatest value of each row, such that their means are known.

    Nobody knows all rows that can be labelled. If some cannot, the ends are the same
    at all rows, times what a row counts.
    """
    least, most = part.limits()
    if not state_of.state.settled.n_skipped:
        return least, most
    weight = np.ones(len(least)) if state_of.weight is None else state_of.weight
    counts = weight > 0
    low, high = (side[counts] / weight[counts] for side in (least, most))
    return low.min() * weight, high.max() * weight


# Corrected means, and how far they may be wrong.


@dataclass(frozen=True, eq=False)
class CorrectedMeans:
    """Corrected means, and how their steps scatter.

    Attributes
    ----------
    corrected, least, most : ndarray of shape (n_means,)
        The means within the limits that the labels have proved.
    seen, believed : ndarray of shape (n_means,)
        Variance of each: from the scatter of the steps, and as the surrogate expected.
    deviations : ndarray of shape (n_means, n_steps)
    """

    corrected: Floats
    least: Floats
    most: Floats
    seen: Floats
    believed: Floats
    deviations: Floats

    @classmethod
    def of(cls, states: list[PoolState], steps: list[Any]) -> CorrectedMeans:
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

    def errors(self, unseen: Floats) -> Floats:
        """Standard errors, with an allowance for what no label has shown."""
        return np.sqrt(np.maximum(self.seen, self.believed + unseen))

    @property
    def correlation(self) -> Floats:
        """Correlation of the means as the labels show it, moved towards none."""
        n_steps = self.deviations.shape[1]
        norm = np.linalg.norm(self.deviations, axis=1)
        product = self.deviations @ self.deviations.T
        found = np.zeros_like(product)
        np.divide(product, np.outer(norm, norm), out=found, where=product != 0)
        found *= (n_steps - 1) / (n_steps - 1 + UNCORRELATED_LABELS)
        np.fill_diagonal(found, 1.0)
        return found


def unseen_of(states: list[PoolState], training_labels: float) -> Floats:
    """Variance of each mean by half an event more among all rows with labels."""
    picks, spread = states[0].settled, spread_of_picks(states[0])
    if len(picks) == states[0].n_samples:
        return np.zeros(len(states))
    rows, variances = picks.indices[picks.answered], []
    for state in states:
        least, most = state.loss.limits()
        room = most - least
        is_open = room > 0
        n_heard = 1.0 + is_open[rows].sum() + training_labels * is_open.mean()
        variances.append(UNSEEN_EVENTS / n_heard * (room**2 @ spread))
    return np.nan_to_num(variances, posinf=0.0)


# Intervals.


def _tangent(
    asked: _Asked, means: CorrectedMeans, bounds: tuple[float, float]
) -> TangentInterval:
    """The interval by the tangent at the corrected means."""
    pool_metric, at = asked.pool_metric, means.corrected
    metric = pool_metric.metric
    influence = asked.state_of(pool_metric.linearised(at))
    steps: Any = asked.risk.steps(influence)
    variances = variances_of_mean(steps.values, steps.predicted, influence.n_samples)
    picks = influence.settled
    known = np.broadcast_to(pool_metric.known_influence(at), influence.n_samples)
    values = picks.losses + known[picks.indices]
    return TangentInterval(
        centre=float(np.clip(pool_metric.value(at), *metric.bounds)),
        standard_error=float(max(variances) ** 0.5),
        n_labels=picks.n_labels,
        degrees_of_freedom=_degrees(influence, steps.values),
        bounds=bounds,
        scale=metric.scale,
        beyond=_beyond(asked, means),
        sample=PoolSample.of(influence, values),
    )


def _degrees(state: PoolState, steps: Floats) -> float:
    """Degrees of freedom of the variance of a linearised metric.

    Values without limits may have a heavy tail. Then a few steps carry the variance,
    and it has fewer, as that of a loss without a bound.
    """
    degrees = label_degrees(state)
    if np.isfinite(state.loss.limits()).all():
        return degrees
    deviations = _kernels.step_deviations(steps, state.n_samples)
    return float(min(degrees, tail_degrees(deviations)))


def _beyond(asked: _Asked, means: CorrectedMeans) -> float:
    """What losses beyond the largest one met would add to the metric, eq. T13."""
    if not asked.has_tail:
        return 0.0
    slope = asked.pool_metric.gradient(means.corrected)[0]
    return float(slope * beyond_largest(asked.estimates[0].value, asked.states[0]))


def _refusals(
    asked: _Asked, tangent: TangentInterval, has_region: bool, has_limits: bool
) -> dict[str, str]:
    """Why there is no interval, and no anytime interval; empty if there is one."""
    state, first = asked.states[0], asked.estimates[0]
    n_labels, name = state.settled.n_labels, asked.pool_metric.metric.name
    # A function of a mean, or of a mean of squares, has no interval if that has none.
    is_one = len(asked.states) == 1 and state.loss.min_loss >= 0
    refusal, anytime = (first.refusal, first.anytime_refusal) if is_one else ("", "")
    if asked.has_tail:
        refusal = refusal or heavy_tail(state)
        anytime = anytime or heavy_tail_before(state)
    # Limits that labels prove hold with any number of labels.
    if has_limits or len(state.settled) == state.n_samples:
        return {"refusal": refusal, "anytime_refusal": anytime}
    is_foreseen = tangent.standard_error <= 1e-12 * abs(tangent.centre)
    if n_labels < MIN_LABELS:
        refusal = (
            f"No interval from {n_labels} labels: fewer than {MIN_LABELS} tell too "
            f"little about the error of {name}. Label more rows."
        )
    elif is_foreseen:
        refusal = "" if has_region else _ALL_FORESEEN
    return {"refusal": refusal, "anytime_refusal": anytime}


def _region(
    pool_metric: PoolMetric,
    means: CorrectedMeans,
    unseen: Floats,
    tangent: TangentInterval,
) -> RegionInterval:
    """The interval over the ellipse of two means."""
    errors = means.errors(unseen)
    covariance = means.correlation * np.outer(errors, errors)
    return RegionInterval(
        centre=tangent.centre,
        standard_error=tangent.standard_error,
        n_labels=tangent.n_labels,
        degrees_of_freedom=tangent.degrees_of_freedom,
        sample=tangent.sample,
        metric=pool_metric.metric,
        means=tuple(means.corrected.tolist()),
        known=tuple(pool_metric.known.tolist()),
        covariance=tuple(map(tuple, covariance.tolist())),
        least=tuple(means.least.tolist()),
        most=tuple(means.most.tolist()),
    )


# Averages in which each class counts the same.
#
# `place` of shape (n_classes, 2) says which part is that of the rows found and missed
# of each class; -1 if the mean is known.


def _class_interval(
    pool_metric: PoolMetric,
    estimates: list[Estimate],
    states: list[PoolState],
    training_labels: float,
) -> ClassInterval:
    """What is known of each class, but for the errors."""
    class_mean = pool_metric.class_mean
    place = _places(pool_metric)
    each: list[Any] = [estimate.uncertainty for estimate in estimates]
    values = ([getattr(x, of) for x in each] for of in ("value", "least", "most"))
    shares = [pool_metric.all_means(x).reshape(3, -1) for x in values]
    means, least, most = (share[:2].T for share in shares)
    predicted, state = shares[0][2], states[0]
    is_shown: Any = _of_classes([s.settled.losses.any() for s in states], place).any(1)
    is_sure = class_mean.counts(is_shown, predicted)
    can_be = class_mean.counts(most.sum(axis=1), predicted)
    # Of a class that no label has shown so many rows are expected ...
    counts, picks = row_weight(state) > 0, state.settled
    expected = counts.sum() * np.maximum(means.sum(axis=1), 0.0)
    # ... and this is the chance to miss one with a rate that nobody knows.
    n_heard = counts[picks.indices[picks.answered]].sum()
    n_heard += training_labels * counts.mean()
    n_free = counts.sum() - counts[picks.indices].sum()
    missed = np.sqrt(n_heard / (n_heard + n_free))
    return ClassInterval(
        centre=np.nan,
        standard_error=np.nan,
        n_labels=picks.n_labels,
        degrees_of_freedom=1.0,
        sample=PoolSample(),
        class_mean=class_mean,
        means=means,
        predicted=predicted,
        least=least,
        most=most,
        is_shown=is_shown,
        is_sure=is_sure,
        chance=np.where(is_sure, 1.0, can_be * (1.0 - missed * np.exp(-expected))),
        n_expected=_expected_picks(states, place[:, 0]),
        covariance=np.zeros((len(predicted), 2, 2)),
    )


def _around(
    classes: ClassInterval,
    pool_metric: PoolMetric,
    means: CorrectedMeans,
    unseen: Floats,
    tangent: TangentInterval,
) -> ClassInterval:
    """The interval of an average around the corrected means, with their errors."""
    place = _places(pool_metric)
    gradient = _of_classes(pool_metric.gradient(means.corrected), place)
    plain = _covariances(means, np.zeros(len(unseen)), place)
    alone = np.einsum("ci,cij,cj->", gradient, plain, gradient)
    # If the tangent shows more variance than independent classes, all are widened.
    variance = tangent.standard_error**2
    together = max(variance / alone, 1.0) if alone > 0 else 1.0
    shares = pool_metric.all_means(means.corrected).reshape(3, -1)
    found = replace(
        classes,
        standard_error=tangent.standard_error,
        degrees_of_freedom=tangent.degrees_of_freedom,
        sample=tangent.sample,
        means=shares[:2].T,
        covariance=together * _covariances(means, unseen, place),
    )
    return replace(found, centre=found.value())


def _expected_picks(states: list[PoolState], place: Floats) -> Floats:
    """Picks that were expected at the rows that are predicted as each class."""
    chances, picks = chances_of_picks(states[0]), states[0].settled
    rows, n_expected = picks.indices[picks.answered], np.zeros(len(place))
    for c, part in enumerate(place.tolist()):
        if part < 0:
            continue
        least, most = states[part].loss.limits()
        is_open = most > least
        if not is_open[rows].any():
            n_expected[c] = chances[is_open].sum()
    return n_expected


def _places(pool_metric: PoolMetric) -> Floats:
    """Which part is that of each class, (n_classes, 2); -1 if the mean is known."""
    is_part = np.isnan(pool_metric.known)
    place = np.where(is_part, np.cumsum(is_part) - 1, -1)
    return place.reshape(3, -1)[:2].T


def _of_classes(columns: Any, place: Floats) -> Floats:
    """Entries of each class, 0 where the mean is known: (n_classes, 2)."""
    return np.where(place >= 0, np.asarray(columns)[place], 0.0)


def _covariances(means: CorrectedMeans, unseen: Floats, place: Floats) -> Floats:
    """Covariance of the two means of each class: (n_classes, 2, 2)."""
    error = _of_classes(means.errors(unseen), place)
    correlation = means.correlation[place[:, :, None], place[:, None, :]]
    return error[:, :, None] * error[:, None, :] * correlation
