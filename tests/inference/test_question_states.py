"""States for values that nobody asked for when the rows were picked."""

import numpy as np
import pytest
from helpers.questions import SLICE, N, Y, buy, start

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import proved_limits
from sklearn_ase._inference._questions import (
    BeliefColumns,
    Epoch,
    moments_with_labels,
    question_state,
)
from sklearn_ase._inference._steps import over_answerable, row_weight
from sklearn_ase.metrics import LabelMean, Recall
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.selection import Proportional

CLASSES = np.array([0, 1])


@pytest.fixture(scope="module")
def evaluation():
    return buy(start(loss="zero_one", refit=1), 20)


@pytest.fixture(scope="module")
def values(evaluation):
    predicted = evaluation.problem.predictions.response
    return Recall().on_pool(predicted, CLASSES).parts[0]


@pytest.fixture(scope="module")
def state(evaluation, values):
    state = evaluation.state
    observed = values.observed(state.indices, state.labels)
    return question_state(state, values, evaluation.epochs, observed)


def test_steps_are_those_of_the_formula(evaluation, values, state):
    rows, q = state.picks.indices, state.picks.query_proba
    epochs, found = evaluation.epochs, []
    for step, row in enumerate(rows):
        belief = [epoch for epoch in epochs if epoch.start <= step][-1].belief
        expected = values.moments(belief)[0]
        before = values.observed(rows[:step], Y[rows[:step]]).sum()
        free = np.setdiff1d(np.arange(N), rows[:step])
        surprise = values.observed(rows[[step]], Y[rows[[step]]])[0] - expected[row]
        found.append((before + expected[free].sum() + surprise / q[step]) / N)
    assert CorrectedASE().steps(state).values == pytest.approx(np.array(found))


def test_with_a_belief_per_pick_the_columns_are_those_of_the_loss():
    """The loss, asked for as a question, finds what was recorded for the loss."""
    selection = Proportional(0.3)
    evaluation = start(loss="zero_one", refit=1, selection=selection)
    evaluation.beliefs.kept.is_due = lambda learned, n_labels: (
        True
    )  # Every belief is kept.
    buy(evaluation, 12)
    question = evaluation.question(metric="zero_one")
    values, state = question.metric.parts[0], evaluation.state
    observed = values.observed(state.indices, state.labels)
    asked = question_state(state, values, evaluation.epochs, observed).picks
    for name in ("expected_loss", "free_expected_loss", "residual_moment"):
        recorded = getattr(state.picks, name)
        assert getattr(asked, name) == pytest.approx(recorded, rel=1e-4, abs=1e-6)
    assert (asked.max_expected_ratio >= state.picks.max_expected_ratio - 1e-6).all()


def test_values_are_known_where_there_is_a_label(evaluation, values):
    state = evaluation.state
    observed = values.observed(state.indices, state.labels)
    expected, variance = moments_with_labels(state, values, observed)
    assert expected[state.indices] == pytest.approx(observed)
    assert not variance[state.indices].any()
    assert variance[state.free].any()


def test_picks_before_the_first_belief_expect_nothing(evaluation, values):
    state, late = evaluation.state, evaluation.epochs[4:]
    observed = values.observed(state.indices, state.labels)
    picks = question_state(state, values, late, observed).picks
    start_ = late[0].start
    assert not picks.expected_loss[:start_].any()
    assert np.isnan(picks.residual_moment[:start_]).all()
    assert np.isfinite(picks.residual_moment[start_:]).all()


def test_limits_are_what_the_labels_prove(evaluation, values, state):
    least, most = proved_limits(state)
    predicted = evaluation.problem.predictions.response
    found = predicted[state.indices] == 1
    true = Y[state.indices] == 1
    assert least == pytest.approx(np.sum(found & true) / N)
    assert most == pytest.approx(np.mean(predicted == 1) - np.sum(found & ~true) / N)


def test_values_may_be_negative():
    assert LabelMean().on_pool(weight=np.ones(3)).parts[0].min_loss == -np.inf


def test_values_that_are_always_zero_have_no_bound(evaluation):
    values = Recall().on_pool(np.zeros(N, dtype=int), CLASSES).parts[0]
    assert not values.is_bounded


def test_beliefs_are_aligned_with_more_and_with_fewer_classes():
    belief = BeliefColumns(np.array([0, 2]), proba=np.array([[0.25, 0.75]]))
    assert belief.aligned(np.array([0, 1, 2])).proba.tolist() == [[0.25, 0.0, 0.75]]
    assert belief.aligned(np.array([0, 1])).proba.tolist() == [[0.25, 0.0]]
    epoch = Epoch(0, belief, np.ones(1))
    assert epoch.belief.aligned(None) is belief


def test_a_weighted_share_of_rows_that_can_be_labelled(evaluation, values):
    """Half of the slice cannot be labelled; all rows outside of it can."""
    weight = SLICE / SLICE.mean()
    rows = evaluation.ask(N - 20).indices
    bad = rows[SLICE[rows]][::2]
    evaluation.tell(np.setdiff1d(rows, bad), Y[np.setdiff1d(rows, bad)])
    evaluation.skip(bad)
    state = evaluation.state
    observed = weight[state.indices]
    values = evaluation.question(metric="accuracy", where=SLICE).metric.parts[0]
    state = question_state(state, values, [], observed, weight=weight)
    assert row_weight(state) is weight
    steps = _kernels.step_estimates(state.picks.losses, state.picks.query_proba, N)
    assert over_answerable(steps, state)[-1] == pytest.approx(1.0)
