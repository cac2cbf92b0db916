"""Kill each command at a random moment, again and again: is anything lost?

Each command runs in a process of its own, which is forked after the imports and ended
by the signal SIGKILL. The moment is random, between 0 and the time that the command
takes when nobody kills it. After each kill:

* all labels and open rows of before are in the journal, and nothing else than the
  command could have written;
* the same command, given again, ends well and completes what it had begun;
* no sheet is half written.

    python benchmarks/house/command_kills.py
"""

import argparse
import builtins
import csv
import io
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from sklearn_ase._cli._main import main
from sklearn_ase._labels._journal import read_journal

N_ROWS = 1000
# How many rows a command that asks or tells is about.
N_BATCH = 3
START = ["start", "pool.csv", "--journal", "eval.jsonl", "--text", "question"]
START += ["--judge", "judge", "--labels", "right", "wrong"]
START += ["--metric", "share:right", "--seed", "0"]
ASK = ["ask", "eval.jsonl", str(N_BATCH), "--out", "batch.csv", "--overwrite"]
TELL = ["tell", "eval.jsonl", "batch.csv"]
ANNOTATE = ["annotate", "eval.jsonl", str(N_BATCH)]
# Commands that record nothing.
READ = {
    "columns": ["columns", "pool.csv"],
    "status": ["status", "eval.jsonl"],
    "plan": ["plan", "eval.jsonl", "--width", "0.1"],
    "check": ["check", "eval.jsonl", "--at-least", "0.5"],
    "estimate": ["estimate", "eval.jsonl", "--by", "kind"],
    "judges": ["judges", "eval.jsonl"],
    "diagnose": ["diagnose", "eval.jsonl"],
}
CODES = (0, 1, 2)  # A check ends with 1 for no and 2 for not decided.
COMMANDS = ("start", "ask", "tell", "annotate", *READ)


def label_of(row):
    """What people say about a row."""
    return "right" if row % 10 < 7 else "wrong"


def write_pool():
    """Write a pool with a judge that is right in nine of ten rows."""
    draws = random.Random(0)
    with open("pool.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["question", "judge", "kind"])
        for row in range(N_ROWS):
            is_right = (label_of(row) == "right") == (draws.random() < 0.9)
            score = draws.uniform(0.5, 1.0) if is_right else draws.uniform(0.0, 0.5)
            table.writerow([f"question {row}", f"{score:.3f}", row % 3])


def fork(argv):
    """Start a command in another process; return its identifier."""
    child = os.fork()
    if child:
        return child
    try:
        said = open("said.txt", "w", buffering=1, encoding="utf-8")  # noqa: SIM115
        sys.stdout = sys.stderr = said
        builtins.input = answer
        code = main(argv)
        said.flush()
    except BaseException as error:
        print(repr(error), flush=True)
        code = 99
    os._exit(code)


def answer(prompt):
    """Type what people would say about the row that was shown last."""
    if not prompt.startswith("label"):
        return ""
    return label_of(shown()[-1][0])


def shown():
    """Rows that a session has shown, each with the labels there were before it."""
    text = Path("said.txt").read_text(encoding="utf-8")
    found = re.findall(r"^Row (\d+)\. (\d+) of", text, re.MULTILINE)
    return [(int(row), int(count)) for row, count in found]


def run(argv, codes=(0,)):
    """Run a command to its end, or raise if it ends with another code."""
    _, status = os.waitpid(fork(argv), 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in codes:
        said = Path("said.txt").read_text(encoding="utf-8")
        raise AssertionError(f"{argv} ended with {code}: {said}")


def run_and_kill(argv, seconds):
    """Kill a command after some time; return whether it was still running."""
    Path("said.txt").write_text("", encoding="utf-8")
    child = fork(argv)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def contents():
    """Labels and open rows in the journal."""
    ledger = read_journal("eval.jsonl")
    return dict(ledger.labels), list(ledger.pending)


def sheet_rows():
    """Rows of the sheet; it is whole if each line has all cells."""
    text = Path("batch.csv").read_bytes().decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert all(None not in line and None not in line.values() for line in lines)
    return lines


def fill_sheet():
    """Fill in the sheet as people would."""
    lines = sheet_rows()
    with open("batch.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(lines[0]))
        table.writeheader()
        table.writerows(line | {"label": label_of(int(line["row"]))} for line in lines)


def check_kept(before, may_add):
    """Check that nothing of before is lost, and that nothing strange is there."""
    labels, pending = contents()
    old_labels, old_pending = before
    assert labels | old_labels == labels, "a label is lost or has changed"
    assert all(row in labels or row in pending for row in old_pending), "a row is lost"
    assert len(labels) - len(old_labels) <= may_add, "labels from nowhere"
    assert all(label == label_of(row) for row, label in labels.items())


def try_start(kill):
    """Start a campaign that is killed, and complete it."""
    for path in Path(".").glob("eval.jsonl*"):
        path.unlink()
    was_running = kill(START)
    if Path("eval.jsonl").exists() and Path("eval.jsonl").stat().st_size:
        run(START, codes=(64,))  # It exists already; ask goes on with it.
    else:
        run(START)
    run(ASK)
    assert len(contents()[1]) == N_BATCH
    fill_sheet()
    run(TELL)
    return was_running


def try_ask(kill):
    """Ask for rows; the same rows come again after a kill."""
    Path("batch.csv").unlink(missing_ok=True)
    before = contents()
    was_running = kill(ASK)
    check_kept(before, 0)
    asked = contents()[1]
    if Path("batch.csv").exists():
        assert [int(line["row"]) for line in sheet_rows()] == asked
    run(ASK)
    rows = [int(line["row"]) for line in sheet_rows()]
    assert rows == (asked or rows) == contents()[1]
    fill_sheet()
    run(TELL)
    return was_running


def try_tell(kill):
    """Tell a sheet; afterwards all of it is recorded, or none."""
    run(ASK)
    fill_sheet()
    before = contents()
    was_running = kill(TELL)
    check_kept(before, N_BATCH)
    assert len(contents()[1]) in (0, N_BATCH), "half of a sheet is recorded"
    run(["status", "eval.jsonl"])
    run(TELL)
    labels, pending = contents()
    assert not pending
    assert len(labels) == len(before[0]) + N_BATCH
    return was_running


def try_annotate(kill):
    """Label in the terminal; what was acknowledged is there."""
    before = contents()
    was_running = kill(ANNOTATE)
    check_kept(before, N_BATCH)
    # A row that is shown acknowledges the answers before it.
    acknowledged = shown()[-1][1] if shown() else 0
    labels = contents()[0]
    assert len(labels) >= acknowledged, "a label that was acknowledged is lost"
    run(["annotate", "eval.jsonl", "1"])
    assert len(contents()[0]) == len(labels) + 1
    return was_running


def try_reading(argv):
    """Make a trial of a command that records nothing."""

    def trial(kill):
        before = contents()
        was_running = kill(argv)
        check_kept(before, 0)
        run(argv, CODES)
        return was_running

    return trial


def kills_of(command, n_kills, rng):
    """Kill a command so many times while it runs.

    Returns
    -------
    n_trials : int
        Also those in which the command had ended before.
    seconds : float
        That the command takes when nobody kills it.
    """
    own = {"start": try_start, "ask": try_ask, "tell": try_tell}
    own["annotate"] = try_annotate
    trial = own.get(command) or try_reading(READ[command])
    times = []

    def measure(argv):
        began = time.perf_counter()
        run(argv, CODES)
        times.append(time.perf_counter() - began)
        return False

    def kill(argv):
        return run_and_kill(argv, rng.uniform(0.0, times[0]))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_pool()
        if command != "start":
            run(START)
            for _ in range(2):
                run(ASK)
                fill_sheet()
                run(TELL)
        trial(measure)
        n_trials = n_running = 0
        while n_running < n_kills:  # A command that has ended was not killed.
            n_trials += 1
            n_running += trial(kill)
        run(["estimate", "eval.jsonl"])
        os.chdir("/")
    return n_trials, times[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=COMMANDS)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print("command    kills  trials  seconds  lost")
    for command in args.commands:
        n_trials, seconds = kills_of(command, args.kills, rng)
        line = f"{command:<9}  {args.kills:5}  {n_trials:6}  {seconds:7.2f}  nothing"
        print(line, flush=True)
