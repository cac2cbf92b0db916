"""Blocks as Markdown."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from sklearn_ase._display._blocks import (
    Curve,
    Facts,
    Headline,
    Items,
    Table,
    Verdict,
    Words,
    cell_text,
    percent,
    sentence,
)

if TYPE_CHECKING:
    from sklearn_ase._evaluation._report import Report

# Signs that Markdown, or what shows it, would take for more than a text.
_SIGNS = re.compile(r"[\\`*_{}\[\]|~$#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def markdown(report: Report) -> str:
    """Return a report as Markdown."""
    parts = [f"# {_text(report.title)}"]
    for section in report.sections:
        parts.append(f"## {_text(section.title)}")
        parts += filter(None, map(_block, section.blocks))
    return "\n\n".join(parts) + "\n"


@singledispatch
def _block(block: Any) -> str:
    raise TypeError(f"{block!r} is not a block of a report.")


@_block.register
def _(block: Words) -> str:
    text = _text(block.text)
    return f"*{text}*" if block.is_missing else text


@_block.register
def _(block: Items) -> str:
    return "\n".join(f"- {_text(text)}" for text in block.texts)


@_block.register
def _(block: Facts) -> str:
    return "\n".join(f"- {_text(name)}: {_text(of)}" for name, of in block.pairs())


@_block.register
def _(block: Headline) -> str:
    found = block.found
    has_width = found.has_ends and not found.is_known
    level = f" ({percent(block.level)} interval)" if has_width else ""
    return f"**{_text(block.name)}: {found}**{level}"


@_block.register
def _(block: Curve) -> str:
    return ""  # A table with the same numbers follows.


@_block.register
def _(block: Verdict) -> str:
    return f"**{_text(block.verdict)}.** {_text(block.advice)}"


@_block.register
def _(block: Table) -> str:
    rules = ["--:" if is_number else "---" for is_number in block.are_numbers()]
    rows = [[_text(cell_text(cell)) for cell in row] for row in block.rows]
    lines = [[_text(name) for name in block.head], rules, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text: str) -> str:
    """A text in which nothing is markup."""
    text = _SIGNS.sub(r"\\\g<0>", sentence(text))
    text = re.sub("[&<>]", lambda sign: _ENTITIES[sign.group()], text)
    return _LINK.sub(r"\\\g<0>", text)
