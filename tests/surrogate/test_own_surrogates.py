"""Surrogates by others: two methods and the class attribute `task`."""

import numpy as np
import pytest
from helpers.flowers import X
from sklearn.linear_model import BayesianRidge

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import LossSpread
from sklearn_ase.belief import CategoricalBelief, GaussianBelief
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.selection import ArgMax
from sklearn_ase.surrogate import BaseSurrogate, as_surrogate
from sklearn_ase.testing import check_surrogate


class ClassFrequencies(BaseSurrogate):
    """Believes in the class frequencies of the labelled rows."""

    task = "classification"

    def fit(self, X, y, *, classes=None, expert=None, model_classes=None, **_):
        counts = (y[:, None] == classes).sum(axis=0) + 1
        self.proba_ = counts / counts.sum()
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        member = np.tile(self.proba_, (1, len(X), 1))
        return CategoricalBelief.from_members(member, loss)


class MeanLabel(BaseSurrogate):
    """Believes in the mean and the variance of the labels so far."""

    task = "regression"

    def fit(self, X, y, *, classes=None, expert=None, model_classes=None, **_):
        self.mean_, self.variance_ = y.mean(), y.var() + 1e-9
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        mean, noise = np.full(len(X), self.mean_), np.full(len(X), self.variance_)
        return GaussianBelief(mean, np.zeros(len(X)), noise, member_risk=np.empty(0))


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("acquisition", [None, LossSpread()], ids=repr)
@pytest.mark.parametrize("with_training_rows", [True, False])
@pytest.mark.parametrize(
    ("surrogate", "name", "loss"),
    [
        (ClassFrequencies(), "digits", "log_loss"),
        (ClassFrequencies(), "digits", "zero_one"),
        (MeanLabel(), "diabetes", "squared_error"),
    ],
    ids=["log loss", "zero-one", "regression"],
)
def test_two_methods_make_a_surrogate(
    request, surrogate, name, loss, with_training_rows, acquisition
):
    data = request.getfixturevalue(name)
    training = {"X_train": data.X_train, "y_train": data.y_train}
    evaluator = ActiveRiskEstimator(
        data.model,
        surrogate=surrogate,
        loss=loss,
        acquisition=acquisition,
        n_labels=30,
        random_state=0,
    )
    evaluator.fit(data.X, data.y, **(training if with_training_rows else {}))
    assert evaluator.risk_.n_labels == 30
    assert np.isfinite(evaluator.risk_.value)
    expected = evaluator.predict(data.X)
    assert expected.shape == (120,)
    assert (expected >= 0).all()
    low, high = evaluator.evaluation_.estimate(CorrectedASE()).interval(0.99)
    losses = evaluator.evaluation_.state.loss.observed(np.arange(120), data.y)
    assert low <= losses.mean() <= high


@pytest.mark.parametrize("surrogate", [ClassFrequencies(), MeanLabel()], ids=repr)
def test_surrogates_by_others_pass_the_contract(surrogate):
    check_surrogate(surrogate, surrogate.task)


def test_defaults_describe_a_surrogate_that_does_not_use_the_model():
    surrogate = ClassFrequencies()
    assert surrogate.can_fit(5)
    assert not surrogate.can_fit(4)
    assert surrogate.held_out_loss(np.arange(3), None) is None
    for name in ("is_constant", "is_calibrated", "gives_members"):
        assert getattr(surrogate, name) is False
    for name in ("uses_estimator", "uses_out_of_fold"):
        assert getattr(surrogate, name) is False


class Listening(ClassFrequencies):
    """Keeps what it was told beside the labels."""

    def fit(self, X, y, *, classes=None, **other):
        self.told_ = other
        return super().fit(X, y, classes=classes)


def test_a_fit_that_takes_everything_hears_how_labels_were_chosen(digits):
    data = digits
    for selection, are_drawn in ((ArgMax(), False), (None, True)):
        evaluator = ActiveRiskEstimator(
            data.model, surrogate=Listening(), selection=selection, n_labels=8
        )
        evaluation = evaluator.fit(data.X, data.y).evaluation_
        assert evaluation.surrogate.told_["labels_are_drawn"] is are_drawn


def test_a_surrogate_by_others_is_not_wrapped():
    surrogate = ClassFrequencies()
    assert as_surrogate(surrogate, "classification", X) is surrogate


class WithoutTask(ClassFrequencies):
    task = None


class Duck:
    """Has the methods of a surrogate but not the base class."""

    fit, belief = ClassFrequencies.fit, ClassFrequencies.belief


@pytest.mark.parametrize(
    ("surrogate", "error", "message"),
    [
        (WithoutTask(), ValueError, "Set the class attribute task"),
        (MeanLabel(), ValueError, "MeanLabel is not made for it"),
        (Duck(), TypeError, "inherit from sklearn_ase.surrogate.BaseSurrogate"),
        (ClassFrequencies, TypeError, "is not an estimator with a fit method"),
        ("forest", TypeError, "is not an estimator with a fit method"),
        (BayesianRidge(), ValueError, "BayesianRidge is not made for it"),
    ],
)
def test_what_is_not_a_surrogate_for_the_task_is_refused(surrogate, error, message):
    with pytest.raises(error, match=message):
        as_surrogate(surrogate, "classification", X)
