"""The options of each command."""

import argparse

from sklearn_ase._cli._metrics import FORMS as METRICS
from sklearn_ase._cli._pool_file import FORMS
from sklearn_ase.losses._lookup import LOSSES

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
