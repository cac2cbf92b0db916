"""The options of each command."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from importlib import import_module

from sklearn_ase._cli._campaign import FORMS as METRICS
from sklearn_ase._cli._pool_file import FORMS
from sklearn_ase._cli._printing import as_json, printable, without_python
from sklearn_ase._version import __version__
from sklearn_ase.exceptions import JournalWarning, NewClassWarning, SurrogateWarning
from sklearn_ase.losses._losses import LOSSES

_METRICS = f"{METRICS}, or a name such as accuracy, f1, roc_auc, log_loss"


def add_columns(parser):
    """Options of ``columns``."""
    _add_format(parser, "--format")


def add_start(parser):
    """Options of ``start``."""
    add = parser.add_argument
    add("--journal", required=True, help="a new file, in which every label is kept")
    _add_format(parser, "--format")
    columns = {"nargs": "+", "default": [], "metavar": "COL"}
    add("--text", **columns, help="columns that people read in order to label a row")
    add("--judge", **columns, help="columns with labels, or scores between 0 and 1")
    words = {**columns, "metavar": "WORD=LABEL"}
    says = "what words of the judge mean, as in pass=correct fail=wrong"
    add("--judge-says", **words, help=says)
    add("--features", **columns, help="columns to learn from, such as length or topic")
    add("--labels", nargs="+", default=[], help="every label there may be")
    _add_metric(parser, "what to estimate")
    add("--loss", choices=sorted(LOSSES), help="what an error costs, if not the usual")
    add("--prediction", metavar="COL", help="column with the predictions of a model")
    add("--proba", **columns, help="columns with its probabilities, one for each label")
    add("--weight", metavar="COL", help="how much each row counts")
    add("--cost", metavar="COL", help="what a label of each row costs")
    add("--known", metavar="COL", help="labels that are there already")
    train = "a file with rows that have labels, with the columns of --features"
    add("--train", metavar="FILE", help=train)
    _add_format(parser, "--train-format")
    add("--train-label", metavar="COL", help="the column with the labels of --train")
    held_out = "--train has the predictions, too, by a model that did not see its label"
    add("--train-predictions", action="store_true", help=held_out)
    width = "enough labels: the interval at every look is at most this wide"
    add("--until-width", type=positive, metavar="W", help=width)
    level = "of the interval of --until-width (default 0.9)"
    add("--level", type=share, default=0.9, help=level)
    plateau = "enough labels: the last 25 labels moved the estimate by at most this"
    add("--plateau", type=positive, metavar="X", help=plateau)
    budget = "enough labels: their cost, or their number without --cost"
    add("--budget", type=positive, metavar="B", help=budget)
    add("--max-labels", type=count, metavar="N", help="enough labels: so many")
    add("--seed", type=int, help="a number that makes the picks repeatable")


def add_ask(parser):
    """Options of ``ask``."""
    add = parser.add_argument
    add("n", type=count, help="how many rows to label")
    add("--out", required=True, help="a new file: .csv, or .json for Label Studio")
    _add_show(parser)
    add("--overwrite", action="store_true", help="replace the file if it exists")
    _add_more(parser)


def add_tell(parser):
    """Options of ``tell``."""
    add = parser.add_argument
    sheets = "a filled sheet (.csv), or an export of Label Studio (.json); if several "
    sheets += "people answered the same rows, all of their sheets"
    add("sheet", nargs="+", help=sheets)
    add("--correct", action="store_true", help="let it replace labels that differ")
    add("--skip", metavar="WORD", help="the word that means: nobody can tell")


def add_annotate(parser):
    """Options of ``annotate``."""
    add = parser.add_argument
    add("n", type=count, nargs="?", help="how many labels to give; default: until q")
    _add_show(parser)
    estimate = "show the estimate so far; people may be led by it"
    add("--estimate", action="store_true", help=estimate)
    _add_more(parser)


def add_status(parser):
    """Options of ``status``."""
    _add_level(parser)


def add_plan(parser):
    """Options of ``plan``."""
    width = "how wide the interval may be, from end to end"
    parser.add_argument(
        "--width", type=positive, nargs="+", required=True, metavar="W", help=width
    )
    _add_level(parser)
    _add_method(parser, "fixed")


def add_check(parser):
    """Options of ``check``."""
    add = parser.add_argument
    add("--at-least", type=float, metavar="X", help="is the metric at least X?")
    add("--at-most", type=float, metavar="X", help="is the metric at most X?")
    _add_level(parser)
    _add_method(parser, "anytime")


def add_estimate(parser):
    """Options of ``estimate``."""
    add = parser.add_argument
    _add_metric(parser, "another metric")
    add("--by", metavar="COL", help="a table with one line for each value of a column")
    together = "intervals of --by that hold all at once, to look for the worst"
    add("--simultaneous", action="store_true", help=together)
    where = "only rows with this value; may be given several times"
    add("--where", action="append", default=[], metavar="COL=VALUE", help=where)
    more = (
        "also an interval for all rows that might come, of which the pool is a sample"
    )
    add("--population", action="store_true", help=more)
    alike = "for --population: rows with one value of this column may be alike"
    add("--groups", metavar="COL", help=alike)
    models = "compare models: two or more columns with predictions"
    add("--compare", nargs="+", default=[], metavar="COL", help=models)
    groups = "compare the rows of each value of this column, such as the system"
    add("--compare-by", metavar="COL", help=groups)
    add("--reference", metavar="NAME", help="compare all others to this one, too")
    _add_level(parser)


def add_judges(parser):
    """Options of ``judges``."""
    _add_level(parser)


def add_agreement(parser):
    """Options of ``agreement``."""
    _add_level(parser)


def add_diagnose(parser):
    """``diagnose`` has no options of its own."""


def add_report(parser):
    """Options of ``report``."""
    add = parser.add_argument
    add("--html", metavar="FILE", help="a page that loads nothing from the network")
    add("--md", metavar="FILE", help="the same as Markdown; files are replaced")
    columns = {"nargs": "+", "default": [], "metavar": "COL"}
    add("--by", **columns, help="a table with one line for each value of a column")
    _add_metric(parser, "other metrics from the same labels", nargs="+", default=[])
    models = "compare models by the first metric that needs predictions: columns"
    add("--compare", **columns, help=models)
    groups = "compare the rows of each value of these columns, such as the system"
    add("--compare-by", **columns, help=groups)
    alike = "rows with one value of this column may be alike: for the interval for new "
    alike += "data"
    add("--groups", metavar="COL", help=alike)
    show = "columns to show of single rows; by default none, as a report is sent on"
    add("--show", **columns, help=show)
    add("--title", help="stands at the top")
    _add_level(parser)


def _add_format(parser, name):
    words = f"of the file, if it is not found by itself: {', '.join(FORMS)}"
    parser.add_argument(name, choices=FORMS, metavar="FORMAT", help=words)


def _add_metric(parser, words, **several):
    add = parser.add_argument
    add("--metric", help=f"{words}: {_METRICS}", **several)
    add("--half", metavar="LABEL", help="a label that counts one half in a share")
    add("--pos-label", metavar="LABEL", help="the label that f1 and others are about")


def _add_show(parser):
    words = (
        "also show these columns, such as a judge; people may be led by what they see"
    )
    parser.add_argument("--show", nargs="+", default=[], metavar="COL", help=words)
    words = "show these columns in place of those of --text"
    parser.add_argument("--columns", nargs="+", default=[], metavar="COL", help=words)


def _add_more(parser):
    words = "also if there are enough labels by what was said at the start"
    parser.add_argument("--more", action="store_true", help=words)


def _add_level(parser):
    words = "of the intervals, between 0 and 1 (default 0.9)"
    parser.add_argument("--level", type=share, default=0.9, help=words)


def _add_method(parser, default):
    words = (
        "anytime: the interval may be looked at after every label; fixed: it is "
        "narrower, for one look at a number of labels that was chosen beforehand "
        f"(default {default})"
    )
    choices = ["anytime", "fixed"]
    parser.add_argument("--method", choices=choices, default=default, help=words)


def count(text):
    """A whole number above 0."""
    return _number(text, int, "a whole number above 0", lambda value: value >= 1)


def positive(text):
    """A finite number above 0."""
    return _number(text, float, "a number above 0", lambda v: 0 < v < float("inf"))


def share(text):
    """A number between 0 and 1."""
    return _number(text, float, "a number between 0 and 1", lambda v: 0 < v < 1)


def _number(text, kind, words, is_right):
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not is_right(value):
        raise argparse.ArgumentTypeError(f"{text!r} must be {words}")
    return value


# The arguments of the command line.


USAGE_ERROR = 64
# Each command: the module of its function, what it does, and an example.
_COMMANDS = {
    "columns": (
        "_columns",
        "show the columns of a file, to choose from",
        "sklearn-ase columns pool.csv",
    ),
    "start": (
        "_label",
        "start a campaign",
        "sklearn-ase start pool.csv --journal eval.jsonl --judge gpt4 --text question "
        "answer --labels correct wrong --metric share:correct",
    ),
    "ask": (
        "_label",
        "write rows to label",
        "sklearn-ase ask eval.jsonl 20 --out batch.csv",
    ),
    "tell": (
        "_label",
        "read a sheet with labels",
        "sklearn-ase tell eval.jsonl batch.csv",
    ),
    "annotate": (
        "_label",
        "label rows here, in the terminal",
        "sklearn-ase annotate eval.jsonl 20",
    ),
    "status": (
        "_answer",
        "say how far a campaign is, with the estimate",
        "sklearn-ase status eval.jsonl",
    ),
    "plan": (
        "_answer",
        "say how many labels a narrower interval will take",
        "sklearn-ase plan eval.jsonl --width 0.1 0.05",
    ),
    "check": (
        "_answer",
        "say whether a limit is met: exit code 0 yes, 1 no, 2 not decided yet",
        "sklearn-ase check eval.jsonl --at-least 0.8 --level 0.9",
    ),
    "estimate": (
        "_answer",
        "answer another question from the same labels",
        "sklearn-ase estimate eval.jsonl --by region",
    ),
    "judges": (
        "_answer",
        "say what each judge is worth",
        "sklearn-ase judges eval.jsonl",
    ),
    "agreement": (
        "_answer",
        "say how far people agree, if rows have several answers",
        "sklearn-ase agreement eval.jsonl",
    ),
    "diagnose": (
        "_answer",
        "say whether the labels agree with what was expected of them",
        "sklearn-ase diagnose eval.jsonl",
    ),
    "report": (
        "_answer",
        "write a report to send on; without --html and --md print it as Markdown",
        "sklearn-ase report eval.jsonl --html report.html --by region",
    ),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and leave with code 64."""

    def error(self, message):
        # 2 is the code of a check that is not decided.
        print(f"sklearn-ase: {message}. See {self.prog} --help.", file=sys.stderr)
        self.exit(USAGE_ERROR)


def make_parser():
    """Return the parser of the command line."""
    parser = _Parser(
        prog="sklearn-ase",
        description="From a CSV to a report: few labels by people, picked for you, and "
        "an estimate with an interval.",
        epilog="Example: " + _COMMANDS["start"][-1],
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for name, (module, words, example) in _COMMANDS.items():
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
        globals()[f"add_{name}"](command)
        command.add_argument("--json", action="store_true", help="print JSON")
        debug = "show where errors arise"
        command.add_argument("--debug", action="store_true", help=debug)
    return parser


# Run the command line: results on stdout, errors in one sentence on stderr.


_OUR_ERROR = 70  # An error of this package, not of the data.
_INTERRUPTED = 130


def main(argv: list[str] | None = None):
    """Run a command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # A terminal may lack some signs.
            stream.reconfigure(errors="backslashreplace")
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as end:  # --help, or wrong arguments.
        return end.code or 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = _run(args)
        _tell_warnings(caught)
        print(_words(result, args), flush=True)
        return result.get("exit_code", 0) if isinstance(result, dict) else 0
    except BrokenPipeError:  # The reader has closed, as head does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _failed("interrupted. What was recorded is kept.", _INTERRUPTED, args)
    except (ValueError, TypeError, OSError) as error:
        return _failed(_message(error), USAGE_ERROR, args)
    except Exception as error:
        words = f"{type(error).__name__}: {_message(error)}"
        words += " Run it again with --debug for details."
        return _failed(words, _OUR_ERROR, args)


def _run(args):
    """Call the function of a command; only its modules are imported."""
    module = import_module(f"sklearn_ase._cli.{args.module}")
    return getattr(module, args.command)(args)


def _words(result, args):
    if args.json:
        return as_json(result)
    printing = import_module("sklearn_ase._cli._printing")
    return printable(getattr(printing, f"of_{args.command}")(result))


def _failed(message, code, args):
    if args.debug:
        traceback.print_exc()
    _say(message)
    return code


def _message(error):
    """The words of an error, without those of Python."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.filename or 'file'}: {error.strerror}."
    # What to do about it may be in a note.
    return without_python(" ".join([words, *getattr(error, "__notes__", ())]))


def _tell_warnings(caught):
    """Print what the package warns of, each once."""
    kinds = JournalWarning, NewClassWarning, SurrogateWarning
    said = [str(each.message) for each in caught if issubclass(each.category, kinds)]
    for message in dict.fromkeys(said):
        _say(f"note: {message}")


def _say(message):
    line = printable(" ".join(message.split()))
    print(f"sklearn-ase: {line}", file=sys.stderr)
