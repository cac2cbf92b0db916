"""Masked arrays, tensors of torch and one-hot labels: they work, or are refused."""

import numpy as np
import pytest
from helpers.iris_campaign import MODEL, SURROGATE, TRAINING, X, Y, make_evaluator

from sklearn_ase import ActiveRiskEstimator

PROBA = MODEL.predict_proba(X)


def no_label(rows):
    pytest.fail("A label was read.")


@pytest.mark.parametrize("argument", ["X", "y", "X_train", "y_train", "predictions"])
def test_a_mask_that_hides_something_is_refused(argument):
    given = {"X": X, "y": no_label, **TRAINING, "predictions": PROBA}
    values = np.ma.array(Y if argument == "y" else given[argument])
    values[3] = np.ma.masked
    evaluator = make_evaluator(classes=range(3))
    with pytest.raises(ValueError, match=f"{argument} is a masked array"):
        evaluator.fit(**given | {argument: values})


def test_a_mask_that_hides_nothing_is_no_matter():
    evaluator = make_evaluator(n_labels=5, classes=range(3))
    masked = evaluator.fit(np.ma.array(X), np.ma.array(Y), predictions=PROBA).risk_
    assert masked == evaluator.fit(X, Y, predictions=PROBA).risk_


def test_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    evaluator = make_evaluator(n_labels=5, classes=range(3))
    proba = torch.tensor(PROBA, requires_grad=True)
    training = {name: torch.tensor(rows) for name, rows in TRAINING.items()}
    given = evaluator.fit(
        torch.tensor(X), torch.tensor(Y), predictions=proba, **training
    ).risk_
    assert given == evaluator.fit(X, Y, predictions=PROBA, **TRAINING).risk_


def test_a_bare_module_is_refused():
    torch = pytest.importorskip("torch")
    evaluator = make_evaluator().set_params(estimator=torch.nn.Linear(4, 3))
    with pytest.raises(
        TypeError, match=r"estimator=Linear is a module of torch.*skorch"
    ):
        evaluator.fit(X, no_label)


@pytest.mark.parametrize("kind", [int, float, bool])
def test_one_hot_answers_are_refused(kind):
    one_hot = np.eye(3, dtype=kind)[Y]
    evaluation = make_evaluator().start(X, **TRAINING)
    query = evaluation.ask(3)
    with pytest.raises(ValueError, match=r"labels of shape \(3, 3\) look one-hot"):
        evaluation.tell(query, one_hot[query.indices])
    assert len(evaluation.ledger) == 0


@pytest.mark.parametrize(("kind", "n_labels"), [(float, 0), (bool, 0), (int, 1)])
def test_one_hot_answers_of_an_oracle_are_found_at_once(kind, n_labels):
    """A row of integers may be answers of several people; two such rows hardly are."""
    evaluator = make_evaluator(n_labels=10)
    with pytest.raises(ValueError, match="look one-hot"):
        evaluator.fit(X, lambda rows: np.eye(3, dtype=kind)[Y[rows]], **TRAINING)
    assert len(evaluator.ledger_) == n_labels


def test_answers_of_several_people_may_look_one_hot():
    evaluation = make_evaluator().start(X, **TRAINING)
    query = evaluation.ask(3)
    evaluation.tell(query.indices[:1], [[0, 1, 0]])
    evaluation.tell(query.indices[1:], [[0, 1, 0], [1, 1, 0]])
    assert len(evaluation.ledger) == 3


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("groups", 'target="population"'),
        ("weight", "Did you mean sample_weight"),
        ("target", "They take X, y and X_train, cost"),
    ],
)
def test_other_arguments_are_refused_with_advice(name, advice):
    evaluator = ActiveRiskEstimator(MODEL, surrogate=SURROGATE)
    message = f"take no argument {name}.*{advice}"
    with pytest.raises(TypeError, match=message):
        evaluator.fit(X, no_label, **{name: np.ones(len(X))})
    with pytest.raises(TypeError, match=message):
        evaluator.start(X, **{name: None})
