"""Labels that were known before the campaign: the surrogate learns from them."""

import numpy as np
import pandas as pd
import pytest
from helpers.iris_campaign import (
    TRAINING,
    X,
    Y,
    brier_losses,
    make_evaluator,
    start_evaluation,
    tell,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import BayesianRidge

from sklearn_ase import ActiveRiskEstimator, Picks
from sklearn_ase._labels._journal import read_journal
from sklearn_ase.losses import CustomLoss
from sklearn_ase.risk import ASE, LURE

KNOWN = {row: int(Y[row]) for row in range(0, 150, 3)}


def test_the_surrogate_learns_from_known_labels_and_estimates_do_not():
    plain, told = (
        start_evaluation(training={}),
        start_evaluation(training={}, known_labels=KNOWN),
    )
    assert not plain.is_fitted
    assert told.is_fitted
    assert len(told.ledger) == len(told.history["risk"]) == told.spent == 0
    with pytest.raises(ValueError, match="needs at least one label"):
        told.estimate(LURE())
    assert told.estimate(ASE()).n_labels == 0
    other = start_evaluation(training={"X_train": X[::3], "y_train": Y[::3]}, cv=0)
    for evaluation in (told, other):
        assert_allclose(evaluation.state.belief.proba.sum(axis=1), 1.0)
    assert np.corrcoef(told.state.expected_loss, other.state.expected_loss)[0, 1] > 0.9


def test_known_rows_are_answered_at_once_and_the_others_returned():
    evaluation = start_evaluation(training={}, known_labels=KNOWN)
    for n_queries in (1, 4, 10, 15):
        n_asked = len(evaluation.ledger.indices)
        query = evaluation.ask(n_queries)
        picked = evaluation.ledger.indices[n_asked:]
        assert len(picked) == n_queries
        assert query.indices.tolist() == [row for row in picked if row not in KNOWN]
        assert_array_equal(evaluation.pending.indices, query.indices)
        tell(evaluation, query.indices)
    ledger, state = evaluation.ledger, evaluation.state
    assert set(ledger.indices) & set(KNOWN)
    assert all(ledger.labels[row] == Y[row] for row in ledger.indices)
    assert state.settled.n_labels == 30
    expected = brier_losses(state.indices, Y[state.indices])
    assert_allclose(state.losses, expected, atol=1e-12)


def test_no_label_is_asked_for_where_the_whole_pool_is_known():
    known = {row: int(Y[row]) for row in range(150)}
    evaluator = make_evaluator(n_labels=40, batch_size=10, risk=LURE())
    evaluator.fit(
        X, lambda rows: pytest.fail("nobody was to be asked"), known_labels=known
    )
    assert len(evaluator.ledger_) == evaluator.risk_.n_labels == 40


def test_known_labels_are_rows_that_a_surrogate_can_be_fitted_to():
    evaluator = make_evaluator(risk=ASE(), n_labels=2)
    assert evaluator.fit(X, Y, known_labels=KNOWN).risk_.value > 0


def test_known_labels_cost_nothing():
    evaluation = start_evaluation(known_labels=KNOWN, cost=np.full(150, 2.0))
    query = evaluation.ask(40)
    tell(evaluation, query.indices)
    assert len(evaluation.ledger) == 40 > len(query)
    assert evaluation.spent == 2.0 * len(query)


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
def test_a_known_label_can_be_withdrawn_and_corrected():
    evaluation = start_evaluation(known_labels=KNOWN, risk=LURE())
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
        ({0: np.nan}, r"Missing known_labels.*in rows \[0\]"),
        ({0: None}, r"Missing known_labels.*in rows \[0\]"),
    ],
)
def test_known_labels_are_checked(known, message):
    with pytest.raises(ValueError, match=message):
        start_evaluation(known_labels=known, classes=[0, 1, 2])


@pytest.mark.parametrize(
    "known", [[0, 1], 3, "01", pd.Series(Y), pd.Series(Y)[[5, 2]], Y, [(0, 1)]]
)
def test_known_labels_are_a_dict(known):
    with pytest.raises(TypeError, match=r"must be a dict \{row: label\}"):
        start_evaluation(known_labels=known)


def test_row_numbers_of_known_labels_must_be_integers():
    with pytest.raises(ValueError, match="named by their places in the pool"):
        start_evaluation(known_labels={1.5: 0})


def no_loss_at_99(y_true, y_pred):
    return np.where(y_true == 99.0, np.inf, np.abs(y_true - y_pred))


def test_a_known_label_without_a_loss_is_refused_before_it_is_written(tmp_path):
    evaluator = ActiveRiskEstimator(
        loss=CustomLoss(no_loss_at_99, task="regression"), surrogate=BayesianRidge()
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
    evaluator = make_evaluator()
    with evaluator.start(X, known_labels={3: 1, 4: 2}, **given) as evaluation:
        evaluation.ask()
    with evaluator.start(X, **given) as evaluation:
        assert evaluation.ledger.known == {3: 1, 4: 2}
    evaluator.start(X, known_labels={4: 2, 3: 1}, **given).close()
    with pytest.raises(ValueError, match="known_labels differ"):
        evaluator.start(X, known_labels={3: 1}, **given)
    ledger = start_evaluation().ledger
    ledger.ask(Picks.unanswered([5], *[[0.1]] * 5))
    with pytest.raises(ValueError, match="must be given at the start"):
        evaluator.start(X, ledger=ledger, known_labels={3: 1})


def test_known_labels_survive_the_file(tmp_path):
    evaluation = start_evaluation(known_labels={3: 1, 4: 2})
    evaluation.ledger.save(tmp_path / "labels.jsonl")
    again = read_journal(tmp_path / "labels.jsonl")
    assert again.known == {3: 1, 4: 2}


def test_a_known_label_can_be_changed_before_its_row_is_picked():
    evaluation = start_evaluation(training={}, known_labels=KNOWN)
    expected = evaluation.estimate(ASE()).value
    evaluation.correct(3, (KNOWN[3] + 1) % 3)
    assert evaluation.ledger.known[3] == (KNOWN[3] + 1) % 3
    assert evaluation.estimate(ASE()).value != expected
    evaluation.withdraw(6)
    assert 6 not in evaluation.ledger.known
    assert 6 not in evaluation.pending.indices
