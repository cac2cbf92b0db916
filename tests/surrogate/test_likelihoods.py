"""Gradients and information of the likelihoods that calibrations are fitted by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import approx_fprime, minimize

from sklearn_ase.surrogate._gaussian_stack import (
    DEGREES,
    GaussianLikelihood,
    log_density_of_labels,
)
from sklearn_ase.surrogate._log_linear_stack import ClassLikelihood, fit_odds

RNG = np.random.default_rng(0)
N_ROWS = 40
RESIDUAL, GAP, SHIFT = RNG.normal(size=(3, N_ROWS))
VARIANCE = RNG.uniform(0.5, 2.0, size=N_ROWS)
AT = np.array([0.4, -0.3, 0.2, -1.0, 0.3])
WEIGHT = RNG.uniform(size=N_ROWS)


def likelihood(degrees):
    return GaussianLikelihood(RESIDUAL, GAP, VARIANCE, SHIFT, np.zeros(N_ROWS), degrees)


@pytest.mark.parametrize("degrees", [np.inf, 10.0, 4.0])
def test_the_gradient_is_that_of_the_value(degrees):
    rows = likelihood(degrees)
    _, gradient, _ = rows(AT, WEIGHT)
    expected = approx_fprime(AT, lambda at: rows(at, WEIGHT)[0], 1e-7)
    assert_allclose(gradient, expected, atol=1e-4)


def scipy_log_density(rows, degrees):
    error, variance, _ = rows._moments(AT)
    if np.isinf(degrees):
        return stats.norm.logpdf(error, scale=variance**0.5)
    scale = (variance * (degrees - 2) / degrees) ** 0.5
    return stats.t.logpdf(error, degrees, scale=scale)


@pytest.mark.parametrize("degrees", [np.inf, 10.0, 4.0])
def test_the_value_of_a_row_is_that_of_scipy_up_to_a_constant(degrees):
    rows = likelihood(degrees)
    value = np.array([rows(AT, only)[0] for only in np.eye(N_ROWS)])
    difference = value - scipy_log_density(rows, degrees)
    assert_allclose(difference, difference[0], atol=1e-10)


@pytest.mark.parametrize("degrees", [np.inf, 10.0])
def test_a_label_is_right_by_the_density_of_student_s_t(degrees):
    """Whatever the rows count by; only the constant of the Gaussian is left out."""
    rows = likelihood(degrees)
    expected = scipy_log_density(rows, DEGREES) + 0.5 * np.log(2.0 * np.pi)
    assert_allclose(rows.log_density(AT), expected)


def test_the_density_of_all_labels_is_a_smooth_histogram():
    y = np.random.default_rng(0).exponential(size=500)
    smooth = stats.gaussian_kde(y, bw_method=1.06 * len(y) ** -0.2)
    expected = smooth.logpdf(y) + 0.5 * np.log(2.0 * np.pi)
    assert_allclose(log_density_of_labels(y), expected, atol=0.02)


def test_labels_that_are_all_the_same_have_a_finite_density():
    assert_allclose(log_density_of_labels(np.full(5, 3.0)), 0.0)


@pytest.mark.parametrize("degrees", [np.inf, 10.0])
def test_the_information_is_the_variance_of_the_gradient(degrees):
    """Over labels that are drawn from the distribution itself."""
    rng = np.random.default_rng(1)
    n_draws = 20_000
    gap, shift, variance = (
        np.full(n_draws, 0.8),
        np.full(n_draws, 0.5),
        np.ones(n_draws),
    )
    rows = GaussianLikelihood(np.zeros(n_draws), gap, variance, shift, None, degrees)
    _, total, _ = rows._moments(AT)
    if np.isinf(degrees):
        error = rng.normal(size=n_draws)
    else:
        error = rng.standard_t(degrees, size=n_draws) * ((degrees - 2) / degrees) ** 0.5
    residual = error * total**0.5 + AT[0] * gap
    rows = GaussianLikelihood(residual, gap, variance, shift, None, degrees)
    relative = error**2
    pull = rows._pull(relative)
    location, scale = rows._information()
    found = np.mean((pull * error) ** 2), np.mean((pull * relative - 1.0) ** 2) / 2.0
    assert_allclose(found, [location, scale], rtol=0.06)


@pytest.mark.parametrize("has_offsets", [False, True])
def test_gradient_and_curvature_of_class_labels_are_derivatives(has_offsets):
    logs = np.log(RNG.dirichlet(np.ones(3), size=(2, N_ROWS))).swapaxes(1, 2).copy()
    places = RNG.integers(3, size=N_ROWS)
    rows = ClassLikelihood(logs, places, has_offsets)
    at = RNG.uniform(0.2, 0.8, size=2 + 3 * has_offsets)
    _, gradient, curvature = rows(at, WEIGHT)
    expected = approx_fprime(at, lambda a: rows(a, WEIGHT)[0], 1e-7)
    assert_allclose(gradient, expected, atol=1e-4)
    jacobian = approx_fprime(at, lambda a: rows(a, WEIGHT)[1], 1e-6)
    assert_allclose(curvature, -jacobian, atol=1e-4)


def test_the_odds_of_unknown_classes_maximise_their_posterior():
    odds, unknown = RNG.normal(-1.0, 1.0, N_ROWS), RNG.random(N_ROWS) < 0.3

    def minus(at):
        z = at[0] * odds + at[1]
        value = WEIGHT @ (np.logaddexp(0.0, z) - unknown * z)
        return value + 1.5 * (at[0] - 1.0) ** 2 + 0.5 * (at[1] - 0.7) ** 2

    found = fit_odds(odds, unknown, WEIGHT, centre=0.7)
    assert_allclose(found, minimize(minus, [1.0, 0.0]).x, atol=2e-3)
