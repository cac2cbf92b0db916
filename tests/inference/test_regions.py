"""Intervals from a region of possible means."""

import numpy as np
import pytest

from sklearn_ase._inference._regions import (
    ends_over_means,
    ends_over_regions,
    greater_covariance,
    into_limits,
)
from sklearn_ase.metrics import FBeta, Matthews, Recall

NO_LIMITS = (np.full(2, -np.inf), np.full(2, np.inf))
MEANS, COVARIANCE = np.array([0.3, 0.1]), np.array([[4e-4, 1e-4], [1e-4, 2e-4]])


def recall(means):
    return means[0] / means.sum()


def fieller(means, covariance, quantile):
    """Where u - θ (u + v) is not further from 0 than its error allows."""
    theta = np.linspace(0.0, 1.0, 200_001)
    gap = means[0] - theta * means.sum()
    direction = np.stack([1.0 - theta, -theta])
    variance = np.einsum("it,ij,jt->t", direction, covariance, direction)
    inside = theta[np.abs(gap) <= quantile * np.sqrt(variance)]
    return inside.min(), inside.max()


@pytest.mark.parametrize("quantile", [1.0, 1.645, 3.0])
def test_for_a_ratio_it_is_the_interval_of_fieller(quantile):
    found = ends_over_means(recall, None, MEANS, COVARIANCE, quantile, NO_LIMITS)
    assert found == pytest.approx(fieller(MEANS, COVARIANCE, quantile), abs=1e-3)


def test_for_a_linear_function_it_is_the_usual_interval():
    slope = np.array([2.0, -1.0])
    low, high = ends_over_means(
        lambda means: means @ slope, None, MEANS, COVARIANCE, 2.0, NO_LIMITS
    )
    reach = 2.0 * np.sqrt(slope @ COVARIANCE @ slope)
    assert (low, high) == pytest.approx((0.5 - reach, 0.5 + reach), rel=1e-3)


@pytest.mark.parametrize("metric", [Recall(), FBeta(), Matthews()])
def test_it_has_the_value_inside_and_grows_with_the_quantile(metric):
    def function(means):
        return metric.value(np.append(means, 0.35))

    limits = (np.zeros(2), np.array([0.35, 0.65]))
    before = (function(MEANS),) * 2
    for quantile in (0.5, 1.0, 2.0, 4.0, 50.0):
        low, high = ends_over_means(function, None, MEANS, COVARIANCE, quantile, limits)
        assert low <= before[0] <= before[1] <= high
        before = low, high
    assert metric.bounds[0] <= before[0] < before[1] <= metric.bounds[1]


def test_points_stay_within_what_the_labels_prove():
    limits = (np.array([0.25, 0.05]), np.array([0.4, 0.2]))
    low, high = ends_over_means(recall, None, MEANS, 100 * COVARIANCE, 3.0, limits)
    assert 0.25 / 0.45 <= low < high <= 0.4 / 0.45


def test_a_function_that_is_nowhere_defined_has_no_ends():
    found = ends_over_means(
        lambda means: np.nan, None, MEANS, COVARIANCE, 1.0, NO_LIMITS
    )
    assert np.isnan(found).all()


def test_points_where_the_function_is_not_defined_are_left_out():
    with np.errstate(invalid="ignore"):
        found = ends_over_means(
            recall, None, np.zeros(2), COVARIANCE, 1.0, (np.zeros(2), np.ones(2))
        )
    assert found == pytest.approx((0.0, 1.0))


def test_without_variance_it_is_the_value():
    found = ends_over_means(recall, None, MEANS, np.zeros((2, 2)), 2.0, NO_LIMITS)
    assert found == pytest.approx((0.75, 0.75))


def test_ends_of_a_plain_sum_are_those_of_its_standard_error():
    root = np.random.default_rng(0).normal(size=(4, 4))
    covariance, slope = root @ root.T, np.array([1.0, -1.0, 0.5, 2.0])
    limits = np.full(4, -np.inf), np.full(4, np.inf)
    functions = (lambda means: slope @ means), (lambda means: slope)
    found = ends_over_means(*functions, np.zeros(4), covariance, 2.0, limits)
    error = 2.0 * np.sqrt(slope @ covariance @ slope)
    np.testing.assert_allclose(found, (-error, error))


def test_means_that_are_bound_to_each_other_stay_so_within_limits():
    root = np.random.default_rng(0).normal(size=(3, 3))
    three = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -1]])  # u + v = w + z
    limits = np.zeros(4), np.full(4, np.inf)
    start = three @ np.array([0.3, -0.1, 0.15])
    covariance = three @ root @ root.T @ three.T
    limits = [side[None] for side in limits]
    moved = into_limits(start[None, None], covariance[None], limits)[0, 0]
    assert (moved >= 0).all()
    assert moved[0] + moved[1] - moved[2] == pytest.approx(moved[3], abs=1e-6)


def test_the_greater_covariance_is_as_great_as_both_in_each_direction():
    roots = np.random.default_rng(0).normal(size=(2, 3, 3))
    first, second = (root @ root.T for root in roots)
    found = greater_covariance(first, second)
    for each in (first, second):
        assert np.linalg.eigvalsh(found - each).min() > -1e-9
    np.testing.assert_allclose(greater_covariance(first, 4 * first), 4 * first)


@pytest.mark.parametrize("metric", [FBeta(), Recall(average="macro"), Matthews()])
def test_many_regions_at_once_have_the_ends_of_each(metric):
    rng, n_classes = np.random.default_rng(0), 3 if "macro" in metric.name else 1
    shares = rng.dirichlet(np.ones(3 * n_classes), 5) / 2.0
    roots = rng.normal(scale=0.02, size=(5, 3 * n_classes, 3 * n_classes))
    regions = shares, roots @ roots.swapaxes(1, 2), np.linspace(0.5, 4.0, 5)
    limits = np.zeros_like(shares), np.full_like(shares, 0.6)
    many = ends_over_regions(metric._values, metric._gradients, *regions, limits)
    for place, one in enumerate(zip(*regions, strict=True)):
        own = tuple(side[place] for side in limits)
        found = ends_over_means(metric.value, metric.gradient, *one, own)
        np.testing.assert_allclose(found, np.transpose(many)[place])
