"""Parts by others: each works in a whole fit, or the error names the cure.

They are written as naively as a reader of the guide would write them.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BALD, BaseAcquisition, Mixture
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import BaseLoss, CustomLoss
from sklearn_ase.risk import ASE, LURE, BaseRisk, Estimate
from sklearn_ase.selection import ArgMax, BaseSelection, UniformMixed
from sklearn_ase.stopping import BaseStop
from sklearn_ase.surrogate import BaseSurrogate
from sklearn_ase.testing import (
    check_acquisition,
    check_loss,
    check_risk,
    check_selection,
    check_stopping,
    check_surrogate,
)

N_LABELS = 12


@pytest.fixture
def fit(digits):
    """Fit an evaluator of a classifier with some parameters."""

    def run(y=digits.y, with_training=True, **parameters):
        defaults = {"surrogate": RandomForestClassifier(10), "n_labels": N_LABELS}
        evaluator = ActiveRiskEstimator(
            digits.model, random_state=0, **(defaults | parameters)
        )
        rows = {"X_train": digits.X_train, "y_train": digits.y_train}
        return evaluator.fit(digits.X, y, **(rows if with_training else {}))

    return run


@pytest.fixture
def fit_regression(diabetes):
    """Fit an evaluator of a regressor with a loss."""

    def run(loss, y=diabetes.y):
        evaluator = ActiveRiskEstimator(
            diabetes.model,
            surrogate=RandomForestRegressor(10),
            loss=loss,
            n_labels=N_LABELS,
            random_state=0,
        )
        rows = {"X_train": diabetes.X_train, "y_train": diabetes.y_train}
        return evaluator.fit(diabetes.X, y, **rows)

    return run


def no_label(indices):
    """An oracle that must not be asked."""
    pytest.fail("A label was bought before the error.")


def assert_has_estimate(evaluator, n_labels=N_LABELS):
    assert len(evaluator.ledger_) == n_labels
    assert np.isfinite(evaluator.risk_.value)


# Acquisitions.


class Doubt(BaseAcquisition):
    def score_samples(self, state):
        return 1.0 - state.belief.proba.max(axis=1)


class AwayFromLosses(BaseAcquisition):
    """Uses the labels."""

    def score_samples(self, state):
        seen = state.losses.max() if state.n_labels else 0.0
        return np.abs(state.expected_loss - seen)


class Duck:
    """An acquisition without the base class."""

    def score_samples(self, state):
        return state.expected_loss


class DuckWithFlags(BaseEstimator, Duck):
    """The same with all that the package reads."""

    is_uniform = False
    needs_member_loss = False

    def validate(self):
        pass


def test_an_acquisition_needs_one_method(fit):
    check_acquisition(Doubt(), tasks=["classification"])
    assert_has_estimate(fit(acquisition=Doubt()))


@pytest.mark.parametrize("parameters", [{"risk": LURE()}, {"selection": ArgMax()}])
def test_an_acquisition_by_others_works_with_all_other_parts(fit, parameters):
    assert_has_estimate(fit(acquisition=Doubt(), **parameters))


def test_scores_are_computed_after_every_label(fit):
    seen = []

    class Recording(AwayFromLosses):
        def score_samples(self, state):
            seen.append(state.n_labels)
            return super().score_samples(state)

    fit(acquisition=Recording(), refit=[N_LABELS])
    assert seen == list(range(N_LABELS))


def test_an_acquisition_without_base_class_is_refused_before_a_label(fit):
    with pytest.raises(TypeError, match=r"BaseAcquisition.*It lacks is_uniform"):
        fit(no_label, acquisition=Duck())
    with pytest.raises(TypeError, match=r"of Mixture must be.*BaseAcquisition"):
        fit(no_label, acquisition=Mixture([BALD(), Duck()]))
    with pytest.raises(TypeError, match="BaseAcquisition"):
        fit(no_label, acquisition=Doubt)


def test_an_acquisition_with_all_attributes_works_without_base_class(fit):
    assert_has_estimate(fit(acquisition=DuckWithFlags()))


# Risk estimators.


class Halfway(BaseRisk):
    """Halfway between what the surrogate expects and the mean of the labels."""

    needs_belief = True

    def estimate(self, state):
        value = 0.5 * (state.expected_loss.mean() + state.losses.mean())
        return Estimate(value, np.nan, state.n_labels)


class MeanOfLabels(BaseRisk):
    """The obvious estimate, with its standard error."""

    def estimate(self, state):
        spread = np.std(state.losses) / np.sqrt(state.n_labels)
        return Estimate(np.mean(state.losses), spread, state.n_labels)


@pytest.mark.parametrize("risk", [Halfway(), MeanOfLabels()], ids=repr)
def test_a_risk_needs_one_method(fit, risk):
    check_risk(risk)
    evaluator = fit(risk=risk)
    assert_has_estimate(evaluator)
    assert evaluator.history_["risk"][-1] == evaluator.risk_.value


def test_an_estimate_without_standard_error_has_no_interval(fit):
    assert fit(risk=Halfway()).risk_.interval(0.9) == (-np.inf, np.inf)


@pytest.mark.parametrize("risk", [Halfway(), MeanOfLabels()], ids=repr)
def test_a_risk_works_before_the_first_fit_of_the_surrogate(fit, risk):
    assert_has_estimate(fit(risk=risk, with_training=False))


# Selections.


class ByRank(BaseSelection):
    def distribution(self, scores):
        ranks = np.argsort(np.argsort(scores)) + 1.0
        return ranks / ranks.sum()


class DuckSelection:
    """A selection without the base class."""

    def distribution(self, scores):
        return np.full(len(scores), 1.0 / len(scores))


@pytest.mark.parametrize("parameters", [{}, {"risk": LURE()}, {"batch_size": 5}])
def test_a_selection_needs_one_method(fit, parameters):
    check_selection(ByRank())
    assert_has_estimate(fit(selection=ByRank(), **parameters))


def test_a_selection_can_be_mixed_with_uniform_picks(fit):
    assert_has_estimate(fit(selection=UniformMixed(ByRank())))


def test_a_selection_without_base_class_is_refused_before_a_label(fit):
    with pytest.raises(TypeError, match=r"BaseSelection.*It lacks pick"):
        fit(no_label, selection=DuckSelection())
    for inner in (DuckSelection(), ArgMax):
        with pytest.raises(TypeError, match=r"UniformMixed must be .*BaseSelection"):
            fit(no_label, selection=UniformMixed(inner, uniform_share=0.0))


# Stopping rules.


class Below(BaseStop):
    """The obvious rule."""

    def __init__(self, value):
        self.value = value

    def reason(self, estimates):
        last = estimates[-1].value
        return f"The risk is below {self.value}." if last < self.value else ""


class DuckStop:
    """A rule without the base class."""

    def reason(self, estimates):
        return ""


@pytest.mark.parametrize("value", [0.0, np.inf])
@pytest.mark.parametrize("with_training", [True, False])
def test_a_stopping_rule_needs_one_method(fit, value, with_training):
    check_stopping(Below(value))
    evaluator = fit(stop=Below(value), with_training=with_training)
    assert (evaluator.stop_reason_ == f"The risk is below {value}.") == (value > 0)


def test_a_stopping_rule_never_sees_labels_without_an_estimate(fit):
    seen = []

    class Recording(Below):
        def reason(self, estimates):
            seen.append(list(estimates))
            return super().reason(estimates)

    # Before the first fit of the surrogate, ASE has no estimate.
    evaluator = fit(
        stop=Recording(0.0), selection=ArgMax(), risk=ASE(), with_training=False
    )
    assert_has_estimate(evaluator)
    assert np.isnan(evaluator.history_["risk"][0])
    assert seen
    assert all(estimates and None not in estimates for estimates in seen)


def test_a_stopping_rule_can_be_asked_by_hand_before_the_first_label(evaluator, digits):
    evaluation = evaluator.start(digits.X)
    assert evaluation.stop_reason(Below(0.1)) == ""


def test_a_stopping_rule_without_base_class_is_refused_before_a_label(fit):
    with pytest.raises(TypeError, match=r"BaseStop.*It lacks .*validate"):
        fit(no_label, stop=DuckStop())


def test_parameters_of_a_rule_are_checked_before_a_label(fit):
    class Checked(Below):
        def validate(self):
            if not self.value > 0:
                raise ValueError(f"value={self.value} must be greater than 0.")

    with pytest.raises(ValueError, match="value=-1 must be greater than 0"):
        fit(no_label, stop=Checked(-1))


# Classification losses.


def far_off(y_true, y_pred):
    """How far the predicted digit is from the true one."""
    return np.abs(y_true - y_pred)


class FarOff(BaseLoss):
    task = "classification"

    def __call__(self, y_true, y_pred):
        return np.abs(y_true - y_pred)


class NotSure(BaseLoss):
    """A loss of probabilities."""

    task = "classification"
    response_method = "predict_proba"

    def __call__(self, y_true, y_pred):
        return 1.0 - y_pred[np.arange(len(y_true)), y_true]


@pytest.mark.parametrize("loss", [far_off, FarOff(), NotSure()])
def test_a_classification_loss_is_a_function_or_one_method(fit, loss):
    check_loss(loss, task="classification")
    assert_has_estimate(fit(loss=loss))


def test_function_and_class_give_the_same_estimate(fit):
    assert fit(loss=far_off).risk_ == fit(loss=FarOff()).risk_


# Regression losses.


def huber(y_true, y_pred):
    error = np.abs(y_true - y_pred)
    return np.where(error < 50, 0.5 * error**2, 50 * (error - 25))


class Huber(BaseLoss):
    task = "regression"

    def __init__(self, delta=50.0):
        self.delta = delta

    def __call__(self, y_true, y_pred):
        error = np.abs(y_true - y_pred)
        linear = self.delta * (error - 0.5 * self.delta)
        return np.where(error < self.delta, 0.5 * error**2, linear)


class ForgotTask(BaseLoss):
    """Without a task: model and surrogate say what it is."""

    def __call__(self, y_true, y_pred):
        return huber(y_true, y_pred)


class DuckLoss:
    """A loss without the base class."""

    task = "regression"
    response_method = "predict"

    def __call__(self, y_true, y_pred):
        return huber(y_true, y_pred)

    def build(self, prediction, classes=None):
        return CustomLoss(self, task="regression").build(prediction)


@pytest.mark.parametrize("loss", [huber, Huber(), Huber(1.0), ForgotTask()])
def test_a_regression_loss_is_a_function_or_one_method(fit_regression, loss):
    check_loss(loss, task="regression")
    assert_has_estimate(fit_regression(loss))


def test_a_regression_loss_is_the_same_as_function_and_as_class(fit_regression):
    values = [fit_regression(loss).risk_.value for loss in (huber, ForgotTask())]
    assert values[0] == values[1]
    assert fit_regression(Huber()).risk_.value == pytest.approx(values[0], rel=1e-9)


def test_a_loss_without_base_class_is_refused_before_a_label(fit_regression):
    with pytest.raises(TypeError, match=r"DuckLoss has a method build.*BaseLoss"):
        fit_regression(DuckLoss(), no_label)
    with pytest.raises(TypeError, match=r"Huber is a class\. Give an instance"):
        fit_regression(Huber, no_label)


# Surrogates.


class Smoothings(ClassifierMixin, BaseEstimator):
    """A classifier with members: the same model with different smoothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.members_ = [GaussianNB(var_smoothing=s).fit(X, y) for s in (1e-3, 0.1, 1)]
        return self

    def predict_proba_members(self, X):
        return np.stack([member.predict_proba(X) for member in self.members_])


class Frequencies(BaseSurrogate):
    """Believes in the frequencies of the classes."""

    task = "classification"

    def fit(self, X, y, *, classes=None, seed=0, **_):
        counts = (np.asarray(y)[:, None] == classes).sum(axis=0) + 1.0
        self.proba_ = counts / counts.sum()
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        members = np.tile(self.proba_, (1, len(X), 1))
        return CategoricalBelief.from_members(members, loss)


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("surrogate", [Smoothings(), Frequencies()], ids=repr)
@pytest.mark.parametrize("with_training", [True, False])
def test_a_surrogate_by_others_works(fit, surrogate, with_training):
    check_surrogate(surrogate)
    assert_has_estimate(fit(surrogate=surrogate, with_training=with_training))
