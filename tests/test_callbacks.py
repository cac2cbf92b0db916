"""scikit-learn's callbacks hear of every batch of labels, where there are callbacks."""

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
    """Keeps what it hears, and stops after some batches."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.heard.append(f"{context.task_name} {len(fitted_estimator.ledger_)}")
        return context.task_name == "batch" and len(self.heard) == self.stop_after


def test_callbacks_hear_of_every_batch():
    listener = Listener()
    clone(EVALUATOR).set_callbacks(listener).fit(X, Y)
    ends = [f"batch {n}" for n in (3, 6, 9, 12)]
    batches = [word for end in ends for word in ("begin batch", end)]
    expected = ["setup", "begin fit", *batches, "fit 12", "teardown"]
    assert listener.heard == expected


def test_a_callback_may_end_the_evaluation():
    evaluator = clone(EVALUATOR).set_callbacks(Listener(stop_after=6)).fit(X, Y)
    assert len(evaluator.ledger_) == 6
    assert evaluator.stop_reason_ == "A callback asked to stop."


def test_callbacks_change_nothing_else():
    plain = clone(EVALUATOR).fit(X, Y)
    heard = clone(EVALUATOR).set_callbacks(Listener()).fit(X, Y)
    assert float(plain.risk_) == float(heard.risk_)


def test_an_oracle_that_fails_ends_the_callbacks_too():
    listener = Listener()
    with pytest.raises(RuntimeError):
        clone(EVALUATOR).set_callbacks(listener).fit(X, failing)
    assert listener.heard[-1] == "teardown"


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
