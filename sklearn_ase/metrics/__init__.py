"""Metrics: what is reported of a model, from one set of labels.

A metric is a function of means over the pool, of values that each row has for each
label. Ranking metrics are so near a belief about the labels.
"""

from sklearn_ase.metrics._agreement import BalancedAccuracy, CohenKappa, Matthews
from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._counts import Accuracy, ConfusionMetric
from sklearn_ase.metrics._lookup import as_metric, metric_names
from sklearn_ase.metrics._numbers import (
    R2,
    ExplainedVariance,
    LabelMean,
    LabelScore,
    LabelShare,
    MeanLoss,
    RootMeanSquaredError,
)
from sklearn_ase.metrics._pool_metric import PoolMetric, PoolRanking
from sklearn_ase.metrics._ranking import AveragePrecision, RocAuc
from sklearn_ase.metrics._ratios import (
    ClassMean,
    FBeta,
    Jaccard,
    Precision,
    Recall,
    Specificity,
)
from sklearn_ase.metrics._row_values import RowValues

__all__ = [
    "R2",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "BaseMetric",
    "ClassMean",
    "CohenKappa",
    "ConfusionMetric",
    "ExplainedVariance",
    "FBeta",
    "Jaccard",
    "LabelMean",
    "LabelScore",
    "LabelShare",
    "Matthews",
    "MeanLoss",
    "PoolMetric",
    "PoolRanking",
    "Precision",
    "Recall",
    "RocAuc",
    "RootMeanSquaredError",
    "RowValues",
    "Specificity",
    "as_metric",
    "metric_names",
]
