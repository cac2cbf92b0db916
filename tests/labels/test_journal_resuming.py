"""A campaign that resumes from its journal equals the uninterrupted one."""

import shutil
import sys
import warnings

import numpy as np
import pytest
from helpers import journals
from helpers.crashing_campaign import X, Y, differences, run_to_the_end, shown, start
from helpers.iris_campaign import tell
from helpers.journals import LABELS, PROBA, iris_evaluator, start_small
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import LabelLedger, Picks
from sklearn_ase.acquisition import LossSpread, Uniform
from sklearn_ase.exceptions import JournalError, JournalWarning
from sklearn_ase.losses import Brier
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax, UniformMixed
from sklearn_ase.stopping import Plateau

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)

TREE = FrozenEstimator(RandomForestClassifier(3, random_state=0).fit(X[::5], Y[::5]))
RANDOM = {
    "the default": {},
    "no random state": {"random_state": None},
    "a random state": {"random_state": np.random.RandomState(3)},
    "best first": {"selection": ArgMax()},
    "audited": {"selection": UniformMixed(), "acquisition": LossSpread()},
    "Monte Carlo": {"acquisition": Uniform(), "risk": MonteCarlo()},
    "frozen": {"surrogate": TREE},
    "a list": {"refit": [4, 9], "risk": CorrectedASE()},
}


@pytest.mark.parametrize("parameters", RANDOM.values(), ids=RANDOM)
@pytest.mark.parametrize("n_steps", [0, 1, 2, 3, 4, 5, 6, 7])
def test_resumed_campaign_equals_the_uninterrupted_one(path, parameters, n_steps):
    evaluator = iris_evaluator(**parameters)
    running = evaluator.start(X, journal=path)
    steps = [
        lambda: running.ask(6),
        lambda: tell(running, running.ledger.indices[3:1:-1]),
        lambda: running.skip(running.ledger.indices[4:5]),
        lambda: tell(running, running.ledger.indices[:2]),
        lambda: running.tell(running.ledger.indices[5:6], [7]),
        lambda: running.correct(
            running.ledger.indices[0], (Y[running.ledger.indices[0]] + 1) % 3
        ),
        lambda: running.withdraw(running.ledger.indices[3]),
    ]
    for step in steps[:n_steps]:
        step()
    shutil.copy(path, path.with_suffix(".copy"))
    resumed = evaluator.start(X, journal=path.with_suffix(".copy"))
    assert differences(resumed, running) == []
    for _ in range(2):
        one, two = running.ask(3), resumed.ask(3)
        assert_array_equal(one.indices, two.indices)
        assert_array_equal(one.proba, two.proba)
        for evaluation in (running, resumed):
            tell(evaluation, one.indices[1:])
        assert differences(resumed, running) == []
    assert resumed._repr_html_() == running._repr_html_()


def test_resumed_regression_equals_the_uninterrupted_one(
    path, diabetes, regression_evaluator
):
    regression_evaluator.set_params(surrogate=BayesianRidge())
    running = regression_evaluator.start(diabetes.X, journal=path)
    rows = running.ask(9).indices
    running.tell(rows[2:], diabetes.y[rows[2:]])
    running.skip(rows[:1])
    running.correct(rows[4], -3.25)
    shutil.copy(path, path.with_suffix(".copy"))
    resumed = regression_evaluator.start(diabetes.X, journal=path.with_suffix(".copy"))
    assert differences(resumed, running) == []
    assert_array_equal(resumed.ask(4).indices, running.ask(4).indices)


def test_the_journal_changes_nothing_about_a_campaign(path):
    plain, journaled = start(None), start(path)
    for evaluation in (plain, journaled):
        run_to_the_end(evaluation)
    assert differences(plain, journaled) == []


def test_opening_a_journal_writes_nothing(path):
    with iris_evaluator(risk=ASE()).start(X, journal=path) as evaluation:
        rows = evaluation.ask(3).indices
        tell(evaluation, rows[:2])
    text = path.read_bytes()
    for _ in range(3):
        iris_evaluator(risk=ASE()).start(X, journal=path).close()
    assert path.read_bytes() == text


class OracleError(Exception):
    """What an oracle may raise."""


def oracle_of(n_answers):
    """Labels, until it raises."""
    told = []

    def oracle(rows):
        if len(told) + len(rows) > n_answers:
            raise OracleError
        told.extend(rows)
        return Y[rows]

    return oracle


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_fit_that_breaks_off_stops_where_it_would_have_stopped(
    path, random_state, batch_size
):
    evaluator = iris_evaluator(
        n_labels=60,
        batch_size=batch_size,
        stop=Plateau(0.3, n_labels=9),
        random_state=random_state,
    )
    with pytest.raises(OracleError):
        evaluator.fit(X, oracle_of(4), journal=path)
    shutil.copy(path, path.with_suffix(".copy"))
    evaluator.fit(X, Y, journal=path)
    whole, reason = shown(evaluator.evaluation_), evaluator.stop_reason_
    assert reason.startswith("The estimates of the last 9 labels differ by")
    for n_answers in (2, 0, 2):
        with pytest.raises(OracleError):
            evaluator.fit(X, oracle_of(n_answers), journal=path.with_suffix(".copy"))
    evaluator.fit(X, Y, journal=path.with_suffix(".copy"))
    assert evaluator.stop_reason_ == reason
    assert differences(evaluator.evaluation_, whole) == []


def test_a_batch_is_not_a_plateau_after_a_break_either(path):
    evaluator = iris_evaluator(n_labels=60, batch_size=10, selection=ArgMax(), refit=1)
    evaluator.set_params(stop=Plateau(0.0, n_labels=4))
    with pytest.raises(OracleError):
        evaluator.fit(X, oracle_of(20), journal=path)
    evaluator.fit(X, Y, journal=path)
    assert evaluator.stop_reason_ == "n_labels=60 were bought."


def test_a_finished_fit_buys_nothing_when_it_is_called_again(path):
    evaluator = iris_evaluator(n_labels=7)
    evaluator.fit(X, Y, journal=path)
    whole, text = shown(evaluator.evaluation_), path.read_bytes()
    evaluator.fit(X, oracle_of(0), journal=path)
    assert differences(evaluator.evaluation_, whole) == []
    assert path.read_bytes() == text


def test_a_campaign_resumes_with_its_own_seed(path):
    running = iris_evaluator(random_state=5).start(X, journal=path)
    running.close()
    with iris_evaluator(random_state=6).start(X, journal=path) as resumed:
        assert resumed.seed == running.seed


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("acquisition", {"acquisition": LossSpread()}),
        ("selection", {"selection": UniformMixed()}),
        ("risk", {"risk": CorrectedASE()}),
        ("refit", {"refit": 3}),
        ("surrogate", {"surrogate": DecisionTreeClassifier()}),
        ("X_train", {"X_train": X[1::5], "y_train": Y[1::5]}),
        ("y_train", {"X_train": X[::5], "y_train": (Y[::5] + 1) % 3}),
        ("cost", {"cost": np.arange(30) + 1.0}),
        ("train_predictions", {"train_predictions": PROBA[::-1]}),
        ("cv", {"cv": 0}),
    ],
)
def test_other_settings_are_used_with_a_warning(path, name, changes):
    given = {"X_train": X[::5], "y_train": Y[::5], "train_predictions": PROBA}
    given |= {"acquisition": Uniform(), "refit": 4}
    with start_small(path, **given) as evaluation:
        rows = evaluation.ask(3).indices
        evaluation.tell(rows, LABELS[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start_small(path, **given).close()
    with pytest.warns(JournalWarning, match=rf"last used with different {name}\."):
        evaluation = start_small(path, **given | changes)
    query = evaluation.ask()
    evaluation.tell(query, LABELS[query.indices])
    assert evaluation.estimate().n_labels == 4
    evaluation.close()
    with warnings.catch_warnings():  # They are the settings of the campaign now.
        warnings.simplefilter("error")
        start_small(path, **given | changes).close()
    with pytest.warns(JournalWarning, match=name):
        start_small(path, **given).close()


def test_another_loss_is_refused(path):
    start_small(path, loss="brier").close()
    with pytest.raises(JournalError, match="evaluation: the loss differs"):
        start_small(path, loss="log_loss")


def test_a_loss_is_the_same_by_its_name_and_as_an_object(path):
    start_small(path, loss="brier").close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start_small(path, loss=Brier()).close()


def test_warnings_point_at_the_line_that_opens_the_journal(written):
    with open(written, "ab") as file:
        file.write(b'["tell", [3')
    with pytest.warns(JournalWarning) as caught:
        start_small(written, refit=3).close()
    assert [one.filename for one in caught] == [journals.__file__] * 2


def test_warnings_point_at_the_line_that_fits(path):
    evaluator = iris_evaluator(n_labels=2).fit(X, Y, journal=path)
    with pytest.warns(JournalWarning) as caught:
        evaluator.set_params(refit=3).fit(X, Y, journal=path)
    assert [one.filename for one in caught] == [__file__]


def test_a_function_is_the_same_setting_in_another_process(path):
    def make_loss():
        return lambda y_true, y_pred: (y_true != y_pred) * 1.0

    given = {"predictions": LABELS, "surrogate": GaussianNB()}
    start_small(path, loss=make_loss(), **given).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start_small(path, loss=make_loss(), **given).close()


@pytest.mark.parametrize("risk", [None, LURE()])
def test_labels_are_recorded_even_where_a_new_risk_cannot_use_the_old_ones(path, risk):
    with iris_evaluator(selection=ArgMax()).start(X[1::2], journal=path) as evaluation:
        evaluation.run(lambda rows: Y[1::2][rows], 8)
    with pytest.warns(JournalWarning, match="different risk, selection"):
        evaluation = iris_evaluator(risk=GuardedASE() if risk is None else risk).start(
            X[1::2], journal=path
        )
    query = evaluation.ask()
    evaluation.tell(query, Y[1::2][query.indices])
    with pytest.raises(ValueError, match="picked without one"):
        evaluation.estimate()
    assert evaluation.estimate(ASE()).n_labels == 9
    evaluation.close()


def replay(n_labels):
    """Replay that many labels, each of a row that was skipped before."""
    ledger = LabelLedger()
    for row in range(n_labels):
        ledger.ask(Picks.unanswered([row], *[[0.5]] * 5))
        ledger.skip([row])
        if row % 2:
            ledger.tell([row], [0])
            ledger.note([row], None, False)
            ledger.refit(len(ledger))
            ledger.correct(row, 1)


def n_steps(function, *arguments):
    """Number of lines of Python that a call executes, whatever else runs beside it."""
    count, before = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count


def test_the_work_to_replay_is_proportional_to_the_number_of_labels():
    assert n_steps(replay, 2000) <= 8.1 * n_steps(replay, 250)
