"""Models that have scores but no probabilities are compared by rankings."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator

X, Y = make_classification(480, 8, n_informative=4, flip_y=0.2, random_state=0)
X_TRAIN, Y_TRAIN, X, Y = X[:200], Y[:200], X[200:], Y[200:]
LINEAR, SCORES, BAYES = (
    model.fit(X_TRAIN, Y_TRAIN)
    for model in (LogisticRegression(), LinearSVC(), GaussianNB())
)
MODELS = {"linear": LINEAR, "scores": SCORES, "bayes": BAYES}
TRUTH = {
    "linear": roc_auc_score(Y, LINEAR.predict_proba(X)[:, 1]),
    "scores": roc_auc_score(Y, SCORES.decision_function(X)),
    "bayes": roc_auc_score(Y, BAYES.predict_proba(X)[:, 1]),
}


def _evaluate(n_labels, **start):
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(BAYES),
        surrogate=GaussianNB(),
        n_labels=n_labels,
        refit=[10, 40],
        cv=0,
        random_state=0,
        **start,
    )
    return evaluator.fit(X, Y, X_train=X_TRAIN, y_train=Y_TRAIN).evaluation_


def test_with_all_labels_the_areas_are_those_of_the_scores():
    found = _evaluate(len(Y)).compare(MODELS, metric="roc_auc")
    np.testing.assert_allclose(
        [float(each) for each in found.estimates], [*TRUTH.values()]
    )
    assert found.best_name == max(TRUTH, key=TRUTH.get)


def test_probabilities_and_scores_of_one_order_are_one_ranking():
    models = {"proba": LINEAR, "bayes": BAYES, "scores": OnlyScores(LINEAR)}
    found = _evaluate(40).compare(models, metric="average_precision")
    assert float(found.difference("proba", "scores")) == 0.0
    found = _evaluate(40).compare(models, metric="roc_auc")
    assert found.difference("proba", "scores").interval() == (0.0, 0.0)


class OnlyScores:
    """A model whose probabilities are hidden."""

    def __init__(self, model):
        self.classes_ = model.classes_
        self.predict, self.decision_function = model.predict, model.decision_function


def test_a_choice_by_a_ranking_takes_models_with_scores_only():
    selector = ActiveModelSelector([*MODELS.items()], metric="roc_auc", random_state=0)
    found = selector.fit(X, Y).selection_.compare()
    assert found.names == [*MODELS]
    for name, each in zip(found.names, found.estimates, strict=True):
        low, high = each.interval(0.99)
        assert low <= TRUTH[name] <= high


def test_a_choice_by_labels_answers_questions_about_scores_and_probabilities():
    selector = ActiveModelSelector([*MODELS.items()], n_labels=30, random_state=0)
    run = selector.fit(X, Y).selection_
    again = run.compare(MODELS, metric="roc_auc")
    assert run.compare(metric="roc_auc").to_dict() == again.to_dict()
    with pytest.raises(ValueError, match="needs probabilities of the classes"):
        run.compare(metric="log_loss")
    models = [("linear", LINEAR), ("bayes", BAYES)]
    run = ActiveModelSelector(models, n_labels=30, random_state=0).fit(X, Y).selection_
    assert len(run.compare(metric="log_loss").estimates) == 2


def test_numbers_that_are_no_probabilities_are_refused_by_name():
    models = {"bayes": BAYES, "scores": SCORES.decision_function}
    with pytest.raises(ValueError, match="must be labels, but hold") as found:
        _evaluate(5).compare(models, metric="roc_auc")
    assert "'scores'" in found.value.__notes__[0]
