"""Questions about labels have unbiased answers: every sequence of picks is enumerated.

Beliefs and probabilities of the picks depend on all labels before, however absurdly,
and were not made for the question.
"""

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.states import make_picks

from sklearn_ase._inference._questions import (
    BeliefColumns,
    Epoch,
    StateOf,
)
from sklearn_ase._state import PoolState
from sklearn_ase.metrics import Accuracy, LabelMean, LabelShare, MeanLoss, Precision
from sklearn_ase.metrics._row_values import FixedValues
from sklearn_ase.risk import LURE, CorrectedASE, GuardedASE
from sklearn_ase.risk._question import estimate_metric

N = 5
CLASSES = np.array([0, 1, 2])
LABELS = np.array([0, 1, 1, 2, 0])
PREDICTED = np.array([1, 1, 0, 2, 1])
PROBA = np.array([[5, 4, 1], [1, 8, 1], [6, 2, 2], [1, 1, 8], [2, 7, 1]]) / 10
TARGET = np.array([-3.0, 1.5, 0.2, -7.0, 2.0])
WEIGHT = np.array([0.5, 2.0, 1.0, 0.0, 1.5])
SLICE = np.array([0, 1, 1, 0, 1]) * N / 3
QUESTIONS = {
    "accuracy": (Accuracy(), PREDICTED, None, 2 / 5),
    "accuracy of a slice": (Accuracy(), PREDICTED, SLICE, 1 / 3),
    "weighted accuracy": (Accuracy(), PREDICTED, WEIGHT, 2 / 5),
    "precision": (Precision(pos_label=1), PREDICTED, None, 1 / 3),
    "precision of a slice": (Precision(pos_label=1), PREDICTED, SLICE, 1 / 2),
    "share": (LabelShare(1), None, None, 2 / 5),
    "share of a slice": (LabelShare(0, half=1), None, SLICE, 2 / 3),
    "Brier score": (MeanLoss("brier"), PROBA, WEIGHT, None),
    "minus Brier score": (MeanLoss("brier", negative=True), PROBA, None, None),
}
RISKS = [LURE(), CorrectedASE(), GuardedASE(worth=0)]
batchings = pytest.mark.parametrize("batches", [[1] * 4, [2, 1], [1, 3], [5]], ids=str)
questions = pytest.mark.parametrize("question", QUESTIONS)


def belief_after(seen):
    """Probabilities that no sane surrogate has; they change with every label."""
    seed = sum((k + 1) * (3 * row + LABELS[row]) for k, row in enumerate(seen))
    proba = np.random.default_rng(seed).dirichlet([0.3] * 3, size=N)
    return BeliefColumns(CLASSES, proba=proba)


def proba_after(seen, free):
    scores = 0.1 + np.abs(np.sin(np.arange(1, N + 1) * (1 + LABELS[list(seen)].sum())))
    return np.where(free, scores, 0.0) / scores[free].sum()


@cache
def all_campaigns(batches):
    """The probability, picks and epochs of every campaign that can happen."""
    found = []
    for order in permutations(range(N), sum(batches)):
        epochs, query_proba = [], []
        for start, stop in pairwise(np.cumsum([0, *batches])):
            free = ~np.isin(np.arange(N), order[:start])
            scores = proba_after(order[:start], free)
            epochs.append(Epoch(start, belief_after(order[:start]), scores))
            for row in order[start:stop]:
                query_proba.append(scores[row] / scores[free].sum())
                free[row] = False
        found.append((np.prod(query_proba), order, query_proba, epochs))
    return found


def state_for(order, query_proba, epochs, labels=LABELS):
    most = np.full(len(order), 1.0 / np.min(query_proba) ** 2)  # Great enough.
    picks = make_picks(order, np.zeros(len(order)), query_proba, max_inverse_proba=most)
    loss = FixedValues(np.zeros(N))
    state = PoolState(loss, None, None, picks, labels[np.array(order)])
    return StateOf(state, epochs, more_labels={})


def expectation(batches, pool_metric, risk, **options):
    return sum(
        proba
        * estimate_metric(risk, pool_metric, state_for(*campaign, **options)).value
        for proba, *campaign in all_campaigns(tuple(batches))
    )


def asked(question):
    metric, prediction, weight, truth = QUESTIONS[question]
    found = metric.on_pool(prediction, CLASSES, weight, N)
    if truth is None:
        truth = metric(LABELS, prediction, weight)
    return found, truth


@batchings
@questions
@pytest.mark.parametrize("risk", RISKS[:2], ids=repr)
def test_linear_questions_have_unbiased_answers(question, risk, batches):
    pool_metric, truth = asked(question)
    found = expectation(batches, pool_metric, risk)
    assert found == pytest.approx(truth, abs=1e-10)


@batchings
@pytest.mark.parametrize("risk", RISKS[:2], ids=repr)
def test_means_of_negative_labels_are_unbiased(risk, batches):
    class Gaussian:
        mean, variance = np.arange(N) - 4.0, np.full(N, 2.0)

        def aligned(self, classes):
            return self

    campaigns = [
        (proba, order, q, [Epoch(e.start, Gaussian(), e.query_proba) for e in epochs])
        for proba, order, q, epochs in all_campaigns(tuple(batches))
    ]
    pool_metric = LabelMean().on_pool(weight=WEIGHT)
    found = sum(
        proba * estimate_metric(risk, pool_metric, state_for(*campaign, TARGET)).value
        for proba, *campaign in campaigns
    )
    assert found == pytest.approx(np.mean(WEIGHT * TARGET), abs=1e-10)


def pseudo_labels(order, query_proba, epochs):
    """Section 8.1 of the method, word for word: C of any z is mean of y~ z."""
    n_labels, eye = len(order), np.eye(3)
    m = np.arange(1, n_labels + 1)
    weights = 1.0 / ((N - m + 1) * np.maximum(N - m, 1e-300))
    total = np.zeros((N, 3))
    for step, row in enumerate(order):
        belief = [epoch for epoch in epochs if epoch.start <= step][-1].belief.proba
        label = belief.copy()
        label[row] += (eye[LABELS[row]] - belief[row]) / query_proba[step]
        for before in order[:step]:
            label[before] = eye[LABELS[before]]
        total += weights[step] / weights.sum() * label
    return total


@batchings
@questions
def test_the_corrected_answer_is_that_of_the_pseudo_labels(question, batches):
    pool_metric, _ = asked(question)
    for _, *campaign in all_campaigns(tuple(batches))[::7]:
        labels, found = pseudo_labels(*campaign), []
        for part in pool_metric.parts:
            values = [part.observed(np.arange(N), np.full(N, c)) for c in CLASSES]
            found.append(np.mean(np.sum(labels * np.transpose(values), axis=1)))
        answer = estimate_metric(CorrectedASE(), pool_metric, state_for(*campaign))
        assert answer.value == pytest.approx(pool_metric.value(np.array(found)))


@questions
def test_lure_weighs_the_labels_by_the_published_formula(question):
    pool_metric, _ = asked(question)
    for _, order, query_proba, epochs in all_campaigns((1, 1, 1, 1))[::5]:
        m, rows = np.arange(1, 5), np.array(order)
        v = 1 + (N - 4) / (N - m) * (1 / ((N - m + 1) * np.array(query_proba)) - 1)
        means = []
        for part in pool_metric.parts:  # A single mean is weighed from its least value.
            least = part.limits()[0] if len(pool_metric.parts) == 1 else np.zeros(N)
            more = part.observed(rows, LABELS[rows]) - least[rows]
            means.append(least.mean() + np.mean(v * more))
        state_of = state_for(order, query_proba, epochs)
        answer = estimate_metric(LURE(), pool_metric, state_of)
        assert answer.value == pytest.approx(pool_metric.value(np.array(means)))
