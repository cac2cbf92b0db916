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


@pytest.mark.parametrize("labels", [["cat", "Dog"], [["cat", "cat"], ["dog", "Dog"]]])
def test_a_label_of_a_new_class_is_recorded_with_a_warning(labels):
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(3).indices
    with pytest.warns(NewClassWarning) as caught:
        evaluation.tell(rows[:2], labels)
    (one,) = caught
    assert one.filename == __file__
    assert "The labels ['Dog']" in str(one.message)
    assert "evaluation.correct(row, label)" in str(one.message)
    assert "classes=[...]" in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation.tell(rows[2:], ["Dog"])  # Met by now.
        evaluation.correct(rows[2], "dog")
        evaluation.correct(rows[1], "dog")
    with pytest.warns(NewClassWarning, match="'Dog'"):
        evaluation.correct(rows[1], "Dog")


def test_a_new_class_is_not_recorded_if_the_warning_is_an_error():
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NewClassWarning):
            evaluation.tell(rows, ["cat", "Dog"])
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
    y[0] = "Fraud"
    guess = np.where(X[:, 0] > 5.5, "ok", "fraud")
    evaluator = ActiveRiskEstimator(metric="accuracy", risk=LURE(), refit=[10**6])
    evaluation = evaluator.start(X, predictions=guess)
    with pytest.warns(NewClassWarning):
        evaluation.run(y, len(X), batch_size=50)
    found = evaluation.estimate(metric=f"f1_{average}")
    assert float(found) == pytest.approx(f1_score(y, guess, average=average))
    with pytest.raises(ValueError, match=r"3 classes: \['Fraud', 'fraud', 'ok'\]"):
        evaluation.estimate(metric="f1")
