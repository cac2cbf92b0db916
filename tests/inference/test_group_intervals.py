"""Intervals of values that are 0 outside of a group: what no label has shown there."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.states import make_picks, uniform_state
from scipy import stats

from sklearn_ase.metrics._row_values import ClassValues
from sklearn_ase.risk import LURE, MonteCarlo
from sklearn_ase.risk._question import with_limits


def of_values(greatest, labels, rows=None, query_proba=None, believed=0.0):
    """State of a question: a row has its greatest value if the label is 1, else 0.

    The surrogate expects no value, but a variance of each step.
    """
    n_samples, n_labels = len(greatest), len(labels)
    if query_proba is None:
        query_proba = 1.0 / (n_samples - np.arange(n_labels))
    rows = np.arange(n_labels) if rows is None else rows
    target = np.ones(n_samples, dtype=int)
    loss = ClassValues(target, np.asarray(greatest, float), np.arange(2))
    believed = np.full(n_labels, believed)
    picks = make_picks(
        rows,
        loss.observed(rows, np.asarray(labels)),
        query_proba,
        max_inverse_proba=1.0 / np.asarray(query_proba),
        residual_moment=believed,
        loss_moment=believed,
    )
    state = uniform_state(np.zeros(n_labels), n_samples)
    return replace(state, loss=loss, picks=picks, labels=labels, is_question=True)


def estimate(risk, *args, **kwargs):
    state = of_values(*args, **kwargs)
    return with_limits(risk.estimate(state), state)


@pytest.mark.parametrize("unit", [1.0, 5.0, 0.01])
@pytest.mark.parametrize("n_labels", [10, 40, 120])
def test_a_group_without_an_error_has_the_interval_of_its_rows_alone(n_labels, unit):
    """A fifth of the pool, and of the labels, is in the group."""
    in_group = np.arange(300) % 5 == 0
    group = estimate(LURE(), unit * in_group, np.zeros(n_labels, dtype=int))
    alone = MonteCarlo().estimate(uniform_state(np.zeros(n_labels // 5), 60))
    ends = np.array(group.interval()) / (unit * in_group.mean())
    assert ends == pytest.approx(alone.interval())


@pytest.mark.parametrize("unit", [0.01, 1.0, 7.0])
def test_an_interval_is_in_the_unit_of_the_values(unit):
    greatest, labels = np.arange(200) % 3.0, np.arange(40) % 7 == 1
    found = estimate(LURE(), unit * greatest, labels.astype(int)).interval()
    plain = estimate(LURE(), greatest, labels.astype(int)).interval()
    assert np.array(found) / unit == pytest.approx(plain)


def test_rows_of_a_group_that_are_picked_seldom_leave_more_room():
    rows, labels = np.arange(40), np.zeros(40, dtype=int)
    in_group = np.arange(200) % 2 == 0
    equal = 1.0 / (200 - np.arange(40))
    seldom = np.where(rows % 4 == 0, 0.4, 1.6) * equal
    found = [
        estimate(LURE(), in_group, labels, query_proba=q).interval()[1]
        for q in (equal, seldom)
    ]
    assert found[1] > 1.3 * found[0]


def test_labels_outside_of_a_group_do_not_outvote_what_is_believed_in_it():
    """No label shows a value, so all variance is believed; it counts as ten labels."""
    labels = np.zeros(40, dtype=int)
    everywhere, here = (
        estimate(LURE(), group, labels, believed=100.0).standard_error ** 2
        for group in (np.ones(200), np.arange(200) % 5 == 0)
    )
    assert here / everywhere == pytest.approx((10 + 40 - 1) / (10 + 8 - 1))


@pytest.mark.parametrize("greatest", [1.0, 4.0])
def test_labels_outside_of_a_group_exclude_nothing_in_it(greatest):
    values = greatest * (np.arange(50) >= 40)
    low, high = estimate(LURE(), values, np.zeros(30, dtype=int)).interval()
    assert (low, high) == (0.0, values.mean())


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("n_labels", [25, 50, 100])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_rare_errors_in_a_group_are_covered(share, n_labels, rate):
    """Exact coverage: labels in the group and errors among them are counted."""
    n_samples = 400
    n_group = round(share * n_samples)
    n_errors = round(rate * n_group)
    truth = n_errors / n_samples
    covered = 0.0
    for here in range(min(n_group, n_labels) + 1):
        chance = stats.hypergeom.pmf(here, n_samples, n_group, n_labels)
        if chance < 1e-4:
            covered += chance
            continue
        for seen in range(min(n_errors, here) + 1):
            rows = np.r_[np.arange(here), n_group + np.arange(n_labels - here)]
            found = estimate(
                MonteCarlo(),
                np.arange(n_samples) < n_group,
                (np.arange(n_labels) < seen).astype(int),
                rows=rows,
            )
            low, high = found.interval(0.9)
            of_errors = stats.hypergeom.pmf(seen, n_group, n_errors, here)
            covered += chance * of_errors * (low <= truth <= high)
    assert covered > 0.88
