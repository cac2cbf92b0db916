"""What a report is made of. Blocks hold numbers and plain words, no markup."""

import math
from dataclasses import dataclass, field

import numpy as np

from sklearn_ase._report._text import number, plain, with_ends


@dataclass(frozen=True)
class Words:
    """A paragraph.

    Attributes
    ----------
    text : str
    is_missing : bool
        Whether it says why something is missing.
    """

    text: str
    is_missing: bool = False


@dataclass(frozen=True)
class Items:
    """A list of sentences.

    Attributes
    ----------
    texts : list of str
    """

    texts: list


@dataclass(frozen=True)
class Facts:
    """Names and what is said of each.

    Attributes
    ----------
    values : dict of str to str
    """

    values: dict


@dataclass(frozen=True)
class Range:
    """A number with its interval.

    Attributes
    ----------
    value, low, high : float
        The ends are NaN if there is no interval.
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def has_ends(self):
        """Whether there is an interval that can be drawn."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def is_known(self):
        """Whether the interval has shrunk to the number."""
        return self.low == self.high

    def __str__(self):
        return with_ends(self.value, self.low, self.high)


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    head : list of str
    rows : list of list
        Cells are texts, numbers or Range.
    drawn : int or None
        Column of Range that is also drawn, all on one scale.
    mark : float
        Drawn as a line across these; NaN for none.
    is_folded : bool
        Whether it repeats what a picture shows.
    """

    head: list
    rows: list
    drawn: int | None = None
    mark: float = math.nan
    is_folded: bool = False


@dataclass(frozen=True)
class Headline:
    """The number that the report is about.

    Attributes
    ----------
    name : str
        Of the metric.
    found : Range
        With the interval for one look.
    anytime : Range
        With the interval that may be looked at often.
    level : float
    """

    name: str
    found: Range
    anytime: Range
    level: float


@dataclass(frozen=True, eq=False)
class Curve:
    """The estimate as labels came.

    Attributes
    ----------
    name : str
    level : float
    columns : dict of str to ndarray of shape (n_points,)
        ``n_labels``, ``estimate``, ``low``, ``high``, ``anytime_low``,
        ``anytime_high``, ``refit``. Not finite where there is none.
    """

    name: str
    level: float
    columns: dict


@dataclass(frozen=True)
class Verdict:
    """What the diagnosis says.

    Attributes
    ----------
    verdict : {"good", "unsure", "bad"}
    advice : str
    """

    verdict: str
    advice: str


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    title : str
    blocks : list of blocks
    """

    title: str
    blocks: list = field(default_factory=list)


def cell_text(cell):
    """Return what stands in the cell of a table.

    Parameters
    ----------
    cell : str, int, float, Range or None

    Returns
    -------
    text : str
    """
    if cell is None:
        return ""
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return number(float(cell))
    return plain(cell)


def is_numeric(cell):
    """Return whether a cell holds a number.

    Parameters
    ----------
    cell : object

    Returns
    -------
    is_numeric : bool
    """
    kinds = int | float | np.number | Range
    return isinstance(cell, kinds) and not isinstance(cell, bool)
