"""Tables that print, that notebooks show and that pandas takes."""

import numpy as np

from sklearn_ase._utils._html import html_columns

# Names that a sentence lists.
_MOST_NAMES = 6


class ColumnTable(dict[str, np.ndarray]):
    """A dict of columns of one length, shown as a table.

    A subclass has ``caption``, a name and what follows it, and ``_cells()``, which
    returns the table as lists of texts, the names of the columns first.
    """

    caption = ("", "")

    def __str__(self):
        return "\n".join(aligned(self._cells()))

    __repr__ = __str__

    def _repr_html_(self):
        return html_columns(*self.caption, self._cells())


def aligned(rows):
    """Return the rows of a table as lines with aligned columns.

    Parameters
    ----------
    rows : list of list of str

    Returns
    -------
    lines : list of str
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def cell(value):
    """A value as the text of a cell; a number that is not known is an empty one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}" if np.isfinite(value) else ""
    return str(value)


def listed(names):
    if len(names) <= _MOST_NAMES:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    rest = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])} and {rest} more models"
