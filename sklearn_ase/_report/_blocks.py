"""Texts and numbers as a report shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._display import spelled_out

if TYPE_CHECKING:
    from typing import Any

LONGEST = 200


def plain(value: Any, limit: int = LONGEST):
    """Return a value as one line of text that does nothing but stand there.

    Control characters and those that change the direction of writing are spelled out,
    as in ``\x1b``. Blanks and ends of lines become one blank. Long texts are cut.
    """
    # A cell may hold a whole book.
    text = " ".join(str(value)[: 20 * limit].split())
    text = spelled_out(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def number(value: float, reach: float = math.nan) -> str:
    """Return a number as text, with as many decimals as it is known to."""
    if math.isnan(value):
        return ""
    is_plain = value == 0 or 1e-4 <= abs(value) < 1e7
    if not (is_plain and math.isfinite(reach) and reach > 1e-6):
        return f"{value:.4g}"
    text = f"{value:.{min(max(1 - math.floor(math.log10(reach)), 0), 8)}f}"
    return text if float(text) else text.removeprefix("-")


def with_ends(value: float, low: float, high: float) -> str:
    """Return a number with its interval as text."""
    if math.isnan(low) or math.isnan(high) or low == high:
        return number(value)
    return f"{number(value, _reach(low, high))} ({ends(low, high)})"


def ends(low: float, high: float, reach: float | None = None) -> str:
    """Return an interval as text."""
    reach = _reach(low, high) if reach is None else reach
    return f"{number(low, reach)} to {number(high, reach)}"


def counted(n: int, noun: str) -> str:
    """Return a number of things in words, as in ``1 label`` and ``2 labels``."""
    return f"{n} {noun}{'s' * (n != 1)}"


def percent(level: float) -> str:
    """Return a level in words, as in ``90 %``."""
    return f"{100 * level:g} %"


def roughly(proba: float) -> str:
    """Return a probability that is known roughly as text, never rounded to 0 or 1."""
    if 0 < proba < 0.01:
        return "<0.01"
    return ">0.99" if 0.99 < proba < 1 else f"{proba:.2f}"


def _reach(low, high):
    return 0.5 * (high - low)


# What a report is made of. Blocks hold numbers and plain words, no markup.


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


def cell_text(cell) -> str:
    """Return what stands in the cell of a table."""
    if cell is None:
        return ""
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return number(float(cell))
    return plain(cell)


def is_numeric(cell: Any) -> bool:
    """Return whether a cell holds a number."""
    kinds = int | float | np.number | Range
    return isinstance(cell, kinds) and not isinstance(cell, bool)
