"""Show a report as HTML: a page of its own, or a part of a notebook."""

from __future__ import annotations

import re
from functools import singledispatch
from html import escape

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
    is_numeric,
)
from sklearn_ase._report._style import STYLE
from sklearn_ase._report._svg import axis_of, bar, curve, strip
from sklearn_ase._report._text import ends, number, percent, plain
from sklearn_ase._version import __version__

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


def page(report):
    """Return a report as a whole page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    html : str
    """
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


def fragment(report):
    """Return a report as a part of a page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    html : str
    """
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
