"""scikit-learn's callbacks are called for every batch of labels, from 1.9 on."""

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator

callback = pytest.importorskip("sklearn.callback")
X, Y = load_iris(return_X_y=True)
EVALUATOR = ActiveRiskEstimator(
    FrozenEstimator(GaussianNB().fit(X[::5], Y[::5])),
    surrogate=DecisionTreeClassifier(max_depth=3),
    n_labels=12,
    batch_size=3,
    random_state=0,
)


class Listener:
    """Records its calls, and stops after some of them."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(f"{context.task_name} {len(fitted_estimator.ledger_)}")
        return context.task_name == "batch" and len(self.calls) == self.stop_after


def test_callbacks_are_called_for_every_batch():
    listener = Listener()
    clone(EVALUATOR).set_callbacks(listener).fit(X, Y)
    ends = [f"batch {n}" for n in (3, 6, 9, 12)]
    batches = [word for end in ends for word in ("begin batch", end)]
    expected = ["setup", "begin fit", *batches, "fit 12", "teardown"]
    assert listener.calls == expected


def test_a_callback_may_end_the_evaluation():
    evaluator = clone(EVALUATOR).set_callbacks(Listener(stop_after=6)).fit(X, Y)
    assert len(evaluator.ledger_) == 6
    assert evaluator.stop_reason_ == "A callback asked to stop."


def test_callbacks_change_nothing_else():
    plain = clone(EVALUATOR).fit(X, Y)
    watched = clone(EVALUATOR).set_callbacks(Listener()).fit(X, Y)
    assert float(plain.risk_) == float(watched.risk_)


def test_an_oracle_that_fails_ends_the_callbacks_too():
    listener = Listener()
    with pytest.raises(RuntimeError):
        clone(EVALUATOR).set_callbacks(listener).fit(X, failing)
    assert listener.calls[-1] == "teardown"


def failing(indices):
    raise RuntimeError("nobody answers")


def test_scikit_learns_progress_bar_works_in_a_grid_search(capsys):
    pytest.importorskip("rich")
    search = GridSearchCV(EVALUATOR, {"n_labels": [3, 6]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "ActiveRiskEstimator" in capsys.readouterr().out


def test_a_scoring_monitor_follows_the_estimate():
    monitor = callback.ScoringMonitor(scoring=running_risk)
    evaluator = clone(EVALUATOR).set_callbacks(monitor).fit(X, Y)
    risks = [entry["risk"] for entry in monitor.get_logs().data]
    assert len(risks) == 5  # Four batches and the end.
    assert float(evaluator.risk_) in risks


def running_risk(estimator, X, y):
    return {"risk": float(estimator.risk_)}
