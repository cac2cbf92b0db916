"""Several models, compared with the labels of one evaluation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare
from sklearn_ase.risk import ASE, CorrectedASE

X, Y = load_breast_cancer(return_X_y=True)
X_TRAIN, Y_TRAIN, X, Y = X[:150], Y[:150], X[150:350], Y[150:350]
MODELS = {
    "bayes": GaussianNB().fit(X_TRAIN, Y_TRAIN),
    "linear": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0).fit(X_TRAIN, Y_TRAIN),
}
MODELS["linear"].fit(X_TRAIN, Y_TRAIN)
TRUTH = {name: np.mean(model.predict(X) == Y) for name, model in MODELS.items()}


def evaluate(n_labels, metric="accuracy"):
    """Evaluation of the first model, with labels bought for it."""
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(MODELS["bayes"]),
        surrogate=GaussianNB(),
        metric=metric,
        n_labels=n_labels,
        refit=[10, 40],
        cv=0,
        random_state=0,
    )
    training = {"X_train": X_TRAIN[:60], "y_train": Y_TRAIN[:60]}
    return evaluator.fit(X, Y, **training).evaluation_


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(60)


@pytest.fixture(scope="module")
def all_labelled():
    return evaluate(len(Y))


def test_with_all_labels_everything_is_exact(all_labelled):
    found = all_labelled.compare(MODELS, reference="stump")
    best = max(TRUTH, key=TRUTH.get)
    assert found.best_name == best
    for name, each, gap in zip(
        found.names, found.estimates, found.differences, strict=True
    ):
        assert float(each) == pytest.approx(TRUTH[name], abs=1e-12)
        assert float(gap) == pytest.approx(TRUTH[best] - TRUTH[name], abs=1e-12)
        assert gap.interval() == pytest.approx((float(gap), float(gap)), abs=1e-9)
    by_reference = dict(zip(found.names, found.to_reference, strict=True))
    expected = TRUTH["linear"] - TRUTH["stump"]
    assert float(by_reference["linear"]) == pytest.approx(expected, abs=1e-12)


def test_with_all_labels_other_metrics_are_exact(all_labelled):
    found = all_labelled.compare(MODELS, metric="f1")
    truth = [f1_score(Y, model.predict(X)) for model in MODELS.values()]
    assert [float(each) for each in found.estimates] == pytest.approx(truth, abs=1e-9)
    behind = np.max(truth) - truth
    assert [float(gap) for gap in found.differences] == pytest.approx(behind, abs=1e-9)


def test_of_a_loss_the_least_is_the_best(all_labelled):
    found = all_labelled.compare(MODELS, metric="log_loss")
    truth = [log_loss(Y, model.predict_proba(X)) for model in MODELS.values()]
    assert found.best_index == int(np.argmin(truth))
    assert min(float(gap) for gap in found.differences) == 0.0


def test_differences_are_antisymmetric(evaluation):
    there = evaluation.compare(MODELS, reference="bayes").to_reference[2]
    back = evaluation.compare(MODELS, reference="stump").to_reference[0]
    assert float(there) == pytest.approx(-float(back), abs=1e-9)
    low, high = there.interval()
    assert back.interval() == pytest.approx((-high, -low), abs=1e-9)


def test_clones_are_equal_and_both_stay(evaluation):
    models = {"one": MODELS["linear"], "two": MODELS["linear"]}
    found = evaluation.compare(models)
    assert [float(gap) for gap in found.differences] == [0.0, 0.0]
    assert found.candidates() == ["one", "two"]
    assert found.same_as_best() == ["one", "two"]
    assert found.describe() == (
        "one and two predict the same, so no label tells them apart."
    )


def test_clones_of_the_best_do_not_hide_how_the_others_stand(evaluation):
    plain = evaluation.compare(MODELS)
    found = evaluation.compare({**MODELS, "clone": MODELS[plain.best_name]})
    assert set(found.same_as_best()) == {plain.best_name, "clone"}
    is_settled = plain.candidates() == [plain.best_name]
    assert (found.labels_needed() == 0.0) == is_settled
    assert "predict the same, so no label tells them apart." in found.describe()


def test_a_metric_of_the_labels_alone_is_refused(evaluation):
    with pytest.raises(ValueError, match="does not depend on a model"):
        evaluation.compare(MODELS, metric=LabelShare(1))


def test_arrays_and_functions_do_as_well_as_models(evaluation):
    arrays = {name: model.predict(X) for name, model in MODELS.items()}
    functions = {name: model.predict for name, model in MODELS.items()}
    expected = [float(e) for e in evaluation.compare(MODELS).estimates]
    for others in (arrays, list(functions.items())):
        found = [float(e) for e in evaluation.compare(others).estimates]
        assert found == pytest.approx(expected, abs=1e-12)


def test_an_interval_never_contradicts_the_labels(evaluation):
    gap = evaluation.compare(MODELS, reference="stump").to_reference[1]
    predicted = [MODELS[name].predict(X) for name in ("linear", "stump")]
    differ = predicted[0] != predicted[1]
    rows = evaluation.state.indices
    known = (predicted[0] == Y)[rows].astype(int) - (predicted[1] == Y)[rows]
    n_open = differ.sum() - differ[rows].sum()
    low, high = gap.interval(0.9999)
    assert (known.sum() - n_open) / len(Y) - 1e-12 <= low
    assert high <= (known.sum() + n_open) / len(Y) + 1e-12


def test_the_best_model_is_a_candidate_and_fewer_are_left_with_all_labels(
    evaluation, all_labelled
):
    some, everything = (each.compare(MODELS) for each in (evaluation, all_labelled))
    assert some.best_name in some.candidates()
    assert everything.candidates() == [everything.best_name]
    assert some.probabilities().sum() == pytest.approx(1.0)
    assert "is the best of 3 models" in everything.describe()


def test_it_is_shown_as_a_table_and_as_text(evaluation):
    hostile = {"<b>a</b>": MODELS["bayes"], "c": MODELS["stump"]}
    found = evaluation.compare(hostile)
    assert list(pd.DataFrame(found.to_dict())["model"]) == ["<b>a</b>", "c"]
    assert "<b>a</b>" not in found._repr_html_()
    assert "behind best" in str(found)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"one": MODELS["bayes"]}, "at least two models"),
        ([("a", MODELS["bayes"]), ("a", MODELS["stump"])], "different names"),
        (3, "models must have names, but a int without names"),
        (
            list(MODELS.values()),
            r"Give a dict: compare\({'a': model_a, 'b': model_b}\)",
        ),
        ([make_pipeline("passthrough", MODELS["bayes"])] * 2, "models must have names"),
    ],
)
def test_models_that_cannot_be_compared_are_refused(evaluation, models, message):
    with pytest.raises((TypeError, ValueError), match=message):
        evaluation.compare(models)


def test_what_cannot_be_had_is_refused_with_a_reason(evaluation):
    with pytest.raises(ValueError, match="reference='tree' must be one of"):
        evaluation.compare(MODELS, reference="tree")
    with pytest.raises(ValueError, match="ASE has none"):
        evaluation.compare(MODELS, risk=ASE())
    arrays = {name: model.predict(X) for name, model in MODELS.items()}
    with pytest.raises(ValueError, match="needs probabilities"):
        evaluation.compare(arrays, metric="roc_auc")
    assert evaluation.compare(MODELS, risk=CorrectedASE()).n_labels == 60
