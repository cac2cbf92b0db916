"""Mistakes with metrics are refused in words that say what to do."""

import numpy as np
import pytest
from helpers.questions import TRAINING, X, Y, buy, start
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import BaseMetric, ConfusionMetric, FBeta, Recall


class Hits(BaseMetric):
    """Share of hits, or what is made of it."""

    task = "classification"

    def __init__(self, answer=None, slope=None, bounds=(0.0, 1.0), scale="linear"):
        self.answer, self.slope = answer, slope
        self.bounds, self.scale = bounds, scale

    def row_values(self, y_true, y_pred):
        return (y_true == y_pred)[:, None].astype(float)

    def value(self, means):
        return means[0] if self.answer is None else self.answer

    def gradient(self, means):
        return np.ones(1) if self.slope is None else self.slope


@pytest.fixture(scope="module")
def evaluation():
    return buy(start(loss="zero_one"), 40, batch_size=40)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Hits(answer=np.ones(2)), r"Hits\.value must return one number, but returned"),
        (Hits(answer="much"), r"Hits\.value must return one number, but returned"),
        (Hits(slope=np.ones(3)), r"Hits\.gradient must return one number per mean"),
        (Hits(scale="logit"), r"Hits\.scale='logit'"),
        (Hits(bounds=(0.0, 0.1)), "its bounds are 0 and 0.1. Set its bounds"),
        (ConfusionMetric(lambda m: 5 * m[0, 0], (0, 0.01)), "Set its bounds to the"),
        (FBeta(pos_label=1, average="macro"), "pos_label=1 names one class, but"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_metric_that_cannot_be_right_is_refused(evaluation, metric, message):
    with pytest.raises(ValueError, match=message):
        evaluation.estimate(metric=metric)


def test_an_own_metric_with_right_bounds_is_the_accuracy(evaluation):
    found, same = (evaluation.estimate(metric=m) for m in (Hits(), "f1_micro"))
    assert found.interval() == pytest.approx(same.interval())


@pytest.mark.parametrize("metric", ["r2", "neg_mean_squared_error"])
def test_a_metric_of_numbers_is_refused_for_a_classifier(metric):
    model = FrozenEstimator(LogisticRegression().fit(*TRAINING.values()))
    evaluator = ActiveRiskEstimator(model, metric=metric)
    with pytest.raises(ValueError, match="the estimator is a classifier"):
        evaluator.start(X, **TRAINING)


@pytest.mark.parametrize(
    ("given", "message"),
    [(X[:, 0] > 0, "mask of rows as where="), (Recall(), r"as metric=Recall\(\)")],
)
def test_a_question_by_position_is_refused(evaluation, given, message):
    with pytest.raises(TypeError, match=message):
        evaluation.estimate(given)


def test_a_direct_call_needs_rows_of_one_length():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Recall()(Y, Y[1:])
    with pytest.raises(ValueError, match="y_true is empty"):
        Recall()([], [])


def test_wrong_bounds_are_refused_before_a_label_is_read():
    model = FrozenEstimator(LogisticRegression().fit(*TRAINING.values()))
    evaluator = ActiveRiskEstimator(model, metric=Hits(bounds=(0.0, 0.1)), n_labels=9)
    with pytest.raises(ValueError, match="Set its bounds to the least"):
        evaluator.fit(X, lambda rows: pytest.fail("a label was read"), **TRAINING)
