"""Every metric passes the public check, and the check finds what is wrong."""

import numpy as np
import pytest
from helpers.names import plain_repr

from sklearn_ase.metrics import (
    AveragePrecision,
    BalancedAccuracy,
    BaseMetric,
    ConfusionMetric,
    FBeta,
    Jaccard,
    LabelMean,
    LabelShare,
    Precision,
    Recall,
    RocAuc,
    Specificity,
    as_metric,
    metric_names,
)
from sklearn_ase.testing import check_metric

ONE_CLASS = {"precision", "recall", "f1", "jaccard", "specificity"}
ONE_CLASS |= {"roc_auc", "average_precision"}


def odds(matrix):
    return matrix[0, 0] * matrix[1, 1] / (matrix[0, 1] + 0.1)


@pytest.mark.parametrize("name", metric_names())
def test_every_name_passes(name):
    check_metric(name)


@pytest.mark.parametrize("name", sorted(set(metric_names()) - ONE_CLASS))
def test_every_metric_of_classes_passes_for_four_of_them(name):
    if as_metric(name).task == "classification":
        check_metric(name, classes=["ant", "bee", "cat", "dog"])


@pytest.mark.parametrize(
    "kind",
    [Precision, Recall, Specificity, FBeta, Jaccard, RocAuc, AveragePrecision],
)
def test_every_metric_of_one_class_passes_against_three(kind):
    check_metric(kind(pos_label="bee"), classes=["ant", "bee", "cat", "dog"])


@pytest.mark.parametrize(
    "metric",
    [
        LabelShare(1),
        LabelShare(1, half=0),
        LabelMean(),
        BalancedAccuracy(adjusted=True),
        FBeta(beta=2.0, average="macro"),
        ConfusionMetric(odds),
    ],
    ids=plain_repr,
)
def test_metrics_without_a_name_pass(metric):
    check_metric(metric)


class Share(BaseMetric):
    """Share of right predictions; the ground of the wrong ones below."""

    task = "classification"
    bounds = (0.0, 1.0)

    def row_values(self, y_true, y_pred):
        return (y_true == y_pred)[:, None]

    def value(self, means):
        return means[0]


class Flat(Share):
    def row_values(self, y_true, y_pred):
        return y_true == y_pred


class NotFinite(Share):
    def row_values(self, y_true, y_pred):
        return np.full((len(y_true), 1), np.nan)


class Ranked(Share):
    def row_values(self, y_true, y_pred):
        return np.argsort(y_true)[:, None] / len(y_true)


class WrongSlope(Share):
    def gradient(self, means):
        return np.array([2.0])


class ShortSlope(Share):
    def gradient(self, means):
        return np.zeros(2)


class WrongPool(Share):
    def on_pool(self, prediction, classes=None, weight=None, n_samples=None):
        return super().on_pool(np.full(len(prediction), classes[0]), classes, weight)


class NoWeights(Share):
    def on_pool(self, prediction, classes=None, weight=None, n_samples=None):
        return super().on_pool(prediction, classes)


class TooNarrow(Share):
    bounds = (0.9, 1.0)


class NoTask(Share):
    task = None


class Undefined(Share):
    def value(self, means):
        return np.nan


class WrongCall(Share):
    def __call__(self, y_true, y_pred):
        return 0.1


class Changed(Share):
    def __init__(self, cut=0.5):
        self.cut = 2 * cut


def test_an_own_metric_passes():
    check_metric(Share())
    check_metric(NoTask(), task="classification", classes=["a", "b", "c"])


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Flat(), r"shape \(n_rows, n_means\), here \(60, n_means\), .* \(60,\)"),
        (NotFinite(), "row_values must return finite numbers"),
        (Ranked(), "must not depend on other rows"),
        (WrongSlope(), "gradient must agree with finite differences"),
        (ShortSlope(), r"gradient must be of the shape of the means, \(1,\), but"),
        (WrongPool(), "must agree with a direct call"),
        (NoWeights(), "a weight of 2 must count as a row given twice"),
        (TooNarrow(), "lies outside the bounds"),
        (NoTask(), "the task is not known"),
        (Undefined(), "value must return one finite number"),
        (WrongCall(), "a call must give the value of the means"),
        (Changed(), "clone and pickle must"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_check_finds_what_is_wrong(metric, message):
    with pytest.raises(AssertionError, match=message):
        check_metric(metric)
