"""Ranking metrics: values of scores with believed labels, and their derivatives.

``positive`` is the probability that a label is positive, 0 or 1 where it is known.
Each metric is a ratio of two sums over rows and pairs of rows. The sums are the
expected ones for independent labels. So a pair of a row with itself is treated apart:
for a label, ``y (1 - y)`` is 0 and ``y²`` is y, but for a probability they are not.

The influence of a row on the metric is n_samples times the derivative with respect to
the weight of the row. It is ``rest + slope * positive``, and its weighted mean is 0.
The label of the row changes the second term only. ``weight * slope`` is n_samples times
the derivative with respect to ``positive``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._rows import RowOrder
from sklearn_ase._utils._typing import Label
from sklearn_ase.metrics._base import BaseMetric, pool_weight
from sklearn_ase.metrics._counts import columns_of, positive_column
from sklearn_ase.metrics._pool_metric import PoolRanking

# Shares of pairs below it are rounding.
_TINY = 1e-14


def roc_auc(
    positive: np.ndarray, weight: np.ndarray, group: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Area under the ROC curve."""
    plus, minus = weight * positive, weight * (1.0 - positive)
    group_plus, group_minus = np.bincount(group, plus), np.bincount(group, minus)
    all_plus, all_minus = plus.sum(), minus.sum()
    # Half a pair counts for equal scores; the row itself is taken out.
    below = (np.cumsum(group_minus) - 0.5 * group_minus)[group] - 0.5 * minus
    above = all_plus - np.cumsum(group_plus) + 0.5 * group_plus
    above = above[group] - 0.5 * plus
    n_pairs = all_plus * all_minus - plus @ minus
    if n_pairs <= _TINY * (all_plus + all_minus) ** 2:
        return np.nan, *np.zeros((2, len(positive)))
    value = plus @ below / n_pairs
    scale = len(positive) / n_pairs
    rest = above - value * (all_plus - plus)
    slope = below - value * (all_minus - minus) - rest
    return value, scale * slope, scale * rest


def average_precision(
    positive: np.ndarray, weight: np.ndarray, group: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Average precision: precision at each score, weighted by the recall it adds."""
    plus = weight * positive
    total = plus.sum()
    if total <= _TINY * weight.sum():
        return np.nan, *np.zeros((2, len(positive)))
    group_plus, group_all = np.bincount(group, plus), np.bincount(group, weight)
    # Sums over all rows whose score is at least that of the group.
    found, chosen = _from_above(group_plus), _from_above(group_all)
    share = np.divide(1.0, chosen, out=np.zeros(len(chosen)), where=chosen > 0)
    own = weight * share[group]
    own_pairs = weight * own * positive * (1.0 - positive)
    pairs = group_plus * found * share + np.bincount(group, own_pairs)
    value = pairs.sum() / total
    # A positive row adds to the precision at its own score and at all lower ones.
    by_row = found * share + np.cumsum(group_plus * share)
    slope = by_row[group] - value + own * (1.0 - 2.0 * positive)
    # Any row lowers it there.
    rest = own * positive - np.cumsum(pairs * share)[group]
    scale = len(positive) / total
    return value, scale * slope, scale * rest


def _from_above(values):
    return np.cumsum(values[::-1])[::-1]


# The metrics.


_CURE = "pos_label=..., for one class against the rest"


class BaseRanking(BaseMetric):
    """Base class of the metrics of pairs of rows.

    They are no functions of means of row values. So :meth:`row_values` and
    :meth:`value` refuse; a call, and :meth:`on_pool`, work.
    """

    task = "classification"
    response_method = "predict_proba"
    bounds = (0.0, 1.0)
    takes_scores = True
    prefers_one = True

    def __init__(self, pos_label: Label = None) -> None:
        self.pos_label = pos_label

    @abstractmethod
    def value_and_influence(
        self, positive: np.ndarray, weight: np.ndarray, group: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Value for believed labels, and what each row adds to it.

        Parameters
        ----------
        positive : ndarray of shape (n_samples,)
            Probability that the label of a row is positive.
        weight : ndarray of shape (n_samples,)
        group : ndarray of int of shape (n_samples,)
            Place of the score of each row among the sorted different scores.

        Returns
        -------
        value : float
        slope, rest : ndarray of shape (n_samples,)
            ``rest + slope * positive`` is n_samples times the derivative with respect
            to the weight of each row, and ``weight * slope`` that with respect to
            `positive`.
        """

    def row_values(self, y_true: np.ndarray, y_pred: np.ndarray) -> NoReturn:
        """Refused: a ranking compares rows, so that a row has no value of its own."""
        raise TypeError(self._refusal())

    def value(self, means: np.ndarray) -> NoReturn:
        """Refused: a ranking is not a function of means."""
        raise TypeError(self._refusal())

    def _refusal(self):
        name = type(self).__name__
        return (
            f"{name} compares rows, so it is not a function of means of row values. "
            f"Call {name}()(y_true, y_score), or use on_pool(...).at(proba)."
        )

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Value of the metric if all labels are known."""
        RowOrder.of(y_true=y_true).check(y_pred=y_pred, sample_weight=sample_weight)
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        classes = np.unique(y_true)
        if self.pos_label is None and len(classes) < 2 and classes.dtype.kind in "biuf":
            classes = np.union1d(classes, [1])
        weight = None if sample_weight is None else np.asarray(sample_weight)
        ranking = self.on_pool(y_pred, classes, weight)
        positive = (columns_of(y_true, classes) == ranking.column).astype(float)
        found = self.value_and_influence(positive, ranking.weight, ranking.group)
        return float(found[0])

    def on_pool(
        self,
        prediction: np.ndarray,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolRanking:
        """Apply the metric to the scores of a pool.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores of the positive class, or probabilities of the classes.
        classes : ndarray of shape (n_classes,)
            Sorted labels.
        weight : ndarray of shape (n_samples,), default=None
            Weight of each row, with mean 1. None means equal weights.
        n_samples : int, default=None
            Not needed.

        Returns
        -------
        pool_ranking : PoolRanking
        """
        name = type(self).__name__
        if classes is None:
            raise ValueError(f"{name} needs the possible labels. Pass classes=...")
        classes = np.asarray(classes)
        score = np.asarray(prediction)
        has_columns = score.shape[1:] == classes.shape
        counts = score.sum(axis=0) if has_columns else None
        column = positive_column(self, classes, _CURE, counts)
        if score.ndim == 2:
            if score.shape[1] != len(classes):
                raise ValueError(
                    f"{name} needs scores of the positive class, or one column of "
                    f"probabilities for each of the {len(classes)} classes, but there "
                    f"are {score.shape[1]} columns. Pass all classes, or the scores."
                )
            score = score[:, column]
        group = np.unique(score, return_inverse=True)[1].reshape(-1)
        return PoolRanking(self, group, pool_weight(score, weight), classes, column)


class RocAuc(BaseRanking):
    """Area under the ROC curve: how often a positive scores above a negative.

    The value is NaN without a positive or without a negative.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class. None means the greater of two classes, as in
        :func:`sklearn.metrics.roc_auc_score`. Given explicitly, it may be one of many
        classes, against the rest.

    See Also
    --------
    AveragePrecision : The same for the precision-recall curve.

    Examples
    --------
    >>> from sklearn_ase.metrics import RocAuc
    >>> RocAuc()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """

    prefers_one = False

    name = "ROC AUC"

    def value_and_influence(
        self, positive: np.ndarray, weight: np.ndarray, group: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return roc_auc(positive, weight, group)


class AveragePrecision(BaseRanking):
    """Precision at each score, averaged with the recall that the score adds.

    The value is NaN without a positive.
    :func:`sklearn.metrics.average_precision_score` gives 0 there.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class. None means 1, or the greater of two classes. Given
        explicitly, it may be one of many classes, against the rest.

    See Also
    --------
    RocAuc : The same for the ROC curve.

    Examples
    --------
    >>> from sklearn_ase.metrics import AveragePrecision
    >>> round(AveragePrecision()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 3)
    0.833
    """

    def value_and_influence(
        self, positive: np.ndarray, weight: np.ndarray, group: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return average_precision(positive, weight, group)


def ranking_scores(metric, responses, classes):
    """Scores of the positive class by several models, equal where models rank alike."""
    first, found = {}, []
    for response in responses:
        ranking = metric.on_pool(response, classes)
        score = response if response.ndim == 1 else response[:, ranking.column]
        found.append(first.setdefault(ranking.group.tobytes(), score))
    return found
