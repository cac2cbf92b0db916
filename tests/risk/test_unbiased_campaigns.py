"""Whole campaigns are unbiased exactly: every course that one can take is enumerated.

A surrogate that is fitted after every label chooses the rows.
"""

import numpy as np
import pytest
from helpers.campaigns import Vote

from sklearn_ase import ActiveRiskEstimator, selection
from sklearn_ase.acquisition import LossSpread
from sklearn_ase.risk import LURE, CorrectedASE, GuardedASE
from sklearn_ase.selection import Proportional
from sklearn_ase.surrogate import ClassifierSurrogate

ROWS = np.array([[0.1, 1.0], [1.2, 0.3], [2.0, 2.2], [0.4, 0.1], [1.5, 1.9]])
TRUTH = np.array([0, 1, 1, 1, 0])
PROBA = np.array([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.8, 0.2], [0.55, 0.45]])
TRAIN = np.array([[0.0, 0.8], [0.3, 0.9], [1.0, 1.0], [2.0, 2.0], [1.7, 1.5]])


def start_campaign(**given):
    evaluator = ActiveRiskEstimator(
        surrogate=ClassifierSurrogate(Vote(), calibration=None),
        acquisition=LossSpread(),
        selection=Proportional(0.1),
        refit=1,
        classes=[0, 1],
        random_state=0,
    )
    return evaluator.start(
        ROWS, predictions=PROBA, X_train=TRAIN, y_train=[0, 0, 1, 1, 0], **given
    )


def tell_truth(evaluation, rows):
    evaluation.tell(rows, TRUTH[rows])


def tell_lies(evaluation, rows):
    evaluation.tell(rows, 1 - TRUTH[rows])


def every_campaign(run, monkeypatch):
    """Yield the probability and the result of every course that `run` can take.

    Draws follow a script. Where it ends the first row is taken, and scripts for the
    others are put on the pile.
    """
    scripts = [[]]
    while scripts:
        script, taken, chances = scripts.pop(), [], []

        def draw(distribution, _, script=script, taken=taken, chances=chances):
            if len(taken) == len(script):
                first, *others = np.flatnonzero(distribution).tolist()
                scripts.extend([*taken, other] for other in others)
                script.append(first)
            place = script[len(taken)]
            taken.append(place)
            chances.append(distribution[place])
            return place

        monkeypatch.setattr(selection, "_draw", draw)
        result = run()
        yield np.prod(chances), result


def in_batches(evaluation):
    for n_queries in (2, 1):
        tell_truth(evaluation, evaluation.ask(n_queries).indices[::-1])


def in_parts(evaluation):
    """The second answer decides about the third row; the first one comes last."""
    first, second = evaluation.ask(2).indices
    tell_truth(evaluation, [second])
    tell_truth(evaluation, evaluation.ask(1).indices)
    tell_truth(evaluation, [first])


def with_an_open_row(evaluation):
    """The answers behind an open row decide about the next ones and do not count."""
    rows = evaluation.ask(3).indices
    tell_truth(evaluation, rows[[2, 0]])
    fourth = evaluation.ask(1).indices
    tell_truth(evaluation, fourth)


def corrected_at_the_end(evaluation):
    """Later rows are chosen by lies."""
    for n_queries in (1, 1, 1):
        tell_lies(evaluation, evaluation.ask(n_queries).indices)
    for row in evaluation.ledger.indices[::-1]:
        evaluation.correct(row, TRUTH[row])


def corrected_on_the_way(evaluation):
    """Some labels are wrong, and which depends on the row; late answers as well."""
    first, second = evaluation.ask(2).indices
    evaluation.tell([second], [0])
    third = evaluation.ask(1).indices
    evaluation.tell([first], [1])
    evaluation.correct(second, TRUTH[second])
    tell_lies(evaluation, third)
    evaluation.correct(third[0], TRUTH[third[0]])
    evaluation.correct(first, TRUTH[first])


def withdrawn(evaluation):
    """A lie is taken back before the last row is chosen, and told truly after it."""
    first, second = evaluation.ask(2).indices
    tell_lies(evaluation, [second])
    tell_lies(evaluation, [first])
    evaluation.withdraw(first)
    tell_truth(evaluation, evaluation.ask(1).indices)
    tell_truth(evaluation, [first])
    evaluation.correct(second, TRUTH[second])


def skipped_for_a_while(evaluation):
    first, second = evaluation.ask(2).indices
    evaluation.skip([first])
    tell_truth(evaluation, [second])
    tell_truth(evaluation, evaluation.ask(1).indices)
    tell_truth(evaluation, [first])


courses = pytest.mark.parametrize(
    ("course", "n_labels"),
    [
        (in_batches, 3),
        (in_parts, 3),
        (with_an_open_row, 1),
        (corrected_at_the_end, 3),
        (corrected_on_the_way, 3),
        (withdrawn, 3),
        (skipped_for_a_while, 3),
    ],
)


def expected_estimates(course, monkeypatch, **given):
    """Means over all courses of LURE, corrected ASE and its tuned form; the risk."""

    def run():
        evaluation = start_campaign(**given)
        course(evaluation)
        return evaluation

    total, means, counts = 0.0, np.zeros(3), set()
    for chance, evaluation in every_campaign(run, monkeypatch):
        found = [
            evaluation.estimate(r) for r in (LURE(), CorrectedASE(), GuardedASE(0))
        ]
        total += chance
        means += [chance * estimate.value for estimate in found]
        counts |= {estimate.n_labels for estimate in found}
    assert total == pytest.approx(1.0, abs=1e-12)
    risk = evaluation.loss_.observed(np.arange(5), TRUTH).mean()
    return means, risk, counts


@courses
def test_campaigns_are_unbiased_in_whatever_order_answers_come(
    course, n_labels, monkeypatch
):
    found, risk, counts = expected_estimates(course, monkeypatch)
    assert counts == {n_labels}
    assert found == pytest.approx([risk] * 3, abs=1e-12)


def test_labels_that_stay_wrong_are_biased(monkeypatch):
    """The control: these tests can fail."""

    def lie(evaluation):
        for n_queries in (2, 1):
            tell_lies(evaluation, evaluation.ask(n_queries).indices)

    found, risk, _ = expected_estimates(lie, monkeypatch)
    assert (abs(found - risk) > 0.01).all()


def by_hand(evaluation):
    for n_queries in (1, 1):
        tell_truth(evaluation, evaluation.ask(n_queries).indices)


def by_run(evaluation):
    evaluation.run(lambda rows: TRUTH[rows], 3)


@pytest.mark.parametrize("course", [by_hand, by_run])
@pytest.mark.parametrize("known", [[3], [0, 2]])
def test_known_labels_leave_the_estimates_unbiased(course, known, monkeypatch):
    known_labels = {row: TRUTH[row] for row in known}
    found, risk, _ = expected_estimates(course, monkeypatch, known_labels=known_labels)
    assert found == pytest.approx([risk] * 3, abs=1e-12)
