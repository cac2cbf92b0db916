"""Groups of rows tell each other how far the surrogate can be trusted."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from sklearn_ase._inference._evidence import errors_of_groups

USUAL = {"one_label": 100.0, "worth": 400.0, "is_calibrated": True}


def guarded_alone(gaps, variance):
    """Expected errors of groups that hear of no other, by the three hypotheses."""
    gaps = np.asarray(gaps)[..., None]
    spread = variance * 100.0 / (400.0 * np.array([1.0, 1 / 40, 3 / 4000]))
    density = stats.norm(0.0, np.sqrt(variance + spread)).pdf(gaps)
    weight = np.array([0.9, 0.08, 0.02]) * density
    error = spread / (variance + spread) * gaps
    return (weight * error).sum(axis=-1) / weight.sum(axis=-1)


@pytest.mark.parametrize("common", [0.0, 0.05])
def test_errors_are_those_of_bayes_rule_by_brute_force(common):
    gaps, variances = np.array([0.1, -0.05, 0.3]), np.array([0.01, 0.002, 0.005])
    total, mean = 0.0, np.zeros(3)
    choices = product([(0.0, 0.8), (common, 0.2)], [1.0, 10.0, 1e12])
    for (centre, chance), factor in choices:
        # Of each group: whether the surrogate is accurate, inaccurate or useless.
        for kinds in product(range(3), repeat=3):
            weight, errors = chance, np.zeros(3)
            for group, kind in enumerate(kinds):
                worth = 400.0 * (factor, 1 / 40, 3 / 4000)[kind]
                spread = variances[group] * 100.0 / worth
                expected = centre if kind == 0 else 0.0
                gap = stats.norm(expected, np.sqrt(spread + variances[group]))
                weight *= (0.9, 0.08, 0.02)[kind] * gap.pdf(gaps[group])
                share = spread / (spread + variances[group])
                errors[group] = expected + share * (gaps[group] - expected)
            total, mean = total + weight, mean + weight * errors
    found = errors_of_groups(gaps, variances, common, **USUAL)
    assert found == pytest.approx(mean / total, rel=1e-6)


def test_groups_that_agree_with_the_surrogate_speak_for_it():
    gaps = np.array([0.05, *[0.01, -0.01] * 10])
    variances = np.full(21, 0.05**2)
    found = errors_of_groups(gaps, variances, 0.0, **USUAL)
    assert 0 < found[0] < 0.5 * guarded_alone(0.05, 0.05**2)


def test_an_error_that_all_groups_share_is_found_in_each():
    gaps, variances = np.full(10, 0.1), np.full(10, 0.1**2)
    found = errors_of_groups(gaps, variances, 0.1, **USUAL)
    assert found == pytest.approx(0.1, rel=0.1)
    assert guarded_alone(0.1, 0.1**2) < 0.04


def test_a_group_that_is_clearly_different_stays_so():
    gaps, variances = np.array([0.5, *np.zeros(20)]), np.full(21, 0.05**2)
    found = errors_of_groups(gaps, variances, 0.02, **USUAL)
    assert found[0] > 0.9 * 0.5
    assert np.abs(found[1:]).max() < 0.005


@pytest.mark.parametrize("n_groups", [2, 5, 20])
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.3])
def test_hearing_of_others_does_not_cost_much_and_may_gain_much(n_groups, spread):
    """Surrogates that are right, a little wrong and very wrong; labels of error 0.1."""
    rng = np.random.default_rng(0)
    errors = spread * rng.normal(size=(500, n_groups))
    gaps = errors + 0.1 * rng.normal(size=errors.shape)
    variances = np.full(n_groups, 0.01)
    together = np.array(
        [errors_of_groups(each, variances, 0.0, **USUAL) for each in gaps]
    )
    square = [np.mean((e - errors) ** 2) for e in (together, guarded_alone(gaps, 0.01))]
    assert square[0] < (0.6 if spread == 0.0 else 1.1) * square[1]


def test_an_uncalibrated_surrogate_is_trusted_less():
    gaps, variances = np.array([0.2, 0.1]), np.full(2, 0.01)
    trusted, doubted = (
        errors_of_groups(gaps, variances, 0.0, **USUAL | {"is_calibrated": flag})
        for flag in (True, False)
    )
    assert (trusted < doubted).all()


def test_a_surrogate_without_limit_of_its_worth_is_right():
    options = USUAL | {"worth": np.inf}
    assert errors_of_groups(np.array([0.5]), np.array([0.01]), 0.0, **options) == [0.0]
