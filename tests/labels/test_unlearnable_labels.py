"""A label that no surrogate can learn is refused, or can be corrected."""

import warnings

import numpy as np
import pytest
from helpers.crashing_campaign import differences, shown
from helpers.journals import values_in, write_values
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import SurrogateWarning
from sklearn_ase.surrogate import ClassifierSurrogate

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning",
)
REFUSED = "cannot be learned|must be labels such as 0|numbers or text"
POOL = np.random.default_rng(0).normal(size=(40, 2))


def start_counts(path, surrogate=None):
    """Start or resume a campaign with whole numbers as classes."""
    if surrogate is None:
        surrogate = GaussianNB()
    surrogate = ClassifierSurrogate(surrogate, n_members=2, calibration=None)
    evaluator = ActiveRiskEstimator(
        surrogate=surrogate, loss="zero_one", random_state=0
    )
    return evaluator.start(POOL, predictions=np.arange(40) % 4, journal=path)


@pytest.mark.parametrize("label", [1.5, 10**25, 1e25, 2**63, -(2**64), 1 + 2j], ids=str)
def test_a_label_that_cannot_be_a_class_is_refused_before_it_is_written(path, label):
    with start_counts(path) as evaluation:
        rows = evaluation.ask(5).indices
        before, text = shown(evaluation), path.read_bytes()
        with pytest.raises(ValueError, match=REFUSED):
            evaluation.tell(rows, [0, 1, label, 2, 3])
        assert path.read_bytes() == text
        assert differences(evaluation, before) == []
        evaluation.tell(rows, [0, 1, 1, 2, 3])
        with pytest.raises(ValueError, match=REFUSED):
            evaluation.correct(rows[0], label)


def test_a_label_whose_square_overflows_is_refused_before_it_is_written(path):
    evaluator = ActiveRiskEstimator(
        surrogate=BayesianRidge(), loss="absolute_error", random_state=0
    )
    with evaluator.start(POOL, predictions=POOL[:, 0], journal=path) as evaluation:
        row = evaluation.ask().indices
        with pytest.raises(ValueError, match=r"numbers up to 1e\+70"):
            evaluation.tell(row, [1e200])
        evaluation.tell(row, [1e60])


@pytest.mark.parametrize("cell", [str(10**25), "-" + "9" * 30])
def test_a_number_that_is_too_long_in_a_file_is_refused(path, cell):
    with start_counts(path) as evaluation:
        rows = evaluation.ask(2).indices
        answers = path.with_suffix(".csv")
        answers.write_text(f"row,label\n{rows[0]},1\n{rows[1]},{cell}\n")
        text = path.read_bytes()
        with pytest.raises(ValueError, match="is not a valid label"):
            evaluation.import_answers(answers)
        assert path.read_bytes() == text
        assert len(evaluation.ledger) == 0


def test_known_labels_that_cannot_be_classes_are_refused(path):
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), loss="zero_one")
    with pytest.raises(ValueError, match=r"known_labels must be labels such as 0"):
        evaluator.start(POOL, predictions=np.arange(40) % 4, known_labels={7: 0.5})


def test_whole_numbers_may_come_as_floats():
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), loss="zero_one")
    evaluation = evaluator.start(POOL, predictions=np.arange(40) % 4)
    rows = evaluation.ask(3).indices
    evaluation.tell(rows, [0.0, 1.0, 5.0])
    assert evaluation.classes_.tolist() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("label", [1.5, 10**25])
def test_a_journal_with_such_a_label_opens_and_the_label_can_be_corrected(path, label):
    """An older version has written it."""
    with start_counts(path) as evaluation:
        rows = evaluation.ask(6).indices.tolist()
        evaluation.tell(rows[:5], [0, 1, 1, 2, 3])
        expected = evaluation.ledger.labels | {rows[2]: 2}
    header, *events = values_in(path)
    events = [event for event in events if event[0] in ("ask", "tell")]
    next(e for e in events if e[0] == "tell")[2][2] = label
    write_values(path, [header, *events])
    with pytest.warns(SurrogateWarning, match=r"Unknown label type.*correct\(row"):
        evaluation = start_counts(path)
    assert evaluation.ledger.labels[rows[2]] == label
    assert not evaluation.is_fitted
    evaluation.correct(rows[2], 2)
    assert evaluation.is_fitted
    assert evaluation.ledger.labels == expected
    before = shown(evaluation)
    evaluation.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SurrogateWarning)
        with start_counts(path) as resumed:
            assert differences(resumed, before) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_journal_whose_estimate_overflows_opens_and_can_be_corrected(path):
    evaluator = ActiveRiskEstimator(
        surrogate=BayesianRidge(), loss="squared_error", random_state=0
    )
    given = {"predictions": POOL[:, 0], "journal": path}
    given |= {"X_train": POOL + 1, "y_train": POOL[:, 1]}
    with evaluator.start(POOL, **given) as evaluation:
        rows = evaluation.ask(4).indices.tolist()
        evaluation.tell(rows, [1.0, 2.0, 3.0, 4.0])
    header, *events = values_in(path)
    events = [event for event in events if event[0] in ("ask", "tell")]
    events[1][2][2] = 1e150
    write_values(path, [header, *events])
    with pytest.warns(SurrogateWarning, match="has learned from none of them"):
        evaluation = evaluator.start(POOL, **given)
    evaluation.correct(rows[2], 3.0)
    assert np.isfinite(evaluation.estimate().value)
    evaluation.close()


class Picky(GaussianNB):
    """Fails on the label 9."""

    def fit(self, X, y, sample_weight=None):
        if 9 in y:
            raise RuntimeError("9 is too much")
        return super().fit(X, y, sample_weight)


def test_a_surrogate_that_fails_says_that_the_labels_are_recorded(path):
    evaluation = start_counts(path, Picky())
    rows = evaluation.ask(6).indices
    with pytest.raises(RuntimeError, match="too much") as caught:
        evaluation.tell(rows[:5], [0, 1, 9, 2, 3])
    assert "All labels are recorded" in caught.value.__notes__[0]
    assert len(evaluation.ledger) == 5
    evaluation.close()
    with pytest.warns(SurrogateWarning, match="9 is too much"):
        evaluation = start_counts(path, Picky())
    with pytest.raises(RuntimeError, match="too much"):
        evaluation.tell(rows[5:], [0])  # Still recorded.
    evaluation.correct(rows[2], 1)
    assert evaluation.is_fitted
    assert len(evaluation.ledger) == 6
    evaluation.close()
