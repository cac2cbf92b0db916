"""Tables of results: kept as CSV files, printed as the documentation has them."""

from pathlib import Path

import numpy as np


def slashed(values):
    """Numbers with slashes between them, to two digits."""
    return " / ".join(map(_two_digits, values))


def _two_digits(value):
    if np.isnan(value):
        return "–"
    text = f"{value:.2f}" if value < 9.95 else f"{value:.0f}"
    return text.removeprefix("0").replace("-0.", "-.")


def print_table(names, rows):
    """Print a table in Markdown."""
    print(f"\n| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def add_arguments(parser):
    """Let a script read runs or a table of results, and write such a table."""
    parser.add_argument(
        "--out",
        required=True,
        help="directory of the runs, continued; or, with --report, a table of --save",
    )
    parser.add_argument("--report", action="store_true", help="only print the tables")
    parser.add_argument("--save", help="CSV file that gets a line for each figure")


def is_table(path):
    """Whether a path is a table of results and not a directory of runs."""
    return Path(path).suffix == ".csv"


def save(table, path):
    """Write a table of results, with as many digits as the pages need."""
    table.to_csv(path, index=False, float_format="%.6g")
