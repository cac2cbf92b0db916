"""A ledger that went through a spreadsheet is read right, or refused."""

import csv
import io
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator, LabelLedger, Picks
from sklearn_ase.exceptions import JournalWarning
from sklearn_ase.metrics import LabelShare

# Tables that were made by hand do not say of which pool they are.
pytestmark = pytest.mark.filterwarnings("ignore:.*does not say which rows")


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


@pytest.fixture
def table(path):
    """The cells of a ledger with the labels "cat", "dog" and "owl"."""
    ledger_of(["cat", "dog", "owl"]).to_csv(path)
    return [*csv.DictReader(io.StringIO(path.read_text()))]


def write(path, table, names=None, start="", cut=False):
    """Write a table as a spreadsheet does, or only some of its columns."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(start)
        extra = "ignore" if cut else "raise"
        writer = csv.DictWriter(file, names or list(table[0]), extrasaction=extra)
        writer.writeheader()
        writer.writerows(table)


def assert_same(path, ledger):
    found = LabelLedger.from_csv(path)
    found.notes, found.unnoted, found.n_changes = {}, ledger.unnoted, ledger.n_changes
    assert vars(found) == vars(ledger)
    assert list(found.labels) == list(ledger.labels)
    kinds = [type(label) for label in found.labels.values()]
    assert kinds == [type(label) for label in ledger.labels.values()]


TEXTS = ["=1+1", "+1", "-1.5", "@SUM(A1)", "\tx", "\rx", "\nx", "'x", "''", "'=1"]


@pytest.mark.parametrize("text", [*TEXTS, "nan", "NaN", "", "1", "1.0", "True", "1e5"])
def test_a_text_comes_back_as_it_was(path, text):
    ledger = ledger_of([text, "b", "c"])
    ledger.to_csv(path)
    assert_same(path, ledger)


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
    assert_same(path, ledger)


def test_truth_values_in_capitals_are_read_right(path):
    ledger = ledger_of([True, False, False])
    ledger.to_csv(path)
    text = path.read_text().replace("True", "TRUE").replace("False", "FALSE")
    path.write_text(text)
    assert_same(path, ledger)


def test_whole_numbers_with_a_point_are_read_right(path):
    ledger = ledger_of([3, -4, 5])
    ledger.to_csv(path)
    table = [*csv.DictReader(path.open())]
    for row in table:
        for name in ("index", "asked", "order"):
            row[name] = row[name] and row[name] + ".0"
    write(path, table)
    assert_same(path, ledger)


def test_a_byte_order_mark_and_empty_lines_do_not_matter(path, table):
    write(path, [*table, dict.fromkeys(table[0], "")], start="\ufeff")
    assert_same(path, ledger_of(["cat", "dog", "owl"]))


def test_lines_and_columns_may_be_in_another_order(path, table):
    names = list(table[0])
    for seed in range(5):
        random.Random(seed).shuffle(table)
        random.Random(seed).shuffle(names)
        write(path, table, names)
        assert_same(path, ledger_of(["cat", "dog", "owl"]))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("query_proba", "0", "query_proba is 0.0, but a probability"),
        ("query_proba", "-0.1", "query_proba is -0.1, but a probability"),
        ("query_proba", "1.01", "query_proba is 1.01, but a probability"),
        ("query_proba", "inf", "query_proba is inf, but a probability"),
        ("query_proba", "[0.1, 0.2]", "but a probability"),
        ("query_proba", "0,25", "query_proba is '0,25', but must be a number"),
        ("query_proba", "", "query_proba is '', but must be a number"),
        ("loss_moment", "#REF!", "loss_moment is '#REF!', but must be a number"),
        ("index", "-1", "index is '-1', but must be a whole number from 0"),
        ("index", "10.5", "index is '10.5', but must be a whole number from 0"),
        ("index", "12", r"Rows \[12\] of the pool are there twice"),
        ("order", "2", r"order must have each of 1 to 3 once, but \[3\] are missing"),
        ("order", "9", r"order must have each of 1 to 9 once, but \[3, 4, 5, 6, 7\]"),
        ("order", "", "order is ''"),
        ("asked", "3", r"column asked must have each of 1 to 5 once, but \[1\]"),
        ("asked", "", "asked is ''"),
        ("label_type", "text", "label_type 'text' is not one of"),
        ("label_type", "int", "label is 'cat', but must be a whole number"),
        ("label_type", "bool", "label 'cat' is not True or False"),
        ("label_type", "float", "label is 'cat', but must be a number"),
        ("label_type", "", "has a label but no label_type"),
        ("label_type", "skipped", "has a label but no label_type"),
        ("more_labels", "cat", "more_labels is 'cat', but must be a list"),
    ],
)
def test_what_cannot_be_right_is_refused(path, table, name, value, message):
    table[1][name] = value
    write(path, table)
    with pytest.raises(ValueError, match=message):
        LabelLedger.from_csv(path)


def test_the_line_is_named(path, table):
    table[3]["query_proba"] = "7"
    write(path, table)
    with pytest.raises(ValueError, match=r"Line 5 of .*ledger.csv: query_proba"):
        LabelLedger.from_csv(path)


def test_a_whole_number_that_was_rounded_is_refused(path, table):
    table[1] |= {"label_type": "int", "label": "1E+17"}
    write(path, table)
    with pytest.raises(ValueError, match="label is '1E\\+17', but must be a whole"):
        LabelLedger.from_csv(path)


@pytest.mark.parametrize("place", [1, 2, 4])
def test_a_line_that_is_missing_is_refused(path, table, place):
    del table[place]
    write(path, table)
    message = (
        rf"column asked must have each of 1 to 5 once, but \[{place}\] are missing"
    )
    with pytest.raises(ValueError, match=message):
        LabelLedger.from_csv(path)


def test_a_known_row_that_is_there_twice_is_refused(path, table):
    write(path, [table[0], *table])
    with pytest.raises(ValueError, match=r"Rows \[50\] of the pool are there twice"):
        LabelLedger.from_csv(path)


def test_a_file_that_does_not_say_what_was_asked_first_is_refused(path, table):
    """Such files were written before there was a column for it."""
    names = [name for name in table[0] if name != "asked"]
    write(path, [{name: row[name] for name in names} for row in table])
    with pytest.raises(ValueError, match="add a column asked with 1, 2"):
        LabelLedger.from_csv(path)


def test_semicolons_are_refused(path, table):
    write(path, table)
    path.write_text(path.read_text().replace(",", ";"))
    with pytest.raises(ValueError, match=r"is not a ledger.*separated by commas"):
        LabelLedger.from_csv(path)


def test_a_line_that_is_too_short_is_refused(path, table):
    write(path, table)
    path.write_text(path.read_text() + "1,2,3\n")
    with pytest.raises(ValueError, match=r"Line 8 of .* has 3 cells, but there are 15"):
        LabelLedger.from_csv(path)


@pytest.mark.parametrize(("n_samples", "row"), [(45, 50), (12, 12)])
def test_a_ledger_of_another_pool_is_refused(path, n_samples, row):
    ledger_of([0, 1, 0]).to_csv(path)
    ledger = LabelLedger.from_csv(path)
    evaluator = ActiveRiskEstimator(classes=[0, 1])
    proba = np.full((n_samples, 2), 0.5)
    with pytest.raises(ValueError, match=rf"another pool: it has row {row}, but"):
        evaluator.start(np.zeros((n_samples, 1)), predictions=proba, ledger=ledger)


def test_further_answers_for_known_rows_survive(path):
    ledger = ledger_of(["cat", "dog", "owl"])
    ledger.correct(50, "cow", ["=cat", "nan"])
    ledger.to_csv(path)
    found = LabelLedger.from_csv(path)
    assert found.known == ledger.known
    assert found.more_labels == ledger.more_labels


# The rows of the pool that a table is of.

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
def test_a_table_is_not_continued_with_the_pool_in_another_order(start, path):
    order = np.arange(N)
    evaluation = start(POOL, order)
    for _ in range(4):
        query = evaluation.ask(3)
        evaluation.tell(query, LABELS[query.indices])
    evaluation.ledger.to_csv(path)
    with pytest.raises(ValueError, match=r"is of another pool: the rows, their order"):
        start(POOL, order[::-1], ledger=LabelLedger.from_csv(path))
    with pytest.raises(ValueError, match=r"is of another pool: the rows, their order"):
        start(POOL, order[::-1], ledger=evaluation.ledger)
    again = start(POOL, order, ledger=LabelLedger.from_csv(path))
    assert again.ledger.labels == evaluation.ledger.labels
    assert float(again.estimate()) == float(evaluation.estimate())


def test_a_table_that_does_not_know_its_pool_is_read_with_a_warning(path):
    evaluation = of_pool(POOL, np.arange(N))
    query = evaluation.ask(3)
    evaluation.tell(query, LABELS[query.indices])
    evaluation.ledger.to_csv(path)
    table = [*csv.DictReader(path.open())]
    assert {row["pool"][:5] for row in table} == {"rows "}
    write(path, table, [name for name in table[0] if name != "pool"], cut=True)
    with pytest.warns(JournalWarning, match="does not say which rows"):
        ledger = LabelLedger.from_csv(path)
    again = of_pool(POOL, np.arange(N)[::-1], ledger=ledger)
    assert again.ledger.pool is not None


def test_lines_of_two_pools_are_refused(path, table):
    table[1]["pool"] = "rows 123"
    write(path, table)
    with pytest.raises(ValueError, match="pool is not the same in all lines"):
        LabelLedger.from_csv(path)
