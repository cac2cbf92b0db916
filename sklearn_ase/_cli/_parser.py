"""The arguments of the command line."""

import argparse
import sys

from sklearn_ase._cli import _options
from sklearn_ase._version import __version__

USAGE_ERROR = 64
# Each command: the module of its function, what it does, and an example.
_COMMANDS = {
    "columns": (
        "_columns_of",
        "show the columns of a file, to choose from",
        "sklearn-ase columns pool.csv",
    ),
    "start": (
        "_starting",
        "start a campaign",
        "sklearn-ase start pool.csv --journal eval.jsonl --judge gpt4 --text question "
        "answer --labels correct wrong --metric share:correct",
    ),
    "ask": (
        "_labelling",
        "write rows to label",
        "sklearn-ase ask eval.jsonl 20 --out batch.csv",
    ),
    "tell": (
        "_labelling",
        "read a sheet with labels",
        "sklearn-ase tell eval.jsonl batch.csv",
    ),
    "annotate": (
        "_annotating",
        "label rows here, in the terminal",
        "sklearn-ase annotate eval.jsonl 20",
    ),
    "status": (
        "_answers",
        "say how far a campaign is, with the estimate",
        "sklearn-ase status eval.jsonl",
    ),
    "plan": (
        "_planning",
        "say how many labels a narrower interval will take",
        "sklearn-ase plan eval.jsonl --width 0.1 0.05",
    ),
    "check": (
        "_planning",
        "say whether a limit is met: exit code 0 yes, 1 no, 2 not decided yet",
        "sklearn-ase check eval.jsonl --at-least 0.8 --level 0.9",
    ),
    "estimate": (
        "_answers",
        "answer another question from the same labels",
        "sklearn-ase estimate eval.jsonl --by region",
    ),
    "judges": (
        "_answers",
        "say what each judge is worth",
        "sklearn-ase judges eval.jsonl",
    ),
    "agreement": (
        "_answers",
        "say how far people agree, if rows have several answers",
        "sklearn-ase agreement eval.jsonl",
    ),
    "diagnose": (
        "_answers",
        "say whether the labels agree with what was expected of them",
        "sklearn-ase diagnose eval.jsonl",
    ),
    "report": (
        "_reporting",
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
    """Return the parser of the command line.

    Returns
    -------
    parser : argparse.ArgumentParser
        What it parses has ``command``, and ``module`` in which the function of the
        command is.
    """
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
        getattr(_options, f"add_{name}")(command)
        command.add_argument("--json", action="store_true", help="print JSON")
        debug = "show where errors arise"
        command.add_argument("--debug", action="store_true", help=debug)
    return parser
