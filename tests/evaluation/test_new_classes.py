"""Labels of a class that neither the model nor the training rows have."""

import warnings

import numpy as np
import pytest
from helpers.campaigns import campaign
from helpers.iris_campaign import X
from sklearn.metrics import f1_score

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.metrics import LabelShare
from sklearn_ase.risk import LURE


@pytest.mark.parametrize("labels", [["cat", "wolf"], [["cat", "cat"], ["dog", "wolf"]]])
def test_a_label_of_a_new_class_is_recorded_with_a_warning(labels):
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(3).indices
    with pytest.warns(NewClassWarning) as caught:
        evaluation.tell(rows[:2], labels)
    (one,) = caught
    assert one.filename == __file__
    assert "The labels ['wolf']" in str(one.message)
    assert "evaluation.correct(row, label)" in str(one.message)
    assert "classes=[...]" in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation.tell(rows[2:], ["wolf"])  # Met by now.
        evaluation.correct(rows[2], "dog")
        evaluation.correct(rows[1], "dog")
    with pytest.warns(NewClassWarning, match="'wolf'"):
        evaluation.correct(rows[1], "wolf")


def test_a_new_class_is_not_recorded_if_the_warning_is_an_error():
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NewClassWarning):
            evaluation.tell(rows, ["cat", "wolf"])
    assert len(evaluation.ledger) == 0
    assert evaluation.classes_.tolist() == ["cat", "dog"]


def test_a_label_spelled_otherwise_than_in_the_metric_is_pointed_out():
    scores = np.linspace(0.1, 0.9, 40)
    evaluator = ActiveRiskEstimator(metric=LabelShare("correct"), random_state=0)
    evaluation = evaluator.start(None, experts={"judge": scores})
    rows = evaluation.ask(2).indices
    with pytest.warns(
        NewClassWarning, match="The metric counts 'correct'.*start again"
    ):
        evaluation.tell(rows, ["right", "wrong"])


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_an_average_needs_no_positive_class_if_a_label_was_mistyped(average):
    y = np.array(["fraud", "ok"])[(X[:, 0] > 5).astype(int)]
    y[0] = "scam"
    guess = np.where(X[:, 0] > 5.5, "ok", "fraud")
    evaluator = ActiveRiskEstimator(metric="accuracy", risk=LURE(), refit=[10**6])
    evaluation = evaluator.start(X, predictions=guess)
    with pytest.warns(NewClassWarning):
        evaluation.run(y, len(X), batch_size=50)
    found = evaluation.estimate(metric=f"f1_{average}")
    assert float(found) == pytest.approx(f1_score(y, guess, average=average))
    with pytest.raises(ValueError, match=r"3 classes: \['fraud', 'ok', 'scam'\]"):
        evaluation.estimate(metric="f1")


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (["cat", "Dog"], "'Dog', which differs from the class 'dog'"),
        (["cat", "dog "], "'dog ', which differs from the class 'dog'"),
        ([["cat", "cat"], ["dog", " DOG"]], "' DOG', which.*the class 'dog'"),
        (["Wolf", "wolf"], "'wolf', which differs from another label of them, 'Wolf'"),
    ],
)
def test_a_class_in_another_spelling_is_refused_and_nothing_recorded(labels, match):
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices
    with pytest.raises(ValueError, match=f"{match}.*Write it as.*classes="):
        evaluation.tell(rows, labels)
    assert len(evaluation.ledger) == 0
    assert evaluation.pending.indices.tolist() == rows.tolist()
    evaluation.tell(rows, ["cat", "dog"])
    with pytest.raises(ValueError, match="'Cat', which differs from the class 'cat'"):
        evaluation.correct(rows[0], "Cat")
    assert evaluation.ledger.labels[rows[0]] == "cat"


def test_a_class_in_another_spelling_ends_a_run_and_is_not_known_beforehand():
    evaluation = campaign(["cat", "dog"], X)
    with pytest.raises(ValueError, match="'Dog', which differs from the class 'dog'"):
        evaluation.run(np.full(len(X), "Dog"), 3)
    assert len(evaluation.ledger) == 0
    given = {"X": X, "predictions": np.array(["cat", "dog"] * 75)}
    with pytest.raises(ValueError, match="known_labels hold 'Dog'"):
        ActiveRiskEstimator(loss="zero_one").start(**given, known_labels={0: "Dog"})


def test_two_spellings_are_two_classes_if_both_were_given():
    evaluation = campaign(["Dog", "dog"], X, is_closed=True)
    rows = evaluation.ask(2).indices
    evaluation.tell(rows, ["dog", "Dog"])
    assert len(evaluation.ledger) == 2


def test_the_name_of_all_other_labels_is_no_class_before_it_was_told():
    evaluator = ActiveRiskEstimator(metric=LabelShare("correct"), random_state=0)
    evaluation = evaluator.start(None, experts={"judge": np.linspace(0.1, 0.9, 40)})
    rows = evaluation.ask(3).indices
    with pytest.raises(ValueError, match=r"'Correct', which.*the class 'correct'"):
        evaluation.tell(rows[:1], ["Correct"])
    evaluation.tell(rows[:2], ["correct", "Not Correct"])
    with pytest.raises(ValueError, match=r"'not correct', which.*'Not Correct'"):
        evaluation.tell(rows[2:], ["not correct"])
