"""Batches without near-duplicates: rows are picked apart in an embedding."""

import numpy as np
import pytest
from helpers.iris_campaign import (
    TRAINING,
    X,
    Y,
    make_evaluator,
    scores_of,
    start_evaluation,
)

from sklearn_ase._evaluation._picker import pick_apart
from sklearn_ase.acquisition import BALD, LossSpread
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed

COPIES = np.repeat(X[1::10], 4, axis=0)


def start_with_copies(**parameters):
    evaluator = make_evaluator(
        selection=ArgMax(), acquisition=LossSpread(), **parameters
    )
    return evaluator.start(COPIES, **TRAINING)


def test_an_embedding_keeps_copies_out_of_a_batch():
    plain = start_with_copies().ask(4).indices
    assert len(np.unique(COPIES[plain], axis=0)) == 1
    apart = start_with_copies().ask(8, embedding=COPIES)
    assert len(np.unique(COPIES[apart.indices], axis=0)) == 8
    assert np.isnan(apart.proba).all()


def test_copies_are_picked_when_no_other_rows_are_left():
    query = start_with_copies().ask(20, embedding=COPIES)
    assert len(np.unique(COPIES[query.indices[:15]], axis=0)) == 15
    assert len(set(query.indices.tolist())) == 20


def test_each_row_has_the_greatest_product_of_score_and_distance():
    evaluation = start_evaluation(selection=ArgMax(), acquisition=BALD())
    scores, picked = scores_of(evaluation), []
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
    evaluation = start_with_copies()
    for _ in range(3):
        evaluation.ask(5, embedding=COPIES)
    assert len(np.unique(COPIES[evaluation.pending.indices], axis=0)) == 15


def test_known_rows_are_kept_apart_from_the_batch_too():
    evaluator = make_evaluator(selection=ArgMax(), acquisition=LossSpread())
    known = {row: int(np.repeat(Y[1::10], 4)[row]) for row in range(0, 60, 2)}
    evaluation = evaluator.start(COPIES, known_labels=known, **TRAINING)
    evaluation.ask(12, embedding=COPIES)
    asked = evaluation.ledger.indices
    assert set(asked) & set(known)
    assert len(np.unique(COPIES[asked], axis=0)) == len(asked) == 12


@pytest.mark.parametrize("selection", [Proportional(), UniformMixed()])
def test_draws_with_probabilities_refuse_an_embedding(selection):
    evaluation = start_evaluation(selection=selection)
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
    evaluation = start_evaluation(selection=ArgMax())
    with pytest.raises(ValueError, match=message):
        evaluation.ask(3, embedding=embedding)
    assert evaluation.ledger.indices == []
