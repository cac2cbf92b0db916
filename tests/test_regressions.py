"""Bugs that were found once must not come back."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import LossTable
from sklearn_ase.risk import ASE
from sklearn_ase.surrogate import ClassifierSurrogate
from sklearn_ase.testing import make_state


def test_training_columns_in_another_order_are_put_in_the_pools_order():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = (frame["a"] > 0).to_numpy().astype(int)
    train, pool = frame[:200], frame[200:]
    evaluator = ActiveRiskEstimator(
        lambda X: (X["a"] > 0).to_numpy().astype(int),
        surrogate=RandomForestClassifier(10),
        loss="zero_one",
        n_labels=5,
        random_state=0,
    )
    risks = [
        evaluator.fit(pool, y[200:], X_train=train[order], y_train=y[:200]).risk_.value
        for order in (["a", "b"], ["b", "a"])
    ]
    assert risks[0] == risks[1]


def test_open_queries_do_not_overspend_the_budget(digits, evaluator):
    evaluation = evaluator.start(digits.X)
    evaluation.ask(60)
    evaluator.fit(digits.X, digits.y, ledger=evaluation.ledger)
    assert len(evaluator.ledger_) == 12


def test_a_loss_that_every_label_costs_alike_has_no_spread():
    rng = np.random.default_rng(0)
    members = np.eye(3)[rng.integers(3, size=(5, 20))]
    loss = LossTable(np.ones((20, 3)), np.arange(3))
    belief = CategoricalBelief.from_members(members, loss, rng.dirichlet([1, 1, 1], 20))
    np.testing.assert_allclose(belief.member_loss, 1.0)


def test_observed_losses_of_the_whole_pool_leave_no_spread():
    state = make_state("regression", 8, 8)
    estimate = ASE(use_observed=True).estimate(state)
    assert estimate.value == pytest.approx(state.losses.mean())
    assert estimate.member_spread == 0


def test_columns_of_a_frame_of_predictions_are_read_by_label(digits, evaluator):
    proba = digits.model.predict_proba(digits.X)
    shuffled = pd.DataFrame(proba, columns=range(4))[[3, 1, 0, 2]]
    evaluator.set_params(estimator=None)
    risks = [
        evaluator.fit(digits.X, digits.y, predictions=given).risk_.value
        for given in (pd.DataFrame(proba, columns=range(4)), shuffled)
    ]
    assert risks[0] == pytest.approx(risks[1])


def test_labels_of_a_function_on_another_pool_keep_their_names(digits, evaluator):
    evaluator.set_params(estimator=lambda X: digits.model.predict(X), loss="zero_one")
    evaluator.fit(digits.X, digits.y)
    rows = digits.model.predict(digits.X) == 3
    expected = evaluator.predict(digits.X)[rows]
    np.testing.assert_allclose(evaluator.predict(digits.X[rows]), expected)


class Backwards(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose classes are not sorted."""

    classes_ = np.array([2, 0, 3, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.tile([0.4, 0.3, 0.2, 0.1], (len(X), 1))


def test_a_frozen_surrogate_with_unsorted_classes_is_aligned_by_label(digits):
    surrogate = ClassifierSurrogate(FrozenEstimator(Backwards()))
    surrogate.fit(digits.X[:0], digits.y[:0], classes=np.arange(4))
    np.testing.assert_allclose(
        surrogate.predict_proba(digits.X)[0], [0.3, 0.1, 0.4, 0.2]
    )


def test_a_model_with_a_frozen_part_has_no_out_of_fold_predictions(digits, evaluator):
    inner = FrozenEstimator(
        RandomForestClassifier(5).fit(digits.X_train, digits.y_train)
    )
    model = CalibratedClassifierCV(inner).fit(digits.X_train, digits.y_train)
    evaluator.set_params(estimator=FrozenEstimator(model))
    evaluation = evaluator.start(
        digits.X, X_train=digits.X_train, y_train=digits.y_train
    )
    assert evaluation.problem.train_predictions is None


def test_out_of_fold_predictions_can_be_given(digits, evaluator):
    own = digits.model.predict_proba(digits.X_train)
    evaluation = evaluator.set_params(classes=range(4)).start(
        digits.X,
        X_train=digits.X_train,
        y_train=digits.y_train,
        train_predictions=own,
    )
    np.testing.assert_array_equal(evaluation.problem.train_predictions.expert, own)


def test_noise_of_a_regression_is_known_before_the_first_label(diabetes):
    evaluator = ActiveRiskEstimator(
        surrogate=RandomForestRegressor(20), loss="squared_error", random_state=0
    )
    evaluation = evaluator.start(
        diabetes.X,
        X_train=diabetes.X_train,
        y_train=diabetes.y_train,
        predictions=diabetes.model.predict(diabetes.X),
    )
    truth = np.mean((diabetes.model.predict(diabetes.X) - diabetes.y) ** 2)
    assert float(evaluation.estimate(ASE())) == pytest.approx(truth, rel=0.3)


def test_bagging_that_refuses_one_class_waits_for_the_second(digits, evaluator):
    evaluator.set_params(surrogate=BaggingClassifier(LogisticRegression()), n_labels=6)
    first = np.argsort(digits.y, kind="stable")
    evaluator.fit(digits.X[first[:20]], digits.y[first[:20]])
    assert np.isfinite(float(evaluator.risk_))


def test_a_failing_refit_loses_no_entry_of_the_history(digits, evaluator):
    class Fragile(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            if len(y) > 5:
                raise RuntimeError("out of memory")
            return super().fit(X, y, sample_weight)

    evaluation = evaluator.set_params(surrogate=Fragile(), refit=1).start(digits.X)
    for _ in range(5):
        query = evaluation.ask()
        evaluation.tell(query, digits.y[query.indices])
    query = evaluation.ask()
    with pytest.raises(RuntimeError):
        evaluation.tell(query, digits.y[query.indices])
    assert len(evaluation.ledger) == len(evaluation.history["index"]) == 6


def test_the_model_that_took_part_in_calibration_cannot_be_left_out(digits):
    surrogate = ClassifierSurrogate(RandomForestClassifier(5))
    proba = digits.model.predict_proba(digits.X)
    surrogate.fit(digits.X, digits.y, expert=proba)
    with pytest.raises(ValueError, match="Pass expert="):
        surrogate.predict_proba(digits.X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cv": 1}, "cv=1"),
        ({"surrogate": ClassifierSurrogate(prior_mass=-1)}, "prior_mass=-1"),
        (
            {
                "estimator": lambda X: X[:, 0],
                "surrogate": ClassifierSurrogate(GaussianNB()),
                "loss": "squared_error",
            },
            "not made for it",
        ),
    ],
)
def test_parameters_that_cannot_work_are_refused(
    digits, evaluator, parameters, message
):
    evaluator.set_params(**parameters)
    training = {"X_train": digits.X_train, "y_train": digits.y_train}
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X, lambda indices: pytest.fail("a label"), **training)


def test_the_only_row_of_a_class_is_never_held_out(digits, evaluator):
    y_train = np.where(np.arange(80) == 5, 1, 0)
    model = LogisticRegression(max_iter=1000).fit(digits.X_train, y_train)
    evaluator.set_params(estimator=FrozenEstimator(model), surrogate=GaussianNB())
    evaluation = evaluator.start(digits.X, X_train=digits.X_train, y_train=y_train)
    out_of_fold = evaluation.problem.train_predictions.expert
    assert np.flatnonzero(np.isnan(out_of_fold).any(axis=1)).tolist() == [5]


class WithEveryColumn(ClassifierMixin, BaseEstimator):
    """A classifier with columns for classes that it has seen no row of."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = np.arange(4)
        return self

    def predict_proba(self, X):
        proba = np.full((len(X), 4), 1e-6)
        proba[:, self.inner_.classes_] += self.inner_.predict_proba(X)
        return proba / proba.sum(axis=1, keepdims=True)


def test_a_column_does_not_mean_that_the_model_knows_the_class(digits):
    """It has not seen threes, so the surrogate must not learn them from it."""
    kept = digits.y_train != 3
    rows = {"X_train": digits.X_train[kept], "y_train": digits.y_train[kept]}
    model = WithEveryColumn().fit(rows["X_train"], rows["y_train"])
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), random_state=0)
    problem = evaluator.start(digits.X, **rows).problem
    assert_array_equal(problem.model_classes(np.arange(4)), np.arange(4) != 3)
    problem = evaluator.start(digits.X).problem  # Its training rows are unknown.
    assert problem.model_classes(np.arange(4)).all()
    evaluator.set_params(estimator=model.inner_.fit(digits.X, digits.y))
    problem = evaluator.start(digits.X, **rows).problem  # It expects threes somewhere.
    assert problem.model_classes(np.arange(4)).all()
