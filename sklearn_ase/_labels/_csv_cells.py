"""Cells of a ledger's table: labels and numbers as text that spreadsheets keep."""

import math
import re
from itertools import islice

KINDS = ("bool", "float", "int", "str")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_SIGN = "'"
# Spreadsheets take such texts for formulas, numbers, dates or truth values.
_AT_RISK = re.compile(r"[=+\-@\t\r\n'.\d]|(true|false)$", re.IGNORECASE)
_EXACT = 2**53  # Greater whole numbers are rounded when they are written as 1E+16.


def label_cell(label):
    """Return a label as the content of a cell.

    Parameters
    ----------
    label : bool, int, float or str

    Returns
    -------
    cell : bool, int, float or str
        Text that a spreadsheet could change starts with an apostrophe.
    """
    is_at_risk = isinstance(label, str) and _AT_RISK.match(label)
    return _SIGN + label if is_at_risk else label


def read_label(text, kind):
    """Return the label in a cell.

    Parameters
    ----------
    text : str
    kind : {"bool", "float", "int", "str"}

    Returns
    -------
    label : bool, int, float or str
    """
    if kind == "str":
        return text.removeprefix(_SIGN)
    if kind == "int":
        return read_whole(text, "label", least=-math.inf)
    if kind == "bool":
        if text.casefold() not in _TRUTH:
            raise ValueError(f"label {text!r} is not True or False.")
        return _TRUTH[text.casefold()]
    label = read_number(text, "label")
    if not isinstance(label, float) or not math.isfinite(label):
        raise ValueError(f"label {text!r} is not a finite number.")
    return label


def read_whole(text, name, least=0):
    """Return the whole number in a cell; `name` is that of its column."""
    try:
        number = int(text)
    except ValueError:  # Spreadsheets may write 3 as 3.0.
        number = _float(text)
        is_exact = number.is_integer() and abs(number) <= _EXACT
        number = int(number) if is_exact else math.nan
    if not number >= least:
        kind = "a whole number" if least < 0 else f"a whole number from {least}"
        raise ValueError(f"{name} is {text!r}, but must be {kind}.")
    return number


def read_number(text, name):
    """Return a number, or a list of numbers, as ``repr`` writes them."""
    parts = text[1:-1].split(",") if text.startswith("[") else [text]
    numbers = [_float(part) for part in parts]
    is_wrong = [
        n != n and p.strip() != "nan" for n, p in zip(numbers, parts, strict=True)
    ]
    if any(is_wrong):
        raise ValueError(f"{name} is {text!r}, but must be a number.")
    return numbers if text.startswith("[") else numbers[0]


def check_places(name, places):
    """Refuse positions that are not 1, 2, ... in some order.

    Parameters
    ----------
    name : str
        Of their column.
    places : list of int
    """
    last = max([*places, len(places)])
    found = {*places}
    missing = [*islice((n for n in range(1, last + 1) if n not in found), 5)]
    if missing:  # Also if one is there twice, or is greater than all places.
        raise ValueError(
            f"The column {name} must have each of 1 to {last} once, but {missing} are "
            "missing."
        )


def _float(text):
    try:
        return float(text)
    except ValueError:
        return math.nan
