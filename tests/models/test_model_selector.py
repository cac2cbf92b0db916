"""The selector behaves like any other meta-estimator of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_digits, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator
from sklearn_ase.stopping import OneCandidate, RegretBelow, TargetWidth
from sklearn_ase.testing import check_stopping


def _row_means(X):
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    return np.nan_to_num(X).reshape(len(X), -1).mean(axis=1)


class Sign:
    """A function for rows of any width."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, X):
        return (self.factor * _row_means(X) > 0).astype(int)

    def __repr__(self):
        return f"Sign({self.factor})"


class Mean(Sign):
    """The same for regression."""

    def __call__(self, X):
        return self.factor * _row_means(X)

    def __repr__(self):
        return f"Mean({self.factor})"


class SignClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that needs no fit, with probabilities."""

    classes_ = np.array([0, 1])

    def __init__(self, sure=0.9):
        self.sure = sure

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        proba = np.where(_row_means(X) > 0, self.sure, 1 - self.sure)
        return np.column_stack([1 - proba, proba])

    def __sklearn_is_fitted__(self):
        return True


def _small(kind, values, **params):
    pairs = [(f"m{place}", kind(value)) for place, value in enumerate(values)]
    return ActiveModelSelector(pairs, n_labels=6, random_state=0, **params)


def _frozen(sure):
    return FrozenEstimator(SignClassifier(sure))


@pytest.mark.filterwarnings("ignore:The labels")
@parametrize_with_checks(
    [
        _small(Sign, (1, -1)),
        _small(_frozen, (0.9, 0.2), batch_size=2, surrogate="votes"),
        _small(Mean, (1, 2, -1), metric="squared_error"),
    ]
)
def test_common_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    models = {
        "bayes": GaussianNB(),
        "linear": LogisticRegression(C=1e-3, max_iter=200),
        "stump": DecisionTreeClassifier(max_depth=2, random_state=0),
        "constant": DummyClassifier(),
    }
    pairs = [(n, FrozenEstimator(m.fit(X[:300], y[:300]))) for n, m in models.items()]
    return pairs, X[300:900], y[300:900]


def test_fit_finds_the_best_and_acts_as_it(digits):
    pairs, X, y = digits
    selector = ActiveModelSelector(pairs, n_labels=30, random_state=0)
    assert selector.fit(X, y) is selector
    assert selector.best_name_ == "linear"
    assert selector.best_index_ == 1
    assert selector.best_estimator_ is pairs[1][1]
    assert "linear" in selector.candidates_
    assert selector.stop_reason_ == "n_labels=30 were bought."
    assert len(selector.ledger_) == 30
    assert_array_equal(selector.predict(X), pairs[1][1].predict(X))
    assert_allclose(selector.predict_proba(X), pairs[1][1].predict_proba(X))
    assert selector.score(X, y) == accuracy_score(y, selector.predict(X))
    truth = accuracy_score(y, selector.predict(X))
    frame = pd.DataFrame(selector.results_)
    best = frame.loc[1]
    assert best["low"] <= truth <= best["high"]
    assert best["estimate"] == selector.best_score_
    assert best["model"] == "linear"
    assert best["behind_best"] == 0.0
    assert frame["low"].le(frame["estimate"]).all()


def test_clone_and_pickle(digits):
    pairs, X, y = digits
    selector = ActiveModelSelector(pairs, n_labels=10, random_state=0)
    copy = clone(selector)
    assert copy.estimators[1][1] is pairs[1][1]
    expected = selector.fit(X, y).results_
    assert_allclose(copy.fit(X, y).results_["probability"], expected["probability"])
    other = pickle.loads(pickle.dumps(selector))
    assert other.best_name_ == selector.best_name_
    assert_array_equal(other.selection_.ask().indices, copy.selection_.ask().indices)


def test_features_are_one_more_expert():
    X, y = make_classification(600, 6, n_informative=4, random_state=1, flip_y=0.0)
    rng = np.random.default_rng(0)
    shares = (0.3, 0.35, 0.4)
    predictions = {
        f"m{k}": np.where(rng.random(600) < share, 1 - y, y)
        for k, share in enumerate(shares)
    }
    selector = ActiveModelSelector(n_labels=80, random_state=0)
    run = selector.fit(X, y, predictions=predictions).selection_
    blind = selector.fit(None, y, predictions=predictions).selection_
    right = [r.state.belief.proba[np.arange(600), y].mean() for r in (run, blind)]
    assert right[0] > right[1] + 0.05
    assert run.surrogate.weights_[-1] > 0.3


@pytest.mark.parametrize("surrogate", [GaussianNB(), RandomForestClassifier(10)])
def test_other_surrogates_on_features(digits, surrogate):
    pairs, X, y = digits
    selector = ActiveModelSelector(
        pairs, n_labels=60, surrogate=surrogate, random_state=0
    )
    assert selector.fit(X, y).best_name_ == "linear"


@pytest.mark.parametrize(
    "metric",
    ["f1_macro", "balanced_accuracy", "log_loss", "neg_brier_score", "cohen_kappa"],
)
def test_metrics_of_classes(digits, metric):
    pairs, X, y = digits
    pairs = pairs[1:]  # Bayes is as good by some of them.
    selector = ActiveModelSelector(pairs, metric=metric, n_labels=40, random_state=0)
    assert selector.fit(X, y).best_name_ == "linear"
    assert np.isfinite(selector.results_["behind_best"]).all()
    assert selector.score(X, y) > -1


@pytest.mark.parametrize("metric", ["f1", "recall", "roc_auc", "average_precision"])
def test_metrics_of_two_classes(metric):
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.2).astype(int)
    needs_proba = metric in ("roc_auc", "average_precision")
    predictions = {}
    for name, noise in [("good", 0.3), ("fair", 0.6), ("poor", 2.0)]:
        score = y - 0.5 + noise * rng.normal(size=500)
        proba = 1 / (1 + np.exp(-4 * score))
        both = np.column_stack([1 - proba, proba])
        predictions[name] = both if needs_proba else (score > 0).astype(int)
    selector = ActiveModelSelector(
        metric=metric, n_labels=60, classes=[0, 1], random_state=0
    )
    selector.fit(None, y, predictions=predictions)
    assert selector.best_name_ == "good"
    assert "poor" not in selector.candidates_


@pytest.mark.parametrize(
    "metric", ["squared_error", "absolute_error", "r2", "neg_root_mean_squared_error"]
)
def test_metrics_of_numbers(metric):
    X, y = load_diabetes(return_X_y=True)
    pairs = [
        ("ridge", Ridge(0.1).fit(X[:200], y[:200])),
        ("mean", DummyRegressor().fit(X[:200], y[:200])),
        ("stiff", Ridge(10.0).fit(X[:200], y[:200])),
    ]
    selector = ActiveModelSelector(pairs, metric=metric, n_labels=40, random_state=0)
    selector.fit(X[200:], y[200:])
    assert selector.best_name_ == "ridge"
    assert np.shape(selector.results_["behind_high"]) == (3,)
    assert selector.classes_ is None


@pytest.mark.parametrize("stop", [OneCandidate(), RegretBelow(0.2)])
def test_stopping_rules(digits, stop):
    pairs, X, y = digits
    selector = ActiveModelSelector(pairs[1:], n_labels=200, stop=stop, random_state=0)
    selector.fit(X, y)
    assert "best" in selector.stop_reason_ or "better" in selector.stop_reason_
    assert len(selector.ledger_) < 200
    check_stopping(stop)
    with pytest.raises(ValueError, match="ActiveModelSelector"):
        ActiveRiskEstimator(pairs[0][1], stop=stop).fit(X, y)


def test_clones_of_the_best_count_as_one_candidate():
    y = np.arange(200) % 2
    predictions = {"good": y, "clone": y.copy(), "poor": 1 - y}
    selector = ActiveModelSelector(n_labels=60, stop=OneCandidate(), random_state=0)
    selector.fit(None, y, predictions=predictions)
    assert selector.candidates_ == ["good", "clone"]
    assert selector.stop_reason_.endswith(
        "may be the best, or one that predicts the same."
    )
    assert 1 < len(selector.ledger_) < 60


def test_rules_about_the_estimate_stop_too(digits):
    pairs, X, y = digits
    stop = TargetWidth(0.6, method="fixed")
    selector = ActiveModelSelector(pairs, n_labels=100, stop=stop, random_state=0)
    assert "wide" in selector.fit(X, y).stop_reason_


def _never(indices):
    raise AssertionError("A label was bought.")


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"estimators": None}, "no models"),
        ({"estimators": "linear"}, "list of pairs"),
        ({"estimators": [("a", GaussianNB)]}, "'a' must be a fitted"),
        ({"estimators": [("a", 1.0), ("b", 2.0)]}, "'a' must be a fitted"),
        ({"metric": "acuracy"}, "Did you mean"),
        ({"level_share": 2}, "level_share"),
        ({"n_labels": 10**6}, "n_labels"),
        ({"batch_size": 0}, "batch_size"),
        ({"stop": 3}, "stop"),
        ({"surrogate": Ridge()}, "surrogate"),
        ({"classes": [0, 1]}, "classes"),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_errors_come_before_a_label_is_spent(digits, params, match):
    pairs, X, _ = digits
    selector = ActiveModelSelector(pairs).set_params(**params)
    with pytest.raises((ValueError, TypeError), match=match):
        selector.fit(X, _never)


@pytest.mark.parametrize(
    ("predictions", "match"),
    [
        ({"a": [0, 1, 0]}, "only one model"),
        ({"a": [0, 1, 0], "b": [0, 1]}, "'b' for 2 and 'a' for 3"),
        ({}, "no models"),
        ({1: [0, 1, 0], "1": [0, 1, 1]}, "given twice"),
        ({"a": [0, 1, 0], "b": ["x", "y", "x"]}, "kinds"),
        ([0, 1, 0], "dict"),
        ([("a", [0, 1, 0]), ("b", [0, 1, 1])], "dict"),
        ({"a": [0, 1, 0], "b": [0, np.nan, 1]}, "NaN"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(predictions, match):
    with pytest.raises((ValueError, TypeError), match=match):
        ActiveModelSelector(n_labels=2).fit(None, _never, predictions=predictions)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"X_train": np.zeros((5, 2)), "y_train": np.zeros(5)}, "same columns"),
        ({"X_train": np.zeros((5, 64))}, "go together"),
        ({"sample_weight": [1.0, 2.0]}, "one weight per row"),
        ({"groups": [0, 1]}, "take no argument groups"),
    ],
)
def test_data_that_do_not_fit_are_refused(digits, data, match):
    pairs, X, _ = digits
    with pytest.raises((ValueError, TypeError), match=match):
        ActiveModelSelector(pairs).fit(X, _never, **data)


def test_training_rows_without_features_are_refused():
    predictions = {"a": [0, 1, 0], "b": [0, 1, 1]}
    with pytest.raises(ValueError, match="X_train is for the surrogate on features"):
        ActiveModelSelector(n_labels=2).fit(
            None, _never, predictions=predictions, X_train=[[0.0]], y_train=[0]
        )


def test_training_rows_teach_the_belief_before_the_first_label(digits):
    pairs, X, y = digits
    rest = load_digits(return_X_y=True)
    training = {"X_train": rest[0][900:], "y_train": rest[1][900:]}
    selector = ActiveModelSelector(pairs, random_state=0)
    codes = np.arange(len(y)), y
    with_rows, without = (
        selector.start(X, **data).state.belief.proba[codes].mean()
        for data in (training, {})
    )
    assert with_rows > without + 0.05


def test_training_rows_of_numbers_teach_the_belief():
    X, y = load_diabetes(return_X_y=True)
    pairs = [
        ("ridge", Ridge(0.1).fit(X[:200], y[:200])),
        ("mean", DummyRegressor().fit(X[:200], y[:200])),
    ]
    selector = ActiveModelSelector(
        pairs, metric="squared_error", n_labels=30, random_state=0
    )
    selector.fit(X[200:], y[200:], X_train=X[:200], y_train=y[:200])
    assert selector.best_name_ == "ridge"


def test_names_must_be_those_of_the_predictions(digits):
    pairs, X, y = digits
    selector = ActiveModelSelector([*pairs, pairs[0]])
    with pytest.raises(ValueError, match="twice"):
        selector.fit(X, y)
    with pytest.raises(ValueError, match="named"):
        ActiveModelSelector(pairs).start(X, predictions={"a": y, "b": y})
    with pytest.raises(ValueError, match="X is None"):
        ActiveModelSelector(pairs).start(None)


def test_an_unfitted_model_is_named(digits):
    pairs, X, y = digits
    selector = ActiveModelSelector([*pairs, ("raw", GaussianNB())])
    with pytest.raises(NotFittedError) as caught:
        selector.fit(X, y)
    assert "raw" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "container", [pd.DataFrame, lambda d: np.stack(list(d.values()), 1)]
)
def test_predictions_come_as_a_table(container):
    y = np.arange(50) % 2
    table = container({"a": 1 - y, "b": y})
    run = ActiveModelSelector(random_state=0, n_labels=12).fit(
        None, y, predictions=table
    )
    assert run.best_index_ == 1
    with pytest.raises(ValueError, match="only predictions"):
        run.score(np.zeros((50, 1)), y)
