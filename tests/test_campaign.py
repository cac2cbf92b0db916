"""Labelling campaigns: what corrections, skips, known labels, costs and rules do."""

import warnings
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.campaigns import campaign
from helpers.crashing_campaign import MODEL, X, Y
from helpers.states import make_picks, without_belief
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator, Picks
from sklearn_ase._evaluation._picking import pick_apart
from sklearn_ase._inference import _kernels
from sklearn_ase._state import RECORDED
from sklearn_ase.acquisition import BALD, LossSpread, TrustWeighted, Uniform
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.losses import CustomLoss
from sklearn_ase.risk import (
    ASE,
    LURE,
    CorrectedASE,
    GuardedASE,
    MonteCarlo,
    RiskEstimate,
)
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed
from sklearn_ase.stopping import BaseStop, Plateau, TargetWidth
from sklearn_ase.surrogate import ClassifierSurrogate

TRAINING = {"X_train": X[::5], "y_train": Y[::5]}
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
WEIGHTED = [LURE(), CorrectedASE(), GuardedASE(worth=0)]


def _evaluator(**parameters):
    given = {"surrogate": SURROGATE, "loss": "brier", "random_state": 0}
    return ActiveRiskEstimator(MODEL, **given | parameters)


def _start(X=X, training=TRAINING, known_labels=None, cost=None, **parameters):
    return _evaluator(**parameters).start(
        X, known_labels=known_labels, cost=cost, **training
    )


def _tell(evaluation, rows, y=Y):
    rows = np.asarray(rows)
    evaluation.tell(rows, y[rows])


def _loss(rows, labels):
    return ((MODEL.predict_proba(X[rows]) - np.eye(3)[labels]) ** 2).sum(axis=1)


# Corrections.


def test_a_correction_changes_the_loss_and_nothing_about_the_pick():
    evaluation = _start()
    rows = evaluation.ask(6).indices
    _tell(evaluation, rows, (Y + 1) % 3)
    before = evaluation.state
    evaluation.correct(rows[2], Y[rows[2]])
    after = evaluation.state
    expected = _loss(rows, (Y[rows] + 1) % 3)
    expected[2] = _loss(rows, Y[rows])[2]
    assert_allclose(after.losses, expected, atol=1e-12)
    for name in RECORDED:
        assert_array_equal(getattr(after.picks, name), getattr(before.picks, name))
    assert after.settled.n_labels == 6
    assert evaluation.history["index"].tolist() == rows.tolist()


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
@pytest.mark.parametrize("wrong", [1, 7])
@pytest.mark.parametrize("n_answered", [3, 6])
def test_after_the_correction_all_is_as_if_the_label_had_been_right(wrong, n_answered):
    """The surrogate forgets the mistake, and the class that nobody has met."""
    right, corrected = _start(), _start()
    rows = right.ask(6).indices
    corrected.ask(6)
    mistaken = Y.copy()
    mistaken[rows[1]] = wrong
    _tell(right, rows[:3])
    _tell(corrected, rows[:3], mistaken)
    for evaluation in (right, corrected):
        _tell(evaluation, rows[3:n_answered])
        evaluation.refit()
    if wrong == 7:
        assert corrected.classes_.tolist() == [0, 1, 2, 7]
    corrected.correct(rows[1], Y[rows[1]])
    assert corrected.classes_.tolist() == [0, 1, 2]
    assert_array_equal(corrected.state.expected_loss, right.state.expected_loss)
    for risk in (None, ASE(), *WEIGHTED):
        assert corrected.estimate(risk) == right.estimate(risk)
    assert_array_equal(corrected.ask(4).indices, right.ask(4).indices)


def test_the_surrogate_is_fitted_again_only_if_it_had_learned_the_mistake():
    evaluation = _start(refit=[4])
    rows = evaluation.ask(6).indices
    _tell(evaluation, rows[:4])
    _tell(evaluation, rows[4:])
    belief = evaluation.state.belief
    evaluation.correct(rows[5], (Y[rows[5]] + 1) % 3)
    assert evaluation.state.belief is belief
    evaluation.correct(rows[3], (Y[rows[3]] + 1) % 3)
    assert evaluation.state.belief is not belief


def test_several_answers_can_be_corrected_to_one_and_one_to_several():
    evaluation = _start()
    rows = evaluation.ask(2).indices
    evaluation.tell(rows, [[0, 1], [2, 2]])
    evaluation.correct(rows[0], 1)
    evaluation.correct(rows[1], [0, 1, 1, 2])
    assert evaluation.ledger.more_labels == {rows[1]: [1, 1, 2]}
    assert evaluation.ledger.labels == {rows[0]: 1, rows[1]: 0}
    mean = np.mean([_loss(rows[1:], [label]) for label in (0, 1, 1, 2)])
    assert_allclose(evaluation.state.losses, [_loss(rows[:1], [1])[0], mean])


def test_the_last_estimate_of_the_history_follows_a_correction():
    evaluation = _start()
    rows = evaluation.ask(4).indices
    _tell(evaluation, rows)
    for verb, *words in [
        ("correct", rows[0], (Y[rows[0]] + 1) % 3),
        ("withdraw", rows[3]),
        ("skip", rows[3:]),
        ("refit",),
    ]:
        getattr(evaluation, verb)(*words)
        assert evaluation.history["risk"][-1] == evaluation.estimate().value


@pytest.mark.parametrize("verb", ["correct", "skip", "withdraw"])
def test_the_history_remembers_refits_whatever_comes_after(verb):
    evaluation = _start(refit=[2])
    rows = evaluation.ask(4).indices
    _tell(evaluation, rows[:2])
    assert evaluation.history["refit"].tolist() == [False, True]
    if verb == "correct":
        _tell(evaluation, rows[2:3])
        evaluation.correct(rows[2], (Y[rows[2]] + 1) % 3)
    if verb == "withdraw":
        _tell(evaluation, rows[2:3])
        evaluation.withdraw(rows[2])
    if verb == "skip":
        evaluation.skip(rows[2:3])
    assert evaluation.history["refit"].tolist()[:2] == [False, True]


@pytest.mark.parametrize("verb", ["correct", "withdraw"])
@pytest.mark.parametrize("which", ["open", "skipped", "never asked for", "outside"])
def test_only_labels_can_be_changed(verb, which):
    evaluation = _start()
    rows = evaluation.ask(3).indices
    _tell(evaluation, rows[:1])
    evaluation.skip(rows[2:])
    free = int(np.flatnonzero(evaluation.state.free)[0])
    row = {"open": rows[1], "skipped": rows[2], "never asked for": free, "outside": -1}
    words = [row[which], 0][: 2 if verb == "correct" else 1]
    if (verb, which) == ("withdraw", "skipped"):
        evaluation.withdraw(*words)
        assert evaluation.pending.indices.tolist() == rows[1:].tolist()
        return
    with pytest.raises(ValueError, match=rf"Row {words[0]} has no label .*{rows[1]}"):
        getattr(evaluation, verb)(*words)


def test_a_correction_must_be_a_label():
    evaluation = _start(classes=[0, 1, 2])
    rows = evaluation.ask(2).indices
    _tell(evaluation, rows)
    for label, message in [
        (3, "not among the classes"),
        ("one", "different kinds|not among"),
        (None, "Missing labels"),
        (np.nan, "Missing labels"),
        ([0, 9], "not among the classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluation.correct(rows[0], label)
    assert evaluation.ledger.labels[rows[0]] == Y[rows[0]]


# Rows and numbers of rows.


@pytest.mark.parametrize("verb", ["tell", "skip", "correct", "withdraw"])
@pytest.mark.parametrize("part", [0.5, np.nan, "?", True])
def test_half_a_row_is_no_row(verb, part):
    evaluation = _start()
    rows = evaluation.ask(2).indices
    _tell(evaluation, rows[:1])
    row = rows[0] + part if isinstance(part, float) else part
    words = {"tell": ([row], [1]), "skip": ([row],), "correct": (row, 1)}
    with pytest.raises(ValueError, match="named by their places in the pool"):
        getattr(evaluation, verb)(*words.get(verb, (row,)))
    assert len(evaluation.ledger) == len(evaluation.pending) == 1


def test_nothing_told_or_skipped_is_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    with _evaluator().start(X, journal=path, **TRAINING) as evaluation:
        evaluation.ask(2)
        before = path.read_bytes()
        evaluation.tell([], [])
        evaluation.skip([])
        with pytest.raises(ValueError, match="0 rows were to be answered, but 1 label"):
            evaluation.tell([], [1])
    assert path.read_bytes() == before


def test_one_row_may_come_as_an_array_of_one():
    evaluation = _start()
    query = evaluation.ask(3)
    rows = query.indices
    _tell(evaluation, rows)
    evaluation.correct(rows[:1], 2)
    evaluation.correct(rows[1:2].astype(float), [2])
    assert [evaluation.ledger.labels[row] for row in rows[:2]] == [2, 2]
    evaluation.withdraw(rows[2:])
    assert evaluation.pending.indices.tolist() == rows[2:].tolist()
    for verb, words in [("correct", (rows, 1)), ("withdraw", (query,))]:
        with pytest.raises(ValueError, match="One row at a time"):
            getattr(evaluation, verb)(*words)


@pytest.mark.parametrize("n_queries", [2.5, 3.0, "3", None])
def test_rows_are_asked_for_by_whole_numbers(n_queries):
    with pytest.raises(ValueError, match=r"ask\(.*\) is not possible: give an integer"):
        _start().ask(n_queries)


MISSING = {
    "list": ["cat", float("nan")],
    "none": ["cat", None],
    "object": np.array(["cat", np.nan], dtype=object),
    "series": pd.Series(["cat", np.nan]),
    "string": pd.Series(["cat", None], dtype="string"),
    "category": pd.Series(["cat", None], dtype="category"),
    "polars": pl.Series(["cat", None]),
    "numbers": pd.Series([1, None], dtype="Int64"),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_what_is_missing_is_no_class(labels):
    classes = [0, 1] if "Int64" in str(getattr(labels, "dtype", "")) else ["cat", "dog"]
    evaluation = campaign(classes, X)
    rows = evaluation.ask(2).indices
    message = rf"Missing labels.* in rows \[{rows[1]}\]\. .*evaluation\.skip"
    with pytest.raises(ValueError, match=message):
        evaluation.tell(rows, labels)
    assert evaluation.classes_.tolist() == classes
    with pytest.raises(ValueError, match=r"Missing y_train.* in rows \[1\]\. Leave"):
        _evaluator().start(X, X_train=X[:2], y_train=labels)


def test_of_many_missing_labels_some_are_named():
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(8).indices
    with pytest.raises(ValueError, match=r"\] and 3 more\. "):
        evaluation.tell(rows, [None] * 8)
    with pytest.raises(ValueError, match=rf"rows \[{rows[1]}\]\. "):
        evaluation.tell(rows[:2], [["cat", "dog"], ["cat", np.nan]])
    evaluation.tell(rows[:1], ["cat"])
    with pytest.raises(ValueError, match=rf"rows \[{rows[0]}\]\. "):
        evaluation.correct(rows[0], ["cat", np.nan])


# Labels that nobody has met.


@pytest.mark.parametrize("labels", [["cat", "Dog"], [["cat", "cat"], ["dog", "Dog"]]])
def test_a_label_that_is_new_to_all_is_taken_with_a_warning(labels):
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(3).indices
    with pytest.warns(NewClassWarning) as caught:
        evaluation.tell(rows[:2], labels)
    (one,) = caught
    assert one.filename == __file__
    assert "The labels ['Dog']" in str(one.message)
    assert "evaluation.correct(row, label)" in str(one.message)
    assert "classes=[...]" in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation.tell(rows[2:], ["Dog"])  # Met by now.
        evaluation.correct(rows[2], "dog")
        evaluation.correct(rows[1], "dog")
    with pytest.warns(NewClassWarning, match="'Dog'"):
        evaluation.correct(rows[1], "Dog")


def test_a_new_label_taken_for_an_error_is_not_recorded():
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NewClassWarning):
            evaluation.tell(rows, ["cat", "Dog"])
    assert len(evaluation.ledger) == 0
    assert evaluation.classes_.tolist() == ["cat", "dog"]


# Withdrawals.


def test_a_withdrawn_row_is_open_at_its_old_place():
    evaluation = _start()
    query = evaluation.ask(5)
    rows = query.indices
    _tell(evaluation, rows)
    evaluation.withdraw(rows[2])
    assert evaluation.pending.indices.tolist() == [rows[2]]
    assert evaluation.pending.proba.tolist() == [query.proba[2]]
    assert len(evaluation.ledger) == len(evaluation.history["risk"]) == 4
    assert evaluation.state.settled.n_labels == 2
    assert rows[2] not in evaluation.ask(140).indices


@pytest.mark.parametrize("risk", WEIGHTED)
def test_weighted_estimates_wait_for_a_withdrawn_row(risk):
    evaluation, other = _start(refit=[10**6]), _start(refit=[10**6])
    rows = evaluation.ask(5).indices
    other.ask(5)
    _tell(evaluation, rows)
    whole = evaluation.estimate(risk)
    evaluation.withdraw(rows[2])
    _tell(other, rows[:2])
    found, expected = evaluation.estimate(risk), other.estimate(risk)
    assert (found.value, found.n_labels) == (expected.value, 2)
    assert f"2 labels wait behind the open query of row {rows[2]}." in found.refusal
    _tell(evaluation, rows[2:3])
    assert evaluation.estimate(risk) == whole


def test_the_surrogate_forgets_a_withdrawn_label():
    evaluation, other = _start(), _start()
    rows = evaluation.ask(5).indices
    other.ask(5)
    _tell(evaluation, rows)
    evaluation.refit()
    evaluation.withdraw(rows[2])
    _tell(other, np.delete(rows, 2))
    other.refit()
    assert_array_equal(evaluation.state.expected_loss, other.state.expected_loss)
    assert evaluation.estimate(ASE()) == other.estimate(ASE())


def test_a_campaign_can_be_withdrawn_to_its_beginning():
    evaluation = _start(training={}, risk=LURE())
    rows = evaluation.ask(8).indices
    _tell(evaluation, rows)
    assert evaluation.is_fitted
    for row in rows:
        evaluation.withdraw(row)
    assert not evaluation.is_fitted
    assert evaluation.pending.indices.tolist() == rows.tolist()
    assert len(evaluation.history["risk"]) == 0
    with pytest.raises(ValueError, match="Answer the open queries first"):
        evaluation.estimate()
    _tell(evaluation, rows)
    again = _start(training={}, risk=LURE())
    again.ask(8)
    _tell(again, rows)
    assert evaluation.estimate() == again.estimate()
    assert_array_equal(evaluation.history["refit"], again.history["refit"])


# Skips.


def test_a_skipped_row_is_settled_without_a_label():
    evaluation = _start()
    rows = evaluation.ask(4).indices
    evaluation.skip(rows[1:2])
    _tell(evaluation, rows[[0, 2]])
    assert evaluation.pending.indices.tolist() == [rows[3]]
    assert evaluation.state.settled.n_labels == 2
    assert evaluation.ledger.skipped == [rows[1]]
    assert rows[1] not in evaluation.ask(140).indices
    assert evaluation.estimate().n_labels == len(evaluation.ledger) == 2


def test_what_is_skipped_can_be_told_after_all():
    evaluation, other = _start(), _start()
    rows = evaluation.ask(4).indices
    other.ask(4)
    evaluation.skip(rows[1:3])
    _tell(evaluation, rows[[0, 3]])
    _tell(evaluation, rows[1:3])
    _tell(other, rows[[0, 3]])
    _tell(other, rows[1:3])
    assert evaluation.ledger.skipped == []
    for risk in (None, ASE(), *WEIGHTED):
        assert evaluation.estimate(risk) == other.estimate(risk)


def test_only_open_rows_can_be_skipped_and_all_or_none_are():
    evaluation = _start()
    rows = evaluation.ask(4).indices
    _tell(evaluation, rows[:1])
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
def test_no_estimate_from_skips_alone(risk):
    evaluation = _start(risk=risk, training={})
    evaluation.skip(evaluation.ask(3))
    with pytest.raises(ValueError, match="needs a label"):
        evaluation.estimate()
    query = evaluation.ask()
    _tell(evaluation, query.indices)
    assert evaluation.estimate().n_labels == 1


@pytest.mark.parametrize("acquisition", [Uniform(), LossSpread()])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_a_settled_pool_gives_the_mean_over_its_labels_exactly(acquisition, batch_size):
    evaluation = _start(X[1::5], acquisition=acquisition)
    y = Y[1::5]
    while evaluation.state.free.any():
        rows = evaluation.ask(min(batch_size, int(evaluation.state.free.sum()))).indices
        evaluation.skip(rows[rows % 4 == 1])
        _tell(evaluation, rows[rows % 4 != 1], y)
    answered = np.flatnonzero(np.arange(30) % 4 != 1)
    truth = _loss(answered * 5 + 1, y[answered]).mean()
    risks = [*WEIGHTED, MonteCarlo()] if acquisition.is_uniform else WEIGHTED
    for risk in risks:
        found = evaluation.estimate(risk)
        assert found.value == pytest.approx(truth, rel=1e-9)
        assert (found.standard_error, found.refusal) == (0.0, "")
        assert found.n_labels == len(answered)


def test_a_loss_that_is_known_stays_known_whatever_is_skipped():
    """The surrogate expects 2 everywhere, and it is 2 everywhere."""
    evaluation = _start(loss=lambda y_true, y_pred: np.full(len(y_true), 2.0))
    for k in range(12):
        query = evaluation.ask(3)
        evaluation.skip(query.indices[k % 3 : k % 3 + 1])
        _tell(evaluation, np.delete(query.indices, k % 3))
        found = evaluation.estimate(CorrectedASE())
        assert found.value == pytest.approx(2.0, abs=1e-12)
        assert found.standard_error == pytest.approx(0.0, abs=1e-12)


def _hard_to_tell(n_picks):
    """Nobody can tell the rows of the last class, where the model is often wrong."""
    evaluation = _start(loss="zero_one", acquisition=Uniform())
    query = evaluation.ask(n_picks)
    evaluation.skip(query.indices[Y[query.indices] == 2])
    _tell(evaluation, query.indices[Y[query.indices] != 2])
    return evaluation


def test_with_skips_guarded_leaves_the_surrogate_out():
    """It speaks of all rows, and the labels of those that can be labelled."""
    evaluation = _hard_to_tell(60)
    found, corrected = evaluation.estimate(), evaluation.estimate(GuardedASE(worth=0))
    assert abs(corrected.value - evaluation.estimate(ASE()).value) > 0.01
    assert found == corrected
    assert found == evaluation.estimate(GuardedASE(worth=np.inf))


def test_with_skips_trusted_scores_as_the_other_acquisition():
    state = _hard_to_tell(60).state
    assert_array_equal(
        TrustWeighted(LossSpread()).score_samples(state),
        LossSpread().score_samples(state),
    )


def test_with_skips_nobody_says_that_the_surrogate_is_bad():
    evaluation = _hard_to_tell(90)
    n_skipped = len(evaluation.ledger.skipped)
    diagnosis = evaluation.diagnose()
    assert diagnosis.verdict == "unsure"
    assert diagnosis.advice.startswith(f"{n_skipped} rows could not be labelled.")
    assert np.isnan([diagnosis.trust, diagnosis.distance]).all()
    assert "trust in the surrogate    cannot be told" in str(diagnosis)
    assert "standard errors off" not in str(diagnosis)
    evaluation = _hard_to_tell(150)
    assert evaluation.diagnose().verdict == "good"
    assert "Every row that can be labelled is labelled" in str(evaluation.diagnose())


@pytest.mark.parametrize("risk", [*WEIGHTED, GuardedASE(), MonteCarlo()])
def test_an_estimate_says_which_rows_it_is_of(risk):
    evaluation = _hard_to_tell(40)
    found, n_skipped = evaluation.estimate(risk), len(evaluation.ledger.skipped)
    assert found.n_skipped == n_skipped > 0
    assert f"n_skipped={n_skipped})" in repr(found)
    words = f"the rows that can be labelled; {n_skipped} could not"
    assert found.describe()["of"] == words
    assert words in found._repr_html_()
    assert words in evaluation._repr_html_()
    assert evaluation.estimate(ASE()).n_skipped == 0
    assert "of" not in _start().estimate(ASE()).describe()


def test_labels_that_all_wait_are_not_called_missing():
    evaluation = _start()
    rows = evaluation.ask(40).indices
    _tell(evaluation, rows[1:])
    refusal = evaluation.estimate().refusal
    assert "no label" not in refusal
    assert f"39 labels wait behind the open query of row {rows[0]}" in refusal


LOSSES = np.array([0.3, 2.5, 0.0, 1.1, 4.2])
EXPECTED = np.array([1.0, 0.2, 3.0, 0.4, 2.0])
SCORES = np.array([0.4, 0.1, 1.0, 0.7, 0.05])
N_SAMPLES = len(LOSSES)


def _sequences(n_picks, scores_after, uniform_share=0.0):
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


def _state(sequence, proba, can_tell):
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


def _adaptive(seen):
    """Scores that depend on what was picked, and on whether it could be told."""
    return 0.05 + np.abs(np.sin(np.arange(1, 6) * (1.0 + sum(LOSSES[list(seen)]))))


CANNOT = [[0], [4], [1, 2], [0, 3, 4]]


def test_guarded_is_never_negative_whatever_is_skipped():
    can_tell, least = ~np.isin(np.arange(N_SAMPLES), [1, 2]), []
    for _, sequence, proba in _sequences(3, _adaptive):
        state = replace(_state(sequence, proba, can_tell), belief="some")
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
    for chance, sequence, proba in _sequences(n_picks, _adaptive):
        state = _state(sequence, proba, can_tell)
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
    for _, sequence, proba in _sequences(n_picks, lambda seen: SCORES, 0.2):
        if can_tell[sequence].any():
            found = LURE().estimate(_state(sequence, proba, can_tell)).value
            if not -1e-9 <= found < np.inf:
                wrong.append(f"{sequence}: {found:.3g}")
    assert wrong == []


# Labels that were there before.

KNOWN = {row: int(Y[row]) for row in range(0, 150, 3)}


def test_the_surrogate_learns_from_known_labels_and_estimates_do_not():
    plain, told = _start(training={}), _start(training={}, known_labels=KNOWN)
    assert not plain.is_fitted
    assert told.is_fitted
    assert len(told.ledger) == len(told.history["risk"]) == told.spent == 0
    with pytest.raises(ValueError, match="needs a label"):
        told.estimate(LURE())
    assert told.estimate(ASE()).n_labels == 0
    other = _start(training={"X_train": X[::3], "y_train": Y[::3]}, cv=0)
    for evaluation in (told, other):
        assert_allclose(evaluation.state.belief.proba.sum(axis=1), 1.0)
    assert np.corrcoef(told.state.expected_loss, other.state.expected_loss)[0, 1] > 0.9


def test_known_rows_are_answered_at_once_and_the_others_returned():
    evaluation = _start(training={}, known_labels=KNOWN)
    for n_queries in (1, 4, 10, 15):
        n_asked = len(evaluation.ledger.indices)
        query = evaluation.ask(n_queries)
        picked = evaluation.ledger.indices[n_asked:]
        assert len(picked) == n_queries
        assert query.indices.tolist() == [row for row in picked if row not in KNOWN]
        assert_array_equal(evaluation.pending.indices, query.indices)
        _tell(evaluation, query.indices)
    ledger, state = evaluation.ledger, evaluation.state
    assert set(ledger.indices) & set(KNOWN)
    assert all(ledger.labels[row] == Y[row] for row in ledger.indices)
    assert state.settled.n_labels == 30
    expected = _loss(state.indices, Y[state.indices])
    assert_allclose(state.losses, expected, atol=1e-12)


def test_a_pool_that_is_all_known_needs_nobody():
    known = {row: int(Y[row]) for row in range(150)}
    evaluator = _evaluator(n_labels=40, batch_size=10, risk=LURE())
    evaluator.fit(
        X, lambda rows: pytest.fail("nobody was to be asked"), known_labels=known
    )
    assert len(evaluator.ledger_) == evaluator.risk_.n_labels == 40


def test_known_labels_are_rows_that_a_surrogate_can_be_fitted_to():
    evaluator = _evaluator(risk=ASE(), n_labels=2)
    assert evaluator.fit(X, Y, known_labels=KNOWN).risk_.value > 0


def test_known_labels_cost_nothing():
    evaluation = _start(known_labels=KNOWN, cost=np.full(150, 2.0))
    query = evaluation.ask(40)
    _tell(evaluation, query.indices)
    assert len(evaluation.ledger) == 40 > len(query)
    assert evaluation.spent == 2.0 * len(query)


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
def test_a_known_label_can_be_withdrawn_and_corrected():
    evaluation = _start(known_labels=KNOWN, risk=LURE())
    evaluation.ask(20)
    first, second, *_ = (row for row in evaluation.ledger.indices if row in KNOWN)
    evaluation.correct(second, 7)
    assert evaluation.ledger.labels[second] == 7
    evaluation.withdraw(first)
    assert first in evaluation.pending.indices
    evaluation.ask()
    assert first in evaluation.pending.indices


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({150: 0}, r"rows \[150\], but the rows of the pool are 0 to 149"),
        ({-1: 0}, r"rows \[-1\]"),
        ({0: "cat"}, r"different kinds|not among the classes"),
        ({0: 5}, "not among the classes"),
        ({0: np.nan}, r"Missing labels.*in rows \[0\]"),
        ({0: None}, r"Missing labels.*in rows \[0\]"),
    ],
)
def test_known_labels_are_checked(known, message):
    with pytest.raises(ValueError, match=message):
        _start(known_labels=known, classes=[0, 1, 2])


@pytest.mark.parametrize("known", [[0, 1], 3, "01"])
def test_known_labels_are_a_dict(known):
    with pytest.raises(TypeError, match="must be a dict of row to label, got"):
        _start(known_labels=known)


def test_known_labels_are_of_whole_rows():
    with pytest.raises(ValueError, match="named by their places in the pool"):
        _start(known_labels={1.5: 0})


def _no_loss_at_99(y_true, y_pred):
    return np.where(y_true == 99.0, np.inf, np.abs(y_true - y_pred))


def test_a_known_label_without_a_loss_is_refused_before_it_is_written(tmp_path):
    evaluator = ActiveRiskEstimator(
        loss=CustomLoss(_no_loss_at_99, task="regression"), surrogate=BayesianRidge()
    )
    given = {"predictions": X[:, 0], "journal": tmp_path / "labels.jsonl"}
    with pytest.raises(ValueError, match="negative or not finite"):
        evaluator.start(X, known_labels={3: 99.0}, **given)
    with evaluator.start(X, known_labels={3: 1.0}, **given) as evaluation:
        with pytest.raises(ValueError, match="negative or not finite"):
            evaluation.correct(3, 99.0)
        evaluation.correct(3, 2.0)
    with evaluator.start(X, **given) as evaluation:
        assert evaluation.ledger.known == {3: 2.0}


def test_known_labels_are_given_at_the_start_and_stay(tmp_path):
    given = {"journal": tmp_path / "labels.jsonl", **TRAINING}
    evaluator = _evaluator()
    with evaluator.start(X, known_labels={3: 1, 4: 2}, **given) as evaluation:
        evaluation.ask()
    with evaluator.start(X, **given) as evaluation:
        assert evaluation.ledger.known == {3: 1, 4: 2}
    evaluator.start(X, known_labels={4: 2, 3: 1}, **given).close()
    with pytest.raises(ValueError, match="known_labels differ"):
        evaluator.start(X, known_labels={3: 1}, **given)
    ledger = _start().ledger
    ledger.ask(Picks.unanswered([5], *[[0.1]] * 5))
    with pytest.raises(ValueError, match="must be given at the start"):
        evaluator.start(X, ledger=ledger, known_labels={3: 1})


def test_known_labels_survive_the_csv(tmp_path):
    evaluation = _start(known_labels={3: 1, 4: 2})
    evaluation.ledger.to_csv(tmp_path / "ledger.csv")
    again = type(evaluation.ledger).from_csv(tmp_path / "ledger.csv")
    assert again.known == {3: 1, 4: 2}


# Costs.

COST = 0.5 + 4.0 * np.random.default_rng(1).random(150)


def _scores(evaluation):
    return evaluation.plan.acquisition.score_samples(evaluation.state)


@pytest.mark.parametrize("uniform_share", [0.0, 0.2, 1.0])
def test_draws_go_by_score_over_the_root_of_the_cost(uniform_share):
    selection = Proportional(uniform_share)
    evaluation = _start(cost=COST, acquisition=LossSpread(), selection=selection)
    free, scores = np.ones(150, dtype=bool), _scores(evaluation) / np.sqrt(COST)
    query = evaluation.ask(5)
    for row, proba in zip(query.indices, query.proba, strict=True):
        share = (1 - uniform_share) * scores[row] / scores[free].sum()
        assert proba == pytest.approx(share + uniform_share / free.sum(), rel=1e-12)
        free[row] = False


def test_the_best_row_is_the_one_with_most_score_for_its_cost():
    evaluation = _start(cost=COST, acquisition=LossSpread(), selection=ArgMax())
    expected = np.argsort(-_scores(evaluation) / COST)[:6]
    assert_array_equal(evaluation.ask(6).indices, expected)


@pytest.mark.parametrize(
    ("selection", "power"),
    [(ArgMax(), 1.0), (Proportional(), 0.5), (UniformMixed(), 1.0)]
    + [(UniformMixed(Proportional()), 0.5)],
)
def test_an_audit_follows_the_selection_it_audits(selection, power):
    assert selection.cost_power == power
    evaluation = _start(cost=COST, acquisition=LossSpread(), selection=selection)
    scores = _scores(evaluation) / COST**power
    query = evaluation.ask()
    if selection.has_query_proba:
        expected = selection.distribution(scores)[query.indices[0]]
        assert query.proba[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("training", [{}, TRAINING], ids=["unfitted", "fitted"])
def test_uniform_stays_uniform_whatever_rows_cost(training):
    evaluation = _start(
        cost=COST, acquisition=Uniform(), risk=MonteCarlo(), training=training
    )
    query = evaluation.ask(8)
    assert_allclose(query.proba, 1 / (150 - np.arange(8)))
    _tell(evaluation, query.indices)
    assert evaluation.estimate().n_labels == 8


def test_equal_costs_change_nothing():
    plain, priced = _start(), _start(cost=np.full(150, 7.0))
    for _ in range(4):
        one, two = plain.ask(3), priced.ask(3)
        assert_array_equal(one.indices, two.indices)
        assert_allclose(one.proba, two.proba, rtol=1e-12)
        for evaluation in (plain, priced):
            _tell(evaluation, one.indices)
    assert priced.spent == 7 * plain.spent == 84


@pytest.mark.parametrize(
    "cost",
    [
        np.ones(149),
        np.ones((150, 1)),
        np.zeros(150),
        np.append(np.ones(149), -1),
        np.append(np.ones(149), np.nan),
        np.append(np.ones(149), np.inf),
        3.0,
    ],
)
def test_costs_are_checked(cost):
    with pytest.raises(ValueError, match="cost must be one finite number > 0 for each"):
        _start(cost=cost)


def test_skipped_rows_were_paid_for():
    evaluation = _start(cost=COST)
    rows = evaluation.ask(4).indices
    assert evaluation.spent == 0
    _tell(evaluation, rows[:2])
    evaluation.skip(rows[2:3])
    assert evaluation.spent == pytest.approx(COST[rows[:3]].sum())


@pytest.mark.parametrize("batch_size", [1, 3, 10])
@pytest.mark.parametrize("cost", [None, COST])
def test_the_label_that_reaches_the_budget_is_the_last(batch_size, cost):
    evaluator = _evaluator(n_labels=100, batch_size=batch_size, budget=20.0)
    evaluator.fit(X, Y, cost=cost, **TRAINING)
    prices = np.ones(150) if cost is None else cost
    spent = np.cumsum(prices[list(evaluator.ledger_.labels)])
    assert spent[-1] >= 20.0 > spent[-2]
    assert evaluator.stop_reason_ == "The budget of 20 is spent."
    assert evaluator.evaluation_.spent == pytest.approx(spent[-1])


class Patience:
    """Sees to it that a run that buys nothing does not go on for ever."""

    n_batches = 0

    def begin(self):
        self.n_batches += 1
        assert self.n_batches < 200, "nothing is bought any more"

    def end(self):
        return ""


@pytest.mark.parametrize("price", [0.1, 0.3, 0.7, 1.1, 2.3])
def test_a_budget_missed_by_rounding_is_spent_by_the_next_label(price):
    """26 times 0.3 sum to less than 7.8, but not if another 0.3 comes and goes."""
    for n_labels in range(2, 40):
        evaluation = _start(training={}, refit=[10**6], cost=np.full(150, price))
        budget = round(n_labels * price, 1)
        evaluation.run(lambda rows: Y[rows], 100, budget=budget, watch=Patience())
        assert budget <= evaluation.spent < budget + 1.01 * price


@pytest.mark.parametrize("budget", [0, -1.0, np.nan, "20", [20]])
def test_a_budget_is_checked_at_the_start(budget):
    with pytest.raises(ValueError, match="must be a number > 0, or None"):
        _start(budget=budget)


def test_open_rows_do_not_overspend_the_budget():
    evaluation = _start()
    evaluation.ask(30)
    evaluation.run(lambda rows: Y[rows], 100, budget=8.0)
    assert evaluation.spent == 8.0


@pytest.mark.parametrize("budget", [0, -1.0, np.nan])
def test_a_budget_must_be_positive(budget):
    with pytest.raises(ValueError, match="must be a number > 0, or None"):
        _evaluator(budget=budget).fit(X, Y)


# Stopping.


def test_target_width_stops_at_the_first_interval_that_is_narrow_enough():
    evaluator = _evaluator(n_labels=150, stop=TargetWidth(0.15, level=0.8))
    evaluator.fit(X, Y, **TRAINING)
    low, high = evaluator.evaluation_.intervals(0.8, method="anytime")
    width = high - low
    assert 25 <= len(width) < 150
    assert (width[:-2] > 0.15).all()
    assert evaluator.stop_reason_.startswith("The 80 % interval is 0.1")
    assert evaluator.stop_reason_.endswith("at most 0.15.")


def test_target_width_never_stops_without_an_interval():
    evaluator = _evaluator(n_labels=24, risk=LURE(), stop=TargetWidth(1e9))
    evaluator.fit(X, Y, **TRAINING)
    assert evaluator.stop_reason_ == "n_labels=24 were bought."


@pytest.mark.parametrize("parameters", [{"risk": ASE()}, {"selection": ArgMax()}])
def test_target_width_refuses_a_risk_that_has_no_interval(parameters):
    message = "TargetWidth waits for a narrow interval, but ASE has none"
    with pytest.raises(ValueError, match=message):
        _start(stop=TargetWidth(0.1), **parameters)
    evaluation = _start(**parameters)
    with pytest.raises(ValueError, match=message):
        evaluation.stop_reason(TargetWidth(0.1))
    with pytest.raises(ValueError, match=message):
        evaluation.run(lambda rows: Y[rows], 9, stop=TargetWidth(0.1))
    assert evaluation.ledger.indices == []


def test_by_hand_a_rule_stops_where_fit_would_stop():
    stop = TargetWidth(0.15, level=0.8)
    fitted = _evaluator(n_labels=150, stop=stop, batch_size=3).fit(X, Y, **TRAINING)
    evaluation = _start(stop=stop)
    assert evaluation.stop_reason(stop) == ""
    while not evaluation.stop_reason(stop):
        _tell(evaluation, evaluation.ask(3).indices)
    assert evaluation.stop_reason(stop) == fitted.stop_reason_
    assert list(evaluation.ledger.labels) == list(fitted.ledger_.labels)


def test_a_constant_loss_is_no_reason_to_stop():
    """All labels show what was expected: that is no narrow interval."""
    evaluator = _evaluator(loss=lambda y_true, y_pred: np.ones(len(y_true)))
    evaluator.set_params(n_labels=30, stop=TargetWidth(0.5), risk=CorrectedASE())
    assert evaluator.fit(X, Y).stop_reason_ == "n_labels=30 were bought."


def _estimates(*values):
    return [
        None if value is None else RiskEstimate(value, 0.1, n_labels=n)
        for n, value in enumerate(values, start=1)
    ]


@pytest.mark.parametrize(
    ("values", "stops"),
    [
        ([], False),
        ([0.5, 0.5], False),
        ([0.5, 0.5, 0.5], True),
        ([0.9, 0.5, 0.52, 0.51], True),
        ([0.5, 0.52, 0.55], False),
        ([None, 0.5, 0.5], False),
        ([None, 0.5, 0.5, 0.5], True),
        ([0.5, np.nan, 0.5], False),
    ],
)
def test_a_plateau_is_a_run_of_estimates_that_are_close(values, stops):
    assert bool(Plateau(0.03, n_labels=3).reason(_estimates(*values))) == stops


@pytest.mark.parametrize("batch_size", [3, 10])
def test_one_batch_is_no_plateau(batch_size):
    evaluator = _evaluator(n_labels=40, batch_size=batch_size, stop=Plateau(0.0, 3))
    assert evaluator.fit(X, Y).stop_reason_ == "n_labels=40 were bought."


@pytest.mark.parametrize(
    "stop",
    [TargetWidth(0), TargetWidth(-1), Plateau(-0.1), Plateau(0.1, n_labels=1)]
    + [TargetWidth(0.1, level=90), TargetWidth(0.1, method="always")]
    + [TargetWidth, "width", 3, TargetWidth(np.nan), Plateau(np.nan)],
    ids=str,
)
def test_a_rule_that_cannot_work_is_refused_before_a_label_is_bought(stop):
    evaluator = _evaluator(n_labels=40, stop=stop)
    for attempt in (
        lambda: evaluator.fit(X, lambda rows: pytest.fail("a label was bought")),
        lambda: evaluator.start(X),
        lambda: _start().stop_reason(stop),
    ):
        with pytest.raises((TypeError, ValueError), match=r"must|cannot serve as stop"):
            attempt()


class Enough(BaseStop):
    """A rule of somebody else."""

    def reason(self, estimates):
        return "That will do." if len(estimates) == 7 else ""


@pytest.mark.parametrize("batch_size", [1, 7])
def test_a_rule_is_one_verb(batch_size):
    evaluator = _evaluator(n_labels=30, batch_size=batch_size, stop=Enough())
    evaluator.fit(X, Y)
    assert (evaluator.stop_reason_, len(evaluator.ledger_)) == ("That will do.", 7)


def test_a_rule_that_is_met_already_buys_nothing():
    evaluator = _evaluator(n_labels=30, stop=Enough())
    ledger = evaluator.fit(X, Y).ledger_
    evaluator.fit(X, lambda rows: pytest.fail("enough"), ledger=ledger)
    assert evaluator.stop_reason_ == "That will do."


@pytest.mark.parametrize("batch_size", [1, 5])
def test_a_run_ends_when_every_row_was_asked_for(batch_size):
    evaluation = _start(X[1:13])
    evaluation.skip(evaluation.ask(3))
    reason = evaluation.run(lambda rows: Y[1:13][rows], 12, batch_size)
    assert reason == "Every row of the pool was asked for."
    assert len(evaluation.ledger) == 9


# How many more.


def _after(n_labels, **parameters):
    evaluation = _start(acquisition=Uniform(), **parameters)
    _tell(evaluation, evaluation.ask(n_labels).indices)
    return evaluation


@pytest.mark.parametrize("method", ["fixed", "anytime"])
@pytest.mark.parametrize("width", [0.03, 0.06, 0.09])
def test_the_forecast_is_the_first_number_of_labels_that_is_enough(method, width):
    evaluation = _after(50, risk=LURE())
    forecast = evaluation.labels_needed(width, 0.8, method)
    now = evaluation.estimate()

    def width_with(n):
        error = now.standard_error * np.sqrt((1 / n - 1 / 150) / (1 / 50 - 1 / 150))
        then = RiskEstimate(9.0, error, n_labels=n, degrees_of_freedom=n - 1)
        return np.ptp(then.interval(0.8, method=method))

    assert forecast.n_labels == 50 + int(forecast) == 50 + forecast.n_more
    assert width_with(forecast.n_labels) <= width < width_with(forecast.n_labels - 1)
    assert forecast.basis.startswith("From the standard error after 50 labels")
    assert str(forecast).startswith(f"{int(forecast)} more labels, ")


def test_more_labels_for_less_width_and_more_certainty():
    evaluation = _after(40)
    by_width = [int(evaluation.labels_needed(w)) for w in (0.3, 0.2, 0.1, 0.03)]
    assert by_width == sorted(by_width)
    by_level = [int(evaluation.labels_needed(0.1, lev)) for lev in (0.5, 0.8, 0.95)]
    assert by_level == sorted(by_level)
    fixed, anytime = (
        int(evaluation.labels_needed(0.1, method=m)) for m in ("fixed", "anytime")
    )
    assert fixed < anytime


def test_nothing_more_is_needed_for_what_there_is():
    evaluation = _after(50)
    now = evaluation.estimate()
    middle = now.value if now.centre is None else now.centre
    reach = 2 * (now.interval(0.9)[1] - middle)
    assert int(evaluation.labels_needed(reach * 1.0001)) == 0
    assert int(evaluation.labels_needed(reach * 0.98)) > 0


def test_a_forecast_from_few_labels_rests_on_the_surrogate():
    forecast = _after(3).labels_needed(0.2)
    assert forecast.n_labels >= 25
    assert forecast.basis.startswith("From what the surrogate expects")


def test_no_forecast_from_nothing():
    evaluation = _start(training={}, risk=LURE(), refit=[10**6])
    with pytest.raises(ValueError, match="needs a label"):
        evaluation.labels_needed(0.1)
    _tell(evaluation, evaluation.ask(5).indices)
    with pytest.raises(
        ValueError, match=r"labels_needed\(\) needs an estimate with an interval"
    ):
        evaluation.labels_needed(0.1)
    for width in (0, -1, np.nan):
        with pytest.raises(ValueError, match="must be greater than 0"):
            evaluation.labels_needed(width)
    with pytest.raises(ValueError, match="level=2 must lie"):
        _after(30).labels_needed(0.1, 2)


@pytest.mark.parametrize("training", [{}, TRAINING], ids=["unfitted", "fitted"])
def test_a_pool_without_open_questions_needs_no_more_labels(training):
    evaluation = _start(training=training, risk=LURE(), refit=[10**6])
    _tell(evaluation, evaluation.ask(150).indices)
    forecast = evaluation.labels_needed(0.1)
    assert (int(forecast), forecast.n_labels) == (0, 150)
    assert "too few" not in forecast.basis


def test_a_forecast_asks_for_no_more_labels_than_can_be_had():
    evaluation = _start(X[:60], risk=LURE())
    rows = evaluation.ask(50).indices
    evaluation.skip(rows[::2])
    _tell(evaluation, rows[1::2])
    forecast = evaluation.labels_needed(1e-9)
    assert int(forecast) <= 10


def test_no_forecast_for_a_risk_that_has_no_interval():
    with pytest.raises(ValueError, match="ASE has no interval that more labels would"):
        _after(60, risk=ASE()).labels_needed(0.1)


# Batches that are not near-duplicates.

COPIES = np.repeat(X[1::10], 4, axis=0)


def _copies(**parameters):
    evaluator = _evaluator(selection=ArgMax(), acquisition=LossSpread(), **parameters)
    return evaluator.start(COPIES, **TRAINING)


def test_an_embedding_keeps_copies_out_of_a_batch():
    plain = _copies().ask(4).indices
    assert len(np.unique(COPIES[plain], axis=0)) == 1
    apart = _copies().ask(8, embedding=COPIES)
    assert len(np.unique(COPIES[apart.indices], axis=0)) == 8
    assert np.isnan(apart.proba).all()


def test_copies_are_taken_when_there_is_nothing_else():
    query = _copies().ask(20, embedding=COPIES)
    assert len(np.unique(COPIES[query.indices[:15]], axis=0)) == 15
    assert len(set(query.indices.tolist())) == 20


def test_each_row_has_the_greatest_product_of_score_and_distance():
    evaluation = _start(selection=ArgMax(), acquisition=BALD())
    scores, picked = _scores(evaluation), []
    for row in evaluation.ask(6, embedding=X).indices.tolist():
        gaps = [[np.linalg.norm(X[i] - X[j]) for j in picked] for i in range(150)]
        worth = [
            -1.0 if i in picked else scores[i] * min(gaps[i], default=1.0)
            for i in range(150)
        ]
        assert worth[row] == pytest.approx(max(worth), rel=1e-12)
        picked.append(row)


def test_without_scores_distance_alone_counts():
    points = np.array([[0.0], [1.0], [5.0], [5.1], [9.0]])
    query = pick_apart(np.zeros(5), np.arange(5), 3, points)
    assert query.indices.tolist() == [0, 4, 2]
    query = pick_apart(np.zeros(5), np.arange(4), 2, points, taken=[4])
    assert query.indices.tolist() == [0, 2]


def test_rows_are_kept_apart_from_open_ones_of_an_earlier_batch():
    evaluation = _copies()
    for _ in range(3):
        evaluation.ask(5, embedding=COPIES)
    assert len(np.unique(COPIES[evaluation.pending.indices], axis=0)) == 15


def test_known_rows_are_kept_apart_from_the_batch_too():
    evaluator = _evaluator(selection=ArgMax(), acquisition=LossSpread())
    known = {row: int(np.repeat(Y[1::10], 4)[row]) for row in range(0, 60, 2)}
    evaluation = evaluator.start(COPIES, known_labels=known, **TRAINING)
    evaluation.ask(12, embedding=COPIES)
    asked = evaluation.ledger.indices
    assert set(asked) & set(known)
    assert len(np.unique(COPIES[asked], axis=0)) == len(asked) == 12


@pytest.mark.parametrize("selection", [Proportional(), UniformMixed()])
def test_draws_with_probabilities_refuse_an_embedding(selection):
    evaluation = _start(selection=selection)
    with pytest.raises(ValueError, match=r"draws them with probabilities.*ArgMax\(\)"):
        evaluation.ask(3, embedding=X)
    assert evaluation.ledger.indices == []


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (X[:-1], r"of shape \(150, n_dimensions\).*\(149, 4\)"),
        (X[:, 0], r"has shape \(150,\)"),
        (np.where(X[3, 2] == X, np.nan, X), "must be finite"),
    ],
)
def test_an_embedding_is_checked(embedding, message):
    evaluation = _start(selection=ArgMax())
    with pytest.raises(ValueError, match=message):
        evaluation.ask(3, embedding=embedding)
    assert evaluation.ledger.indices == []


def test_a_frozen_surrogate_can_be_corrected_too():
    surrogate = FrozenEstimator(DecisionTreeClassifier().fit(X[::5], Y[::5]))
    evaluation = _start(surrogate=surrogate, training={}, acquisition=LossSpread())
    rows = evaluation.ask(5).indices
    _tell(evaluation, rows)
    belief = evaluation.state.belief
    evaluation.correct(rows[0], (Y[rows[0]] + 1) % 3)
    evaluation.withdraw(rows[1])
    evaluation.skip(rows[1:2])
    assert evaluation.state.belief is belief
    assert not evaluation.history["refit"].any()
    assert evaluation.estimate(LURE()).n_labels == 4


def test_a_known_label_can_be_changed_before_its_row_is_picked():
    evaluation = _start(training={}, known_labels=KNOWN)
    expected = evaluation.estimate(ASE()).value
    evaluation.correct(3, (KNOWN[3] + 1) % 3)
    assert evaluation.ledger.known[3] == (KNOWN[3] + 1) % 3
    assert evaluation.estimate(ASE()).value != expected
    evaluation.withdraw(6)
    assert 6 not in evaluation.ledger.known
    assert 6 not in evaluation.pending.indices


def test_a_fit_that_was_interrupted_is_made_good(monkeypatch):
    evaluation = _start(risk=ASE(), refit=[2])
    rows = evaluation.ask(2).indices
    expected = _start(risk=ASE(), refit=[2])
    expected.ask(2)
    _tell(expected, rows)
    monkeypatch.setattr(evaluation.surrogate, "fit", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        _tell(evaluation, rows)
    monkeypatch.undo()
    evaluation.refit()
    assert evaluation.estimate().value == expected.estimate().value


def _interrupted(*rows, **options):
    raise KeyboardInterrupt


def test_a_forecast_knows_that_the_interval_ends_at_zero():
    evaluation = _after(60)
    low, high = evaluation.estimate().interval(0.9)
    assert int(evaluation.labels_needed(high - low + 1e-9)) == 0
