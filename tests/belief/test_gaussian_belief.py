"""Closed forms of the Gaussian belief against loops, sampling and quadrature."""

import numpy as np
import pytest
from helpers import paper_formulas as paper
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_ase.belief import GaussianBelief
from sklearn_ase.losses import AbsoluteError, CustomLoss, SquaredError

N_DRAWS = 200_000
ERRORS_ALLOWED = 4.5

PREDICTION = np.array([0.0, 1.5, -2.0, 0.3, 4.0])
MEAN = np.array([0.0, 1.0, 0.5, 0.3, -1.0])
EPISTEMIC = np.array([1.0, 0.2, 2.0, 1e-3, 0.5])
NOISE = np.array([0.5, 1.0, 0.1, 0.3, 2.0])

named_losses = pytest.mark.parametrize("loss", [SquaredError(), AbsoluteError()])


def belief_of(mean=MEAN, epistemic=EPISTEMIC, noise=NOISE):
    return GaussianBelief(mean, epistemic, noise, member_risk=np.empty(0))


def assert_is_mean_of(value, draws):
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(value - draws.mean(axis=0)) < ERRORS_ALLOWED * standard_error).all()


@pytest.fixture(scope="module")
def draws():
    """Means of members and labels, each of shape (n_draws, n_samples)."""
    rng = np.random.default_rng(0)
    members = rng.normal(MEAN, np.sqrt(EPISTEMIC), size=(N_DRAWS, len(MEAN)))
    return members, rng.normal(members, np.sqrt(NOISE))


@pytest.mark.parametrize("name", ["squared_error", "absolute_error"])
def test_moments_of_the_loss_are_those_of_the_paper(name):
    loss = {"squared_error": SquaredError(), "absolute_error": AbsoluteError()}[name]
    bound, belief = loss.build(PREDICTION), belief_of()
    rows = list(zip(PREDICTION, MEAN, EPISTEMIC, NOISE, strict=True))
    expected = [getattr(paper, f"{name}_expected")(*row) for row in rows]
    variance = [getattr(paper, f"{name}_variance")(*row) for row in rows]
    assert_allclose(belief.expected_loss(bound), expected, rtol=1e-12)
    assert_allclose(belief.loss_variance(bound), variance, rtol=1e-11)


def test_bald_and_xwed_of_squared_error_are_those_of_the_paper():
    belief = belief_of()
    rows = list(zip(PREDICTION, MEAN, EPISTEMIC, NOISE, strict=True))
    bald = [paper.gaussian_bald(*row[2:]) for row in rows]
    xwed = [paper.squared_error_xwed(*row) for row in rows]
    loss = SquaredError().build(PREDICTION)
    assert_allclose(belief.disagreement(), bald, rtol=1e-12)
    assert_allclose(belief.weighted_disagreement(loss), xwed, rtol=1e-12)


@named_losses
def test_moments_of_the_loss_agree_with_sampled_labels(loss, draws):
    bound, belief = loss.build(PREDICTION), belief_of()
    sampled = loss(draws[1], PREDICTION)
    expected = belief.expected_loss(bound)
    assert_is_mean_of(expected, sampled)
    assert_is_mean_of(belief.loss_variance(bound), (sampled - expected) ** 2)


@named_losses
def test_xwed_agrees_with_sampled_members_and_labels(loss, draws):
    """Equation 6, ``E[-L log p(y)] - E[-L log p(y | member)]`` over joint draws."""
    members, labels = draws
    log_belief = stats.norm.logpdf(labels, MEAN, np.sqrt(EPISTEMIC + NOISE))
    log_member = stats.norm.logpdf(labels, members, np.sqrt(NOISE))
    sampled = loss(labels, PREDICTION) * (log_member - log_belief)
    xwed = belief_of().weighted_disagreement(loss.build(PREDICTION))
    assert_is_mean_of(xwed, sampled)


def test_bald_agrees_with_sampled_members_and_labels(draws):
    members, labels = draws
    log_belief = stats.norm.logpdf(labels, MEAN, np.sqrt(EPISTEMIC + NOISE))
    log_member = stats.norm.logpdf(labels, members, np.sqrt(NOISE))
    assert_is_mean_of(belief_of().disagreement(), log_member - log_belief)


@pytest.mark.parametrize("quantity", ["expected", "variance", "curvature"])
@pytest.mark.parametrize(
    ("closed", "n_nodes", "rtol"),
    [
        (SquaredError(), 32, 1e-8),
        (SquaredError(), 20, 1e-8),
        (AbsoluteError(), 128, 0.1),
    ],
)
def test_quadrature_agrees_with_the_closed_form(closed, n_nodes, rtol, quantity):
    custom = CustomLoss(closed.__call__, task="regression", n_nodes=n_nodes)
    exact = getattr(closed.build(PREDICTION), quantity)(MEAN, EPISTEMIC + NOISE)
    found = getattr(custom.build(PREDICTION), quantity)(MEAN, EPISTEMIC + NOISE)
    assert_allclose(found, exact, rtol=rtol)


def test_quadrature_integrates_over_each_member():
    members = np.random.default_rng(1).normal(size=(4, len(PREDICTION)))
    closed, custom = SquaredError(), CustomLoss(SquaredError(), task="regression")
    exact = GaussianBelief.from_members(members, NOISE, closed.build(PREDICTION))
    found = GaussianBelief.from_members(members, NOISE, custom.build(PREDICTION))
    assert found.member_loss.shape == members.shape
    assert_allclose(found.member_loss, exact.member_loss, rtol=1e-8)


def test_xwed_with_unit_loss_is_bald():
    unit = CustomLoss(lambda y_true, y_pred: np.ones(len(y_true)), task="regression")
    belief = belief_of()
    xwed = belief.weighted_disagreement(unit.build(PREDICTION))
    assert_allclose(xwed, belief.disagreement(), rtol=1e-10)


def test_belief_has_the_moments_of_its_members():
    members = np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 3.0]])
    loss = SquaredError().build(np.zeros(2))
    belief = GaussianBelief.from_members(members, 0.5, loss)
    assert_allclose(belief.mean, [3.0, 1.0])
    assert_allclose(belief.epistemic, [8 / 3, 2.0])
    assert_allclose(belief.variance, [8 / 3 + 0.5, 2.5])
    assert_allclose(belief.member_loss, members**2 + 0.5)
    assert_allclose(belief.member_risk, (members**2 + 0.5).mean(axis=1))


@named_losses
def test_joined_chunks_are_the_belief_of_the_whole(loss):
    members = np.random.default_rng(2).normal(size=(3, len(PREDICTION)))
    bound = loss.build(PREDICTION)
    whole = GaussianBelief.from_members(members, NOISE, bound)
    chunks = (
        GaussianBelief.from_members(members[:, rows], NOISE[rows], bound.take(rows))
        for rows in (slice(0, 1), slice(1, 5))
    )
    joined = GaussianBelief.concatenate(chunks, n_samples=len(PREDICTION))
    for name in ("mean", "epistemic", "noise", "member_risk", "member_loss"):
        assert_allclose(getattr(joined, name), getattr(whole, name), rtol=1e-12)


def test_expected_squared_error_of_the_members_averages_to_that_of_the_belief():
    members = np.random.default_rng(3).normal(size=(6, len(PREDICTION)))
    loss = SquaredError().build(PREDICTION)
    belief = GaussianBelief.from_members(members, NOISE, loss)
    expected = belief.expected_loss(loss)
    assert_allclose(belief.member_loss.mean(axis=0), expected, rtol=1e-12)


@pytest.mark.parametrize("shift", [1e2, 1e5, 1e8])
def test_far_from_the_prediction_absolute_error_varies_as_the_label_does(shift):
    loss = AbsoluteError().build(np.zeros(2))
    mean, variance = np.array([shift, -shift]), np.array([2.0, 0.5])
    assert_allclose(loss.variance(mean, variance), variance, rtol=1e-6)


def narrow_loss(y_true, y_pred):
    return np.exp(-(((y_true - y_pred) / 0.01) ** 2))


@pytest.mark.parametrize(
    "loss",
    [
        SquaredError(),
        AbsoluteError(),
        CustomLoss(narrow_loss, task="regression"),
        CustomLoss(narrow_loss, task="regression", n_nodes=33),
    ],
    ids=["squared", "absolute", "narrow", "narrow-odd-nodes"],
)
@settings(derandomize=True, max_examples=100)
@given(
    shift=st.one_of(st.just(0.0), st.floats(-1e6, 1e6)),
    epistemic=st.one_of(st.sampled_from([0.0, 1e-18, 1e-9]), st.floats(0, 1e6)),
    noise=st.floats(1e-9, 1e6),
)
def test_scores_are_finite_and_not_negative(loss, shift, epistemic, noise):
    belief = belief_of(np.array([shift]), np.array([epistemic]), np.array([noise]))
    bound = loss.build(np.zeros(1))
    for score in (
        belief.expected_loss(bound),
        belief.loss_variance(bound),
        belief.disagreement(),
        belief.weighted_disagreement(bound),
    ):
        assert np.isfinite(score).all()
        assert (score >= 0).all()
