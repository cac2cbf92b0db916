"""The program ``sklearn-ase``: options in, results on stdout, errors on stderr."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sklearn_ase._cli._campaign import FORMS as METRICS
from sklearn_ase._cli._pool_file import FORMS
from sklearn_ase._cli._terminal import Answer, as_json, message_of, printable
from sklearn_ase._version import __version__
from sklearn_ase.exceptions import JournalWarning, NewClassWarning, SurrogateWarning
from sklearn_ase.losses._losses import LOSSES

USAGE_ERROR = 64
_OUR_ERROR = 70  # An error of this package, not of the data.
_INTERRUPTED = 130

_METRICS = f"{METRICS}, or a name such as accuracy, f1, roc_auc, log_loss"
_COLUMNS: dict[str, Any] = {"nargs": "+", "default": [], "metavar": "COL"}
# Name, module, what it does, an example, and the function that adds its options.
_COMMANDS: list[tuple[str, str, str, str, Callable]] = []


def _command(module: str, words: str, example: str) -> Callable:
    """Register the function that adds the options of the command of its name."""

    def register(add_options: Callable) -> Callable:
        name = add_options.__name__.removeprefix("_")
        line = f"sklearn-ase {name} {example}"
        _COMMANDS.append((name, f"_commands_{module}", words, line, add_options))
        return add_options

    return register


# The options of each command; `add` is ``parser.add_argument``.


@_command("label", "show the columns of a file, to choose from", "pool.csv")
def _columns(add: Callable) -> None:
    _add_format(add, "--format")


@_command(
    "label",
    "start a campaign",
    "pool.csv --journal eval.jsonl --judge gpt4 --text question answer --labels "
    "correct wrong --metric share:correct",
)
def _start(add: Callable) -> None:
    add("--journal", required=True, help="a new file, in which every label is kept")
    _add_format(add, "--format")
    add("--text", **_COLUMNS, help="columns that people read in order to label a row")
    add("--judge", **_COLUMNS, help="columns with labels, or scores between 0 and 1")
    says = "what words of the judge mean, as in pass=correct fail=wrong"
    add("--judge-says", nargs="+", default=[], metavar="WORD=LABEL", help=says)
    add("--features", **_COLUMNS, help="columns to learn from, such as length or topic")
    add("--labels", nargs="+", default=[], help="every label there may be")
    _add_metric(add, "what to estimate")
    add("--loss", choices=sorted(LOSSES), help="what an error costs, if not the usual")
    add("--prediction", metavar="COL", help="column with the predictions of a model")
    add(
        "--proba", **_COLUMNS, help="columns with its probabilities, one for each label"
    )
    add("--weight", metavar="COL", help="how much each row counts")
    add("--cost", metavar="COL", help="what a label of each row costs")
    add("--known", metavar="COL", help="labels that are there already")
    train = "a file with rows that have labels, with the columns of --features"
    add("--train", metavar="FILE", help=train)
    _add_format(add, "--train-format")
    add("--train-label", metavar="COL", help="the column with the labels of --train")
    held_out = "--train has the predictions, too, by a model that did not see its label"
    add("--train-predictions", action="store_true", help=held_out)
    width = "enough labels: the interval at every look is at most this wide"
    add("--until-width", type=_positive, metavar="W", help=width)
    _add_level(add, "of the interval of --until-width (default 0.9)")
    plateau = "enough labels: the last 25 labels moved the estimate by at most this"
    add("--plateau", type=_positive, metavar="X", help=plateau)
    budget = "enough labels: their cost, or their number without --cost"
    add("--budget", type=_positive, metavar="B", help=budget)
    add("--max-labels", type=_count, metavar="N", help="enough labels: so many")
    add("--seed", type=int, help="a number that makes the picks repeatable")


@_command("label", "write rows to label", "eval.jsonl 20 --out batch.csv")
def _ask(add: Callable) -> None:
    add("n", type=_count, help="how many rows to label")
    add("--out", required=True, help="a new file: .csv, or .json for Label Studio")
    _add_show(add)
    add("--overwrite", action="store_true", help="replace the file if it exists")
    _add_more(add)


@_command("label", "read a sheet with labels", "eval.jsonl batch.csv")
def _tell(add: Callable) -> None:
    sheets = "a filled sheet (.csv), or an export of Label Studio (.json); if several "
    sheets += "people answered the same rows, all of their sheets"
    add("sheet", nargs="+", help=sheets)
    add("--correct", action="store_true", help="let it replace labels that differ")
    add("--skip", metavar="WORD", help="the word that means: nobody can tell")


@_command("label", "label rows here, in the terminal", "eval.jsonl 20")
def _annotate(add: Callable) -> None:
    add("n", type=_count, nargs="?", help="how many labels to give; default: until q")
    _add_show(add)
    estimate = "show the estimate so far; people may be led by it"
    add("--estimate", action="store_true", help=estimate)
    _add_more(add)


@_command("answer", "say how far a campaign is, with the estimate", "eval.jsonl")
def _status(add: Callable) -> None:
    _add_level(add)


@_command(
    "answer",
    "say how many labels a narrower interval will take",
    "eval.jsonl --width 0.1 0.05",
)
def _plan(add: Callable) -> None:
    width = "how wide the interval may be, from end to end"
    add("--width", type=_positive, nargs="+", required=True, metavar="W", help=width)
    _add_level(add)
    _add_method(add, "fixed")


@_command(
    "answer",
    "say whether a limit is met: exit code 0 yes, 1 no, 2 not decided yet",
    "eval.jsonl --at-least 0.8 --level 0.9",
)
def _check(add: Callable) -> None:
    add("--at-least", type=float, metavar="X", help="is the metric at least X?")
    add("--at-most", type=float, metavar="X", help="is the metric at most X?")
    _add_level(add)
    _add_method(add, "anytime")


@_command(
    "answer", "answer another question from the same labels", "eval.jsonl --by region"
)
def _estimate(add: Callable) -> None:
    _add_metric(add, "another metric")
    add("--by", metavar="COL", help="a table with one line for each value of a column")
    together = "intervals of --by that hold all at once, to look for the worst"
    add("--simultaneous", action="store_true", help=together)
    where = "only rows with this value; may be given several times"
    add("--where", action="append", default=[], metavar="COL=VALUE", help=where)
    population = (
        "also an interval for all rows that might come, of which the pool is a sample"
    )
    add("--population", action="store_true", help=population)
    alike = "for --population: rows with one value of this column may be alike"
    add("--groups", metavar="COL", help=alike)
    models = "compare models: two or more columns with predictions"
    add("--compare", **_COLUMNS, help=models)
    groups = "compare the rows of each value of this column, such as the system"
    add("--compare-by", metavar="COL", help=groups)
    add("--reference", metavar="NAME", help="compare all others to this one, too")
    _add_level(add)


@_command("answer", "say what each judge is worth", "eval.jsonl")
def _judges(add: Callable) -> None:
    _add_level(add)


@_command(
    "answer", "say how far people agree, if rows have several answers", "eval.jsonl"
)
def _agreement(add: Callable) -> None:
    _add_level(add)


@_command(
    "answer",
    "say whether the labels agree with what was expected of them",
    "eval.jsonl",
)
def _diagnose(add: Callable) -> None:
    """It has no options of its own."""


@_command(
    "answer",
    "write a report to send on; without --html and --md print it as Markdown",
    "eval.jsonl --html report.html --by region",
)
def _report(add: Callable) -> None:
    add("--html", metavar="FILE", help="a page that loads nothing from the network")
    add("--md", metavar="FILE", help="the same as Markdown; files are replaced")
    add("--by", **_COLUMNS, help="a table with one line for each value of a column")
    _add_metric(add, "other metrics from the same labels", nargs="+", default=[])
    models = "compare models by the first metric that needs predictions: columns"
    add("--compare", **_COLUMNS, help=models)
    groups = "compare the rows of each value of these columns, such as the system"
    add("--compare-by", **_COLUMNS, help=groups)
    alike = "rows with one value of this column may be alike: for the interval for new "
    add("--groups", metavar="COL", help=f"{alike}data")
    show = "columns to show of single rows; by default none, as a report is sent on"
    add("--show", **_COLUMNS, help=show)
    add("--title", help="stands at the top")
    _add_level(add)


def _add_format(add: Callable, name: str) -> None:
    words = f"of the file, if it is not found by itself: {', '.join(FORMS)}"
    add(name, choices=FORMS, metavar="FORMAT", help=words)


def _add_metric(add: Callable, words: str, **several) -> None:
    add("--metric", help=f"{words}: {_METRICS}", **several)
    add("--half", metavar="LABEL", help="a label that counts one half in a share")
    add("--pos-label", metavar="LABEL", help="the label that f1 and others are about")


def _add_show(add: Callable) -> None:
    show = "also show these columns, such as a judge; people may be led by what they "
    add("--show", **_COLUMNS, help=f"{show}see")
    add("--columns", **_COLUMNS, help="show these columns in place of those of --text")


def _add_more(add: Callable) -> None:
    words = "also if there are enough labels by what was said at the start"
    add("--more", action="store_true", help=words)


def _add_level(
    add: Callable, words: str = "of the intervals, between 0 and 1 (default 0.9)"
) -> None:
    add("--level", type=_share, default=0.9, help=words)


def _add_method(add: Callable, default: str) -> None:
    words = (
        "anytime: the interval may be looked at after every label; fixed: it is "
        "narrower, for one look at a number of labels that was chosen beforehand "
        f"(default {default})"
    )
    add("--method", choices=["anytime", "fixed"], default=default, help=words)


def _count(text: str) -> int:
    return _number(text, int, "a whole number above 0", lambda value: value >= 1)


def _positive(text: str) -> float:
    return _number(text, float, "a number above 0", lambda v: 0 < v < float("inf"))


def _share(text: str) -> float:
    return _number(text, float, "a number between 0 and 1", lambda v: 0 < v < 1)


def _number(text: str, kind: type, words: str, is_right: Callable) -> Any:
    """The number that a text says, if it is a right one."""
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not is_right(value):
        raise argparse.ArgumentTypeError(f"{text!r} must be {words}")
    return value


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and leave with code 64."""

    def error(self, message: str) -> None:
        # 2 is the code of a check that is not decided.
        print(f"sklearn-ase: {message}. See {self.prog} --help.", file=sys.stderr)
        self.exit(USAGE_ERROR)


def _make_parser() -> _Parser:
    """Return the parser of the command line."""
    examples = {name: example for name, _, _, example, _ in _COMMANDS}
    parser = _Parser(
        prog="sklearn-ase",
        description="From a CSV to a report: few labels by people, picked for you, and "
        "an estimate with an interval.",
        epilog=f"Example: {examples['start']}",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for name, module, words, example, add_options in _COMMANDS:
        command = commands.add_parser(
            name,
            help=words,
            description=words[:1].upper() + words[1:] + ".",
            epilog=f"Example: {example}",
        )
        command.set_defaults(module=module)
        if name in ("start", "columns"):
            pool = "a file .csv, .jsonl, .json, .parquet, or .eval of Inspect"
            command.add_argument("pool", help=pool)
        else:
            command.add_argument("journal", help="the journal of a campaign")
        add_options(command.add_argument)
        command.add_argument("--json", action="store_true", help="print JSON")
        debug = "show where errors arise"
        command.add_argument("--debug", action="store_true", help=debug)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # A terminal may lack some signs.
            stream.reconfigure(errors="backslashreplace")
    try:
        args = _make_parser().parse_args(argv)
    except SystemExit as end:  # --help, or wrong arguments.
        return int(end.code or 0)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = _run(args)
        _tell_warnings(caught)
        words = as_json(answer.values) if args.json else printable(answer.words)
        print(words, flush=True)
        return answer.exit_code
    except BrokenPipeError:  # The reader has closed, as head does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _failed("interrupted. What was recorded is kept.", _INTERRUPTED, args)
    except (ValueError, TypeError, OSError) as error:
        return _failed(message_of(error), USAGE_ERROR, args)
    except Exception as error:
        words = f"{type(error).__name__}: {message_of(error)}"
        words += " Run it again with --debug for details."
        return _failed(words, _OUR_ERROR, args)


def _run(args: argparse.Namespace) -> Answer:
    """Call the function of a command; only its modules are imported."""
    module = import_module(f"sklearn_ase._cli.{args.module}")
    return getattr(module, args.command)(args)


def _failed(message: str, code: int, args: argparse.Namespace) -> int:
    if args.debug:
        traceback.print_exc()
    _say(message)
    return code


def _tell_warnings(caught: list[warnings.WarningMessage]) -> None:
    """Print what the package warns of, each once."""
    kinds = JournalWarning, NewClassWarning, SurrogateWarning
    said = [
        message_of(each.message)
        for each in caught
        if issubclass(each.category, kinds) and isinstance(each.message, Warning)
    ]
    for message in dict.fromkeys(said):
        _say(f"note: {message}")


def _say(message: str) -> None:
    line = printable(" ".join(message.split()))
    print(f"sklearn-ase: {line}", file=sys.stderr)
