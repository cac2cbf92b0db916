"""Skips: rows that nobody can label. Estimates are of the other rows."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from helpers.iris_campaign import WEIGHTED, X, Y, brier_losses, start_evaluation, tell
from helpers.states import make_picks, without_belief
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase.acquisition import LossSpread, TrustWeighted, Uniform
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import Proportional


def test_a_skipped_row_is_settled_without_a_label():
    evaluation = start_evaluation()
    rows = evaluation.ask(4).indices
    evaluation.skip(rows[1:2])
    tell(evaluation, rows[[0, 2]])
    assert evaluation.pending.indices.tolist() == [rows[3]]
    assert evaluation.state.settled.n_labels == 2
    assert evaluation.ledger.skipped == [rows[1]]
    assert rows[1] not in evaluation.ask(140).indices
    assert evaluation.estimate().n_labels == len(evaluation.ledger) == 2


def test_a_skipped_row_can_be_labelled_after_all():
    evaluation, other = start_evaluation(), start_evaluation()
    rows = evaluation.ask(4).indices
    other.ask(4)
    evaluation.skip(rows[1:3])
    tell(evaluation, rows[[0, 3]])
    tell(evaluation, rows[1:3])
    tell(other, rows[[0, 3]])
    tell(other, rows[1:3])
    assert evaluation.ledger.skipped == []
    for risk in (None, ASE(), *WEIGHTED):
        assert evaluation.estimate(risk) == other.estimate(risk)


def test_only_open_rows_can_be_skipped_and_all_or_none_are():
    evaluation = start_evaluation()
    rows = evaluation.ask(4).indices
    tell(evaluation, rows[:1])
    evaluation.skip(rows[1:2])
    free = int(np.flatnonzero(evaluation.state.free)[0])
    for some, message in [
        ([rows[2], rows[0]], rf"Rows \[{rows[0]}\] are answered or skipped already"),
        ([rows[2], rows[1]], r"withdraw\(index\) opens a row again"),
        ([rows[2], rows[2]], "named twice"),
        ([rows[2], free], rf"Rows \[{free}\] were not asked for"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluation.skip(some)
    assert evaluation.ledger.skipped == [rows[1]]


@pytest.mark.parametrize("risk", WEIGHTED)
def test_an_estimate_needs_a_label_besides_skips(risk):
    evaluation = start_evaluation(risk=risk, training={})
    evaluation.skip(evaluation.ask(3))
    with pytest.raises(ValueError, match="needs a label"):
        evaluation.estimate()
    query = evaluation.ask()
    tell(evaluation, query.indices)
    assert evaluation.estimate().n_labels == 1


@pytest.mark.parametrize("acquisition", [Uniform(), LossSpread()])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_a_settled_pool_gives_the_mean_over_its_labels_exactly(acquisition, batch_size):
    evaluation = start_evaluation(X[1::5], acquisition=acquisition)
    y = Y[1::5]
    while evaluation.state.free.any():
        rows = evaluation.ask(min(batch_size, int(evaluation.state.free.sum()))).indices
        evaluation.skip(rows[rows % 4 == 1])
        tell(evaluation, rows[rows % 4 != 1], y)
    answered = np.flatnonzero(np.arange(30) % 4 != 1)
    truth = brier_losses(answered * 5 + 1, y[answered]).mean()
    risks = [*WEIGHTED, MonteCarlo()] if acquisition.is_uniform else WEIGHTED
    for risk in risks:
        found = evaluation.estimate(risk)
        assert found.value == pytest.approx(truth, rel=1e-9)
        assert (found.standard_error, found.refusal) == (0.0, "")
        assert found.n_labels == len(answered)


def test_a_loss_that_is_known_stays_known_whatever_is_skipped():
    """The surrogate expects 2 everywhere, and it is 2 everywhere."""
    evaluation = start_evaluation(loss=lambda y_true, y_pred: np.full(len(y_true), 2.0))
    for k in range(12):
        query = evaluation.ask(3)
        evaluation.skip(query.indices[k % 3 : k % 3 + 1])
        tell(evaluation, np.delete(query.indices, k % 3))
        found = evaluation.estimate(CorrectedASE())
        assert found.value == pytest.approx(2.0, abs=1e-12)
        assert found.standard_error == pytest.approx(0.0, abs=1e-12)


def without_the_last_class(n_picks):
    """Nobody can tell the rows of the last class, where the model is often wrong."""
    evaluation = start_evaluation(loss="zero_one", acquisition=Uniform())
    query = evaluation.ask(n_picks)
    evaluation.skip(query.indices[Y[query.indices] == 2])
    tell(evaluation, query.indices[Y[query.indices] != 2])
    return evaluation


def test_with_skips_guarded_leaves_the_surrogate_out():
    """It speaks of all rows, and the labels of those that can be labelled."""
    evaluation = without_the_last_class(60)
    found, corrected = evaluation.estimate(), evaluation.estimate(GuardedASE(worth=0))
    assert abs(corrected.value - evaluation.estimate(ASE()).value) > 0.01
    assert found == corrected
    assert found == evaluation.estimate(GuardedASE(worth=np.inf))


def test_with_skips_trusted_scores_as_the_other_acquisition():
    state = without_the_last_class(60).state
    assert_array_equal(
        TrustWeighted(LossSpread()).score_samples(state),
        LossSpread().score_samples(state),
    )


def test_with_skips_the_surrogate_is_not_called_bad():
    evaluation = without_the_last_class(90)
    n_skipped = len(evaluation.ledger.skipped)
    diagnosis = evaluation.diagnose()
    assert diagnosis.verdict == "unsure"
    assert diagnosis.advice.startswith(f"{n_skipped} rows could not be labelled.")
    assert np.isnan([diagnosis.trust, diagnosis.distance]).all()
    assert "trust in the surrogate    cannot be told" in str(diagnosis)
    assert "standard errors off" not in str(diagnosis)
    evaluation = without_the_last_class(150)
    assert evaluation.diagnose().verdict == "good"
    assert "Every row that can be labelled is labelled" in str(evaluation.diagnose())


@pytest.mark.parametrize("risk", [*WEIGHTED, GuardedASE(), MonteCarlo()])
def test_an_estimate_says_that_it_leaves_skipped_rows_out(risk):
    evaluation = without_the_last_class(40)
    found, n_skipped = evaluation.estimate(risk), len(evaluation.ledger.skipped)
    assert found.n_skipped == n_skipped > 0
    assert f"n_skipped={n_skipped})" in repr(found)
    words = f"the rows that can be labelled; {n_skipped} could not"
    assert found.describe()["of"] == words
    assert words in found._repr_html_()
    assert words in evaluation._repr_html_()
    assert evaluation.estimate(ASE()).n_skipped == 0
    assert "of" not in start_evaluation().estimate(ASE()).describe()


def test_labels_that_all_wait_are_not_called_missing():
    evaluation = start_evaluation()
    rows = evaluation.ask(40).indices
    tell(evaluation, rows[1:])
    refusal = evaluation.estimate().refusal
    assert "no label" not in refusal
    assert f"39 labels wait behind the open query of row {rows[0]}" in refusal


LOSSES = np.array([0.3, 2.5, 0.0, 1.1, 4.2])
EXPECTED = np.array([1.0, 0.2, 3.0, 0.4, 2.0])
SCORES = np.array([0.4, 0.1, 1.0, 0.7, 0.05])
N_SAMPLES = len(LOSSES)


def all_sequences(n_picks, scores_after, uniform_share=0.0):
    """Every sequence of picks, with its probability and those of the picks."""
    for sequence in permutations(range(N_SAMPLES), n_picks):
        left, proba = list(range(N_SAMPLES)), []
        for k, row in enumerate(sequence):
            distribution = Proportional(uniform_share).distribution(
                scores_after(sequence[:k])[left]
            )
            proba.append(distribution[left.index(row)])
            left.remove(row)
        yield np.prod(proba), list(sequence), np.array(proba)


def state_of(sequence, proba, can_tell):
    """State of a pool of which some rows cannot be labelled."""
    sequence = np.array(sequence)
    told = can_tell[sequence]
    left = np.array(
        [EXPECTED.sum() - EXPECTED[sequence[:k]].sum() for k in range(len(proba))]
    )
    picks = make_picks(
        sequence,
        LOSSES[sequence],
        proba,
        expected_loss=EXPECTED[sequence],
        free_expected_loss=left,
        answered=told,
    )
    return without_belief(picks, N_SAMPLES)


def adaptive_scores(seen):
    """Scores that depend on what was picked, and on whether it could be told."""
    return 0.05 + np.abs(np.sin(np.arange(1, 6) * (1.0 + sum(LOSSES[list(seen)]))))


CANNOT = [[0], [4], [1, 2], [0, 3, 4]]


def test_guarded_is_never_negative_whatever_is_skipped():
    can_tell, least = ~np.isin(np.arange(N_SAMPLES), [1, 2]), []
    for _, sequence, proba in all_sequences(3, adaptive_scores):
        state = replace(state_of(sequence, proba, can_tell), belief="some")
        if state.settled.n_skipped:
            found = GuardedASE().estimate(state)
            least.append(found.centre)
            assert found.value == max(found.centre, 0.0)
    assert min(least) < 0


@pytest.mark.parametrize("n_picks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("cannot", CANNOT)
def test_total_and_share_of_the_answerable_rows_are_unbiased(n_picks, cannot):
    """And the estimate is their ratio."""
    can_tell = ~np.isin(np.arange(N_SAMPLES), cannot)
    weights = _kernels.step_weights(n_picks, N_SAMPLES)
    totals = np.zeros(3)
    for chance, sequence, proba in all_sequences(n_picks, adaptive_scores):
        state = state_of(sequence, proba, can_tell)
        picks = state.settled
        assert_array_equal(picks.answered, can_tell[sequence])
        assert_array_equal(picks.losses, np.where(can_tell, LOSSES, 0.0)[sequence])
        assert_array_equal(picks.query_proba, proba)
        told = picks.answered * 1.0
        n_free = N_SAMPLES - np.arange(n_picks)
        share = np.cumsum(told) - told + n_free + (told - 1.0) / proba
        before = np.cumsum(picks.losses) - picks.losses
        plain = before + picks.losses / proba
        control = EXPECTED[sequence] / proba - picks.free_expected_loss
        found = np.array([share, plain, plain - control]) @ weights / N_SAMPLES
        totals += chance * found
        # There are at least as many answerable rows as were answered.
        if (
            told.mean() > 0
            and told.sum() <= found[0] * N_SAMPLES <= sum(told) + 5 - n_picks
        ):
            assert LURE().estimate(state).value == pytest.approx(found[1] / found[0])
            corrected = CorrectedASE().estimate(state).value
            assert corrected == pytest.approx(found[2] / found[0])
    answerable = LOSSES[can_tell].sum() / N_SAMPLES
    assert_allclose(totals, [can_tell.mean(), answerable, answerable], atol=1e-12)


@pytest.mark.parametrize("n_picks", [2, 3, 4, 5])
@pytest.mark.parametrize("cannot", CANNOT)
def test_a_mean_of_losses_is_not_negative_where_rows_were_skipped(n_picks, cannot):
    can_tell = ~np.isin(np.arange(N_SAMPLES), cannot)
    wrong = []
    for _, sequence, proba in all_sequences(n_picks, lambda seen: SCORES, 0.2):
        if can_tell[sequence].any():
            found = LURE().estimate(state_of(sequence, proba, can_tell)).value
            if not -1e-9 <= found < np.inf:
                wrong.append(f"{sequence}: {found:.3g}")
    assert wrong == []
