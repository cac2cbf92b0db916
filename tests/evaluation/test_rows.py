"""Rows and numbers of rows: what `ask`, `tell` and the other verbs accept."""

import numpy as np
import pytest
from helpers.iris_campaign import TRAINING, X, make_evaluator, start_evaluation, tell


@pytest.mark.parametrize("verb", ["tell", "skip", "correct", "withdraw"])
@pytest.mark.parametrize("part", [0.5, np.nan, "?", True])
def test_row_numbers_must_be_integers(verb, part):
    evaluation = start_evaluation()
    rows = evaluation.ask(2).indices
    tell(evaluation, rows[:1])
    row = rows[0] + part if isinstance(part, float) else part
    words = {"tell": ([row], [1]), "skip": ([row],), "correct": (row, 1)}
    with pytest.raises(ValueError, match="named by their places in the pool"):
        getattr(evaluation, verb)(*words.get(verb, (row,)))
    assert len(evaluation.ledger) == len(evaluation.pending) == 1


def test_telling_or_skipping_nothing_changes_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    with make_evaluator().start(X, journal=path, **TRAINING) as evaluation:
        evaluation.ask(2)
        before = path.read_bytes()
        evaluation.tell([], [])
        evaluation.skip([])
        with pytest.raises(ValueError, match="0 rows were to be answered, but 1 label"):
            evaluation.tell([], [1])
    assert path.read_bytes() == before


def test_one_row_may_come_as_an_array_of_one():
    evaluation = start_evaluation()
    query = evaluation.ask(3)
    rows = query.indices
    tell(evaluation, rows)
    evaluation.correct(rows[:1], 2)
    evaluation.correct(rows[1:2].astype(float), [2])
    assert [evaluation.ledger.labels[row] for row in rows[:2]] == [2, 2]
    evaluation.withdraw(rows[2:])
    assert evaluation.pending.indices.tolist() == rows[2:].tolist()
    with pytest.raises(ValueError, match="one label for each of them"):
        evaluation.correct(rows, 1)
    with pytest.raises(ValueError, match="must be one row"):
        evaluation.withdraw(query)


@pytest.mark.parametrize("n_queries", [2.5, 3.0, "3", None])
def test_the_number_of_rows_to_ask_for_must_be_an_integer(n_queries):
    with pytest.raises((TypeError, ValueError), match="must be an integer"):
        start_evaluation().ask(n_queries)
