"""What tables, notebooks and reports show: numbers as text, and blocks without markup.

Whoever has something to show makes blocks. ``_text`` shows them in a terminal,
``_html`` in a notebook and in the page of a report, ``_markdown`` in its Markdown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_ase._utils._display import spelled_out

_LONGEST_CELL = 200
_LONGEST_SENTENCE = 2000


def plain(value: Any, limit: int = _LONGEST_CELL) -> str:
    """Return a value as one line of text that does nothing but stand there.

    Control characters and those that change the direction of writing are spelled out,
    as in ``\x1b``. Blanks and ends of lines become one blank. Long texts are cut.
    """
    # A cell may hold a whole book.
    text = " ".join(str(value)[: 20 * limit].split())
    text = spelled_out(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def sentence(value: Any) -> str:
    """Return a value as one line of text that may be as long as a paragraph."""
    return plain(value, _LONGEST_SENTENCE)


def number(value: float, reach: float = math.nan) -> str:
    """Return a number as text, with as many decimals as it is known to."""
    if math.isnan(value):
        return ""
    is_plain = value == 0 or 1e-4 <= abs(value) < 1e7
    if not (is_plain and math.isfinite(reach) and reach > 1e-6):
        return f"{value:.4g}"
    text = f"{value:.{min(max(1 - math.floor(math.log10(reach)), 0), 8)}f}"
    return text if float(text) else text.removeprefix("-")


def ends(low: float, high: float, reach: float | None = None) -> str:
    """Return an interval as text."""
    reach = 0.5 * (high - low) if reach is None else reach
    return f"{number(low, reach)} to {number(high, reach)}"


def counted(n: int, noun: str) -> str:
    """Return a number of things in words, as in ``1 label`` and ``2 labels``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def percent(level: float) -> str:
    """Return a level in words, as in ``90 %``."""
    return f"{100 * level:g} %"


def roughly(proba: float) -> str:
    """Return a probability that is known roughly as text, never rounded to 0 or 1."""
    if 0 < proba < 0.01:
        return "<0.01"
    return ">0.99" if 0.99 < proba < 1 else f"{proba:.2f}"


@dataclass(frozen=True)
class Words:
    """A paragraph, which may say why something is missing."""

    text: str
    is_missing: bool = False


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    texts: list[str]


@dataclass(frozen=True)
class Facts:
    """Names and what is said of each; those without a text are not shown."""

    values: dict[str, Any]

    def pairs(self) -> list[tuple[str, str]]:
        """Names and texts to show."""
        texts = {name: sentence(value) for name, value in self.values.items()}
        return [(sentence(name), text) for name, text in texts.items() if text]


@dataclass(frozen=True)
class Range:
    """A number with its interval; the ends are NaN if there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def reach(self) -> float:
        """Half the width of the interval."""
        return 0.5 * (self.high - self.low)

    @property
    def has_ends(self) -> bool:
        """Whether there is an interval that can be drawn."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def is_known(self) -> bool:
        """Whether the interval has shrunk to the number."""
        return self.low == self.high

    def __str__(self) -> str:
        if math.isnan(self.low) or math.isnan(self.high) or self.is_known:
            return number(self.value)
        return f"{number(self.value, self.reach)} ({ends(self.low, self.high)})"


@dataclass(frozen=True)
class Table:
    """A table whose cells are texts, numbers or Range.

    Attributes
    ----------
    head : list of str
    rows : list of list
    drawn : int or None
        Column of Range that a page also draws, all on one scale.
    mark : float
        Drawn as a line across these; NaN for none.
    is_folded : bool
        Whether it repeats what a picture shows.
    """

    head: list[str]
    rows: list[list]
    drawn: int | None = None
    mark: float = math.nan
    is_folded: bool = False

    def turned(self) -> Table:
        """The table with its rows as columns."""
        head, *rows = map(list, zip(self.head, *self.rows, strict=True))
        return Table(head, rows)

    def are_numbers(self) -> list[bool]:
        """Whether each column holds numbers only."""
        if not self.rows:
            return [False] * len(self.head)
        columns = zip(*self.rows, strict=True)
        return [all(map(is_numeric, cells)) for cells in columns]


@dataclass(frozen=True)
class Headline:
    """The number that a report is about, with its interval for one look and for any."""

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
    columns: dict[str, np.ndarray]


@dataclass(frozen=True)
class Verdict:
    """What the diagnosis says: "good", "unsure" or "bad", and what to do."""

    verdict: str
    advice: str


@dataclass(frozen=True)
class Section:
    """A part of a report: its title, and blocks."""

    title: str
    blocks: list = field(default_factory=list)


def cell_text(cell: Any) -> str:
    """Return what stands in the cell of a table; an unknown number is empty."""
    if cell is None:
        return ""
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return number(float(cell)) if np.isfinite(cell) else ""
    return plain(cell)


def is_numeric(cell: Any) -> bool:
    """Return whether a cell holds a number."""
    kinds = int | float | np.number | Range
    return isinstance(cell, kinds) and not isinstance(cell, bool)
