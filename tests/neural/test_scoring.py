"""Scores in torch are the scores in numpy."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BALD, XWED, VarianceReduction
from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.losses import LogLoss, LossTable
from sklearn_ase.neural import DeviceSurrogate
from sklearn_ase.surrogate import ClassifierSurrogate


@pytest.fixture
def members():
    """Members that exclude some classes, all of them or one alone."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(6, 0.3), size=(8, 50))
    proba[:, :10, 2] = 0.0
    proba[3, 10:20, 4] = 0.0
    proba[:, 20] = np.eye(6)[1]
    return proba / proba.sum(axis=2, keepdims=True)


@pytest.fixture
def belief():
    """Calibrated mean of the members; it may give mass to any class."""
    return np.random.default_rng(1).dirichlet(np.ones(6), size=50)


@pytest.fixture
def loss():
    """Log losses of some model."""
    return -np.log(np.random.default_rng(2).dirichlet(np.ones(6), size=50))


def on(device, *arrays):
    return [torch.tensor(a, dtype=torch.float32, device=device) for a in arrays]


def test_expected_loss_is_that_of_numpy(device, belief, loss):
    found = _kernels.expected_loss(*on(device, belief, loss)).cpu()
    assert_allclose(found, _kernels.expected_loss(belief, loss), atol=1e-5)


def test_disagreement_is_that_of_numpy(device, members):
    found = _kernels.disagreement(*on(device, members)).cpu()
    expected = _kernels.disagreement(members)
    assert_allclose(found, expected, atol=1e-5)
    assert_allclose(found.sum(dim=1), expected.sum(axis=1), atol=1e-5)  # BALD
    assert (found >= 0).all()
    assert (found[20] == 0).all()


def test_disagreement_of_members_that_nearly_agree_is_summed_in_double(device):
    rng = np.random.default_rng(3)
    members = 0.5 + 1e-3 * rng.normal(size=(1000, 20, 2))
    found = _kernels.disagreement(*on(device, members))
    assert found.dtype == torch.float64
    # Sums in float32 would have an error of 5e-8.
    assert_allclose(found.cpu(), _kernels.disagreement(members), rtol=0, atol=5e-9)


def test_weighted_disagreement_is_that_of_numpy(device, members, loss):
    found = _kernels.disagreement(*on(device, members)).cpu().numpy()
    expected = _kernels.disagreement(members)
    found, expected = (found * loss).sum(axis=1), (expected * loss).sum(axis=1)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-5)  # XWED


def test_tilt_is_that_of_numpy(device, members, belief):
    mean = members.mean(axis=0)
    found = _kernels.tilt(*on(device, mean, belief)).cpu()
    assert_allclose(found, _kernels.tilt(mean, belief), rtol=1e-5)
    assert (found[:10, 2] == 0).all()


def test_expected_loss_of_each_member_is_that_of_numpy(device, members, belief, loss):
    mean = members.mean(axis=0)
    for proba in (mean, belief):
        arrays = on(device, members, mean, proba, loss)
        found = _kernels.member_expected_loss(*arrays).cpu()
        expected = _kernels.member_expected_loss(members, mean, proba, loss)
        assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert_allclose(found.mean(dim=0), (proba * loss).sum(axis=1), rtol=1e-4)


def test_kernels_leave_their_inputs_alone(device, members, belief, loss):
    tensors = on(device, members, members.mean(axis=0), belief, loss)
    before = [tensor.clone() for tensor in tensors]
    _kernels.member_expected_loss(*tensors)
    _kernels.disagreement(tensors[0])
    assert all(torch.equal(*pair) for pair in zip(tensors, before, strict=True))


@pytest.mark.parametrize("calibrated", [False, True])
def test_a_belief_from_tensors_holds_arrays_of_doubles(
    device, members, belief, loss, calibrated
):
    table = LossTable(loss, np.arange(6))
    proba = belief if calibrated else None
    expected = CategoricalBelief.from_members(members, table, proba)
    found = CategoricalBelief.from_members(*on(device, members), table, proba)
    for name in ("proba", "class_disagreement", "member_risk", "member_loss"):
        values = getattr(found, name)
        assert isinstance(values, np.ndarray)
        assert values.dtype == np.float64
        assert_allclose(values, getattr(expected, name), rtol=1e-4, atol=1e-5)
    if calibrated:
        assert found.proba is belief  # Not rounded to the precision of the members.


@pytest.mark.parametrize("calibration", ["auto", None])
@pytest.mark.parametrize("missing", [None, 2])
def test_belief_of_the_device_is_that_of_numpy(device, digits, calibration, missing):
    forest = RandomForestClassifier(10, random_state=0)
    keep = digits.y_train != missing
    proba = digits.model.predict_proba(digits.X)
    loss = LogLoss().build(proba, np.arange(4))
    beliefs = []
    for surrogate in (
        ClassifierSurrogate(forest, calibration=calibration),
        DeviceSurrogate(forest, calibration=calibration, device=device),
    ):
        surrogate.fit(
            digits.X_train[keep],
            digits.y_train[keep],
            classes=np.arange(4),
            expert=digits.model.predict_proba(digits.X_train[keep]),
        )
        beliefs.append(surrogate.belief(digits.X, loss, proba, True))
    expected, found = beliefs
    for name in ("proba", "class_disagreement", "member_risk", "member_loss"):
        assert getattr(found, name).dtype == np.float64
        assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-5, atol=1e-5
        )
    assert_allclose(
        found.weighted_disagreement(loss),
        expected.weighted_disagreement(loss),
        rtol=1e-5,
        atol=1e-5,
    )


def test_member_losses_are_kept_on_request_only(device, digits):
    loss = LogLoss().build(digits.model.predict_proba(digits.X), np.arange(4))
    surrogate = DeviceSurrogate(RandomForestClassifier(5), device=device)
    surrogate.fit(digits.X_train, digits.y_train, classes=np.arange(4))
    assert surrogate.belief(digits.X, loss).member_loss is None


@pytest.mark.parametrize("acquisition", [XWED(), BALD(), VarianceReduction()])
def test_an_evaluation_scores_on_the_device(device, digits, acquisition):
    estimates = []
    for kind, params in (
        (ClassifierSurrogate, {}),
        (DeviceSurrogate, {"device": device}),
    ):
        evaluator = ActiveRiskEstimator(
            digits.model,
            surrogate=kind(RandomForestClassifier(10), **params),
            acquisition=acquisition,
            n_labels=15,
            random_state=0,
        )
        evaluator.fit(digits.X, digits.y)
        estimates.append((evaluator.risk_.value, evaluator.ledger_.indices))
    assert estimates[1][0] == pytest.approx(estimates[0][0], rel=1e-4)
    assert list(estimates[1][1]) == list(estimates[0][1])


def test_device_surrogate_is_cloned_with_its_device(device):
    surrogate = DeviceSurrogate(FrozenEstimator(RandomForestClassifier()), cv=3)
    copy = clone(surrogate.set_params(device=device))
    assert (copy.device, copy.cv) == (device, 3)
    assert set(ClassifierSurrogate().get_params()) | {"device"} == set(
        DeviceSurrogate().get_params()
    )
