"""Design-based risks are unbiased exactly: every sequence of picks is enumerated.

The proposal and the surrogate may depend on everything seen before, however absurdly.
"""

from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.states import make_picks, without_belief

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase.risk import LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import Proportional, UniformMixed

LOSSES = np.array([0.3, 2.5, 0.0, 1.1, 4.2])
N_SAMPLES = len(LOSSES)
RISK = LOSSES.mean()
every_n_labels = pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5])


def uniform_scores(history):
    return np.ones(N_SAMPLES)


def adaptive_scores(history):
    """Depends on which rows were seen, in which order, and on their losses."""
    seen = sum((k + 1) * LOSSES[index] + index for k, index in enumerate(history))
    return 0.1 + np.abs(np.sin(np.arange(1, N_SAMPLES + 1) * (1.0 + seen)))


def hostile_scores(history):
    """Prefers the small losses, the more the more large ones were seen."""
    return np.exp(-LOSSES * (0.2 + 0.1 * LOSSES[list(history)].sum()))


def no_surrogate(history):
    return np.zeros(N_SAMPLES)


def true_surrogate(history):
    return LOSSES.copy()


def absurd_surrogate(history):
    """A hundred times the truth with the wrong sign, worse with every label."""
    return -100.0 * LOSSES * (1.0 + LOSSES[list(history)].sum()) + np.arange(N_SAMPLES)


def fickle_surrogate(history):
    return 10.0 * np.cos(np.arange(N_SAMPLES) + 3.0 * sum(history) + len(history))


proposals = pytest.mark.parametrize(
    "scores_after", [uniform_scores, adaptive_scores, hostile_scores]
)
surrogates = pytest.mark.parametrize(
    "surrogate_after",
    [no_surrogate, true_surrogate, absurd_surrogate, fickle_surrogate],
)


def state_of(sequence, query_proba, expected, free_expected):
    picks = make_picks(
        sequence,
        LOSSES[list(sequence)],
        query_proba,
        expected_loss=expected,
        free_expected_loss=free_expected,
    )
    return without_belief(picks, N_SAMPLES)


def all_evaluations(
    n_labels,
    scores_after,
    surrogate_after=no_surrogate,
    selection=None,
    batches=None,
):
    """Yield the probability and the final state of every possible evaluation.

    Scores and surrogate see the labels of the batches before; picks within a batch are
    drawn one after the other from what is left. None is a batch for each label.
    """
    selection = Proportional(0.0) if selection is None else selection
    batches = [1] * n_labels if batches is None else batches
    bounds = list(pairwise(np.cumsum([0, *batches])))
    for sequence in permutations(range(N_SAMPLES), n_labels):
        left = list(range(N_SAMPLES))
        query_proba, expected, free_expected = [], [], []
        for start, stop in bounds:
            scores = scores_after(sequence[:start])
            surrogate = surrogate_after(sequence[:start])
            for index in sequence[start:stop]:
                distribution = selection.distribution(scores[left])
                query_proba.append(distribution[left.index(index)])
                expected.append(surrogate[index])
                free_expected.append(surrogate[left].sum())
                left.remove(index)
        state = state_of(sequence, query_proba, expected, free_expected)
        yield np.prod(query_proba), state


def expectation(evaluations, estimate):
    return sum(proba * estimate(state) for proba, state in evaluations)


def estimate_with(risk):
    return lambda state: risk.estimate(state).value


@every_n_labels
@proposals
def test_every_evaluation_is_enumerated(n_labels, scores_after):
    total = expectation(all_evaluations(n_labels, scores_after), lambda state: 1.0)
    assert total == pytest.approx(1.0, abs=1e-12)


@every_n_labels
@proposals
def test_lure_is_unbiased_for_any_adaptive_proposal(n_labels, scores_after):
    evaluations = all_evaluations(n_labels, scores_after)
    found = expectation(evaluations, estimate_with(LURE()))
    assert found == pytest.approx(RISK, abs=1e-12)


@every_n_labels
@proposals
@surrogates
def test_corrected_ase_is_unbiased_for_any_adaptive_surrogate(
    n_labels, scores_after, surrogate_after
):
    evaluations = all_evaluations(n_labels, scores_after, surrogate_after)
    found = expectation(evaluations, estimate_with(CorrectedASE()))
    assert found == pytest.approx(RISK, abs=1e-11)


@every_n_labels
@proposals
@surrogates
def test_tuned_corrected_ase_is_unbiased_for_any_adaptive_surrogate(
    n_labels, scores_after, surrogate_after
):
    """How much of g to use is decided before each label, by the labels before it."""
    evaluations = all_evaluations(n_labels, scores_after, surrogate_after)
    found = expectation(evaluations, estimate_with(GuardedASE(worth=0)))
    assert found == pytest.approx(RISK, abs=1e-11)


@surrogates
def test_every_single_step_is_unbiased(surrogate_after):
    evaluations = all_evaluations(4, adaptive_scores, surrogate_after)
    found = expectation(
        evaluations,
        lambda state: _kernels.step_estimates(
            state.losses,
            state.picks.query_proba,
            N_SAMPLES,
            state.picks.expected_loss,
            state.picks.free_expected_loss,
        ),
    )
    assert found == pytest.approx(np.full(4, RISK), abs=1e-11)


@pytest.mark.parametrize("batches", [[3], [2, 1], [1, 2], [2, 2], [2, 3], [5]])
@pytest.mark.parametrize("risk", [LURE(), CorrectedASE(), GuardedASE(worth=0)])
@surrogates
def test_batches_keep_the_estimates_unbiased(batches, risk, surrogate_after):
    evaluations = all_evaluations(
        sum(batches), adaptive_scores, surrogate_after, batches=batches
    )
    found = expectation(evaluations, estimate_with(risk))
    assert found == pytest.approx(RISK, abs=1e-11)


@pytest.mark.parametrize("risk", [LURE(), CorrectedASE(), GuardedASE(worth=0)])
@pytest.mark.parametrize(
    "selection", [UniformMixed(uniform_share=0.1), Proportional(0.3)]
)
def test_a_uniform_share_makes_any_selection_unbiased(risk, selection):
    evaluations = all_evaluations(3, hostile_scores, absurd_surrogate, selection)
    found = expectation(evaluations, estimate_with(risk))
    assert found == pytest.approx(RISK, abs=1e-11)


@every_n_labels
@proposals
def test_corrected_ase_without_a_surrogate_is_lure(n_labels, scores_after):
    for _, state in all_evaluations(n_labels, scores_after):
        corrected, lure = CorrectedASE().estimate(state), LURE().estimate(state)
        assert corrected.value == pytest.approx(lure.value, rel=1e-12)
        assert corrected.standard_error == pytest.approx(
            lure.standard_error, rel=1e-12, nan_ok=True
        )


@every_n_labels
def test_uniform_picks_without_a_surrogate_are_monte_carlo(n_labels):
    for _, state in all_evaluations(n_labels, uniform_scores):
        plain = MonteCarlo().estimate(state).value
        assert CorrectedASE().estimate(state).value == pytest.approx(plain, rel=1e-12)


@proposals
@surrogates
def test_the_whole_pool_gives_its_risk_exactly(scores_after, surrogate_after):
    for _, state in all_evaluations(N_SAMPLES, scores_after, surrogate_after):
        for risk in (LURE(), CorrectedASE(), GuardedASE(worth=0)):
            estimate = risk.estimate(state)
            assert estimate.value == pytest.approx(RISK, abs=1e-11)
            assert estimate.standard_error == 0.0


def test_a_true_surrogate_leaves_no_variance():
    for _, state in all_evaluations(3, adaptive_scores, true_surrogate):
        estimate = CorrectedASE().estimate(state)
        assert estimate.value == pytest.approx(RISK, rel=1e-12)
        assert estimate.standard_error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("scores_after", [adaptive_scores, hostile_scores])
def test_ignoring_the_probability_of_a_pick_is_biased(scores_after):
    """The control: these tests can fail."""
    evaluations = all_evaluations(3, scores_after)
    plain_mean = expectation(evaluations, lambda state: state.losses.mean())
    assert abs(plain_mean - RISK) > 0.01


def test_tuning_by_hindsight_is_biased():
    """A control as well: the same regression over all labels, the last included."""

    def estimate(state):
        arrays = state.losses, state.picks.query_proba, N_SAMPLES
        plain = _kernels.step_estimates(*arrays)
        control = state.picks.expected_loss / state.picks.query_proba
        control = (control - state.picks.free_expected_loss) / N_SAMPLES
        again = np.append(plain, 0.0), np.append(control, 0.0), 0
        steps = plain - _kernels.predictable_power(*again)[-1] * control
        return _kernels.step_weights(3, N_SAMPLES) @ steps

    evaluations = all_evaluations(3, adaptive_scores, fickle_surrogate)
    assert abs(expectation(evaluations, estimate) - RISK) > 0.01


def test_a_surrogate_that_has_seen_the_label_is_biased():
    """The other control: it expects the loss just observed everywhere."""
    n_free = N_SAMPLES - np.arange(3)

    def estimate(state):
        free_expected = state.losses * n_free
        arrays = state.picks.query_proba, state.losses, free_expected
        hindsight = state_of(state.indices.tolist(), *arrays)
        return CorrectedASE().estimate(hindsight).value

    found = expectation(all_evaluations(3, adaptive_scores), estimate)
    assert abs(found - RISK) > 0.01
