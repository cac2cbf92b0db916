"""A journal keeps its loss: what it computes, not only how it is called."""

import numpy as np
import pytest
from helpers.journals import LABELS, POOL, PROBA, start_small
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import JournalError
from sklearn_ase.losses import BaseLoss, CustomLoss

VALUES = POOL[:, 0]


def start_values(path, loss, predictions=VALUES):
    """Start or resume a regression with a loss of one's own."""
    evaluator = ActiveRiskEstimator(surrogate=BayesianRidge(), loss=loss)
    return evaluator.start(POOL, predictions=predictions, journal=path)


def pinball(share):
    return CustomLoss(
        lambda y, f: np.maximum(share * (y - f), (share - 1) * (y - f)),
        task="regression",
    )


def huber(width):
    def loss(y_true, y_pred):
        error = np.abs(y_true - y_pred)
        return np.where(error < width, error**2 / 2, width * (error - width / 2))

    return CustomLoss(loss, task="regression")


def logarithmic(power):
    """Has no value for labels below 0."""
    return CustomLoss(
        lambda y, f: np.abs(np.log1p(y) - np.log1p(f)) ** power, task="regression"
    )


class Weighted(BaseLoss):
    """A weight that its name does not show."""

    task = "regression"

    def __init__(self, weight):
        self._weight = weight

    def get_params(self, deep=True):
        return {}

    def __call__(self, y_true, y_pred):
        return self._weight * np.abs(y_true - y_pred)


REGRESSION = {
    "pinball": (pinball(0.9), pinball(0.8)),
    "huber": (huber(1.0), huber(0.5)),
    "logarithmic": (logarithmic(1), logarithmic(2)),
    "an object": (Weighted(1.0), Weighted(1.01)),
}


@pytest.mark.parametrize("losses", REGRESSION.values(), ids=REGRESSION)
@pytest.mark.parametrize("predictions", [VALUES, np.full(30, 5.0), np.zeros(30)])
def test_another_loss_of_the_same_name_is_refused(path, losses, predictions):
    first, second = losses
    start_values(path, first, predictions).close()
    text = path.read_bytes()
    with pytest.raises(JournalError, match="the loss has the same name but other"):
        start_values(path, second, predictions)
    assert path.read_bytes() == text
    rounded = predictions.astype(np.float32).astype(float)
    start_values(path, first, rounded).close()


def cost_of_mistakes(costs):
    return lambda y_true, y_pred: costs[y_true, y_pred]


def test_a_table_that_differs_in_one_entry_is_another_loss(path):
    given = {"predictions": LABELS, "surrogate": GaussianNB()}
    costs = 1.0 - np.eye(3)
    start_small(path, loss=cost_of_mistakes(costs), **given).close()
    start_small(path, loss=cost_of_mistakes(costs.copy()), **given).close()
    costs[2, 1] = 1.1
    with pytest.raises(JournalError, match="the loss has the same name but other"):
        start_small(path, loss=cost_of_mistakes(costs), **given)


def test_losses_of_probabilities_are_compared_by_their_values(path):
    first, second = (
        CustomLoss(lambda y, p, a=a: 1 - p[np.arange(len(y)), y] ** a, "predict_proba")
        for a in (1, 2)
    )
    start_small(path, loss=first).close()
    with pytest.raises(JournalError, match="the loss"):
        start_small(path, loss=second)
    start_small(path, predictions=PROBA.astype(np.float32), loss=first).close()
