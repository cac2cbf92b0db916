"""Copies of an evaluation know all that it knows and write nothing."""

import copy
import pickle

import pytest
from helpers.crashing_campaign import (
    X,
    Y,
    differences,
    do_step,
    next_step,
    run_to_the_end,
    shown,
    start,
)
from helpers.journals import iris_evaluator
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import JournalError

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)


@pytest.mark.parametrize(
    "copy_of", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_knows_all_and_writes_nothing(path, copy_of):
    evaluation = start(path)
    for _ in range(20):
        do_step(evaluation, next_step(evaluation.ledger))
    other, text = copy_of(evaluation), path.read_bytes()
    assert differences(other, evaluation) == []
    with pytest.raises(JournalError, match="is closed"):
        other.ask()
    other.close()
    with pytest.raises(JournalError, match="is open in another evaluation"):
        start(path)
    assert path.read_bytes() == text
    before = shown(other)
    run_to_the_end(evaluation)
    assert differences(other, before) == []
    evaluation.close()
    with start(path) as resumed:
        assert differences(resumed, evaluation) == []


def test_a_fitted_evaluator_with_a_journal_can_be_pickled(path):
    evaluator = iris_evaluator(n_labels=6).fit(X, Y, journal=path)
    other = pickle.loads(pickle.dumps(evaluator))
    assert other.risk_ == evaluator.risk_
    assert other.ledger_.labels == evaluator.ledger_.labels
    other.set_params(n_labels=9).fit(X, Y, journal=path)
    assert len(other.ledger_) == 9


def test_a_journal_can_be_continued_in_memory(path):
    with start(path) as running:
        for _ in range(20):
            do_step(running, next_step(running.ledger))
        ledger = running.ledger.copy()
        text = path.read_bytes()
        model = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))
        evaluator = ActiveRiskEstimator(
            model, surrogate=running.surrogate, random_state=7
        )
        resumed = evaluator.start(X, ledger=ledger)
        assert differences(resumed, running) == []
        resumed.ask()
        assert path.read_bytes() == text
