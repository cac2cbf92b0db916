"""Names of metrics: from a name to a metric, and from a metric to a title."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sklearn_ase._utils._checks import check_choice, did_you_mean, is_number, shown
from sklearn_ase.losses import BaseLoss, LogLoss
from sklearn_ase.metrics._agreement import BalancedAccuracy, CohenKappa, Matthews
from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._counts import Accuracy
from sklearn_ase.metrics._numbers import (
    R2,
    ExplainedVariance,
    LabelShare,
    MeanLoss,
    RootMeanSquaredError,
)
from sklearn_ase.metrics._ranking import AveragePrecision, RocAuc
from sklearn_ase.metrics._ratios import FBeta, Jaccard, Precision, Recall, Specificity

# scikit-learn clips probabilities at the precision of a float64.
_SCORED_LOG_LOSS = LogLoss(eps=float(np.finfo(np.float64).eps))

METRICS: dict[str, Callable[[], BaseMetric]] = {
    "accuracy": Accuracy,
    "balanced_accuracy": BalancedAccuracy,
    "matthews_corrcoef": Matthews,
    "cohen_kappa": CohenKappa,
    "roc_auc": RocAuc,
    "average_precision": AveragePrecision,
    "neg_log_loss": partial(MeanLoss, _SCORED_LOG_LOSS, negative=True),
    "neg_brier_score": partial(MeanLoss, "brier", negative=True),
    "neg_mean_squared_error": partial(MeanLoss, "squared_error", negative=True),
    "neg_mean_absolute_error": partial(MeanLoss, "absolute_error", negative=True),
    "neg_root_mean_squared_error": partial(RootMeanSquaredError, negative=True),
    "r2": R2,
    "explained_variance": ExplainedVariance,
}
for _name, _kind in {
    "precision": Precision,
    "recall": Recall,
    "f1": FBeta,
    "jaccard": Jaccard,
    "specificity": Specificity,
}.items():
    METRICS[_name] = _kind
    for _average in ("macro", "micro", "weighted"):
        METRICS[f"{_name}_{_average}"] = partial(_kind, average=_average)
for _name in ("zero_one", "log_loss", "brier", "squared_error", "absolute_error"):
    METRICS[_name] = partial(MeanLoss, _name)
# Other names that people know them by.
_ALSO_CALLED = {
    "auprc": "average_precision",
    "auroc": "roc_auc",
    "error_rate": "zero_one",
    "kappa": "cohen_kappa",
    "mae": "neg_mean_absolute_error",
    "mcc": "matthews_corrcoef",
    "mse": "neg_mean_squared_error",
    "pr_auc": "average_precision",
    "rmse": "neg_root_mean_squared_error",
    "sensitivity": "recall",
}


def metric_names() -> list[str]:
    """Names that can be given in place of a metric.

    Returns
    -------
    names : list of str
        Sorted. Those of scikit-learn's scorers mean what they mean there.

    Examples
    --------
    >>> from sklearn_ase.metrics import metric_names
    >>> "roc_auc" in metric_names()
    True
    """
    return sorted(METRICS)


_SCALES = ("linear", "log", "log_complement", "atanh")


def as_metric(metric: str | BaseMetric | BaseLoss) -> BaseMetric:
    """Turn a name or a loss into a metric.

    Parameters
    ----------
    metric : str, BaseMetric or BaseLoss
        A name, see :func:`metric_names`; a metric; or a loss, for its mean.

    Returns
    -------
    metric : BaseMetric

    Examples
    --------
    >>> from sklearn_ase.metrics import as_metric
    >>> as_metric("f1_macro")
    FBeta(average='macro')
    """
    if isinstance(metric, str):
        if metric not in METRICS:
            raise ValueError(_unknown(metric))
        return METRICS[metric]()
    if isinstance(metric, type):
        raise TypeError(f"metric={metric.__name__} is a class. Give an instance of it.")
    if isinstance(metric, BaseMetric):
        return _checked(metric)
    if isinstance(metric, BaseLoss):
        return _checked(MeanLoss(metric))
    if hasattr(metric, "row_values"):
        raise TypeError(
            f"{type(metric).__name__} has a method row_values, but is not derived from "
            "sklearn_ase.metrics.BaseMetric. Derive it from BaseMetric, which needs "
            "two methods: row_values(y_true, y_pred) and value(means)."
        )
    if callable(metric):
        raise TypeError(
            f"metric={shown(metric)} is a function, which does not say what it is a "
            "function of. Give ConfusionMetric(function) for a function of the "
            "confusion matrix, MeanLoss(CustomLoss(function)) for the mean of a loss "
            f"(y_true, y_pred) -> one value per row, or one of {metric_names()}."
        )
    raise TypeError(
        f"metric must be one of {metric_names()}, or an instance of a metric of "
        f"sklearn_ase.metrics, got {shown(metric)}."
    )


def _unknown(name):
    return (
        f"{did_you_mean(name, metric_names(), _ALSO_CALLED)}metric={name!r} is not "
        f"known. Use one of {metric_names()}, or an "
        "instance of a metric of sklearn_ase.metrics."
    )


def _checked(metric):
    """A metric whose parameters and class attributes are valid."""
    name = type(metric).__name__
    metric.validate()
    tasks = (None, "classification", "regression")
    check_choice(metric.task, f"{name}.task", tasks)
    methods = (None, "predict", "predict_proba")
    check_choice(metric.response_method, f"{name}.response_method", methods)
    check_choice(metric.scale, f"{name}.scale", _SCALES)
    bounds = metric.bounds
    valid = isinstance(bounds, tuple | list) and len(bounds) == 2
    if not (valid and all(map(is_number, bounds)) and bounds[0] < bounds[1]):
        raise ValueError(
            f"{name}.bounds={shown(bounds)} must be two numbers, the least and the "
            "greatest value of the metric."
        )
    return metric


# Titles for people who read a result.


def title_of(metric: BaseMetric) -> str:
    """Return the name of a metric, with the label that it is about."""
    if isinstance(metric, LabelShare):
        return f"share of {metric.label}"
    about = getattr(metric, "pos_label", None)
    return metric.name if about is None else f"{metric.name} of {about}"
