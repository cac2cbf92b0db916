"""A campaign that may be killed at any moment: its ledger alone decides the next step.

As a script it is a server. For each order on its input, ``[path, kind, seconds]``, it
forks a child that starts or resumes the campaign in that journal, and kills it after so
many seconds. The child reports every step on the output once the step was
acknowledged, and the server reports how the child ended. The kind "idle" opens the
journal and waits.
"""

import json
import os
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from copy import copy
from itertools import accumulate, cycle

import numpy as np
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._state import RECORDED
from sklearn_ase.exceptions import JournalError
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.surrogate import ClassifierSurrogate

X, Y = load_iris(return_X_y=True)
MODEL = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))
KINDS = ("drawn", "known")
N_ASKED = 47
# How many rows each ask asks for.
_ENDS = list(accumulate(n for n, _ in zip(cycle([1, 4, 2, 7, 3]), range(14))))


def start(journal=None, kind="drawn", **parameters):
    """Start the campaign, or resume it.

    Parameters
    ----------
    journal : path or None
    kind : {"drawn", "known"}
        The latter has costs, and labels that were known before.
    **parameters : parameters of the evaluator

    Returns
    -------
    evaluation : Evaluation
    """
    surrogate = ClassifierSurrogate(
        GaussianNB(), n_members=3, calibration=None, min_rows=4
    )
    parameters = {"surrogate": surrogate, "random_state": 7} | parameters
    evaluator = ActiveRiskEstimator(MODEL, **parameters)
    if kind == "drawn":
        return evaluator.start(X, journal=journal)
    evaluator.set_params(risk=CorrectedASE(), loss="zero_one")
    known = {row: int(Y[row]) for row in range(0, 150, 4)}
    return evaluator.start(X, journal=journal, known_labels=known, cost=1.0 + X[:, 0])


def next_step(ledger):
    """Return the next verb and its arguments, or None when all is done.

    Answers come in parts and late. Some are wrong at first, even of a class that does
    not exist, and are corrected or withdrawn after a while. Some rows are skipped, and
    some of these are labelled after all.
    """
    labels, pending = ledger.labels, ledger.pending
    n_asked = len(ledger.indices)
    fresh = ledger.indices[max([end for end in _ENDS if end < n_asked], default=0) :]
    settled = [row for row in list(labels)[:-5] if row not in fresh]
    for row in settled:
        if labels[row] != Y[row]:
            if row % 3 == 0:
                return "withdraw", row
            return "correct", row, int(Y[row])
    for row in ledger.skipped:
        if row % 2 == 0 and row not in fresh:
            return "tell", [row], [int(Y[row])]
    if len(labels) % 9 in (4, 5) and ledger.refits[-1] != len(labels):
        return ("refit",)
    unsure = [row for row in pending if row % 7 == 3 and row not in ledger.known]
    if unsure and unsure[0] in fresh:
        return "skip", unsure[:1]
    ready = [row for row in pending if row not in fresh or row % 4 != 1]
    if ready:
        return "tell", *_answers(ready[::-1], fresh)
    if n_asked < N_ASKED:
        return "ask", next(end for end in _ENDS if end > n_asked) - n_asked
    return ("tell", *_answers(pending, ())) if pending else None


def _answers(rows, fresh):
    """Some of these rows, and an answer or several for each of them."""
    if rows[0] % 6 == 2:
        return rows[:1], [[int(Y[rows[0]]), int(Y[rows[0]]), 2]]
    rows = [row for row in rows[:2] if row % 6 != 2]
    wrong = {0: 7, 1: 1, 2: 2}  # A label that nobody has given, and plain mistakes.
    return rows, [
        int(wrong.get(row % 5, Y[row]) if row in fresh else Y[row]) for row in rows
    ]


def do_step(evaluation, step):
    """Call the verb of a step with its arguments."""
    verb, *arguments = step
    return getattr(evaluation, verb)(*arguments)


def run_to_the_end(evaluation, report=lambda *words: None):
    """Do all steps that are left."""
    while step := next_step(evaluation.ledger):
        do_step(evaluation, step)
        report("done", step)


def _report(*words):
    os.write(1, json.dumps(words).encode() + b"\n")


def _serve():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    _report("ready")
    while order := sys.stdin.readline():
        path, kind, seconds = json.loads(order)
        child = os.fork()
        if child == 0:
            warnings.simplefilter("ignore")
            try:
                if kind == "idle":
                    evaluation = start(path)
                    _report("waits", len(evaluation.ledger))
                    signal.pause()
                run_to_the_end(start(path, kind), _report)
            except JournalError as error:
                _report("refused", str(error))
            except BaseException as error:
                _report("failed", repr(error))
            os._exit(0)
        # Until it is waited for, the number of a child cannot become another's.
        if kind == "idle":
            sys.stdin.readline()
        else:
            signal.sigtimedwait([signal.SIGCHLD], seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        signal.sigtimedwait([signal.SIGCHLD], 0)  # If it died of the kill.
        _report("killed" if os.WIFSIGNALED(status) else "ended")


@contextmanager
def campaign_server():
    """Yield a function ``run_and_kill(path, kind, seconds)``.

    It runs the campaign in another process for at most so many seconds, and yields
    what that process reports. An idle campaign is killed when it was seen to wait.
    """
    command = [sys.executable, __file__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        server.stdout.readline()

        def run_and_kill(path, kind="drawn", seconds=3600.0):
            server.stdin.write(json.dumps([str(path), kind, seconds]) + "\n")
            server.stdin.flush()
            for line in server.stdout:
                verb, *words = json.loads(line)
                yield verb, *words
                if verb in ("killed", "ended"):
                    return
                if verb == "waits":
                    server.stdin.write("kill it\n")
                    server.stdin.flush()

        yield run_and_kill
        server.stdin.close()


def differences(first, second, digits=None):
    """Names of what differs between two evaluations, or what they have shown.

    With `digits`, numbers are compared to so many significant digits: other versions of
    the libraries add numbers up in another order.
    """
    first, second = (
        one if isinstance(one, dict) else shown(one) for one in (first, second)
    )
    found = []
    for name, value in first.items():
        pair = value, second[name]
        if digits is not None:
            pair = [_rounded(one, digits) for one in pair]
        try:
            np.testing.assert_equal(*pair)
        except AssertionError:
            found.append(name)
    return found


def _rounded(value, digits):
    """Numbers to some significant digits, in lists and dicts, too."""
    if isinstance(value, dict):
        return {key: _rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_rounded(entry, digits) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{digits}g}")
    return value


def shown(evaluation):
    """All that an evaluation shows, except for the next query."""
    ledger = evaluation.ledger
    names = ["labels", "more_labels", "skipped", "known", "refits"]
    try:
        estimate = {**vars(evaluation.estimate()), "bets": None}
    except ValueError as error:
        estimate = str(error)
    return {
        **{name: getattr(ledger.picks, name) for name in RECORDED},
        **{name: copy(getattr(ledger, name)) for name in names},
        "order of the labels": list(ledger.labels),
        "pending": evaluation.pending.indices,
        "classes": evaluation.classes_,
        "belief": evaluation.state.expected_loss,
        "estimate": estimate,
        "spent": evaluation.spent,
        "intervals": evaluation.intervals(),
        **evaluation.history,
    }


if __name__ == "__main__":
    _serve()
