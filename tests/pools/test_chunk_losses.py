"""Losses with a value for each of many classes, about a pool that is read in chunks."""

import pickle

import numpy as np
import pytest
from helpers.chunks import (
    N_POOL,
    N_TRAINING,
    STORES,
    WEIGHT,
    assert_same,
    classes,
    label,
    labelled,
    start,
)

from sklearn_ase.acquisition import LossSpread
from sklearn_ase.losses import BaseLoss
from sklearn_ase.metrics import MeanLoss

pytestmark = pytest.mark.usefixtures("small_chunks")


class Cost(BaseLoss):
    """The cost of each mistake, in a matrix that is too long for a text."""

    task = "classification"

    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, y_true, y_pred):
        return self.matrix[y_true, y_pred]


def _two_costs():
    """Costs that differ in the middle of the matrix, where a text has dots."""
    one = 1.0 - np.eye(60)
    other = np.array(one)
    other[3:5, 3:5] *= 9.0
    return Cost(one), Cost(other)


def test_losses_whose_texts_are_the_same_have_answers_of_their_own():
    costs, data = _two_costs(), classes(5)
    assert repr(costs[0]) == repr(costs[1])
    chunks, tables = (labelled(data, store, 12) for store in STORES)
    answers = [
        [run.estimate(metric=MeanLoss(cost)) for cost in costs]
        for run in (chunks, tables)
    ]
    for found, wanted in zip(*answers, strict=True):
        assert_same(found, wanted)
    assert answers[0][1].value > answers[0][0].value


@pytest.mark.parametrize("store", STORES)
def test_the_loss_of_the_evaluation_is_not_taken_for_one_with_the_same_text(store):
    first, second = _two_costs()
    data = classes(5)
    run = labelled(data, store, 12, loss=first)
    other = run.estimate(metric=MeanLoss(second))
    assert other.value > run.estimate(metric=MeanLoss(first)).value
    assert run.estimate(metric=MeanLoss(first)).value == run.estimate().value


@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_given_probabilities_of_many_classes_are_asked_about(metric):
    X, y, model = classes(5)
    proba = model.fit(X[:N_TRAINING], y[:N_TRAINING]).predict_proba(X[N_TRAINING:])
    answers = []
    for store in STORES:
        given, how = {"predictions": proba}, {"loss": "zero_one", "classes": range(5)}
        run = start((X, y, model), store, given, **how)
        label(run, y, 10)
        answers.append(run.estimate(metric=metric))
    assert_same(*answers)


def test_groups_by_a_loss_of_many_classes_say_what_to_do():
    run = labelled(classes(8), "chunks", 6)
    with pytest.raises(ValueError, match=r"comparison by.*8 classes.*store='tables'"):
        run.compare_groups(np.arange(N_POOL) % 2, metric="log_loss")


def test_an_evaluation_by_a_loss_of_many_classes_can_be_pickled():
    data, how = classes(5), {"acquisition": LossSpread()}
    run = start(data, "chunks", {"sample_weight": WEIGHT}, **how)
    label(run, data[1], 6)
    again = pickle.loads(pickle.dumps(run))
    for each in (run, again):
        label(each, data[1], 2)
    assert_same(again.estimate(), run.estimate())
