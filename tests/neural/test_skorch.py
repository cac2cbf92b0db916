"""Plain nets of skorch serve as surrogate and as the model under test."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from torch import nn

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._utils._estimators import fit_seeded
from sklearn_ase.neural import (
    MLP,
    DeepEnsembleClassifier,
    MCDropoutClassifier,
)
from sklearn_ase.surrogate import (
    BootstrapClassifier,
    ClassifierSurrogate,
    RegressorSurrogate,
)

# Surrogates are trained for seconds only, so that they are poor.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.SurrogateWarning"
)


def classifier(n_features=64, classes=range(10), **params):
    """A net as users of skorch write it."""
    params = {"max_epochs": 15, "lr": 0.02} | params
    return NeuralNetClassifier(
        MLP,
        module__n_features=n_features,
        module__n_classes=10,
        module__width=16,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        classes=list(classes) if classes is not None else None,
        verbose=0,
        train_split=None,
        **params,
    )


def regressor(n_features=10, **params):
    return NeuralNetRegressor(
        MLP,
        module__n_features=n_features,
        module__n_classes=1,
        module__width=16,
        optimizer=torch.optim.Adam,
        max_epochs=15,
        lr=0.02,
        verbose=0,
        train_split=None,
        **params,
    )


@pytest.fixture(scope="module")
def rows(rows):
    """The same rows, writable: nets of skorch warn about read-only arrays."""
    copies = {name: values.copy() for name, values in vars(rows).items()}
    return SimpleNamespace(**copies)


@pytest.fixture(scope="module")
def diabetes_rows():
    """Scaled features and targets; features are float32 for torch."""
    X, y = load_diabetes(return_X_y=True)
    X = (X / X.std(axis=0)).astype(np.float32)
    return X, (y - y.mean()) / y.std()


def evaluate(rows, model, surrogate, n_labels=30, loss="zero_one", **params):
    """Evaluate a model on the pool, with training rows without sevens."""
    keep = rows.y_train != 7
    evaluator = ActiveRiskEstimator(
        model,
        surrogate=surrogate,
        loss=loss,
        n_labels=n_labels,
        refit=20,
        classes=range(10),
        random_state=0,
        **params,
    )
    return evaluator.fit(
        rows.X, rows.y, X_train=rows.X_train[keep], y_train=rows.y_train[keep]
    )


@pytest.fixture(scope="module")
def without_sevens(rows):
    """A model that has never seen a seven, and its errors on the pool."""
    keep = rows.y_train != 7
    model = GaussianNB(var_smoothing=0.1).fit(rows.X_train[keep], rows.y_train[keep])
    return FrozenEstimator(model), model.predict(rows.X) != rows.y


@pytest.mark.parametrize(
    "surrogate",
    [
        DeepEnsembleClassifier(n_members=5, max_epochs=30, lr=0.01, module__width=32),
        MCDropoutClassifier(n_members=10, max_epochs=30, lr=0.01, module__width=64),
        ClassifierSurrogate(classifier(), n_members=5),
    ],
    ids=["ensemble", "dropout", "skorch"],
)
def test_networks_estimate_the_risk_of_a_model_without_sevens(
    rows, without_sevens, surrogate
):
    model, errors = without_sevens
    evaluator = evaluate(rows, model, surrogate, n_labels=40)
    risk = evaluator.risk_
    assert risk.n_labels == 40
    assert risk.value == pytest.approx(errors.mean(), abs=0.1)
    low, high = risk.interval(0.99)
    assert low < errors.mean() < high
    # The loss expected at each row separates errors from correct predictions.
    expected = evaluator.predict(rows.X)
    assert expected[errors].mean() > 1.5 * expected[~errors].mean()


def test_a_net_of_skorch_is_evaluated(rows):
    keep = rows.y_train != 7
    net = classifier(max_epochs=30)
    net = fit_seeded(net, 0, rows.X_train[keep], rows.y_train[keep])
    surrogate = DeepEnsembleClassifier(n_members=5, max_epochs=30, lr=0.01)
    truth = np.mean(net.predict(rows.X) != rows.y)
    evaluator = evaluate(rows, FrozenEstimator(net), surrogate, n_labels=40)
    assert evaluator.risk_.value == pytest.approx(truth, abs=0.06)


def test_a_net_of_skorch_is_evaluated_by_another(rows):
    net = fit_seeded(classifier(), 0, rows.X_train, rows.y_train)
    proba = net.predict_proba(rows.X)
    truth = -np.log(proba[np.arange(400), rows.y]).mean()
    surrogate = ClassifierSurrogate(classifier(), n_members=3)
    # The net is not frozen, so it is also refitted on folds of the training rows.
    evaluator = evaluate(rows, net, surrogate, loss="log_loss", cv=2)
    assert evaluator.risk_.value == pytest.approx(truth, abs=0.25)
    assert_array_equal(net.predict_proba(rows.X), proba)


@pytest.mark.parametrize(
    "surrogate",
    [
        ClassifierSurrogate(classifier(max_epochs=2), n_members=3),
        ClassifierSurrogate(
            make_pipeline(StandardScaler(), classifier(max_epochs=2)), n_members=2
        ),
        DeepEnsembleClassifier(n_members=2, max_epochs=2),
    ],
    ids=["skorch", "pipeline", "ensemble"],
)
def test_an_evaluation_does_not_depend_on_the_seed_of_torch(
    rows, without_sevens, surrogate
):
    estimates = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        evaluator = evaluate(rows, without_sevens[0], surrogate, n_labels=12)
        estimates.append((evaluator.risk_, evaluator.ledger_.indices))
    assert estimates[0] == estimates[1]


def test_an_evaluation_leaves_torchs_generator(rows, without_sevens):
    before = torch.get_rng_state()
    surrogate = DeepEnsembleClassifier(n_members=2, max_epochs=2)
    evaluate(rows, without_sevens[0], surrogate, n_labels=12)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_seed_fixes_what_a_net_draws(rows):
    before = torch.get_rng_state()
    one, same, other = (
        fit_seeded(classifier(max_epochs=1), seed, rows.X_train, rows.y_train)
        for seed in (3, 3, 4)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert_array_equal(one.predict_proba(rows.X), same.predict_proba(rows.X))
    assert np.abs(one.predict_proba(rows.X) - other.predict_proba(rows.X)).max() > 0.01


def test_members_of_a_bootstrap_of_nets_differ(rows):
    ensemble = BootstrapClassifier(classifier(), n_members=3, random_state=0)
    members = ensemble.fit(rows.X_train, rows.y_train).predict_proba_members(rows.X)
    assert members.shape == (3, 400, 10)
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert np.abs(members[one] - members[other]).max() > 0.1


def test_a_net_with_more_outputs_than_labels_seen_is_refused(rows):
    keep = rows.y_train < 9  # Ten outputs, but nine labels.
    surrogate = ClassifierSurrogate(classifier(classes=None, max_epochs=1), n_members=2)
    with pytest.raises(
        ValueError,
        match=r"10 columns, but its classes_ are .* give them classes=\[...]",
    ):
        surrogate.fit(rows.X_train[keep], rows.y_train[keep])


@pytest.mark.parametrize("calibration", ["auto", None])
def test_a_net_is_a_surrogate_of_regression(diabetes_rows, calibration):
    X, y = diabetes_rows
    model = Ridge().fit(X[:100], y[:100])
    truth = np.mean((model.predict(X[200:]) - y[200:]) ** 2)
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=RegressorSurrogate(regressor(), n_members=5, calibration=calibration),
        loss="squared_error",
        n_labels=30,
        refit=15,
        random_state=0,
    )
    evaluator.fit(X[200:], y[200:], X_train=X[100:200], y_train=y[100:200])
    assert evaluator.risk_.value == pytest.approx(truth, rel=0.4)


def test_a_regressor_of_skorch_is_evaluated_by_another(diabetes_rows):
    X, y = diabetes_rows
    net = fit_seeded(regressor(), 0, X[:200], y[:200])
    prediction = net.predict(X[200:])
    assert prediction.shape == (242, 1)
    truth = np.mean((prediction[:, 0] - y[200:]) ** 2)
    evaluator = ActiveRiskEstimator(
        net,
        surrogate=RegressorSurrogate(
            make_pipeline(StandardScaler(), regressor()), n_members=4
        ),
        loss="squared_error",
        n_labels=30,
        refit=15,
        cv=2,
        random_state=0,
    )
    evaluator.fit(X[200:], y[200:], X_train=X[:200], y_train=y[:200])
    assert evaluator.risk_.value == pytest.approx(truth, rel=0.4)
    assert evaluator.predict(X[:7]).shape == (7,)


@pytest.mark.parametrize("wrap", [lambda net: net, make_pipeline])
def test_targets_of_a_regressor_of_skorch_become_a_column(diabetes_rows, wrap):
    X, y = diabetes_rows
    # A flat target would be broadcast against the column of outputs, n by n.
    expected = fit_seeded(regressor(), 0, X, y[:, None].astype(np.float32)).predict(X)
    found = fit_seeded(wrap(regressor()), 0, X, y).predict(X)
    assert_allclose(found, expected)
    assert np.corrcoef(found[:, 0], y)[0, 1] > 0.6
