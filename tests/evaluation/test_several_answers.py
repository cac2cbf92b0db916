"""Several answers for one row."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._labels._journal import read_journal
from sklearn_ase.metrics import LabelMean, LabelShare
from sklearn_ase.risk import LURE

X, Y = load_iris(return_X_y=True)
X_TRAIN, Y_TRAIN = X[::5], Y[::5]
MODEL = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))


def _start(**parameters):
    evaluator = ActiveRiskEstimator(
        MODEL, surrogate=GaussianNB(), random_state=0, **parameters
    )
    return evaluator.start(X, X_train=X_TRAIN, y_train=Y_TRAIN)


def test_the_loss_of_a_row_is_the_mean_over_its_answers():
    evaluation = _start(loss="zero_one")
    query = evaluation.ask(2)
    wrong = (MODEL.predict(X[query.indices]) + 1) % 3
    right = MODEL.predict(X[query.indices])
    evaluation.tell(query, np.column_stack([wrong, right, wrong, wrong]))
    np.testing.assert_allclose(evaluation.state.losses, 0.75)


def test_the_surrogate_learns_from_the_first_answer():
    several, one = _start(loss="zero_one"), _start(loss="zero_one")
    query = several.ask(3)
    one.ask(3)
    first = Y[query.indices]
    several.tell(query, np.column_stack([first, (first + 1) % 3]))
    one.tell(query, first)
    np.testing.assert_array_equal(several.state.expected_loss, one.state.expected_loss)


def test_a_class_met_only_in_a_further_answer_is_added():
    evaluation = _start(loss="zero_one")
    query = evaluation.ask(1)
    evaluation.tell(query, [[Y[query.indices[0]], 7]])
    assert 7 in evaluation.classes_


def test_a_ledger_with_several_answers_survives_the_file(tmp_path):
    evaluation = _start(loss="zero_one")
    query = evaluation.ask(4)
    first = Y[query.indices]
    evaluation.tell(query, np.column_stack([first, (first + 1) % 3]))
    evaluation.ledger.save(tmp_path / "labels.jsonl")
    ledger = read_journal(tmp_path / "labels.jsonl")
    assert ledger.more_labels == evaluation.ledger.more_labels
    assert ledger.copy().more_labels == ledger.more_labels
    again = ActiveRiskEstimator(
        MODEL, surrogate=GaussianNB(), loss="zero_one", random_state=0
    ).start(X, X_train=X_TRAIN, y_train=Y_TRAIN, ledger=ledger)
    assert float(again.estimate(LURE())) == float(evaluation.estimate(LURE()))


def test_fit_reads_several_answers_per_row():
    answers = np.column_stack([Y, Y, (Y + 1) % 3])
    evaluator = ActiveRiskEstimator(
        MODEL, surrogate=GaussianNB(), loss="zero_one", n_labels=6, random_state=0
    )
    evaluator.fit(X, answers, X_train=X_TRAIN, y_train=Y_TRAIN)
    losses = evaluator.evaluation_.state.losses
    assert np.isin(np.round(3 * losses), [0, 1, 2, 3]).all()
    assert (losses > 0).all()  # One of three answers is always wrong.


def test_several_numbers_per_row_in_regression():
    model = DecisionTreeRegressor(max_depth=2).fit(X_TRAIN[:, :3], X_TRAIN[:, 3])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), loss="squared_error", random_state=0
    )
    evaluation = evaluator.start(
        X[:, :3], X_train=X_TRAIN[:, :3], y_train=X_TRAIN[:, 3]
    )
    query = evaluation.ask(2)
    said = model.predict(X[query.indices, :3])
    evaluation.tell(query, np.column_stack([said + 1.0, said + 3.0]))
    np.testing.assert_allclose(evaluation.state.losses, 5.0)


def test_answers_are_checked_before_anything_is_recorded():
    evaluation = _start(loss="zero_one", classes=[0, 1, 2])
    query = evaluation.ask(1)
    with pytest.raises(ValueError, match="not among the classes"):
        evaluation.tell(query, [[0, 9]])
    assert len(evaluation.ledger) == 0


def _interval(answers, features, metric, seed=0):
    evaluator = ActiveRiskEstimator(metric=metric, random_state=seed)
    evaluation = evaluator.start(features)
    for _ in range(3):
        query = evaluation.ask(20)
        evaluation.tell(query, answers[query.indices])
    return evaluation.estimate().interval(0.9)


def test_answers_that_all_agree_leave_the_interval_as_it_is():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(150, 2))
    answers = features[:, 0] + rng.normal(size=150)
    one = _interval(answers, features, LabelMean())
    three = _interval(np.repeat(answers[:, None], 3, axis=1), features, LabelMean())
    np.testing.assert_allclose(three, one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["number", "class"])
def test_the_mean_of_noisy_answers_narrows_the_interval(kind):
    """And it still covers the mean over the pool of the expected answer."""
    width, n_covered, n_runs = {1: 0.0, 3: 0.0}, 0, 8
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(400, 2))
        expected = features[:, 0] + features[:, 1]
        answers, metric = expected[:, None] + rng.normal(size=(400, 3)), LabelMean()
        if kind == "class":
            expected = 0.1 + 0.8 / (1.0 + np.exp(-expected))
            answers = (rng.random((400, 3)) < expected[:, None]).astype(int)
            metric = LabelShare(1)
        for n_answers in width:
            given = answers[:, 0] if n_answers == 1 else answers
            low, high = _interval(given, features, metric, seed)
            width[n_answers] += (high - low) / n_runs
        n_covered += low <= expected.mean() <= high
    assert width[3] < 0.9 * width[1]
    assert n_covered >= 5  # Fewer have a probability of 0.005 with 90 % coverage.
