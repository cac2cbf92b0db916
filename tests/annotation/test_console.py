"""The console keeps every answer, whatever else is typed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.campaigns import campaign
from scipy import sparse
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator, annotate
from sklearn_ase._annotation._console import as_text
from sklearn_ase._data._rows import row_of
from sklearn_ase.exceptions import JournalError
from sklearn_ase.losses import CustomLoss
from sklearn_ase.risk import LURE
from sklearn_ase.stopping import BaseStop

POOL = pd.DataFrame({"age": np.arange(12) + 0.5, "home town": ["Rome", "Oslo"] * 6})


class Session:
    """An annotator at the console who types what was written down before."""

    def __init__(self, *entries):
        self.entries = list(entries)
        self.lines = []

    def read(self, prompt):
        self.lines.append(prompt)
        entry = self.entries.pop(0) if self.entries else EOFError
        if isinstance(entry, str):
            return entry
        raise entry

    def annotate(self, evaluation, n_labels=None, **options):
        return annotate(
            evaluation, n_labels, read=self.read, write=self.lines.append, **options
        )

    @property
    def text(self):
        return "\n".join(self.lines)


@pytest.fixture
def animals():
    """An evaluation with classes of text and nothing asked for."""
    return campaign(["cat", "dog"], POOL)


def _labels(evaluation):
    return list(evaluation.ledger.labels.values())


def test_a_session_with_wrong_entries_skip_and_undo(animals):
    session = Session("cow", "", "dog", "s", "cat", "u", "2", "?", "cat", "q")
    assert session.annotate(animals) == 4
    assert _labels(animals) == ["dog", "dog", "cat"]
    assert animals.ledger.skipped == animals.ledger.indices[1:2]
    assert "'cow' is not one of 1 cat, 2 dog." in session.text
    shown = [line.split(".")[0] for line in session.lines if line.startswith("\nRow")]
    first, skipped, third, fourth, fifth = animals.ledger.indices
    rows = [first, skipped, third, fourth, third, fourth, fifth]
    assert shown == [f"\nRow {row}" for row in rows]


def test_it_ends_at_the_number_of_labels(animals):
    animals.run(lambda indices: ["cat"] * len(indices), 2)
    session = Session("dog", "dog", "", "never read")
    assert session.annotate(animals, 4) == 2
    assert session.entries == ["never read"]
    assert len(animals.ledger) == 4
    assert "3 of 4 labels" in session.text
    why, first, second, *_ = session.lines[-2].splitlines()
    assert why == "The requested number of labels is reached."
    assert (first, second.split()) == ("4 of 4 labels", ["risk", "0.6931"])
    assert Session().annotate(animals, 4) == 0  # Nothing to undo, nothing to ask.


def test_the_last_answer_can_be_taken_back_before_it_ends(animals):
    session = Session("cat", "dog", "u", "cat", "u", "s", "dog", "")
    assert session.annotate(animals, 2) == 3
    assert _labels(animals) == ["cat", "dog"]
    assert len(animals.ledger.skipped) == 1
    assert session.text.count("Enter to leave, u to undo") == 3


def test_the_last_answer_can_be_taken_back_where_a_class_is_called_u():
    evaluation = campaign(["u", "v"], POOL)
    session = Session("u", ":u", "v", "u")
    assert session.annotate(evaluation, 1) == 1
    assert _labels(evaluation) == ["v"]


def test_it_ends_when_a_rule_says_so(animals):
    class Enough(BaseStop):
        def reason(self, estimates):
            return "That will do." if len(estimates) == 2 else ""

    session = Session("cat", "dog", "u", "cat", "")
    assert session.annotate(animals, 9, stop=Enough()) == 2
    assert session.text.count("That will do.\n2 of 9 labels") == 2


def test_an_answer_that_is_refused_is_asked_for_again():
    loss = CustomLoss(_no_loss_at_99, task="regression")
    evaluator = ActiveRiskEstimator(loss=loss, surrogate=BayesianRidge(), risk=LURE())
    evaluation = evaluator.start(POOL[["age"]], predictions=np.zeros(12))
    session = Session("99", "98", "q")
    assert session.annotate(evaluation) == 1
    assert _labels(evaluation) == [98.0]
    assert "negative or not finite" in session.text
    first, second, third = [line for line in session.lines if "\nRow" in line]
    assert first == second != third


def _no_loss_at_99(y_true, y_pred):
    return np.where(y_true == 99.0, np.inf, np.abs(y_true - y_pred))


def test_what_cannot_be_kept_ends_the_session(tmp_path):
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), risk=LURE())
    proba = pd.DataFrame(np.full((12, 2), 0.5), columns=["cat", "dog"])
    given = {"predictions": proba, "journal": tmp_path / "labels.jsonl"}
    evaluation = evaluator.start(POOL[["age"]], **given)
    evaluation.ask()
    evaluation.close()
    with pytest.raises(JournalError, match="is closed"):
        Session("cat").annotate(evaluation)


def test_a_pool_of_known_labels_needs_no_session():
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), risk=LURE())
    proba = pd.DataFrame(np.full((12, 2), 0.5), columns=["cat", "dog"])
    evaluation = evaluator.start(
        POOL[["age"]], predictions=proba, known_labels=dict.fromkeys(range(12), "cat")
    )
    session = Session()
    assert session.annotate(evaluation) == 0
    assert "Every row of the pool was asked for." in session.text


def test_open_queries_come_first(animals):
    rows = animals.ask(3).indices.tolist()
    Session("cat", "cat", "cat", "q").annotate(animals)
    assert list(animals.ledger.labels) == rows
    assert len(animals.ledger.indices) == 4


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_answers_are_kept_when_the_input_ends(animals, end):
    session = Session("cat", "dog", end)
    assert session.annotate(animals) == 2
    assert _labels(animals) == ["cat", "dog"]
    assert session.lines[-1] == "\n2 labels, all kept."
    (row,) = animals.pending.indices
    Session("dog", "q").annotate(animals)  # The row that was shown comes again.
    assert list(animals.ledger.labels)[-1] == row


def test_only_answers_of_this_session_are_undone(animals):
    Session("cat", "q").annotate(animals)
    session = Session("u", "dog", "s", "u", "u", "u", "q")
    assert session.annotate(animals) == 0
    assert _labels(animals) == ["cat"]
    assert animals.ledger.skipped == []
    assert session.text.count("Nothing was answered in this session.") == 2


def test_it_ends_when_the_pool_does():
    evaluation = campaign(["cat", "dog"], POOL[:3])
    session = Session("cat", "s", "dog", "", "never read")
    assert session.annotate(evaluation, 10) == 3
    assert "Every row of the pool was asked for." in session.text
    assert session.entries == ["never read"]


def test_the_estimate_is_shown_with_its_interval_or_the_reason(animals):
    session = Session(*["cat"] * 2, "q")
    session.annotate(animals)
    assert "0 labels\nno estimate  LURE needs a label" in session.text
    assert "2 labels\nrisk " in session.text
    assert "90 % interval, anytime  none. No interval from 2 labels" in session.text
    numbers = campaign(None, np.arange(60.0)[:, None])
    session = Session(*map(str, range(30)))
    session.annotate(numbers, 30)
    low, high = numbers.estimate().interval(method="anytime")
    assert session.lines[-3].endswith(f"anytime  {low:.4g} to {high:.4g}")


def test_numbers_are_asked_for_until_one_comes():
    evaluation = campaign(None, POOL)
    session = Session("three", "nan", "3,5", "3.5", "-1e-2")
    assert session.annotate(evaluation) == 2
    assert _labels(evaluation) == [3.5, -0.01]
    assert "'three' is not a valid label. Give a finite number." in session.text


@pytest.mark.parametrize(
    ("classes", "names", "typed", "label"),
    [
        (["cat", "dog"], None, "1", "cat"),
        (["2", "dog"], None, "2", "2"),  # A name, not the second class.
        ([3, 7], None, "7", 7),
        ([3, 7], ["three", "seven"], "seven", 7),
        ([3, 7], {3: "three", 7: "seven"}, "3", 3),
        ([3, 7], {7: "seven"}, "seven", 7),
        ([False, True], None, "1", True),
        ([False, True], ["ham", "spam"], "spam", True),
    ],
)
def test_a_class_is_typed_by_its_name_or_number(classes, names, typed, label):
    evaluation = campaign(classes, POOL)
    assert Session(typed).annotate(evaluation, class_names=names) == 1
    assert _labels(evaluation) == [label]
    assert type(_labels(evaluation)[0]) is type(label)


def test_a_number_that_names_another_class_is_not_a_position_in_the_list():
    evaluation = campaign(["2", "dog"], POOL)
    session = Session("1", "dog")
    assert session.annotate(evaluation) == 1
    assert "'1' is not one of 2, dog." in session.text


def test_class_names_must_fit(animals):
    with pytest.raises(ValueError, match=r"class_names has 1 names.*one name for each"):
        Session().annotate(animals, class_names=["cat"])


def test_a_class_named_like_a_command_can_be_typed():
    evaluation = campaign(["q", "s"], POOL)
    session = Session("q", "s", ":u", "q", ":s", ":q")
    assert session.annotate(evaluation) == 3
    assert _labels(evaluation) == ["q", "q"]
    assert len(evaluation.ledger.skipped) == 1


def test_a_new_class_takes_a_plus_sign():
    evaluation = campaign([0, 1], POOL)
    session = Session("2", "+two", "+2", "2", "q")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert session.annotate(evaluation) == 2
    assert _labels(evaluation) == [2, 2]
    assert "'two' is not a valid label" in session.text
    closed = campaign([0, 1], POOL, is_closed=True)
    session = Session("+2")
    assert session.annotate(closed) == 0
    assert "'2' is not a valid label. Give one of [0, 1]." in session.text


# What is shown of a row.


def test_features_are_aligned_under_their_names(animals):
    session = Session()
    session.annotate(animals)
    (row,) = animals.pending.indices
    town = POOL["home town"][row]
    assert f"age        {row + 0.5}\nhome town  {town}" in session.text


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (["a", "some\ntext"], "some\ntext"),
        (np.array([[0.0, 0.0], [1 / 3, 2.0]]), "x0  0.333333\nx1  2"),
        (sparse.csr_matrix([[1.0, 0.0], [0.0, 2.5]]), "x1  2.5"),
        (np.zeros((2, 8, 8)), "(an array of shape (8, 8); pass show="),
    ],
)
def test_rows_of_any_kind_are_shown(X, text):
    assert as_text(row_of(X, 1)).startswith(text)


def test_show_decides_what_is_shown_of_a_row(animals):
    session = Session()
    session.annotate(animals, show=lambda row: f"from {row['home town']}, {row['age']}")
    (row,) = animals.pending.indices
    assert f"from {POOL['home town'][row]}, {row + 0.5}" in session.text
