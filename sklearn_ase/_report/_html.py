"""Pictures of a report, as SVG that keeps its letters readable at every width.

Places along the width are percentages, so a picture fills its column and no letter is
scaled. A band is drawn in an inner picture that is stretched.
"""

from __future__ import annotations

import math
import re
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._report._blocks import (
    Curve,
    Facts,
    Headline,
    Items,
    Table,
    Verdict,
    Words,
    cell_text,
    ends,
    is_numeric,
    number,
    percent,
    plain,
)
from sklearn_ase._version import __version__

if TYPE_CHECKING:
    from sklearn_ase._report._blocks import Range
    from sklearn_ase._report._report import Report

# Percent of the width that is left free at both sides, for labels.
_LEFT, _RIGHT = 9.0, 2.0
_TOP, _HEIGHT = 14, 220
# With more points than that, no point is drawn by itself.
_MOST_DOTS = 40


def strip(headline: Headline) -> str:
    """Draw the estimate and its two intervals on one axis."""
    found, anytime = headline.found, headline.anytime
    outer = anytime if anytime.has_ends else found
    low, high = min(found.low, outer.low), max(found.high, outer.high)
    ticks = _ticks(low, high)
    axis = _Axis(min(low, ticks[0]), max(high, ticks[-1]), 3.0, 97.0)
    parts = [_line(axis, axis.low, axis.high, 44, "axis")]
    for tick in ticks:
        x = axis(tick)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="44" y2="49"/>')
        parts.append(f'<text class="centre" x="{x}" y="64">{_tick(tick, ticks)}</text>')
    if anytime.has_ends:
        parts.append(_line(axis, anytime.low, anytime.high, 22, "thin"))
    parts.append(_line(axis, found.low, found.high, 22, "thick"))
    parts.append(f'<circle class="dot" cx="{axis(found.value)}" cy="22" r="6"/>')
    title = f"{number(found.value)}, interval {ends(found.low, found.high)}"
    return _picture(parts, 70, title)


def bar(cell: Range, axis, mark: float = math.nan) -> str:
    """Draw one interval of a table."""
    parts = []
    if math.isfinite(mark):
        x = axis(mark)
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="0" y2="18"/>')
    if cell.has_ends:
        parts.append(_line(axis, cell.low, cell.high, 9, "whisker"))
    if math.isfinite(cell.value):
        kind = "dot" if cell.has_ends else "open"
        x = axis(cell.value)
        parts.append(f'<circle class="{kind}" cx="{x}" cy="9" r="4"/>')
    return _picture(parts, 18, str(cell))


def axis_of(cells, mark: float = math.nan):
    """Return the axis of the intervals in a column of a table."""
    values = [v for cell in cells for v in (cell.value, cell.low, cell.high)]
    values = [v for v in (*values, mark) if math.isfinite(v)] or [0.0, 1.0]
    return _Axis(min(values), max(values), 4.0, 96.0)


def curve(block: Curve) -> str:
    """Draw the estimate as labels came."""
    columns = block.columns
    shown = _shown_values(columns)
    ticks = _ticks(shown.min(), shown.max())
    up = _Axis(min(ticks[0], shown.min()), max(ticks[-1], shown.max()), 100.0, 0.0)
    n_labels = columns["n_labels"].astype(float)
    along = _Axis(n_labels[0], n_labels[-1], _LEFT, 100.0 - _RIGHT)
    parts = []
    for tick in ticks:
        y = _TOP + _HEIGHT * up.place(tick) / 100
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="0" y="{y - 4:.1f}">{_tick(tick, ticks)}</text>')
    inner = [
        _band(columns, "", along, up, "band"),
        _ends_line(columns, "anytime_low", along, up),
        _ends_line(columns, "anytime_high", along, up),
        _path(along, up, n_labels, columns["estimate"], "line"),
    ]
    box = f'x="0" y="{_TOP}" width="100%" height="{_HEIGHT}"'
    parts.append(
        f'<svg {box} viewBox="0 0 100 100" preserveAspectRatio="none">'
        f"{''.join(inner)}</svg>"
    )
    if len(n_labels) <= _MOST_DOTS:
        parts += _dots(columns, along, up)
    bottom = _TOP + _HEIGHT
    for place in n_labels[columns["refit"].astype(bool)]:
        x = along(place)
        parts.append(
            f'<line class="refit" x1="{x}" x2="{x}" y1="{bottom - 5}" y2="{bottom}"/>'
        )
    for tick in _counts(n_labels[0], n_labels[-1]):
        x, y = along(tick), bottom + 18
        parts.append(f'<text class="centre" x="{x}" y="{y}">{tick:g}</text>')
    parts.append(f'<text class="centre" x="50%" y="{bottom + 36}">labels</text>')
    last = number(columns["estimate"][-1])
    title = f"{block.name} after each label, with {percent(block.level)} intervals"
    return _picture(parts, bottom + 42, f"{title}. The last estimate is {last}.")


class _Axis:
    """Numbers as places, in percent."""

    def __init__(self, low, high, start, end):
        self.low, self.high = (low, high) if high > low else (low - 0.5, low + 0.5)
        self.start, self.end = start, end

    def place(self, value):
        """Place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def __call__(self, value):
        return f"{self.place(value):.2f}%"


def _picture(parts, height, title):
    return (
        f'<svg role="img" width="100%" height="{height}">'
        f"<title>{escape(plain(title))}</title>{''.join(parts)}</svg>"
    )


def _line(axis, low, high, y, kind):
    ends_of = f'x1="{axis(low)}" x2="{axis(high)}" y1="{y}" y2="{y}"'
    return f'<line class="{kind}" {ends_of}/>'


def _shown_values(columns):
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


def _path(along, up, xs, ys, kind):
    points = [
        f"{along.place(x):.2f},{up.place(y):.2f}" for x, y in zip(xs, ys, strict=True)
    ]
    return f'<polyline class="{kind}" points="{" ".join(points)}"/>'


def _runs(is_there):
    """Slices of the places that follow each other and are there."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_there.astype(int), [0]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def _band(columns, prefix, along, up, kind):
    n_labels = columns["n_labels"]
    low, high = columns[f"{prefix}low"], columns[f"{prefix}high"]
    parts = []
    for run in _runs(np.isfinite(low) & np.isfinite(high)):
        xs = np.concatenate([n_labels[run], n_labels[run][::-1]])
        ys = np.concatenate([high[run], low[run][::-1]])
        points = [
            f"{along.place(x):.2f},{up.place(y):.2f}"
            for x, y in zip(xs, ys, strict=True)
        ]
        parts.append(f'<polygon class="{kind}" points="{" ".join(points)}"/>')
    return "".join(parts)


def _ends_line(columns, name, along, up):
    values = columns[name]
    return "".join(
        _path(along, up, columns["n_labels"][run], values[run], "ends")
        for run in _runs(np.isfinite(values))
    )


def _dots(columns, along, up):
    """A point, and its interval, for each estimate."""
    parts = []
    points = zip(
        *(columns[name] for name in ("n_labels", "estimate", "low", "high")),
        strict=True,
    )
    for n_labels, value, low, high in points:
        x, y = along(n_labels), _TOP + _HEIGHT * up.place(value) / 100
        if math.isfinite(low) and math.isfinite(high):
            top, foot = (_TOP + _HEIGHT * up.place(end) / 100 for end in (high, low))
            parts.append(
                f'<line class="whisker" x1="{x}" x2="{x}" y1="{top:.1f}" '
                f'y2="{foot:.1f}"/>'
            )
        parts.append(f'<circle class="dot" cx="{x}" cy="{y:.1f}" r="3.5"/>')
    return parts


def _ticks(low, high, n_steps=4):
    """A few round numbers from at most `low` to at least `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / n_steps
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * k for k in range(first, last + 1)]


def _tick(value, ticks):
    step = ticks[1] - ticks[0]
    if not 1e-4 <= step < 1e6:
        return f"{value:.3g}"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # Steps of 2.5 need one more.
    decimals += abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6
    return f"{value:.{decimals}f}"


def _counts(first, last):
    """Round label counts from the first to the last."""
    if last - first < 5:
        return sorted({int(first), int(last)})
    ticks = _ticks(first, last, 6)
    return [tick for tick in ticks if first <= tick <= last and tick == int(tick)]


# How the page of a report looks: light or dark, on a phone, and printed.


_LIGHT = """--ink:#1c2430;--soft:#5a6675;--line:#dfe4ea;--paper:#fff;--card:#f5f7fa;
--main:#1f5fbf;--band:#1f5fbf2e;--good:#1a7a43;--unsure:#9a6200;--bad:#b3261e;
color-scheme:light"""
_DARK = """--ink:#e4e8ee;--soft:#9aa6b4;--line:#333c48;--paper:#14181e;--card:#1c222a;
--main:#7fb0ff;--band:#7fb0ff33;--good:#6fcf97;--unsure:#f2b84b;--bad:#ff8a80;
color-scheme:dark"""

# JupyterLab and VS Code have a theme of their own, which need not be the system's.
_THEMES = f"""
.ase-report{{{_LIGHT}}}
@media (prefers-color-scheme:dark){{.ase-report{{{_DARK}}}}}
:where([data-jp-theme-light=true],.vscode-light) .ase-report{{{_LIGHT}}}
:where([data-jp-theme-light=false],.vscode-dark) .ase-report{{{_DARK}}}"""

_LOOKS = """
.ase-report{color:var(--ink);background:var(--paper);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
box-sizing:border-box;max-width:56rem;margin:0 auto;padding:2.5rem 1.5rem 3rem;
text-align:left;overflow-wrap:anywhere}
.ase-report *{box-sizing:border-box}
.ase-report h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;
letter-spacing:-.015em;color:inherit}
.ase-report h2{font-size:1.2rem;line-height:1.3;margin:2.6rem 0 .8rem;
padding-top:1rem;border-top:1px solid var(--line);color:inherit}
.ase-report p{margin:.7rem 0;max-width:44rem}
.ase-report .made{color:var(--soft);margin:0 0 1.6rem;font-size:.9rem}
.ase-report section:first-of-type h2{position:absolute;width:1px;height:1px;
overflow:hidden;clip-path:inset(50%);margin:0;padding:0;border:0}
.ase-report .card{background:var(--card);border:1px solid var(--line);
border-radius:12px;padding:1.3rem 1.5rem 1rem;margin:0 0 1rem}
.ase-report .name{color:var(--soft);font-weight:600}
.ase-report .value{font-size:3.4rem;line-height:1.15;font-weight:700;
letter-spacing:-.03em;font-variant-numeric:tabular-nums;margin-right:.9rem}
.ase-report .interval{display:inline-block;font-size:1.1rem;
font-variant-numeric:tabular-nums}
.ase-report figure{margin:0}
.ase-report .key{color:var(--soft);font-size:.85rem;margin:.2rem 0 0}
.ase-report .key i{display:inline-block;vertical-align:middle;width:1.6rem;
margin:0 .4rem 0 0;border-top:2px solid var(--main)}
.ase-report .key i.k-thick{border-top-width:8px;border-radius:4px}
.ase-report .key i.k-band{border-top:.8rem solid var(--band)}
.ase-report .key i.k-ends{border-top-style:dashed;border-top-width:1.5px}
.ase-report .key i.k-refit{width:0;height:.6rem;border:0;
border-left:2px solid var(--soft)}
.ase-report .key span{margin-right:1.2rem;display:inline-block}
.ase-report svg{display:block;overflow:visible}
.ase-report svg text{fill:var(--soft);font-size:12px;font-family:inherit;
font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--paper);
stroke-width:3px}
.ase-report .card svg text{stroke:var(--card)}
.ase-report svg .centre{text-anchor:middle}
.ase-report svg .axis{stroke:var(--soft)}
.ase-report svg .grid{stroke:var(--line)}
.ase-report svg .thin{stroke:var(--main);stroke-width:2}
.ase-report svg .thick{stroke:var(--main);stroke-width:8;stroke-linecap:round;
opacity:.55}
.ase-report svg .whisker{stroke:var(--main);stroke-width:2}
.ase-report svg .mark{stroke:var(--soft);stroke-dasharray:2 2}
.ase-report svg .refit{stroke:var(--soft);stroke-width:2}
.ase-report svg .dot{fill:var(--main);stroke:var(--paper);stroke-width:1.5}
.ase-report svg .open{fill:none;stroke:var(--main);stroke-width:1.5}
.ase-report svg .band{fill:var(--band)}
.ase-report svg .line,.ase-report svg .ends{fill:none;stroke:var(--main);
stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.ase-report svg .ends{stroke-width:1.3;stroke-dasharray:4 4;opacity:.8}
.ase-report .scroll{overflow-x:auto;margin:1rem 0}
.ase-report table{border-collapse:collapse;table-layout:auto;width:100%;margin:0;
font-size:.92rem;color:inherit;background:none;border:0}
.ase-report tr{background:none}
.ase-report th,.ase-report td{padding:.45rem .8rem .45rem 0;text-align:left;
vertical-align:top;border:0;border-bottom:1px solid var(--line);min-width:3.5rem;
max-width:24rem;white-space:normal;overflow-wrap:break-word}
.ase-report th{color:var(--soft);font-weight:600;font-size:.85rem;
vertical-align:bottom}
.ase-report tbody th{vertical-align:top;color:inherit;font-size:inherit}
.ase-report .n{font-variant-numeric:tabular-nums}
.ase-report td.n,.ase-report td.short{white-space:nowrap}
.ase-report th.n:not(.drawn),.ase-report td.n:not(.drawn){text-align:right}
.ase-report .drawn{min-width:9.5rem;width:40%}
.ase-report dl{margin:1rem 0;display:grid;
grid-template-columns:minmax(9rem,15rem) 1fr;font-size:.95rem}
.ase-report dt,.ase-report dd{padding:.4rem 0;margin:0;float:none;width:auto;
border-bottom:1px solid var(--line)}
.ase-report dt{color:var(--soft);padding-right:1rem;font-weight:400}
.ase-report ul{padding-left:1.2rem;margin:.8rem 0}
.ase-report li{margin:.35rem 0;max-width:44rem}
.ase-report .missing{border-left:3px solid var(--unsure);padding:.2rem 0 .2rem .9rem}
.ase-report .verdict{border-left:4px solid var(--tone);background:var(--card);
border-radius:0 8px 8px 0;padding:.8rem 1.1rem}
.ase-report .verdict b{color:var(--tone)}
.ase-report .good{--tone:var(--good)}
.ase-report .unsure{--tone:var(--unsure)}
.ase-report .bad{--tone:var(--bad)}
.ase-report summary{cursor:pointer;color:var(--soft);font-size:.9rem;margin-top:.6rem}
.ase-report footer{color:var(--soft);font-size:.85rem;margin-top:2.5rem;
border-top:1px solid var(--line);padding-top:1rem}
@media (max-width:34rem){.ase-report{padding:1.4rem 1rem 2rem}
.ase-report h1{font-size:1.5rem}.ase-report .value{font-size:2.7rem}
.ase-report .card{padding:1rem}
.ase-report dl{display:block}.ase-report dt{border:0;padding:.5rem 0 0}
.ase-report dd{padding:.1rem 0 .5rem}
.ase-report .cards thead{display:none}
.ase-report .cards tr,.ase-report .cards th,.ase-report .cards td{display:block}
.ase-report .cards tr{border-bottom:1px solid var(--line);padding:.5rem 0}
.ase-report .cards th,.ase-report .cards td,.ase-report .cards td.drawn{border:0;
padding:.1rem 0;max-width:none;width:auto;white-space:normal;overflow-wrap:anywhere}
.ase-report .cards td:not(.drawn){display:grid;grid-template-columns:7rem 1fr;
gap:.6rem}
.ase-report .cards td,.ase-report .cards td.n:not(.drawn){text-align:left}
.ase-report .cards td::before{content:attr(data-name);color:var(--soft);
font-size:.85rem}
.ase-report .cards td.drawn::before{display:block}
.ase-report .cards td:not(.drawn):empty{display:none}}
@media print{.ase-report{--ink:#000;--soft:#444;--line:#ccc;--paper:#fff;--card:#fff;
--main:#1f5fbf;--band:#1f5fbf2e;--good:#1a7a43;--unsure:#9a6200;--bad:#b3261e;
color-scheme:light;padding:0;max-width:none;font-size:10.5pt;
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.ase-report h2{break-after:avoid}
.ase-report .card,.ase-report .verdict,.ase-report figure,.ase-report tr,
.ase-report dt,.ase-report dd,.ase-report li{break-inside:avoid}
.ase-report .scroll{overflow:visible}.ase-report details{display:none}}
@page{margin:16mm}
"""

# A notebook has rules of its own for tables and lists; three times is stronger.
STYLE = _THEMES + _LOOKS.replace(".ase-report ", 3 * ".ase-report" + " ")


# Show a report as HTML: a page of its own, or a part of a notebook.


_LONGEST_SENTENCE = 2000
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
        f'<div class="ase-report">\n<style>{STYLE}</style>\n'
        f"<header><h1>{_text(report.title)}</h1>\n"
        f'<p class="made">{_text(report.made)}</p></header>\n{sections}\n'
        f"<footer>Made with sklearn_ase {escape(__version__)}. This report loads "
        "nothing from the network.</footer>\n</div>"
    )


@singledispatch
def _block(block):
    raise TypeError(f"{block!r} is not a block of a report.")


@_block.register
def _(block: Words):
    kind = ' class="missing"' if block.is_missing else ""
    return f"<p{kind}>{_text(block.text)}</p>"


@_block.register
def _(block: Items):
    return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in block.texts)}</ul>"


@_block.register
def _(block: Facts):
    pairs = block.values.items()
    body = "".join(f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in pairs)
    return f"<dl>{body}</dl>"


@_block.register
def _(block: Headline):
    found, sure = block.found, percent(block.level)
    value = number(found.value, 0.5 * (found.high - found.low)) or "not known"
    interval, key, picture = "no interval", "", ""
    if found.is_known:
        interval = "known"
    elif found.has_ends:
        interval = f"{sure} interval {ends(found.low, found.high)}"
        picture = strip(block)
        if block.anytime.has_ends:
            key = _key(thick="for one look", thin="for any number of looks")
    return (
        f'<div class="card"><div class="name">{_text(block.name)}</div>'
        f'<span class="value">{value}</span><span class="interval">{interval}</span>'
        f"{picture}{key}</div>"
    )


@_block.register
def _(block: Curve):
    columns = block.columns
    words = {"line": block.name}
    if np.isfinite(columns["low"]).any():
        words["band"] = f"{percent(block.level)} interval, for one look"
    if np.isfinite(columns["anytime_low"]).any():
        words["ends"] = "for any number of looks"
    if columns["refit"].any():
        words["refit"] = "surrogate fitted again"
    return f"<figure>{curve(block)}{_key(**words)}</figure>"


@_block.register
def _(block: Verdict):
    kind = block.verdict if block.verdict in ("good", "unsure", "bad") else "unsure"
    words = f"<b>{_text(block.verdict.capitalize())}.</b> {_text(block.advice)}"
    return f'<p class="verdict {kind}">{words}</p>'


@_block.register
def _(block: Table):
    columns = list(zip(*block.rows, strict=True))
    kinds = ["", *map(_kind_of, columns[1:])]
    pictures = {}
    if block.drawn is not None:
        kinds[block.drawn] = "n drawn"
        axis = axis_of(columns[block.drawn], block.mark)
        drawn = [bar(cell, axis, block.mark) for cell in columns[block.drawn]]
        pictures = {(line, block.drawn): svg for line, svg in enumerate(drawn)}
    head = "".join(
        f'<th scope="col"{_kind(kind)}>{_cell(name)}</th>'
        for name, kind in zip(block.head, kinds, strict=True)
    )
    lines = []
    for line, row in enumerate(block.rows):
        cells = []
        for place, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
            text = _cell(cell_text(cell)) + pictures.get((line, place), "")
            tag, of = "td", f'data-name="{escape(plain(block.head[place]))}"'
            if not place:
                tag, of = "th", 'scope="row"'
            cells.append(f"<{tag} {of}{_kind(kind)}>{text}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    is_wide = len(block.head) > _MOST_COLUMNS or "" in kinds[1:]
    kind = " cards" * is_wide
    table = (
        f'<div class="scroll{kind}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    if block.is_folded:
        return f"<details><summary>The numbers</summary>{table}</details>"
    return table


def _kind_of(cells):
    """Numbers, short texts or others, for the style."""
    if all(map(is_numeric, cells)):
        return "n"
    return "" if any(len(cell_text(cell)) > _SHORT for cell in cells) else "short"


def _kind(kind):
    return f' class="{kind}"' if kind else ""


def _key(**words):
    """A legend: what each kind of line stands for."""
    parts = "".join(
        f'<span><i class="k-{kind}"></i>{_text(text)}</span>'
        for kind, text in words.items()
    )
    return f'<p class="key">{parts}</p>'


def _cell(text):
    """A cell; the browser finds out in which direction it is written."""
    text = escape(plain(text))
    return f"<bdi>{text}</bdi>" if re.search(_LETTERS, text) else text


def _text(text):
    """A sentence; words that are written from right to left stay where they are."""
    text = escape(plain(text, _LONGEST_SENTENCE))
    text = re.sub(r"(?<=\d) %", "&nbsp;%", text)
    return _FROM_THE_RIGHT.sub(r"<bdi>\g<0></bdi>", text)
