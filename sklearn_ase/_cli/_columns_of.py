"""The command ``columns``: what a file offers."""

from sklearn_ase._cli._columns import as_label, as_number
from sklearn_ase._cli._pool_file import read_pool

_MOST_CHARACTERS = 40
_MOST_VALUES = 6


def columns(args):
    """Describe the columns of a file.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    found, form = read_pool(args.pool, args.format)
    return {
        "file": str(args.pool),
        "format": form,
        "rows": len(next(iter(found.values()))),
        "columns": [_described(name, cells) for name, cells in found.items()],
    }


def _described(name, cells):
    """How many cells are filled, and what stands in them."""
    filled = [cell for cell in cells if cell is not None]
    values = list(dict.fromkeys(map(as_label, filled)))
    numbers = [as_number(cell) for cell in filled]
    described = {"column": name, "filled": len(filled), "different": len(values)}
    if filled and len(values) <= _MOST_VALUES:
        what = ", ".join(map(_short, values))
    elif filled and all(number == number for number in numbers):
        what = f"numbers from {min(numbers):g} to {max(numbers):g}"
    else:
        what = _short(values[0]) if values else ""
    return described | {"holds": what}


def _short(text):
    line = " ".join(text.split())
    if len(line) <= _MOST_CHARACTERS:
        return line
    return line[: _MOST_CHARACTERS - 1] + "…"
