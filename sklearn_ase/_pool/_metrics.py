"""Metrics of a pool that is read in chunks."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._data._rows import take_rows
from sklearn_ase._pool._kept import tables_needed
from sklearn_ase._pool._responses import ReadResponse
from sklearn_ase.metrics._labels import with_positive
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_weight import pool_weight
from sklearn_ase.metrics._read_table import ReadTable
from sklearn_ase.metrics._row_values import TableValues

# Numbers of each row that a question may take for each of its means.
_NUMBERS_OF_A_MEAN = 3


@dataclass(frozen=True, eq=False)
class ResponseAt:
    """Finds what a metric reads of the predictions for some rows.

    Attributes
    ----------
    source : RowSource
    given : array-like, frame or None
        Predictions for the whole pool, if they are known.
    response : ReadResponse
    """

    source: object
    given: object
    response: ReadResponse

    def __call__(self, rows):
        given = None if self.given is None else take_rows(self.given, rows)
        return self.response(self.source.like_chunks(rows), given)


@dataclass(frozen=True, eq=False)
class TableAt:
    """Finds the values of a metric of one mean at some rows, not weighted.

    Attributes
    ----------
    metric : BaseMetric
    classes : ndarray of shape (n_classes,)
    at : ResponseAt
    """

    metric: object
    classes: np.ndarray
    at: ResponseAt

    def __call__(self, rows):
        response, n_rows = self.at(rows), len(rows)
        found = self.metric.on_pool(response, classes=self.classes, n_samples=n_rows)
        return found.parts[0]


def metric_in_chunks(problem, metric, classes, weight=None):
    """Apply a metric to the predictions for a pool, without a table of them.

    Parameters
    ----------
    problem : Problem
        With a :class:`PartedPool`.
    metric : BaseMetric
    classes : ndarray of shape (n_classes,) or None
    weight : ndarray of shape (n_samples,), default=None
        Weight of each row, with mean 1.

    Returns
    -------
    pool_metric : PoolMetric or PoolRanking
    """
    pool, n_samples = problem.pool, problem.n_samples
    response = _response(problem, metric, classes)

    at = ResponseAt(problem.X, pool.predictions.given, response)
    probe = metric.on_pool(at(np.zeros(1, dtype=int)), classes=classes, n_samples=1)
    parts = getattr(probe, "parts", ())
    has_table = any(isinstance(part, TableValues) for part in parts)
    if has_table and len(classes) > _NUMBERS_OF_A_MEAN * len(probe.known):
        if len(probe.known) > 1:
            raise tables_needed(
                f"metric={metric!r}, which has {len(probe.known)} means and a value "
                f"for each of {len(classes)} classes,"
            )
        return _of_table(pool, response, at, pool_weight(None, weight, n_samples))
    found = pool.asked.collected(response)
    return metric.on_pool(found, classes=classes, weight=weight, n_samples=n_samples)


def response_in_chunks(problem, metric, classes):
    """What a metric reads of the predictions; see :func:`response_of`.

    Parameters
    ----------
    problem : Problem
        With a :class:`PartedPool`.
    metric : BaseMetric
    classes : ndarray of shape (n_classes,) or None

    Returns
    -------
    response : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Of a ranking, the scores of the positive class.
    """
    metric = with_positive(metric, problem.classes, classes)
    response = _response(problem, metric, classes)
    return problem.pool.asked.collected(response)


def _response(problem, metric, classes):
    asking = problem.pool.predictions.asking
    return replace(ReadResponse.of_pool(problem, asking, classes), metric=metric)


def _of_table(pool, response, at, weight):
    """A metric of one mean, with a value for each of many classes."""
    metric, classes = response.metric, response.classes

    look_up = TableAt(metric, classes, at)
    least, most = pool.asked.limits_of(response)
    is_bounded = look_up(np.zeros(1, dtype=int)).is_bounded
    name = pool.asked.name_of(metric)
    values = ReadTable(metric, name, least, most, look_up, weight, is_bounded)
    return PoolMetric(metric, (values,), np.full(1, np.nan))
