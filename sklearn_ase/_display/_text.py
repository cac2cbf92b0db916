"""Blocks as the lines of a terminal."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from sklearn_ase._display._blocks import (
    Facts,
    Table,
    Verdict,
    Words,
    cell_text,
    plain,
    sentence,
)


def text(*blocks: Any) -> str:
    """Return blocks as lines of text."""
    return "\n".join(line for block in blocks for line in _lines(block))


@singledispatch
def _lines(block: Any) -> list[str]:
    raise TypeError(f"{block!r} has no form for a terminal.")


@_lines.register
def _(block: Words) -> list[str]:
    return [sentence(block.text)]


@_lines.register
def _(block: Verdict) -> list[str]:
    return [sentence(f"verdict: {block.verdict}. {block.advice}")]


@_lines.register
def _(block: Facts) -> list[str]:
    return _aligned([list(pair) for pair in block.pairs()])


@_lines.register
def _(block: Table) -> list[str]:
    rows = [[cell_text(cell) for cell in row] for row in block.rows]
    return _aligned([[plain(name) for name in block.head], *rows])


def _aligned(rows: list[list[str]]) -> list[str]:
    """Lines whose columns begin below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
