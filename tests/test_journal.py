"""The journal: whatever happens to the process or the file, no label is lost."""

import copy
import errno
import json
import os
import pickle
import shutil
import signal
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.crashing_campaign import (
    KINDS,
    X,
    Y,
    differences,
    live,
    lives,
    next_step,
    shown,
    start,
    take,
)
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator, LabelLedger
from sklearn_ase._labels._fingerprint import fingerprint
from sklearn_ase.acquisition import LossSpread, Uniform
from sklearn_ase.exceptions import JournalError, JournalWarning
from sklearn_ase.losses import Brier
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax, UniformMixed
from sklearn_ase.stopping import Plateau
from sklearn_ase.surrogate import ClassifierSurrogate

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
POOL, LABELS = X[::5], Y[::5]
PROBA = GaussianNB().fit(X, Y).predict_proba(POOL) * 0.9 + 0.1 / 3
NUMBERS = [[0.1]] * 5
HEADER = {
    "n_samples": 9,
    "pool": "a",
    "predictions": [[1.0] * 6],
    "kind": "classification",
    "classes": None,
}


def small(path, X=POOL, predictions=PROBA, *, classes=(0, 1, 2), **parameters):
    """A campaign that costs nothing: 30 rows, no surrogate, the plainest weights."""
    parameters = {"risk": LURE(), "refit": [10**6], "random_state": 0} | parameters
    given = {
        name: parameters.pop(name)
        for name in ("X_train", "y_train", "cost", "known_labels", "train_predictions")
        if name in parameters
    }
    evaluator = ActiveRiskEstimator(
        **{"surrogate": GaussianNB(), "classes": list(classes)} | parameters
    )
    return evaluator.start(X, predictions=predictions, journal=path, **given)


@pytest.fixture
def path(tmp_path):
    """The name of a journal."""
    return tmp_path / "labels.jsonl"


@pytest.fixture
def written(path):
    """A closed journal of the small campaign: 5 rows asked for, 3 told."""
    with small(path) as evaluation:
        rows = evaluation.ask(5).indices[:3]
        evaluation.tell(rows, LABELS[rows])
    return path


@pytest.fixture(scope="module")
def life():
    """A server of campaigns in processes of their own."""
    with lives() as life:
        yield life


def _events(path):
    """Events of a file that cannot be computed again; its torn line is left out."""
    *lines, _ = path.read_bytes().split(b"\n")
    events = [json.loads(line) for line in lines[1:]]
    return [event for event in events if event[0] not in ("refit", "note")]


def _answers(events):
    """What was answered: verb, rows and first labels."""
    for verb, *words in events:
        if verb == "tell":
            first = [
                label[0] if isinstance(label, list) else label for label in words[1]
            ]
            yield verb, words[0], first
        elif verb in ("correct", "withdraw", "skip"):
            yield verb, *words[:2]


def _is_within(some, events):
    """Whether all of `some` happened, in this order."""
    events = iter(events)
    return all(event in events for event in some)


# Dying.


@needs_fork
@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_killed_fifty_times_ends_as_if_nothing_had_happened(
    tmp_path, life, kind
):
    rng, n_kills, n_campaigns = np.random.default_rng(0), 0, 0
    began = time.perf_counter()
    assert [*life(tmp_path / "whole", kind)][-1] == ("ended",)
    reach = (time.perf_counter() - began) / 4
    whole = start(tmp_path / "whole", kind)
    while n_kills < 50:
        path, told, end = tmp_path / str(n_campaigns), [], ""
        while end != ("ended",):
            seconds = rng.uniform(0, reach) if n_kills < 50 else 60.0
            *words, end = life(path, kind, seconds)
            assert {verb for verb, *_ in words} <= {"done"}, words[-1]
            told += _answers(step for _, step in words)
            n_kills += end == ("killed",)
            if path.exists():  # Acknowledged is on disk.
                assert _is_within(told, _answers(_events(path)))
        assert _events(path) == _events(tmp_path / "whole")
        with start(path, kind) as resumed:
            assert differences(resumed, whole) == []
        n_campaigns += 1
    whole.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_between_any_two_lines_changes_nothing(tmp_path, kind):
    """Half a step is finished when the journal is opened again."""
    moments = []
    with start(tmp_path / "whole", kind) as whole:
        moments.append((_n_lines(tmp_path / "whole"), shown(whole)))
        while step := next_step(whole.ledger):
            take(whole, step)
            moments.append((_n_lines(tmp_path / "whole"), shown(whole)))
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    wrong = []
    for n_lines in range(1, len(lines) + 1):
        (tmp_path / "cut").write_bytes(b"".join(lines[:n_lines]))
        place = next(k for k, (n, _) in enumerate(moments) if n >= n_lines)
        with start(tmp_path / "cut", kind) as resumed:
            found = differences(resumed, moments[place][1])
            step = next_step(resumed.ledger)
            if not found and step is not None and step[0] == "ask":
                take(resumed, step)
                found = differences(resumed, moments[place + 1][1])
        if found:
            wrong.append(f"after {lines[n_lines - 1][:40]}: {found}")
    assert not wrong, "\n".join(wrong)


def _n_lines(path):
    return path.read_bytes().count(b"\n")


ENDINGS = {
    "an ask": lambda evaluation, rows: evaluation.ask(2),
    "labels": lambda evaluation, rows: evaluation.tell(rows[3:], LABELS[rows[3:]]),
    "a correction": lambda evaluation, rows: evaluation.correct(rows[0], 2),
}


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_a_journal_cut_anywhere_in_its_last_two_lines_goes_on(
    tmp_path, written, monkeypatch, ending
):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # It takes its time.
    with small(written) as evaluation:
        ENDINGS[ending](evaluation, np.array(evaluation.ledger.indices))
    text, cut = written.read_bytes(), tmp_path / "cut"
    *_, second, last = text.splitlines(keepends=True)
    for size in range(len(text) - len(second) - len(last), len(text) + 1):
        cut.write_bytes(text[:size])
        is_torn = not text[:size].endswith(b"\n")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            evaluation = small(cut)
        said = [str(one.message) for one in caught if one.category is JournalWarning]
        is_whole = text[size : size + 1] == b"\n"  # All is there but the line's end.
        assert len(said) == (is_torn and not is_whole)
        assert all("was not written to its end and is dropped" in one for one in said)
        row = evaluation.ask().indices
        evaluation.tell(row, LABELS[row])
        before = shown(evaluation)
        evaluation.close()
        with small(cut) as again:
            assert differences(again, before) == []


@pytest.mark.parametrize("n_bytes", [0, 1, 5, 32, 33, 200])
def test_a_journal_that_never_got_past_its_first_line_starts_anew(written, n_bytes):
    header = written.read_bytes().splitlines()[0]
    written.write_bytes(header[:n_bytes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JournalWarning)
        evaluation = small(written)
    assert len(evaluation.ledger) == 0
    evaluation.close()
    assert written.read_bytes() == header + b"\n"


# Refusing.


def _refused(path, message, **changes):
    """Assert that a journal is refused, whole and torn, and left as it is."""
    for torn in (b"", b'["tell", [3'):
        text = path.read_bytes() + torn
        path.write_bytes(text)
        with pytest.raises(JournalError, match=message):
            small(path, **changes)
        assert path.read_bytes() == text
        path.write_bytes(text[: len(text) - len(torn)])


def _with(rows, place, value):
    rows = rows.copy()
    rows[place] = value
    return rows


FOUR = np.column_stack([PROBA * 0.9, np.full(len(PROBA), 0.1)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": POOL[:-1], "predictions": PROBA[:-1]}, "the size of the pool"),
        ({"X": _with(POOL, (7, 2), 0.0)}, "the rows of the pool"),
        ({"X": POOL[::-1]}, "the rows of the pool"),
        ({"X": POOL[:, ::-1]}, "the rows of the pool"),
        ({"predictions": PROBA[::-1]}, "the predictions of the model"),
        ({"predictions": PROBA[:, ::-1]}, "the predictions of the model"),
        ({"predictions": _with(PROBA, 3, PROBA[3, ::-1])}, "the predictions"),
        ({"predictions": FOUR, "classes": [0, 1, 2, 3]}, "the predictions|classes"),
        ({"classes": [0, 1, 5]}, "the classes"),
        (
            {"predictions": PROBA[:, 0], "loss": "squared_error", "surrogate": None}
            | {"classes": ()},
            "the predictions|task",
        ),
    ],
)
def test_a_journal_of_another_campaign_is_refused_and_left_alone(
    written, changes, message
):
    if changes.get("classes") == ():
        changes = {**changes, "classes": []}
    _refused(written, f"belongs to another evaluation: .*{message}", **changes)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [True, False], [3, 4]], ids=["text", "bool", "int"]
)
def test_predictions_of_another_label_are_refused(path, labels):
    given = {"loss": "zero_one", "classes": labels}
    small(path, predictions=np.array(labels[:1] * 30), **given).close()
    _refused(path, "the predictions", predictions=np.array(labels[1:] * 30), **given)


def test_predictions_that_differ_by_rounding_are_the_same(written):
    rounded = PROBA.astype(np.float32).astype(float)
    assert (rounded != PROBA).any()
    with small(written, predictions=rounded) as evaluation:
        assert len(evaluation.ledger) == 3


def test_other_decisions_from_the_same_probabilities_are_another_model(path):
    base = LogisticRegression().fit(X[::5], Y[::5] > 0)
    often, always = (
        FixedThresholdClassifier(FrozenEstimator(base), threshold=t).fit(X, Y > 0)
        for t in (0.5, 1e-6)
    )
    given = {"loss": "zero_one", "surrogate": GaussianNB()}
    ActiveRiskEstimator(often, **given).start(POOL, journal=path).close()
    with pytest.raises(JournalError, match="the predictions of the model differ"):
        ActiveRiskEstimator(always, **given).start(POOL, journal=path)


@pytest.mark.parametrize("level", [0.0, 2000.0])
@pytest.mark.parametrize(("error", "is_same"), [(1e-7, True), (0.02, False)])
def test_values_are_compared_by_how_they_spread(path, level, error, is_same):
    rng = np.random.default_rng(0)
    values = level + rng.normal(size=30)
    given = {"loss": "squared_error", "surrogate": BayesianRidge(), "classes": None}
    evaluator = ActiveRiskEstimator(**given)
    evaluator.start(POOL, predictions=values, journal=path).close()
    others = values + error * rng.normal(size=30)
    if is_same:
        evaluator.start(POOL, predictions=others, journal=path).close()
        return
    with pytest.raises(JournalError, match="the predictions of the model differ"):
        evaluator.start(POOL, predictions=others, journal=path)


@pytest.mark.parametrize("version", [3, 99, None, "1", 1.5])
def test_a_journal_of_a_newer_format_is_refused_and_left_alone(written, version):
    header, *lines = written.read_bytes().splitlines(keepends=True)
    header = json.dumps(json.loads(header) | {"version": version}).encode() + b"\n"
    written.write_bytes(header + b"".join(lines))
    _refused(written, rf"has format {version}; .*Upgrade sklearn_ase")


def test_a_newer_format_is_named_even_if_its_lines_cannot_be_read(written):
    header = json.loads(written.read_bytes().splitlines()[0]) | {"version": 3}
    written.write_bytes(json.dumps(header).encode() + b"\n\x28\xb5\x2f\xfd\n")
    _refused(written, "Upgrade sklearn_ase")


@pytest.mark.parametrize(
    "text",
    [
        b"row,label\n3,cat\n",
        b"no line end",
        b'{"format": "another"}\n',
        b'{"format": "another"}',
        b"[1, 2]\n",
        b"42",
        b"\n",
        b"\x00" * 40,
        b"\xff\xfe\x00{",
        b"{}\n",
        b'{"a": 1}\n{"b": 2}\n',
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_left_alone(path, text):
    path.write_bytes(text)
    with pytest.raises(
        JournalError, match=r"is not valid JSON|is not a sklearn_ase journal"
    ):
        small(path)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "line",
    [
        b'["tell", [3, 4',
        b"",
        b"\x00\x00\x00",
        b"5",
        b"null",
        b"{}",
        b"[]",
        b'["dance", 3]',
        b'["close"]',
        b'["tell", [4]]',
        b'["tell", [4], [0, 1], []]',
        b'["tell", [999], [0], []]',
        b'["correct", 999, 0, []]',
        b'["skip", [999]]',
        b'["withdraw", 999]',
        b'["ask", [999], [0.1], [0.0], [0.0], ["nan"], ["nan"]]',
        b'["ask", [-1], [0.1], [0.0], [0.0], ["nan"], ["nan"]]',
        b'["ask", [0, 0], [0.1, 0.1], [0, 0], [0, 0], [0, 0], [0, 0]]',
        b'["ask", [0], [0.1, 0.2], [0], [0], [0], [0]]',
        b'["note", [999], null, false]',
        b'["refit", 99]',
        b'["refit", "two"]',
    ],
)
def test_a_line_damaged_in_the_middle_is_refused_and_the_file_left_alone(written, line):
    lines = written.read_bytes().split(b"\n")
    written.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    _refused(written, r"Line \d.*left as it is")


@pytest.mark.parametrize("verb", ["ask", "tell", "skip", "withdraw"])
def test_a_line_that_stands_there_twice_is_refused(path, verb):
    with small(path) as evaluation:
        rows = evaluation.ask(5).indices
        evaluation.tell(rows[:3], LABELS[rows[:3]])
        evaluation.skip(rows[3:4])
        evaluation.withdraw(rows[0])
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(
        k for k, line in enumerate(lines) if line.startswith(b'["%b' % verb.encode())
    )
    path.write_bytes(b"".join([*lines[: place + 1], *lines[place:]]))
    _refused(path, "does not fit what came before it")


@pytest.mark.parametrize(
    "line", [b'["tell", [0], ["dog"], []]', b'["tell", [0], [9], []]']
)
def test_a_label_that_is_no_class_is_refused_and_the_file_left_alone(written, line):
    # A label somebody wrote into the file by hand.
    asked = b'["ask", [0], [0.1], [0.0], [0.0], ["nan"], ["nan"]]\n'
    rows = json.loads(written.read_bytes().splitlines()[1])[1]
    line = line.replace(b"[0]", b"[%d]" % (0 if 0 not in rows else rows[-1]), 1)
    text = written.read_bytes() + (asked if 0 not in rows else b"") + line + b"\n"
    written.write_bytes(text)
    with pytest.raises(ValueError, match=r"different kinds|not among the classes"):
        small(written)
    assert written.read_bytes() == text


def test_journal_and_ledger_cannot_both_be_given(path):
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), classes=[0, 1, 2])
    with pytest.raises(ValueError, match="ledger= or journal=, not both"):
        evaluator.start(POOL, predictions=PROBA, ledger=LabelLedger(), journal=path)
    assert not path.exists()


# One at a time.


def test_a_journal_is_open_once_at_a_time(written):
    first = small(written)
    text = written.read_bytes()
    with pytest.raises(JournalError, match=r"open in another evaluation.*close\(\)"):
        small(written)
    assert written.read_bytes() == text
    first.ask()  # The first is not disturbed.
    first.close()
    first.close()
    with small(written) as second:
        assert len(second.ledger.indices) == 6
    small(written).close()


def test_a_journal_is_let_go_when_the_evaluation_is_forgotten(written):
    evaluation = small(written)
    del evaluation
    small(written).close()


@pytest.mark.parametrize("changes", [{"X": POOL + 1}, {"known_labels": {0: 1}}])
def test_a_start_that_fails_lets_the_journal_go(written, changes):
    with pytest.raises(ValueError, match=r"another evaluation|at the start"):
        small(written, **changes)
    small(written).close()


class UnfitClassifier(GaussianNB):
    """Cannot be fitted, which only shows when it is."""

    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("cannot be fitted")


def test_a_start_that_fails_does_not_claim_the_name(path):
    given = {"X_train": X[::5], "y_train": Y[::5], "cv": 0}
    with pytest.raises(ValueError, match="not among the classes"):
        small(path, known_labels={0: 5})
    with pytest.raises(RuntimeError, match="cannot be fitted"):
        small(path, surrogate=UnfitClassifier(), known_labels={0: 1}, **given)
    assert path.read_bytes() == b""
    small(path, X=POOL + 1).close()  # Another campaign has it now.


def test_a_start_that_fails_changes_no_journal(written):
    text, given = written.read_bytes(), {"X_train": X[::5], "y_train": Y[::5]}
    with (
        pytest.warns(JournalWarning, match="different X_train, surrogate, y_train"),
        pytest.raises(RuntimeError, match="cannot be fitted"),
    ):
        small(written, surrogate=UnfitClassifier(), **given)
    assert written.read_bytes() == text


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")
@pytest.mark.parametrize("what", ["deleted", "replaced"])
def test_nothing_is_written_to_a_file_that_is_no_longer_there(written, what):
    evaluation = small(written)
    before = shown(evaluation)
    written.unlink()
    if what == "replaced":
        written.write_bytes(b"")
    with pytest.raises(JournalError, match=r"was deleted or replaced.*to_csv\(path\)"):
        evaluation.ask()
    assert differences(evaluation, before) == []
    evaluation.close()


def test_a_journal_stays_where_it_is_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with small("labels.jsonl") as evaluation:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        evaluation.ask()
    assert b'["ask"' in (tmp_path / "labels.jsonl").read_bytes()


@needs_fork
def test_another_process_is_refused_until_this_one_lets_go(path, life):
    evaluation = start(path)
    first, end = life(path)
    assert first[0] == "refused"
    assert "is open in another evaluation, of this or another process" in first[1]
    evaluation.close()
    assert next(iter(words := [*life(path)]))[0] == "done"
    assert words[-1] == end == ("ended",)


@needs_fork
def test_this_process_is_refused_until_the_other_one_is_dead(path, life):
    words = life(path, "idle", seconds=3.0)
    assert next(words) == ("waits", 0)
    with pytest.raises(JournalError, match="is open in another evaluation"):
        start(path)
    assert [*words] == [("killed",)]
    start(path).close()


def test_what_is_closed_takes_no_more_answers(path):
    evaluation = small(path)
    rows = evaluation.ask(3).indices
    evaluation.tell(rows[:2], LABELS[rows[:2]])
    evaluation.close()
    before, text = shown(evaluation), path.read_bytes()
    for verb, *words in [
        ("ask", 1),
        ("tell", rows[2:], [0]),
        ("correct", rows[0], 2),
        ("withdraw", rows[0]),
        ("skip", rows[2:]),
        ("refit",),
    ]:
        with pytest.raises(JournalError, match="is closed"):
            getattr(evaluation, verb)(*words)
    assert differences(evaluation, before) == []
    assert path.read_bytes() == text


# Going on.


def _iris(**parameters):
    surrogate = ClassifierSurrogate(DecisionTreeClassifier(), n_members=3, cv=2)
    model = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))
    return ActiveRiskEstimator(
        model, **{"surrogate": surrogate, "random_state": 0} | parameters
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
    evaluator = _iris(**parameters)
    live = evaluator.start(X, journal=path)
    steps = [
        lambda: live.ask(6),
        lambda: _tell(live, live.ledger.indices[3:1:-1]),
        lambda: live.skip(live.ledger.indices[4:5]),
        lambda: _tell(live, live.ledger.indices[:2]),
        lambda: live.tell(live.ledger.indices[5:6], [7]),
        lambda: live.correct(
            live.ledger.indices[0], (Y[live.ledger.indices[0]] + 1) % 3
        ),
        lambda: live.withdraw(live.ledger.indices[3]),
    ]
    for step in steps[:n_steps]:
        step()
    shutil.copy(path, path.with_suffix(".copy"))
    resumed = evaluator.start(X, journal=path.with_suffix(".copy"))
    assert differences(resumed, live) == []
    for _ in range(2):
        one, two = live.ask(3), resumed.ask(3)
        assert_array_equal(one.indices, two.indices)
        assert_array_equal(one.proba, two.proba)
        for evaluation in (live, resumed):
            _tell(evaluation, one.indices[1:])
        assert differences(resumed, live) == []
    assert resumed._repr_html_() == live._repr_html_()


def _tell(evaluation, rows):
    evaluation.tell(rows, Y[rows])


def test_resumed_regression_equals_the_uninterrupted_one(
    path, diabetes, regression_evaluator
):
    regression_evaluator.set_params(surrogate=BayesianRidge())
    live = regression_evaluator.start(diabetes.X, journal=path)
    rows = live.ask(9).indices
    live.tell(rows[2:], diabetes.y[rows[2:]])
    live.skip(rows[:1])
    live.correct(rows[4], -3.25)
    shutil.copy(path, path.with_suffix(".copy"))
    resumed = regression_evaluator.start(diabetes.X, journal=path.with_suffix(".copy"))
    assert differences(resumed, live) == []
    assert_array_equal(resumed.ask(4).indices, live.ask(4).indices)


def test_the_journal_changes_nothing_about_a_campaign(path):
    plain, journaled = start(None), start(path)
    for evaluation in (plain, journaled):
        live(evaluation)
    assert differences(plain, journaled) == []


def test_opening_a_journal_writes_nothing(path):
    with _iris(risk=ASE()).start(X, journal=path) as evaluation:
        rows = evaluation.ask(3).indices
        _tell(evaluation, rows[:2])
    text = path.read_bytes()
    for _ in range(3):
        _iris(risk=ASE()).start(X, journal=path).close()
    assert path.read_bytes() == text


class OracleError(Exception):
    """What an oracle may raise."""


def _oracle(n_answers):
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
    evaluator = _iris(
        n_labels=60,
        batch_size=batch_size,
        stop=Plateau(0.1, n_labels=9),
        random_state=random_state,
    )
    with pytest.raises(OracleError):
        evaluator.fit(X, _oracle(4), journal=path)
    shutil.copy(path, path.with_suffix(".copy"))
    evaluator.fit(X, Y, journal=path)
    whole, reason = shown(evaluator.evaluation_), evaluator.stop_reason_
    assert reason.startswith("The estimates of the last 9 labels differ by")
    for n_answers in (2, 0, 2):
        with pytest.raises(OracleError):
            evaluator.fit(X, _oracle(n_answers), journal=path.with_suffix(".copy"))
    evaluator.fit(X, Y, journal=path.with_suffix(".copy"))
    assert evaluator.stop_reason_ == reason
    assert differences(evaluator.evaluation_, whole) == []


def test_a_batch_is_no_plateau_after_a_break_either(path):
    evaluator = _iris(n_labels=60, batch_size=10, selection=ArgMax(), refit=1)
    evaluator.set_params(stop=Plateau(0.0, n_labels=4))
    with pytest.raises(OracleError):
        evaluator.fit(X, _oracle(20), journal=path)
    evaluator.fit(X, Y, journal=path)
    assert evaluator.stop_reason_ == "n_labels=60 were bought."


def test_a_finished_fit_buys_nothing_when_it_is_called_again(path):
    evaluator = _iris(n_labels=7)
    evaluator.fit(X, Y, journal=path)
    whole, text = shown(evaluator.evaluation_), path.read_bytes()
    evaluator.fit(X, _oracle(0), journal=path)
    assert differences(evaluator.evaluation_, whole) == []
    assert path.read_bytes() == text


def test_a_campaign_goes_on_with_its_own_seed(path):
    live = _iris(random_state=5).start(X, journal=path)
    live.close()
    with _iris(random_state=6).start(X, journal=path) as resumed:
        assert resumed.seed == live.seed


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
def test_other_settings_are_taken_with_a_warning(path, name, changes):
    given = {"X_train": X[::5], "y_train": Y[::5], "train_predictions": PROBA}
    given |= {"acquisition": Uniform(), "refit": 4}
    with small(path, **given) as evaluation:
        rows = evaluation.ask(3).indices
        evaluation.tell(rows, LABELS[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(path, **given).close()
    with pytest.warns(JournalWarning, match=rf"last used with different {name}\."):
        evaluation = small(path, **given | changes)
    query = evaluation.ask()
    evaluation.tell(query, LABELS[query.indices])
    assert evaluation.estimate().n_labels == 4
    evaluation.close()
    with warnings.catch_warnings():  # They are the settings of the campaign now.
        warnings.simplefilter("error")
        small(path, **given | changes).close()
    with pytest.warns(JournalWarning, match=name):
        small(path, **given).close()


def test_another_loss_is_refused(path):
    small(path, loss="brier").close()
    with pytest.raises(JournalError, match="evaluation: the loss differs"):
        small(path, loss="log_loss")


def test_a_loss_is_the_same_by_its_name_and_as_an_object(path):
    small(path, loss="brier").close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(path, loss=Brier()).close()


def test_warnings_point_at_the_line_that_opens_the_journal(written):
    with open(written, "ab") as file:
        file.write(b'["tell", [3')
    with pytest.warns(JournalWarning) as caught:
        small(written, refit=3).close()
    assert [one.filename for one in caught] == [__file__] * 2


def test_warnings_point_at_the_line_that_fits(path):
    evaluator = _iris(n_labels=2).fit(X, Y, journal=path)
    with pytest.warns(JournalWarning) as caught:
        evaluator.set_params(refit=3).fit(X, Y, journal=path)
    assert [one.filename for one in caught] == [__file__]


def test_a_function_is_the_same_setting_in_another_process(path):
    def make_loss():
        return lambda y_true, y_pred: (y_true != y_pred) * 1.0

    given = {"predictions": LABELS, "surrogate": GaussianNB()}
    small(path, loss=make_loss(), **given).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(path, loss=make_loss(), **given).close()


@pytest.mark.parametrize("risk", [None, LURE()])
def test_labels_are_taken_even_where_a_new_risk_cannot_use_the_old_ones(path, risk):
    with _iris(selection=ArgMax()).start(X[1::2], journal=path) as evaluation:
        evaluation.run(lambda rows: Y[1::2][rows], 8)
    with pytest.warns(JournalWarning, match="different risk, selection"):
        evaluation = _iris(risk=GuardedASE() if risk is None else risk).start(
            X[1::2], journal=path
        )
    query = evaluation.ask()
    evaluation.tell(query, Y[1::2][query.indices])
    with pytest.raises(ValueError, match="picked without one"):
        evaluation.estimate()
    assert evaluation.estimate(ASE()).n_labels == 9
    evaluation.close()


# What is in it.


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (X, np.asfortranarray(X)),
        (X, X.astype(">f8")),
        (np.array([[0.0]]), np.array([[-0.0]])),
        (sparse.csr_matrix(X), sparse.csc_array(X)),
        (pd.DataFrame({"a": ["ü", "x"], "b": [1, 2]}),) * 2,
        (
            pd.DataFrame({"a": ["ü", "x"]}),
            pd.DataFrame({"a": ["ü", "x"]}, index=[7, 3]),
        ),
        (pd.DataFrame({"a": ["x"], "b": [1]}), pl.DataFrame({"a": ["x"], "b": [1]})),
        (["some", "text"], np.array(["some", "text"], dtype=object)),
    ],
    ids=["order", "bytes", "zero", "sparse", "frame", "index", "polars", "text"],
)
def test_the_fingerprint_of_a_pool_is_that_of_its_values(first, second):
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (X, X[::-1]),
        (X, np.nextafter(X, 9.0)),
        (X, X.reshape(-1, 2)),
        (sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(np.eye(3)[:, ::-1])),
        (pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [1], "a": [2]})),
        (["ab", "c"], ["a", "bc"]),
        (np.zeros((5000, 1)), np.r_[np.zeros((4999, 1)), [[1.0]]]),
    ],
    ids=["order", "rounding", "shape", "sparse", "names", "text", "last row"],
)
def test_the_fingerprint_of_another_pool_is_another(first, second):
    assert fingerprint(first) != fingerprint(second)


@pytest.mark.parametrize(
    "labels",
    [
        [0, -7, 2**62],
        [0.1 + 0.2, 1e-300, -1 / 3],
        [True, False, True],
        ["plain", 'with "quotes"', "back\\slash"],
        ["two\nlines", "carriage\r\nreturn", "tab\t\x07\u2028\u2029\x85"],
        ["Zürich", "東京", "🦜"],
        ["nan", "Infinity", "null"],
        ["", " spaces ", "1"],
    ],
    ids=["int", "float", "bool", "text", "lines", "unicode", "words", "spaces"],
)
def test_labels_survive_the_file(path, labels):
    proba = np.full((30, 3), 1 / 3)
    with small(path, predictions=proba, classes=labels) as evaluation:
        rows = evaluation.ask(5).indices
        evaluation.tell(rows[:3], np.array(labels))
        evaluation.tell(rows[3:4], [labels])  # Several answers for one row.
        evaluation.tell(rows[4:], labels[:1])
        evaluation.correct(rows[4], labels[::-1])
        before = shown(evaluation)
    with small(path, predictions=proba, classes=labels) as resumed:
        assert differences(resumed, before) == []
        ledger = resumed.ledger
    assert list(ledger.labels.values()) == [*labels, labels[0], labels[2]]
    assert ledger.more_labels == {rows[3]: labels[1:], rows[4]: labels[1::-1]}
    kinds = {type(label) for label in ledger.labels.values()}
    assert kinds == {type(labels[0])}


@pytest.mark.parametrize("label", [np.nan, np.inf, "many", None])
def test_a_label_that_is_refused_leaves_no_trace(
    path, diabetes, regression_evaluator, label
):
    with regression_evaluator.start(diabetes.X, journal=path) as evaluation:
        row = evaluation.ask().indices
        before, text = shown(evaluation), path.read_bytes()
        with pytest.raises((TypeError, ValueError)):
            evaluation.tell(row, [label])
        assert differences(evaluation, before) == []
        assert path.read_bytes() == text


def test_text_that_cannot_be_written_is_refused_at_the_start(path):
    given = {"predictions": np.full((30, 2), 0.5)}
    with pytest.raises(ValueError, match="surrogates not allowed"):
        small(path, classes=["a", "\ud800"], **given)
    assert path.read_bytes() == b""
    small(path, classes=["a", "b"], **given).close()


def test_the_journal_is_json_and_nothing_else(path):
    with start(path) as evaluation:
        live(evaluation)
    header, *lines = [
        json.loads(line, parse_constant=pytest.fail)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert header["format"] == "sklearn_ase journal"
    assert header["version"] == 2
    assert {"seed", "pool", "predictions", "classes", "surrogate", "risk"} <= {*header}
    verbs = {"ask", "tell", "correct", "withdraw", "skip", "refit", "note"}
    assert {verb for verb, *_ in lines} == verbs


def test_lines_are_only_ever_added(path):
    text = b""
    with start(path) as evaluation:
        while step := next_step(evaluation.ledger):
            take(evaluation, step)
            assert path.read_bytes().startswith(text)
            text = path.read_bytes()
    start(path).close()
    assert path.read_bytes() == text


class Estimate32(LURE):
    """Somebody's risk, which answers with numpy's numbers."""

    def estimate(self, state):
        estimate = super().estimate(state)
        return type(estimate)(np.float32(estimate.value), np.float32(1), np.int64(3))


def test_risks_of_others_may_answer_with_the_numbers_of_numpy(path):
    with small(path, risk=Estimate32()) as evaluation:
        rows = evaluation.ask(2).indices
        evaluation.tell(rows, LABELS[rows])
        before = shown(evaluation)
    with small(path, risk=Estimate32()) as evaluation:
        assert differences(evaluation, before) == []


# Disks and keyboards.


def _written_first(monkeypatch, path, ledger):
    """Have each sync look at the file and at what is known by then."""
    seen = []
    sync = os.fsync

    def look(descriptor):
        sync(descriptor)
        seen.append((json.loads(path.read_bytes().splitlines()[-1]), len(ledger)))

    monkeypatch.setattr(os, "fsync", look)
    return seen


def test_a_label_is_on_disk_before_anything_else_happens(path, monkeypatch):
    with small(path) as evaluation:
        rows = evaluation.ask(2).indices.tolist()
        seen = _written_first(monkeypatch, path, evaluation.ledger)
        evaluation.tell(rows, [0, 1])
        evaluation.correct(rows[0], 2)
        evaluation.withdraw(rows[1])
        evaluation.skip(rows[1:])
    assert [(line, n) for line, n in seen if line[0] != "refit"] == [
        (["tell", rows, [0, 1], []], 0),
        (["correct", rows[0], 2, []], 2),
        (["withdraw", rows[1]], 2),
        (["skip", rows[1:]], 1),
    ]


VERBS = {
    "ask": lambda evaluation, rows: evaluation.ask(2),
    "tell": lambda evaluation, rows: evaluation.tell(rows[3:4], LABELS[rows[3:4]]),
    "correct": lambda evaluation, rows: evaluation.correct(rows[0], 2),
    "withdraw": lambda evaluation, rows: evaluation.withdraw(rows[0]),
    "skip": lambda evaluation, rows: evaluation.skip(rows[4:]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_sync_that_fails_leaves_all_as_it_was(written, monkeypatch, verb):
    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    evaluation = small(written)
    rows = np.array(evaluation.ledger.indices)
    before, text = shown(evaluation), written.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            VERBS[verb](evaluation, rows)
    assert differences(evaluation, before) == []
    assert written.read_bytes() == text
    _goes_on(evaluation, written, verb, rows)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("n_bytes", [0, 1, 10, 13])
def test_a_full_disk_loses_nothing(written, verb, n_bytes):
    """The line does not fit; there is room again later."""
    evaluation = small(written)
    rows = np.array(evaluation.ledger.indices)
    before, text = shown(evaluation), written.read_bytes()
    with _at_most(len(text) + n_bytes), pytest.raises(OSError, match="too large"):
        VERBS[verb](evaluation, rows)
    assert differences(evaluation, before) == []
    assert written.read_bytes() == text
    _goes_on(evaluation, written, verb, rows)


@pytest.mark.parametrize("verb", VERBS)
def test_a_keyboard_interrupt_loses_nothing(written, monkeypatch, verb):
    sync = os.fsync

    def interrupt(descriptor):
        sync(descriptor)
        raise KeyboardInterrupt

    evaluation = small(written)
    rows = np.array(evaluation.ledger.indices)
    with monkeypatch.context() as pressed:
        pressed.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](evaluation, rows)
    _goes_on(evaluation, written, verb, rows)


def _goes_on(evaluation, path, verb, rows):
    """The verb works now, and what is in the file is what is in memory."""
    if len(evaluation.ledger.indices) == 5 or verb != "ask":
        VERBS[verb](evaluation, rows)
    before = shown(evaluation)
    evaluation.close()
    with small(path) as resumed:
        assert differences(resumed, before) == []
        assert len(set(resumed.ledger.indices)) == len(resumed.ledger.indices)


def _at_most(n_bytes):
    """No file may grow beyond that, as on a full disk."""
    resource = pytest.importorskip("resource")

    class Limit:
        def __enter__(self):
            self.old = resource.getrlimit(resource.RLIMIT_FSIZE)
            self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, self.old[1]))

        def __exit__(self, *error):
            resource.setrlimit(resource.RLIMIT_FSIZE, self.old)
            signal.signal(signal.SIGXFSZ, self.handler)

    return Limit()


def test_a_disk_that_is_full_after_the_label_loses_nothing(path):
    """There is room for the label, but not for what follows from it."""
    whole = start(path.with_suffix(".whole"))
    for _ in range(24):
        take(whole, next_step(whole.ledger))
    lines = path.with_suffix(".whole").read_bytes().splitlines(keepends=True)
    places = [
        k for k, line in enumerate(lines) if line.startswith((b'["refit', b'["note'))
    ]
    wrong = []
    for place in places:
        path.unlink(missing_ok=True)
        evaluation = start(path)
        n_bytes = sum(map(len, lines[:place])) + 3
        with _at_most(n_bytes), pytest.raises(OSError, match="too large"):
            live(evaluation)
        evaluation.close()
        with start(path) as resumed:
            while len(resumed.ledger.indices) < len(whole.ledger.indices) or (
                next_step(resumed.ledger) != next_step(whole.ledger)
            ):
                take(resumed, next_step(resumed.ledger))
            if found := differences(resumed, whole):
                wrong.append(f"before {lines[place][:30]}: {found}")
    whole.close()
    assert not wrong, "\n".join(wrong)


# Copies.


@pytest.mark.parametrize(
    "copy_of", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_knows_all_and_writes_nothing(path, copy_of):
    evaluation = start(path)
    for _ in range(20):
        take(evaluation, next_step(evaluation.ledger))
    other, text = copy_of(evaluation), path.read_bytes()
    assert differences(other, evaluation) == []
    with pytest.raises(JournalError, match="is closed"):
        other.ask()
    other.close()
    with pytest.raises(JournalError, match="is open in another evaluation"):
        start(path)
    assert path.read_bytes() == text
    before = shown(other)
    live(evaluation)
    assert differences(other, before) == []
    evaluation.close()
    with start(path) as resumed:
        assert differences(resumed, evaluation) == []


def test_a_fitted_evaluator_with_a_journal_can_be_pickled(path):
    evaluator = _iris(n_labels=6).fit(X, Y, journal=path)
    other = pickle.loads(pickle.dumps(evaluator))
    assert other.risk_ == evaluator.risk_
    assert other.ledger_.labels == evaluator.ledger_.labels
    other.set_params(n_labels=9).fit(X, Y, journal=path)
    assert len(other.ledger_) == 9


def test_a_journal_goes_on_in_memory(path):
    with start(path) as live:
        for _ in range(20):
            take(live, next_step(live.ledger))
        ledger = live.ledger.copy()
        text = path.read_bytes()
        model = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))
        evaluator = ActiveRiskEstimator(model, surrogate=live.surrogate, random_state=7)
        resumed = evaluator.start(X, ledger=ledger)
        assert differences(resumed, live) == []
        resumed.ask()
        assert path.read_bytes() == text
