"""Wrong parameters and wrong strategies are refused at the start, with a cure."""

import numpy as np
import pytest
from helpers.iris_campaign import X, Y, make_evaluator

from sklearn_ase.acquisition import Mixture
from sklearn_ase.losses import BaseLoss
from sklearn_ase.risk import BaseRisk, GuardedASE
from sklearn_ase.selection import BaseSelection, Proportional, UniformMixed
from sklearn_ase.stopping import BaseStop


def no_label(rows):
    raise AssertionError("A label was bought.")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"risk": GuardedASE(worth=-1)}, "worth=-1 must be a number >= 0"),
        ({"risk": GuardedASE(worth="many")}, "worth='many' must be a number >= 0"),
        ({"selection": Proportional(2)}, "uniform_share=2 must lie between 0 and 1"),
        (
            {"selection": Proportional("a")},
            "uniform_share='a' must lie between",
        ),
        ({"selection": UniformMixed(uniform_share=-1)}, "must lie between 0 and 1"),
        ({"acquisition": Mixture(shares=[1, 2, 3])}, "must be 2 non-negative numbers"),
    ],
)
def test_wrong_parameters_are_refused_before_a_label(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_evaluator(**parameters).fit(X, no_label)


class OwnTable(BaseLoss):
    """Its build returns something that the package cannot use."""

    task = "classification"

    def __call__(self, y_true, y_pred):
        return (y_true != y_pred).astype(float)

    def build(self, prediction, classes=None):
        return np.zeros((len(prediction), 3))


def test_a_loss_that_builds_something_else_is_refused_before_a_label():
    with pytest.raises(TypeError, match=r"OwnTable.build must return a LossTable"):
        make_evaluator(loss=OwnTable()).fit(X, no_label)


class PlainNumber(BaseRisk):
    def estimate(self, state):
        return 0.5


class Doubled(BaseSelection):
    def distribution(self, scores):
        return np.full(len(scores), 2.0 / len(scores))


class Truthy(BaseStop):
    def reason(self, estimates):
        return True


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"risk": PlainNumber()}, TypeError, "must return an Estimate"),
        ({"selection": Doubled()}, ValueError, "sum to 1"),
        ({"stop": Truthy()}, TypeError, "must return a str"),
    ],
)
def test_what_a_strategy_returns_is_checked(parameters, error, message):
    with pytest.raises(error, match=message):
        make_evaluator(**parameters).fit(X, Y)
