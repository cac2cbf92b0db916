"""Tables that print, that notebooks show and that pandas takes."""

from html import escape

import numpy as np


class ColumnTable(dict):
    """A dict of columns of one length, shown as a table.

    A subclass has ``caption``, a name and what follows it, and ``_cells()``, which
    returns the table as lists of texts, the names of the columns first.
    """

    caption = ("", "")

    def __str__(self):
        return "\n".join(aligned(self._cells()))

    __repr__ = __str__

    def _repr_html_(self):
        head, *rows = self._cells()
        names = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in rows
        )
        name, rest = self.caption
        caption = f"<caption><b>{escape(name)}</b>{escape(rest)}</caption>"
        return f"<table>{caption}<tr>{names}</tr>{body}</table>"


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
    """A value as the text of a cell; NaN is an empty one."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)
