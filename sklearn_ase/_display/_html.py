"""Blocks as HTML: small tables of a notebook, and the page of a report.

Pictures are SVG whose letters stay readable at every width: places along the width are
percentages, so a picture fills its column and no letter is scaled. Only bands and
curves are drawn in an inner picture that is stretched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import singledispatch
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._display._blocks import (
    Curve,
    Facts,
    Headline,
    Items,
    Range,
    Table,
    Verdict,
    Words,
    cell_text,
    ends,
    is_numeric,
    number,
    percent,
    plain,
    sentence,
)
from sklearn_ase._utils._typing import Floats
from sklearn_ase._version import __version__

if TYPE_CHECKING:
    from sklearn_ase._evaluation._report import Report

# Cells of a column are not broken if none is longer.
_SHORT = 30
# On a phone each row of a table that is wider, or has long texts, is a card.
_MOST_COLUMNS = 3
# Whatever a page holds, a browser loads nothing and runs nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# Words of scripts that are written from right to left.
_LETTERS = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_FROM_THE_RIGHT = re.compile(f"{_LETTERS}+(?:[ ,]+{_LETTERS}+)*")


# A notebook: one small table, with styles of its own.


def notebook(title: str, *blocks: Any) -> str:
    """Return blocks as HTML for a notebook; the first, a table, has the title."""
    first, *others = blocks
    title = f"<b>{escape(plain(title))}</b>"
    caption = f'<caption style="text-align:left">{title}</caption>'
    table = f"<table>{caption}{_notebook_rows(first)}</table>"
    return table + "".join(f"<p>{escape(sentence(block.text))}</p>" for block in others)


def _notebook_rows(block: Facts | Table) -> str:
    """The rows of a table in a notebook, numbers to the right."""
    if isinstance(block, Facts):
        # Long sentences are broken, names are not.
        name = ' style="text-align:left;white-space:nowrap;vertical-align:top"'
        text = ' style="text-align:left;max-width:44em"'
        return _rows(
            [("th", name, escape(key)), ("td", text, escape(value))]
            for key, value in block.pairs()
        )
    styles = [
        f' style="text-align:{"right" if is_number else "left"}"'
        for is_number in block.are_numbers()
    ]
    tags = ["th", *["td"] * len(block.rows)]
    return _rows(
        [
            (tag, style, escape(cell_text(cell)))
            for style, cell in zip(styles, row, strict=True)
        ]
        for tag, row in zip(tags, [block.head, *block.rows], strict=True)
    )


def _rows(rows: Iterable[list[tuple[str, str, str]]]) -> str:
    """Rows of a table; a cell is its tag, its attributes and its HTML."""
    lines = (
        "".join(f"<{tag}{attributes}>{html}</{tag}>" for tag, attributes, html in row)
        for row in rows
    )
    return "".join(f"<tr>{line}</tr>" for line in lines)


# The page of a report.


def page(report: Report) -> str:
    """Return a report as a whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(plain(report.title))}</title>\n"
        "<style>:root{color-scheme:light dark}body{margin:0;background:#fff}"
        "@media (prefers-color-scheme:dark){body{background:#14181e}}"
        "@media print{body{background:#fff}}</style>\n"
        f"</head>\n<body>\n{fragment(report)}\n</body>\n</html>\n"
    )


def fragment(report: Report) -> str:
    """Return a report as a part of a page."""
    sections = "\n".join(
        f"<section>\n<h2>{_text(section.title)}</h2>\n"
        + "\n".join(filter(None, map(_block, section.blocks)))
        + "\n</section>"
        for section in report.sections
    )
    return (
        f'<div class="ase-report">\n<style>{_style()}</style>\n'
        f"<header><h1>{_text(report.title)}</h1>\n"
        f'<p class="made">{_text(report.made)}</p></header>\n{sections}\n'
        f"<footer>Made with sklearn_ase {escape(__version__)}. This report loads "
        "nothing from the network.</footer>\n</div>"
    )


def _style() -> str:
    """How a report looks."""
    path = files("sklearn_ase._display") / "report.css"
    # A notebook has rules of its own for tables and lists; three times is stronger.
    return re.sub(
        r"\.ase-report (?!\{)",
        3 * ".ase-report" + " ",
        path.read_text(encoding="utf-8"),
    )


@singledispatch
def _block(block: Any) -> str:
    raise TypeError(f"{block!r} is not a block of a report.")


@_block.register
def _(block: Words) -> str:
    kind = ' class="missing"' if block.is_missing else ""
    return f"<p{kind}>{_text(block.text)}</p>"


@_block.register
def _(block: Items) -> str:
    return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in block.texts)}</ul>"


@_block.register
def _(block: Facts) -> str:
    pairs = block.pairs()
    body = "".join(f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in pairs)
    return f"<dl>{body}</dl>"


@_block.register
def _(block: Headline) -> str:
    found, sure = block.found, percent(block.level)
    value = number(found.value, found.reach) or "not known"
    interval, key, picture = "no interval", "", ""
    if found.is_known:
        interval = "known"
    elif found.has_ends:
        interval = f"{sure} interval {ends(found.low, found.high)}"
        picture = _strip(block)
        if block.anytime.has_ends:
            key = _key(thick="for one look", thin="for any number of looks")
    return (
        f'<div class="card"><div class="name">{_text(block.name)}</div>'
        f'<span class="value">{value}</span><span class="interval">{interval}</span>'
        f"{picture}{key}</div>"
    )


@_block.register
def _(block: Curve) -> str:
    columns = block.columns
    words = {"line": block.name}
    if np.isfinite(columns["low"]).any():
        words["band"] = f"{percent(block.level)} interval, for one look"
    if np.isfinite(columns["anytime_low"]).any():
        words["ends"] = "for any number of looks"
    if columns["refit"].any():
        words["refit"] = "surrogate fitted again"
    return f"<figure>{_curve(block)}{_key(**words)}</figure>"


@_block.register
def _(block: Verdict) -> str:
    kind = block.verdict if block.verdict in ("good", "unsure", "bad") else "unsure"
    words = f"<b>{_text(block.verdict.capitalize())}.</b> {_text(block.advice)}"
    return f'<p class="verdict {kind}">{words}</p>'


@_block.register
def _(block: Table) -> str:
    columns = list(zip(*block.rows, strict=True))
    kinds = ["", *map(_kind_of, columns[1:])]
    pictures = {}
    if block.drawn is not None:
        kinds[block.drawn] = "n drawn"
        axis = _axis_of(columns[block.drawn], block.mark)
        for line, cell in enumerate(columns[block.drawn]):
            pictures[line, block.drawn] = _bar(cell, axis, block.mark)
    styles = [f' class="{kind}"' if kind else "" for kind in kinds]
    head = [
        ("th", f' scope="col"{style}', _cell(name))
        for name, style in zip(block.head, styles, strict=True)
    ]
    # On a phone each cell says of which column it is.
    names = [f' data-name="{escape(plain(name))}"' for name in block.head]
    tags = [("th", ' scope="row"'), *[("td", name) for name in names[1:]]]
    lines = [
        [
            (tag, of + style, _cell(cell_text(cell)) + pictures.get((line, place), ""))
            for place, (cell, (tag, of), style) in enumerate(
                zip(row, tags, styles, strict=True)
            )
        ]
        for line, row in enumerate(block.rows)
    ]
    kind = " cards" if len(block.head) > _MOST_COLUMNS or "" in kinds[1:] else ""
    table = (
        f'<div class="scroll{kind}"><table><thead>{_rows([head])}</thead>'
        f"<tbody>{_rows(lines)}</tbody></table></div>"
    )
    if block.is_folded:
        return f"<details><summary>The numbers</summary>{table}</details>"
    return table


def _kind_of(cells: Iterable[Any]) -> str:
    """Numbers, short texts or others, for the style."""
    if all(map(is_numeric, cells)):
        return "n"
    return "" if any(len(cell_text(cell)) > _SHORT for cell in cells) else "short"


def _key(**words: str) -> str:
    """A legend: what each kind of line stands for."""
    parts = "".join(
        f'<span><i class="k-{kind}"></i>{_text(text)}</span>'
        for kind, text in words.items()
    )
    return f'<p class="key">{parts}</p>'


def _cell(text: str) -> str:
    """A cell; the browser finds out in which direction it is written."""
    text = escape(plain(text))
    return f"<bdi>{text}</bdi>" if re.search(_LETTERS, text) else text


def _text(text: str) -> str:
    """A sentence; words that are written from right to left stay where they are."""
    text = escape(sentence(text))
    text = re.sub(r"(?<=\d) %", "&nbsp;%", text)
    return _FROM_THE_RIGHT.sub(r"<bdi>\g<0></bdi>", text)


# Pictures.


# Percent of the width that is left free at both sides, for labels.
_LEFT, _RIGHT = 9.0, 2.0
_TOP, _HEIGHT = 14, 220
# With more points than that, no point is drawn by itself.
_MOST_DOTS = 40


class _Axis:
    """Numbers as places, in percent."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = (low, high) if high > low else (low - 0.5, low + 0.5)
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        """Place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def __call__(self, value: float) -> str:
        return f"{self.place(value):.2f}%"


def _picture(parts: list[str], height: float, title: str) -> str:
    return (
        f'<svg role="img" width="100%" height="{height}">'
        f"<title>{escape(plain(title))}</title>{''.join(parts)}</svg>"
    )


def _flat(kind: str, low: str, high: str, y: object) -> str:
    """A line from left to right."""
    return f'<line class="{kind}" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'


def _upright(kind: str, x: str, top: object, foot: object) -> str:
    """A line from top to bottom."""
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top}" y2="{foot}"/>'


def _circle(kind: str, x: str, y: object, radius: float) -> str:
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>'


def _centred(text: str, x: str, y: float) -> str:
    return f'<text class="centre" x="{x}" y="{y}">{text}</text>'


def _strip(headline: Headline) -> str:
    """The estimate and its two intervals on one axis."""
    found, anytime = headline.found, headline.anytime
    outer = anytime if anytime.has_ends else found
    low, high = min(found.low, outer.low), max(found.high, outer.high)
    ticks = _ticks(low, high)
    axis = _Axis(min(low, ticks[0]), max(high, ticks[-1]), 3.0, 97.0)
    parts = [_flat("axis", axis(axis.low), axis(axis.high), 44)]
    for tick in ticks:
        parts.append(_upright("axis", axis(tick), 44, 49))
        parts.append(_centred(_tick(tick, ticks), axis(tick), 64))
    if anytime.has_ends:
        parts.append(_flat("thin", axis(anytime.low), axis(anytime.high), 22))
    parts.append(_flat("thick", axis(found.low), axis(found.high), 22))
    parts.append(_circle("dot", axis(found.value), 22, 6))
    title = f"{number(found.value)}, interval {ends(found.low, found.high)}"
    return _picture(parts, 70, title)


def _axis_of(cells: Iterable[Range], mark: float) -> _Axis:
    """The axis of the intervals in a column of a table."""
    values = [v for cell in cells for v in (cell.value, cell.low, cell.high)]
    values = [v for v in (*values, mark) if math.isfinite(v)] or [0.0, 1.0]
    return _Axis(min(values), max(values), 4.0, 96.0)


def _bar(cell: Range, axis: _Axis, mark: float) -> str:
    """One interval of a table."""
    parts = [_upright("mark", axis(mark), 0, 18)] if math.isfinite(mark) else []
    if cell.has_ends:
        parts.append(_flat("whisker", axis(cell.low), axis(cell.high), 9))
    if math.isfinite(cell.value):
        parts.append(
            _circle("dot" if cell.has_ends else "open", axis(cell.value), 9, 4)
        )
    return _picture(parts, 18, str(cell))


def _curve(block: Curve) -> str:
    """The estimate as labels came."""
    columns = block.columns
    shown = _shown_values(columns)
    ticks = _ticks(shown.min(), shown.max())
    up = _Axis(min(ticks[0], shown.min()), max(ticks[-1], shown.max()), 100.0, 0.0)
    n_labels = columns["n_labels"].astype(float)
    along = _Axis(n_labels[0], n_labels[-1], _LEFT, 100.0 - _RIGHT)
    parts = []
    for tick in ticks:
        y = _height(up, tick)
        parts.append(_flat("grid", "0", "100%", f"{y:.1f}"))
        parts.append(f'<text x="0" y="{y - 4:.1f}">{_tick(tick, ticks)}</text>')
    parts.append(
        f'<svg x="0" y="{_TOP}" width="100%" height="{_HEIGHT}" viewBox="0 0 100 100" '
        f'preserveAspectRatio="none">{_stretched(columns, along, up)}</svg>'
    )
    if len(n_labels) <= _MOST_DOTS:
        parts += _dots(columns, along, up)
    bottom = _TOP + _HEIGHT
    for place in n_labels[columns["refit"].astype(bool)]:
        parts.append(_upright("refit", along(place), bottom - 5, bottom))
    for tick in _counts(n_labels[0], n_labels[-1]):
        parts.append(_centred(f"{tick:g}", along(tick), bottom + 18))
    parts.append(_centred("labels", "50%", bottom + 36))
    last = number(columns["estimate"][-1])
    title = f"{block.name} after each label, with {percent(block.level)} intervals"
    return _picture(parts, bottom + 42, f"{title}. The last estimate is {last}.")


def _height(up: _Axis, value: float) -> float:
    """How far from the top of the picture a number stands."""
    return _TOP + _HEIGHT * up.place(value) / 100


def _shown_values(columns: dict[str, Floats]) -> Floats:
    """All finite numbers of the picture.

    The first intervals are wide and say little. What they add to the height is limited,
    so that the others can be seen.
    """
    estimate = columns["estimate"]
    names = ("low", "high", "anytime_low", "anytime_high")
    all_ends = np.concatenate([columns[name] for name in names])
    all_ends = all_ends[np.isfinite(all_ends)]
    tail = slice(len(estimate) // 4, None)
    late = np.concatenate([columns[name][tail] for name in names])
    late = np.concatenate([late[np.isfinite(late)], estimate])
    span = np.ptp(late) or abs(late[-1]) or 1.0
    kept = np.clip(all_ends, late.min() - 0.25 * span, late.max() + 0.25 * span)
    return np.concatenate([late, kept])


def _stretched(columns: dict[str, Floats], along: _Axis, up: _Axis) -> str:
    """Band, ends and curve, in percent of the inner picture."""

    def drawn(tag: str, kind: str, xs: Floats, ys: Floats) -> str:
        places = (
            f"{along.place(x):.2f},{up.place(y):.2f}"
            for x, y in zip(xs, ys, strict=True)
        )
        return f'<{tag} class="{kind}" points="{" ".join(places)}"/>'

    n_labels, low, high = columns["n_labels"], columns["low"], columns["high"]
    parts = []
    for run in _runs(np.isfinite(low) & np.isfinite(high)):
        xs = np.concatenate([n_labels[run], n_labels[run][::-1]])
        ys = np.concatenate([high[run], low[run][::-1]])
        parts.append(drawn("polygon", "band", xs, ys))
    for values in (columns["anytime_low"], columns["anytime_high"]):
        for run in _runs(np.isfinite(values)):
            parts.append(drawn("polyline", "ends", n_labels[run], values[run]))
    parts.append(drawn("polyline", "line", n_labels, columns["estimate"]))
    return "".join(parts)


def _runs(is_there: np.ndarray) -> list[slice]:
    """Slices of the places that follow each other and are there."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_there.astype(int), [0]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def _dots(columns: dict[str, Floats], along: _Axis, up: _Axis) -> list[str]:
    """A point, and its interval, for each estimate."""
    parts = []
    names = ("n_labels", "estimate", "low", "high")
    for n_labels, value, low, high in zip(*map(columns.get, names), strict=True):
        x = along(n_labels)
        if math.isfinite(low) and math.isfinite(high):
            top, foot = f"{_height(up, high):.1f}", f"{_height(up, low):.1f}"
            parts.append(_upright("whisker", x, top, foot))
        parts.append(_circle("dot", x, f"{_height(up, value):.1f}", 3.5))
    return parts


def _ticks(low: float, high: float, n_steps: int = 4) -> list[float]:
    """A few round numbers from at most `low` to at least `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / n_steps
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * k for k in range(first, last + 1)]


def _tick(value: float, ticks: list[float]) -> str:
    """A number of an axis, with the decimals that its steps need."""
    step = ticks[1] - ticks[0]
    if not 1e-4 <= step < 1e6:
        return f"{value:.3g}"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # Steps of 2.5 need one more.
    decimals += abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6
    return f"{value:.{decimals}f}"


def _counts(first: float, last: float) -> list[float]:
    """Round label counts from the first to the last."""
    if last - first < 5:
        return sorted({int(first), int(last)})
    ticks = _ticks(first, last, 6)
    return [tick for tick in ticks if first <= tick <= last and tick == int(tick)]
