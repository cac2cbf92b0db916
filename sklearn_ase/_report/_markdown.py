"""Show a report as Markdown."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

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
    percent,
    plain,
)

if TYPE_CHECKING:
    from sklearn_ase._report._report import Report

# Signs that Markdown, or what shows it, would take for more than a text.
_SIGNS = re.compile(r"[\\`*_{}\[\]|~$#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_LONGEST_SENTENCE = 2000


def markdown(report: Report) -> str:
    """Return a report as Markdown."""
    parts = [f"# {_text(report.title)}"]
    for section in report.sections:
        parts.append(f"## {_text(section.title)}")
        parts += filter(None, map(_block, section.blocks))
    return "\n\n".join(parts) + "\n"


@singledispatch
def _block(block):
    raise TypeError(f"{block!r} is not a block of a report.")


@_block.register
def _(block: Words):
    text = _text(block.text)
    return f"*{text}*" if block.is_missing else text


@_block.register
def _(block: Items):
    return "\n".join(f"- {_text(text)}" for text in block.texts)


@_block.register
def _(block: Facts):
    return "\n".join(f"- {_text(k)}: {_text(v)}" for k, v in block.values.items())


@_block.register
def _(block: Headline):
    found = block.found
    has_width = found.has_ends and not found.is_known
    level = f" ({percent(block.level)} interval)" if has_width else ""
    return f"**{_text(block.name)}: {found}**{level}"


@_block.register
def _(block: Curve):
    return ""  # A table with the same numbers follows.


@_block.register
def _(block: Verdict):
    return f"**{_text(block.verdict)}.** {_text(block.advice)}"


@_block.register
def _(block: Table):
    columns = zip(*block.rows, strict=True)
    rules = ["--:" if all(map(is_numeric, cells)) else "---" for cells in columns]
    rows = [[_text(cell_text(cell)) for cell in row] for row in block.rows]
    lines = [[_text(name) for name in block.head], rules, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text):
    """A text in which nothing is markup."""
    text = _SIGNS.sub(r"\\\g<0>", plain(text, _LONGEST_SENTENCE))
    text = re.sub("[&<>]", lambda found: _ENTITIES[found.group()], text)
    return _LINK.sub(r"\\\g<0>", text)
