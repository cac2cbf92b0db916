"""Calibration of a surrogate: "auto", None or an object."""

import pytest
from helpers.flowers import FLOWERS, FixedMembers, X, Y
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    GaussianStack,
    LogLinearStack,
    RegressorSurrogate,
)


@pytest.mark.parametrize(
    ("surrogate", "calibration"),
    [
        (ClassifierSurrogate(RandomForestClassifier()), LogLinearStack),
        (ClassifierSurrogate(GaussianNB()), LogLinearStack),
        (ClassifierSurrogate(FixedMembers()), type(None)),
        (RegressorSurrogate(BayesianRidge()), GaussianStack),
        (ClassifierSurrogate(GaussianNB(), calibration=None), type(None)),
        (RegressorSurrogate(BayesianRidge(), calibration=None), type(None)),
        (
            ClassifierSurrogate(FixedMembers(), calibration=LogLinearStack()),
            LogLinearStack,
        ),
    ],
    ids=repr,
)
def test_auto_is_the_default_calibration_and_none_is_no_calibration(
    surrogate, calibration
):
    y = Y.astype(float) if surrogate.task == "regression" else FLOWERS
    surrogate.fit(X, y)
    assert isinstance(surrogate.calibration_, calibration)
    assert surrogate.is_calibrated == (calibration is not type(None))
    assert surrogate.uses_estimator == surrogate.is_calibrated


@pytest.mark.parametrize("kind", [ClassifierSurrogate, RegressorSurrogate])
@pytest.mark.parametrize("calibration", [False, True, "sigmoid"])
def test_false_is_not_a_calibration(kind, calibration):
    surrogate = kind(RandomForestClassifier(5), calibration=calibration)
    with pytest.raises(TypeError, match="None for no calibration"):
        surrogate.fit(X, Y)
