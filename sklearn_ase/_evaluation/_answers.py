"""Estimates of several models and of their differences."""

from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_ase._evaluation._state_of import training_labels
from sklearn_ase._evaluation._support import Support
from sklearn_ase._inference._intervals import LEAST_DEGREES
from sklearn_ase._inference._pairs import Pairs
from sklearn_ase.metrics._difference import difference
from sklearn_ase.risk import MetricEstimate
from sklearn_ase.risk._of_metric import estimate_metric

# A belief is trusted within the interval of this level.
_TRUSTED_LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Answers:
    """Estimates of several models and of their differences.

    Attributes
    ----------
    metrics : list of PoolMetric
        The metric of each model.
    sign : {1.0, -1.0}
        1 if a greater metric is better.
    state_of : StateOf
        ``RowValues -> PoolState``.
    risk : BaseRisk
    pairs : Pairs
    note : str
        About estimates of a single model.
    support : Support
        Labels at the rows that the models are compared on.
    believed : ndarray of shape (n_models,) or None
        How good each model is by a belief that is made to compare them, greater is
        better. Differences are then those of the belief, within their 90 % intervals.
    """

    metrics: list
    sign: float
    state_of: object
    risk: object
    pairs: Pairs
    note: str = ""
    support: Support = field(default_factory=Support)
    believed: np.ndarray | None = None
    _kept: dict = field(default_factory=dict)

    @property
    def name(self):
        """Name of the metric."""
        return self.metrics[0].metric.name

    def estimate(self, place):
        """Metric of one model, a MetricEstimate."""
        if place not in self._kept:
            worth = training_labels(self.state_of.state)
            asked = self.risk, self.metrics[place], self.state_of
            found = estimate_metric(*asked, worth)
            self._kept[place] = self.support.on(replace(found, note=self.note))
        return self._kept[place]

    def estimate_behind(self, best, place):
        """The same, but as far behind the best model as the difference of the two is.

        Differences are known better than levels, and together they make one table.
        """
        found = self.estimate(place)
        gap = self.sign * float(self.difference(best, place))
        value = float(self.estimate(best)) - gap
        if place == best or not np.isfinite([value, found.value]).all():
            return found
        return replace(found, value=float(np.clip(value, *_possible(found))))

    def difference(self, first, second):
        """How much better the first is than the second, a MetricEstimate."""
        key = first, second
        if key not in self._kept:
            self._kept[key] = self.support.on(self._difference(*key))
        return self._kept[key]

    def _difference(self, first, second):
        if self.pairs.agreement.are_alike(first, second):
            name = f"difference of {self.name}"
            known = {"name": name, "centre": 0.0, "bounds": (0.0, 0.0)}
            return MetricEstimate(0.0, 0.0, self.pairs.n_labels, **known)
        two = [self.metrics[first], self.metrics[second]]
        gap = difference(
            *(two if self.sign > 0 else two[::-1]),
            lambda part: self.state_of.expected(part).mean(),
        )
        found = estimate_metric(self.risk, gap, self.state_of)
        # Only labels at which the two differ say which is better.
        degrees = max(self.pairs.n_apart[first, second] - 1.0, LEAST_DEGREES)
        degrees = np.inf if self.pairs.is_known else degrees
        found = replace(found, degrees_of_freedom=degrees)
        if self.pairs.curved is not None:
            found = self._with_region(found, first, second)
        if self.believed is None and self.pairs.curved is None:
            return found
        value = found.value
        if self.believed is not None:
            value = self.believed[first] - self.believed[second]
        if not found.refusal:
            ends = replace(found, value=found.centre).interval(_TRUSTED_LEVEL)
            value = np.clip(value, *ends)
        return replace(found, value=float(value))

    def difference_beside(self, best, first, second):
        """The same, but that of how far both are behind the best model."""
        found = self.difference(first, second)
        if best in (first, second) or found.refusal or not np.isfinite(found.value):
            return found
        behind = [float(self.difference(best, each)) for each in (second, first)]
        ends = replace(found, value=found.centre).interval(_TRUSTED_LEVEL)
        return replace(found, value=float(np.clip(behind[0] - behind[1], *ends)))

    def proba_of_best(self, best):
        """Probability of each model to be the best: shown differences, their errors."""
        n_models = len(self.metrics)
        gains = [-float(self.difference(best, k)) for k in range(n_models)]
        return self.pairs.proba_of_best(np.array(gains), 0)

    def _with_region(self, found, first, second):
        """The difference with the interval of all means that the labels allow for.

        That of its tangent is too narrow where the means are little known.
        """
        gap, region = self.pairs.curved.region(first, second)
        pair = np.array([first]), np.array([second])
        one_error = self.pairs.curved.ends(*pair, np.ones(1))
        means, covariance = region["means"][0], region["covariance"][0]
        least, most = (side[0] for side in region["limits"])
        low, high = self.metrics[first].metric.bounds
        return replace(
            found,
            mean=None,
            centre=gap.value(means),
            standard_error=0.5 * float(np.diff(one_error, axis=0)[0, 0]),
            bounds=(low - high, high - low),
            scale="linear",
            metric=gap,
            means=tuple(means.tolist()),
            known=(np.nan,) * len(means),
            covariance=tuple(map(tuple, covariance.tolist())),
            least=tuple(least.tolist()),
            most=tuple(most.tolist()),
        )


def _possible(found):
    """Least and greatest value of a metric that its labels leave possible."""
    (low, high), mean = found.bounds, found.mean
    if mean is not None:
        ends = sorted((found.of_mean(mean.least), found.of_mean(mean.most)))
        low, high = max(low, ends[0]), min(high, ends[1])
    return min(low, found.value), max(high, found.value)
