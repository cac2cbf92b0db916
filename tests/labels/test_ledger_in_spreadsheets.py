"""A ledger as a table for spreadsheets; ledgers that are of another pool."""

import csv

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator, LabelLedger, Picks
from sklearn_ase.exceptions import JournalError
from sklearn_ase.metrics import LabelShare


def ledger_of(labels):
    """A ledger with these labels, an open row, a skipped row and a known one."""
    n = len(labels)
    ledger = LabelLedger()
    ledger.know([50], labels[:1])
    rows = [*range(10, 10 + n), 40, 41]
    numbers = np.random.default_rng(0).uniform(0.1, 1.0, size=(7, n + 2))
    ledger.ask(Picks.unanswered(rows, *numbers))
    ledger.tell(rows[:n][::-1], labels[::-1])
    ledger.refit(n - 1)
    ledger.skip([41])
    return ledger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.csv"


TEXTS = ["=1+1", "+1", "-1.5", "@SUM(A1)", "\tx", "\rx", "\nx", "'x", "''", "'=1"]


@pytest.mark.parametrize("text", TEXTS)
def test_no_label_is_a_formula(path, text):
    ledger_of([text, "b", "c"]).to_csv(path)
    cells = [row["label"] for row in csv.DictReader(path.open(newline=""))]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n")]


def test_numbers_stay_numbers(path):
    ledger = ledger_of([-1.5, 2.0, -3e-300])
    ledger.to_csv(path)
    labels = [row["label"] for row in csv.DictReader(path.open())]
    assert labels[:3] == ["-1.5", "-1.5", "2.0"]


def test_the_table_has_a_line_for_each_row_in_the_order_of_the_queries(path):
    ledger = ledger_of(["cat", "dog", "owl"])
    ledger.correct(50, "cow", ["=cat", "nan"])
    ledger.to_csv(path)
    table = [*csv.DictReader(path.open())]
    columns = {name: [row[name] for row in table] for name in table[0]}
    assert columns["index"] == ["50", "10", "11", "12", "40", "41"]
    assert columns["asked"] == ["", "1", "2", "3", "4", "5"]
    assert columns["label"] == ["cow", "cat", "dog", "owl", "", ""]
    assert columns["label_type"] == ["str"] * 4 + ["", "skipped"]
    assert columns["order"] == ["0", "3", "2", "1", "", ""]
    assert columns["refit"] == ["", "1", "1", "0", "", ""]
    assert columns["more_labels"] == ['["=cat", "nan"]', "", "", "", "", ""]
    assert [
        float(p) for p in columns["query_proba"][1:]
    ] == ledger.picks.query_proba.tolist()


@pytest.mark.parametrize(("n_samples", "row"), [(45, 50), (12, 12)])
def test_a_ledger_of_another_pool_is_refused(n_samples, row):
    evaluator = ActiveRiskEstimator(classes=[0, 1])
    proba = np.full((n_samples, 2), 0.5)
    ledger = ledger_of([0, 1, 0])
    with pytest.raises(ValueError, match=rf"another pool: it has row {row}, but"):
        evaluator.start(np.zeros((n_samples, 1)), predictions=proba, ledger=ledger)


# The rows of the pool that a ledger is of.

N = 80
RNG = np.random.default_rng(0)
POOL = RNG.normal(size=(N, 2))
LABELS = (POOL[:, 0] > 0).astype(int)
JUDGE = RNG.random(N)
VOTES = {"a": 1 - LABELS, "b": np.where(POOL[:, 1] > 0, LABELS, 0)}


def evaluator(**parameters):
    usual = {"surrogate": GaussianNB(), "loss": "zero_one", "n_labels": 12, "cv": 0}
    return ActiveRiskEstimator(random_state=0, **usual | parameters)


def of_shares(X, order, **ledger):
    share = evaluator(metric=LabelShare(1), loss=None, surrogate=None)
    return share.start(None, experts=JUDGE[order], **ledger)


def of_choice(X, order, **ledger):
    votes = {name: labels[order] for name, labels in VOTES.items()}
    return ActiveModelSelector(random_state=0).start(None, predictions=votes, **ledger)


def of_pool(X, order, **ledger):
    return evaluator().start(X[order], predictions=LABELS[order], **ledger)


def of_frame(X, order, **ledger):
    frame = pd.DataFrame(X[order], columns=["a", "b"])
    return evaluator().start(frame, predictions=LABELS[order], **ledger)


@pytest.mark.parametrize("start", [of_pool, of_frame, of_shares, of_choice])
def test_a_ledger_is_not_continued_with_the_pool_in_another_order(start, path):
    order = np.arange(N)
    evaluation = start(POOL, order)
    for _ in range(4):
        query = evaluation.ask(3)
        evaluation.tell(query, LABELS[query.indices])
    evaluation.ledger.save(path)
    text = path.read_bytes()
    with pytest.raises(JournalError, match="differ"):
        start(POOL, order[::-1], journal=path)
    assert path.read_bytes() == text
    with pytest.raises(ValueError, match=r"is of another pool: the rows, their order"):
        start(POOL, order[::-1], ledger=evaluation.ledger)
    with start(POOL, order, journal=path) as again:
        assert again.ledger.labels == evaluation.ledger.labels
        assert float(again.estimate()) == float(evaluation.estimate())
