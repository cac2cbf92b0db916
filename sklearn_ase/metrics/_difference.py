"""The difference of a metric between two models."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._combine import combine
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_ranking import TangentMetric


@dataclass(frozen=True)
class DifferenceName:
    """What an estimate needs to know of a difference.

    Attributes
    ----------
    name : str
    bounds : tuple of two float
    surrogate_worth : float
    """

    name: str
    bounds: tuple
    surrogate_worth: float = np.inf

    scale = "linear"
    greater_is_better = True


@dataclass(frozen=True, eq=False)
class LineDifference(PoolMetric):
    """A difference that is a constant plus one mean.

    Attributes
    ----------
    metric : DifferenceName
    parts : tuple of one RowValues
    known : ndarray of shape (1,)
        NaN.
    start : float
        Value at a mean of 0.
    rest : ndarray of shape (n_samples,)
        What each row adds whatever its label.
    """

    start: float = 0.0
    rest: np.ndarray | None = None

    def value(self, means):
        return float(self.start + means[0])

    def gradient(self, means):
        return np.ones(1)

    def known_influence(self, means):
        return self.rest


def difference(first, second, believed_mean):
    """Metric of one model minus that of another.

    Parameters
    ----------
    first, second : PoolMetric
        The same metric, applied to predictions of two models.
    believed_mean : callable
        ``RowValues -> float``: the mean over the pool as the surrogate believes it.

    Returns
    -------
    difference : PoolMetric
        Of one mean. If the metric is not a straight line of a mean, it is linearised at
        what the surrogate believes.
    """
    metric, unknown = first.metric, np.full(1, np.nan)
    low, high = metric.bounds
    width = high - low
    about = DifferenceName(
        f"difference of {metric.name}", (-width, width), metric.surrogate_worth
    )
    parts = first.parts + second.parts
    means = [
        np.array([believed_mean(part) for part in each.parts])
        for each in (first, second)
    ]
    rest = first.known_influence(means[0]) - second.known_influence(means[1])
    lines = [each.line() for each in (first, second)]
    if None not in lines:
        (start, slope), (other_start, other_slope) = lines
        part = combine(parts, np.array([slope, -other_slope]))
        start = start - other_start
        return LineDifference(about, (part,), unknown, start=start, rest=rest)
    gradient = np.concatenate([first.gradient(means[0]), -second.gradient(means[1])])
    level = first.value(means[0]) - second.value(means[1])
    part, mean = combine(parts, gradient), float(gradient @ np.concatenate(means))
    return TangentMetric(about, (part,), unknown, level=level, mean=mean, rest=rest)
