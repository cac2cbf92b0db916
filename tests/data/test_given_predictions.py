"""What may be given as predictions= instead of a model, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator
from sklearn_ase.surrogate import ClassifierSurrogate

X, Y = (part[:60] for part in load_breast_cancer(return_X_y=True))
MODEL = GaussianNB().fit(X[:50], Y[:50])
PROBA = MODEL.predict_proba(X)
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=2, calibration=None)
NAMES = np.array(["benign", "malignant"])


def no_label(rows):
    pytest.fail("A label was read.")


def make(loss="zero_one", **parameters):
    return ActiveRiskEstimator(
        loss=loss, surrogate=SURROGATE, n_labels=60, random_state=0, **parameters
    )


def refused(message, predictions, y_train=None, **parameters):
    rows = {} if y_train is None else {"X_train": X, "y_train": y_train}
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(X, no_label, predictions=predictions, **rows)


@pytest.mark.parametrize("loss", ["zero_one", "log_loss", "brier"])
@pytest.mark.parametrize("classes", [[0, 1], ["benign", "malignant"], [-1, 1]])
def test_one_column_is_the_probability_of_the_second_of_two_classes(loss, classes):
    evaluator = make(loss, classes=classes)
    y = np.sort(classes)[Y]
    one = evaluator.fit(X, y, predictions=PROBA[:, 1]).risk_
    frame = pd.DataFrame(PROBA, columns=np.sort(classes))
    both = evaluator.fit(X, y, predictions=frame).risk_
    assert one.value == pytest.approx(both.value, rel=1e-12)
    if loss == "zero_one":
        assert one.value == pytest.approx(1 - MODEL.score(X, Y))


@pytest.mark.parametrize("loss", ["zero_one", "log_loss"])
def test_a_function_may_return_the_probability_of_the_second_class(loss):
    def model(rows):
        return MODEL.predict_proba(rows)[:, 1]

    evaluator = make(loss, estimator=model, classes=[0, 1])
    expected = make(loss, estimator=MODEL).fit(X, Y).risk_.value
    assert evaluator.fit(X, Y).risk_.value == pytest.approx(expected, rel=1e-12)


def test_one_column_is_refused_if_the_classes_are_not_in_sorted_order():
    cure = r"is not sorted. Give classes=\[0, 1\] if .* probability of 1, or one column"
    refused(cure, PROBA[:, 1], classes=[1, 0])
    refused(cure, PROBA[:, 0], classes=[1, 0])


def test_probabilities_without_two_classes_are_refused():
    cure = "one column for each class.*second class in sorted order"
    refused(rf"predictions must be labels, but hold 0\.\d+.*{cure}", PROBA[:, 1])
    refused(cure, PROBA[:, 1], classes=[0, 1, 2])
    refused("among the classes", PROBA[:, 1] + 3, classes=[0, 1])
    refused("among the classes", PROBA[:, 1] - 0.5, classes=[0, 1])


def test_labels_stored_as_floats_are_labels():
    labels = MODEL.predict(X).astype(float)
    value = make().fit(X, Y, predictions=labels).risk_.value
    assert value == pytest.approx(1 - MODEL.score(X, Y))


def test_text_against_numbers_is_refused():
    text = MODEL.predict(X).astype(str)
    refused("predictions are text.*classes are numbers", text, classes=[0, 1])
    refused("predictions.*y_train", text, y_train=Y)
    refused(
        "predictions are numbers.*are text", MODEL.predict(X), classes=NAMES.tolist()
    )
    read_from_csv = pd.DataFrame(PROBA, columns=["0", "1"])
    refused("predictions.*y_train", read_from_csv, y_train=Y)


def test_labels_outside_the_classes_are_refused():
    refused("predictions must be among", MODEL.predict(X) + 1, classes=[0, 1])


def test_predictions_with_more_axes_are_refused():
    refused(r"predictions must have the shape.*\(60, 2, 1\)", PROBA[:, :, None])


def test_training_predictions_need_training_rows():
    with pytest.raises(ValueError, match=r"train_predictions needs.*X_train"):
        make(classes=[0, 1]).fit(
            X, no_label, predictions=PROBA, train_predictions=PROBA
        )


def test_labels_that_are_scores_are_refused():
    evaluation = make(estimator=MODEL).start(X)
    query = evaluation.ask(2)
    with pytest.raises(ValueError, match="labels must be labels such as 0, but hold"):
        evaluation.tell(query, PROBA[query.indices, 1] * 0.5 + 0.1)


def test_a_model_with_several_outputs_is_refused():
    several = np.column_stack([Y, 1 - Y])
    for model, loss, message in [
        (DecisionTreeClassifier(), "log_loss", "several labels per row"),
        (DecisionTreeClassifier(), "zero_one", "several labels per row"),
        (OneVsRestClassifier(LogisticRegression()), "zero_one", "several labels"),
    ]:
        fitted = model.fit(X[:, :2], several)
        with pytest.raises(ValueError, match=message):
            make(loss, estimator=fitted).fit(X[:, :2], no_label)


# A model and its predictions.


def test_a_model_and_predictions_that_are_not_its_own_are_refused():
    model, other = GaussianNB().fit(X, Y), GaussianNB().fit(X[:, :1], Y)
    for loss, method in (("log_loss", "predict_proba"), ("zero_one", "predict")):
        evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss=loss)
        said = getattr(model, method)(X)
        evaluator.start(X, predictions=said)
        with pytest.raises(ValueError, match="predictions are not those of estimator"):
            evaluator.start(X, predictions=getattr(other, method)(X[:, :1]))
        with pytest.raises(ValueError, match="predictions are not those of estimator"):
            evaluator.start(X, predictions=said[::-1])


def test_rounding_is_not_another_model():
    model = GaussianNB().fit(X, Y)
    proba = model.predict_proba(X).astype(np.float16)
    ActiveRiskEstimator(FrozenEstimator(model)).start(X, predictions=proba)
    line = LinearRegression().fit(X[:, 1:], X[:, 0])
    evaluator = ActiveRiskEstimator(FrozenEstimator(line), loss="squared_error")
    values = line.predict(X[:, 1:])
    evaluator.start(X[:, 1:], predictions=values.round(3))
    with pytest.raises(ValueError, match="the first is row 0"):
        evaluator.start(X[:, 1:], predictions=values + values.std())


def test_labels_of_another_kind_than_the_models_are_refused():
    model = GaussianNB().fit(X, Y)
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one")
    with pytest.raises(ValueError, match="predictions are text"):
        evaluator.start(X, predictions=model.predict(X).astype(str))


def test_a_model_that_cannot_predict_the_pool_is_to_be_left_out():
    model, other = GaussianNB().fit(X[:, :1], Y), GaussianNB().fit(X, Y)
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one")
    with pytest.raises(ValueError, match="was fitted on 1 features") as told:
        evaluator.start(X, predictions=other.predict(X))
    assert "estimator=None" in told.value.__notes__[0]


def test_a_function_is_not_called_if_its_predictions_are_given():
    def function(rows):
        pytest.fail("It may be costly.")

    model = GaussianNB().fit(X, Y)
    evaluator = ActiveRiskEstimator(function, classes=model.classes_)
    evaluator.start(X, predictions=model.predict_proba(X))


def test_models_of_a_choice_are_compared_with_their_predictions():
    models = {"bayes": GaussianNB().fit(X, Y), "dummy": DummyClassifier().fit(X, Y)}
    said = {name: model.predict(X) for name, model in models.items()}
    selector = ActiveModelSelector(list(models.items()))
    selector.start(X, predictions=said)
    with pytest.raises(ValueError, match="are not those of estimator") as told:
        selector.start(X, predictions={"bayes": said["dummy"], "dummy": said["bayes"]})
    assert "bayes" in told.value.__notes__[0]
