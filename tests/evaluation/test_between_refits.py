"""Between refits the calibration learns from every label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax
from sklearn_ase.surrogate import ClassifierSurrogate

X, Y = load_digits(return_X_y=True)
TRAIN, POOL = slice(0, 300), slice(300, 900)
MODEL = FrozenEstimator(GaussianNB().fit(X[TRAIN], Y[TRAIN]))


def start(**parameters):
    """An evaluation that is never refitted after the start."""
    parameters = {"refit": [], "random_state": 0} | parameters
    evaluator = ActiveRiskEstimator(MODEL, **parameters)
    training = {"X_train": X[TRAIN], "y_train": Y[TRAIN]}
    return evaluator.start(X[POOL], **training)


def buy(evaluation, n_labels, labels=Y[POOL]):
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, labels[query.indices])


def test_every_label_changes_the_surrogates_estimate():
    evaluation, values = start(), []
    for _ in range(8):
        values.append(evaluation.estimate(ASE()).value)
        buy(evaluation, 1)
    assert len(set(values)) == 8


def test_labels_without_refits_move_the_estimate_towards_the_truth():
    """The pool's labels are wrong on purpose; the trees never see them."""
    wrong = (Y[POOL] + 1) % 10
    evaluation = start(loss="zero_one")
    before = evaluation.estimate(ASE()).value
    buy(evaluation, 60, wrong)
    truth = np.mean(MODEL.predict(X[POOL]) != wrong)
    after = evaluation.estimate(ASE()).value
    assert abs(after - truth) < 0.5 * abs(before - truth)


def test_the_order_of_labels_does_not_matter_for_the_belief():
    one_by_one, at_once = start(), start()
    query = one_by_one.ask(12)
    for index in query.indices:
        one_by_one.tell([index], [Y[POOL][index]])
    query = at_once.ask(12)
    at_once.tell(query, Y[POOL][query.indices])
    assert_allclose(
        one_by_one.state.belief.proba, at_once.state.belief.proba, rtol=1e-10
    )


def test_a_correction_before_the_next_refit_counts():
    evaluation, right = start(), start()
    for run in (evaluation, right):
        run.ask(10)
    rows = evaluation.ledger.indices
    wrong = Y[POOL][rows].copy()
    wrong[3] = (wrong[3] + 1) % 10
    evaluation.tell(rows, wrong)
    evaluation.correct(rows[3], Y[POOL][rows[3]])
    right.tell(rows, Y[POOL][rows])
    assert_allclose(evaluation.state.belief.proba, right.state.belief.proba, rtol=1e-10)


def test_a_journal_opens_with_the_same_belief(tmp_path):
    training = {"X_train": X[TRAIN], "y_train": Y[TRAIN]}
    training["journal"] = tmp_path / "labels.jsonl"
    evaluator = ActiveRiskEstimator(MODEL, random_state=0)
    with evaluator.start(X[POOL], **training) as evaluation:
        buy(evaluation, 13)
        proba, value = evaluation.state.belief.proba, evaluation.estimate().value
        scores = evaluation.state.belief.class_disagreement
    with evaluator.start(X[POOL], **training) as evaluation:
        np.testing.assert_array_equal(evaluation.state.belief.proba, proba)
        np.testing.assert_array_equal(
            evaluation.state.belief.class_disagreement, scores
        )
        assert evaluation.estimate().value == value


def test_members_still_average_to_the_belief():
    evaluation = start()
    buy(evaluation, 10)
    belief, surrogate = evaluation.state.belief, evaluation.surrogate
    expert = evaluation.problem.predictions.expert_for(evaluation.classes_)
    members = surrogate.predict_proba_members(X[POOL], expert)
    assert_allclose(members.mean(axis=0), belief.proba, atol=1e-10)


def test_regression_learns_between_refits_too():
    rows, y = load_diabetes(return_X_y=True)
    model = FrozenEstimator(Ridge().fit(rows[:100], y[:100]))
    evaluator = ActiveRiskEstimator(
        model, loss="squared_error", refit=[], random_state=0
    )
    training = {"X_train": rows[:100], "y_train": y[:100]}
    evaluation = evaluator.start(rows[100:], **training)
    doubled = y[100:] + 3.0 * (y[100:] - model.predict(rows[100:]))
    before = evaluation.estimate(ASE()).value
    buy(evaluation, 40, doubled)
    truth = np.mean((doubled - model.predict(rows[100:])) ** 2)
    after = evaluation.estimate(ASE()).value
    assert abs(after - truth) < 0.5 * abs(before - truth)


@pytest.mark.parametrize(
    "surrogate",
    [
        ClassifierSurrogate(RandomForestClassifier(10), calibration=None),
        FrozenEstimator(RandomForestClassifier(10).fit(X[TRAIN], Y[TRAIN])),
    ],
)
def test_without_a_calibration_nothing_changes_between_refits(surrogate):
    evaluation = start(surrogate=surrogate)
    before = evaluation.state.belief
    buy(evaluation, 3)
    assert evaluation.state.belief is before


def test_chosen_labels_count_as_training_rows():
    evaluation = start(selection=ArgMax())
    buy(evaluation, 30)
    assert evaluation.state.belief.training_worth.worths.tolist() == [300.0]


def test_a_class_that_nobody_has_met_is_learned_at_once():
    is_known = Y[TRAIN] != 7
    rows, labels = X[TRAIN][is_known], Y[TRAIN][is_known]
    model = FrozenEstimator(GaussianNB().fit(rows, labels))
    evaluator = ActiveRiskEstimator(model, classes=range(10), random_state=0)
    evaluation = evaluator.start(X[POOL], X_train=rows, y_train=labels)
    evaluation.ask(600)
    is_seven = Y[POOL] == 7
    others, sevens = np.flatnonzero(~is_seven)[:6], np.flatnonzero(is_seven)[:1]
    evaluation.tell(others, Y[POOL][others])
    assert evaluation.ledger.refits == [6]
    evaluation.tell(sevens, [7])
    assert evaluation.ledger.refits == [6, 7]
    assert evaluation.state.belief.proba[:, 7].max() > 0.05


def test_known_labels_are_not_learned_twice():
    known = {row: int(Y[POOL][row]) for row in range(0, 600, 2)}
    evaluator = ActiveRiskEstimator(MODEL, refit=[], random_state=0)
    evaluation = evaluator.start(X[POOL], known_labels=known)
    n_compared = evaluation.beliefs.now.n_compared
    assert n_compared == 300
    proba = evaluation.state.belief.proba
    rows = []
    while not rows:  # Known rows are answered as soon as they are picked.
        rows = evaluation.ask().indices.tolist()
    assert len(evaluation.ledger.labels) == len(evaluation.ledger.indices) - 1
    np.testing.assert_array_equal(evaluation.state.belief.proba, proba)


def test_a_belief_of_a_subclass_is_fitted_and_not_updated():
    class Own(ClassifierSurrogate):
        def belief(self, X, loss, expert=None, keep_member_loss=False):
            members = self.predict_proba_members(X, expert)
            return CategoricalBelief.from_members(members, loss)

    evaluation = start(surrogate=Own(RandomForestClassifier(10)), refit=1.5)
    buy(evaluation, 6)
    assert evaluation.ledger.refits == [1, 2, 3, 5]


def test_the_update_does_not_depend_on_the_size_of_blocks(monkeypatch):
    whole, parts = start(), start()
    buy(whole, 5)
    monkeypatch.setattr("sklearn_ase.surrogate._classifier._BLOCK_NUMBERS", 170)
    buy(parts, 5)
    assert_allclose(whole.state.belief.proba, parts.state.belief.proba, rtol=1e-12)
    worths = [run.state.belief.training_worth.risk for run in (whole, parts)]
    assert_allclose(*worths, rtol=1e-12)


def test_withdrawn_labels_leave_the_belief_of_the_last_fit():
    """With names as classes: an empty array of labels has to be of their type."""
    names = np.array(["zero", "one", "two", "three", "four"])
    is_small = Y < 5
    rows, labels = X[is_small], names[Y[is_small]]
    model = FrozenEstimator(GaussianNB().fit(rows[:200], labels[:200]))
    evaluator = ActiveRiskEstimator(model, refit=[], random_state=0)
    training = {"X_train": rows[:200], "y_train": labels[:200]}
    evaluation = evaluator.start(rows[200:500], **training)
    before = evaluation.state.belief.proba
    buy(evaluation, 1, labels[200:500])
    assert not np.array_equal(evaluation.state.belief.proba, before)
    evaluation.withdraw(evaluation.ledger.indices[0])
    assert_allclose(evaluation.state.belief.proba, before, rtol=1e-6)
