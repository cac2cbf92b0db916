"""The arguments of the command line."""

import argparse
import sys

from sklearn_ase._cli import _answers, _labelling, _printing, _reporting, _starting
from sklearn_ase._cli._metrics import FORMS
from sklearn_ase._version import __version__

USAGE_ERROR = 64
_EXAMPLES = {
    "start": "sklearn-ase start pool.csv --journal eval.jsonl --judge gpt4 "
    "--text question answer --labels correct wrong --metric share:correct",
    "ask": "sklearn-ase ask eval.jsonl 20 --out batch.csv",
    "tell": "sklearn-ase tell eval.jsonl batch.csv",
    "status": "sklearn-ase status eval.jsonl",
    "check": "sklearn-ase check eval.jsonl --at-least 0.8 --level 0.9",
    "estimate": "sklearn-ase estimate eval.jsonl --by region",
    "judges": "sklearn-ase judges eval.jsonl",
    "report": "sklearn-ase report eval.jsonl --html report.html --by region",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and leave with code 64."""

    def error(self, message):
        # 2 is the code of a check that is not decided.
        print(f"sklearn-ase: {message}. See {self.prog} --help.", file=sys.stderr)
        self.exit(USAGE_ERROR)


def make_parser():
    """Return the parser of the command line.

    Returns
    -------
    parser : argparse.ArgumentParser
        What it parses has ``run``, the function of the command, and ``words``, which
        turns its result into text.
    """
    parser = _Parser(
        prog="sklearn-ase",
        description="From a CSV to a number: few labels by people, picked for you, and "
        "an estimate with an interval.",
        epilog="Example: " + _EXAMPLES["start"],
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="command")
    _add_start(_command(commands, "start", "start a campaign", _starting.start))
    _add_ask(_command(commands, "ask", "write rows to label", _labelling.ask))
    _add_tell(_command(commands, "tell", "read a sheet with labels", _labelling.tell))
    how_far = "say how far a campaign is, with the estimate"
    _add_level(_command(commands, "status", how_far, _answers.status))
    limit = "say whether a limit is met: exit code 0 yes, 1 no, 2 not decided yet"
    _add_check(_command(commands, "check", limit, _answers.check))
    question = "answer another question from the same labels"
    _add_estimate(_command(commands, "estimate", question, _answers.estimate))
    worth = "say what each judge is worth"
    _add_level(_command(commands, "judges", worth, _answers.judges))
    page = "write a report to send on; without --html and --md print it as Markdown"
    _add_report(_command(commands, "report", page, _reporting.report))
    return parser


def _command(commands, name, words, run):
    parser = commands.add_parser(
        name,
        help=words,
        description=words[:1].upper() + words[1:] + ".",
        epilog=f"Example: {_EXAMPLES[name]}",
    )
    parser.set_defaults(run=run, words=getattr(_printing, f"of_{name}"))
    if name == "start":
        parser.add_argument("pool", help="a file .csv, .jsonl or .parquet")
    else:
        parser.add_argument("journal", help="the journal of a campaign")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--debug", action="store_true", help="show where errors arise")
    return parser


def _add_start(parser):
    add = parser.add_argument
    add("--journal", required=True, help="a new file, in which every label is kept")
    columns = {"nargs": "+", "default": [], "metavar": "COL"}
    add("--text", **columns, help="columns that people read in order to label a row")
    add("--judge", **columns, help="columns with labels, or scores between 0 and 1")
    add("--features", **columns, help="columns to learn from, such as length or topic")
    add("--labels", nargs="+", default=[], help="every label there may be")
    add("--metric", help=f"what to estimate: {FORMS}, accuracy, f1, roc_auc, ...")
    add("--half", metavar="LABEL", help="a label that counts one half in a share")
    add("--prediction", metavar="COL", help="column with the predictions of a model")
    add("--proba", **columns, help="columns with its probabilities, one for each label")
    add("--pos-label", metavar="LABEL", help="the label that f1 and others are about")
    add("--weight", metavar="COL", help="how much each row counts")
    add("--cost", metavar="COL", help="what a label of each row costs")
    add("--known", metavar="COL", help="labels that are there already")
    add("--seed", type=int, help="a number that makes the picks repeatable")


def _add_ask(parser):
    add = parser.add_argument
    add("n", type=_count, help="how many rows to label")
    add("--out", required=True, help="a new file: .csv, or .json for Label Studio")
    show = (
        "also show these columns, such as a judge; people may be led by what they see"
    )
    add("--show", nargs="+", default=[], metavar="COL", help=show)
    add("--overwrite", action="store_true", help="replace the file if it exists")


def _add_tell(parser):
    add = parser.add_argument
    add("sheet", help="a filled sheet (.csv), or an export of Label Studio (.json)")
    add("--correct", action="store_true", help="let it replace labels that differ")
    add("--skip", metavar="WORD", help="the word that means: nobody can tell")


def _add_check(parser):
    add = parser.add_argument
    add("--at-least", type=float, metavar="X", help="is the metric at least X?")
    add("--at-most", type=float, metavar="X", help="is the metric at most X?")
    _add_level(parser)
    method = (
        "anytime (default): valid however often you check; fixed: narrower, for one "
        "check after a number of labels that was chosen beforehand"
    )
    add("--method", choices=["anytime", "fixed"], default="anytime", help=method)


def _add_estimate(parser):
    add = parser.add_argument
    add("--metric", help=f"another metric: {FORMS}, accuracy, f1, ...")
    add("--half", metavar="LABEL", help="a label that counts one half in a share")
    add("--pos-label", metavar="LABEL", help="the label that f1 and others are about")
    add("--by", metavar="COL", help="a table with one line for each value of a column")
    where = "only rows with this value; may be given several times"
    add("--where", action="append", default=[], metavar="COL=VALUE", help=where)
    _add_level(parser)


def _add_report(parser):
    add = parser.add_argument
    add("--html", metavar="FILE", help="a page that loads nothing from the network")
    add("--md", metavar="FILE", help="the same as Markdown; files are replaced")
    columns = {"nargs": "+", "default": [], "metavar": "COL"}
    add("--by", **columns, help="a table with one line for each value of a column")
    metrics = f"other metrics from the same labels: {FORMS}, accuracy, f1, ..."
    add("--metric", nargs="+", default=[], help=metrics)
    add("--half", metavar="LABEL", help="a label that counts one half in a share")
    add("--pos-label", metavar="LABEL", help="the label that f1 and others are about")
    show = "columns to show of single rows; by default none, as a report is sent on"
    add("--show", **columns, help=show)
    add("--title", help="stands at the top")
    _add_level(parser)


def _add_level(parser):
    words = "of the intervals, between 0 and 1 (default 0.9)"
    parser.add_argument("--level", type=float, default=0.9, help=words)


def _count(text):
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number above 0")
    return number
