"""Progress, warnings, signs that steer a terminal, and files written as a whole."""

from __future__ import annotations

import os
import sys
import time
import unicodedata
import warnings
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

    from sklearn_ase._utils._typing import StrPath


# Progress: a box in a notebook, a line in a terminal.


# Seconds between two pictures, which a notebook can keep up with.
_SECONDS = 0.1


@contextmanager
def progress(
    total: int, label: str, verbose: bool | int, keep: bool = True, start: int = 0
) -> Iterator[Callable]:
    """Draw a progress bar if `verbose` is true.

    A notebook shows one box below the cell, a terminal one line on stderr. Both are
    rewritten.
    """
    if not verbose:
        yield lambda done, text="": None
        return
    is_notebook = _is_notebook()
    draw = _box(label, keep) if is_notebook else _write_line
    began = drawn = time.monotonic()
    last = start, ""

    def show(done: int, text: str = "") -> None:
        nonlocal drawn, last
        now = time.monotonic()
        if done == last[0] or now - drawn > _SECONDS:
            left = ""
            if start < done < total:
                seconds = (now - began) * (total - done) / (done - start)
                left = f"{_in_words(seconds)} left"
            draw(label, done, total, left, text)
            drawn = now
        last = done, text

    show(start)
    try:
        yield show
    finally:
        done, text = last
        draw(label, done, total, _in_words(time.monotonic() - began), text)
        if not is_notebook:
            sys.stderr.write("\n" if keep else f"\r{'':<79}\r")


def track(iterable: Iterable, total: int, label: str, verbose: bool | int) -> Iterator:
    """Yield from `iterable`, with a progress bar if `verbose` is true."""
    with progress(total, label, verbose) as show:
        for done, item in enumerate(iterable, start=1):
            show(done)
            yield item


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs the code."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _in_words(seconds: float) -> str:
    for length, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _write_line(label: str, done: int, total: int, duration: str, text: str) -> None:
    line = ", ".join(filter(None, [f"{label}: {done}/{total}", duration, text]))
    sys.stderr.write(f"\r{line:<79}")  # Padded to cover a longer text.
    sys.stderr.flush()


def _box(label: str, keep: bool) -> Callable:
    """Return a function that rewrites one box below the cell."""
    from IPython import get_ipython
    from IPython.display import HTML

    box = _new_box() if keep else _box_of(get_ipython().execution_count, label)

    def draw(label: str, done: int, total: int, duration: str, text: str) -> None:
        html = (
            f'<div><progress value="{done}" max="{max(total, 1)}" '
            'style="width:12em;vertical-align:middle"></progress>&ensp;'
            f"<b>{escape(label)}: {done} of {total}</b>&ensp;{escape(text)}&ensp;"
            f'<span style="opacity:.7">{duration}</span></div>'
        )
        box.update(HTML(html))

    return draw


def _new_box() -> Any:
    from IPython.display import HTML, display

    return display(HTML(""), display_id=True)


@lru_cache(maxsize=16)
def _box_of(cell: int, label: str) -> Any:
    """The box for all bars of one label below a cell."""
    return _new_box()


# Characters that do more than stand in a text.


# These join or separate letters, as in Persian, Hindi and emoji.
_JOINERS = "\u200c\u200d"


def spelled_out(text: str, kept: str = "") -> str:
    """Return a text in which signs that steer how it is shown are spelled out."""
    kept += _JOINERS
    return "".join(
        sign if _is_shown(sign) or sign in kept else repr(sign)[1:-1] for sign in text
    )


def _is_shown(sign: str) -> bool:
    return sign.isprintable() or unicodedata.category(sign) == "Zs"


# Messages for Python and for the command line.


class Advice(str):
    """A message that ends with what to do in Python.

    The command line has other words for what to do. It finds them by the name `cure`.
    """

    problem: str
    cure: str | None

    def __new__(cls, problem: str, cure: str | None = None, in_python: str = ""):
        message = super().__new__(cls, f"{problem} {in_python}".rstrip())
        message.problem, message.cure = problem, cure
        return message


# Warnings that point at the user's code.


# scikit-learn calls fit through its callbacks, so these frames are skipped as well.
_INSIDE = ("sklearn_ase.", "sklearn.callback.")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the code that called the package."""
    frame: FrameType | None = sys._getframe()
    level = depth = 1
    # Look for the outermost frame of the package: in between it may call other code,
    # which calls the package again.
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_INSIDE):
            level = depth + 1
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=level)


# Files that are written whole.


def write_whole(path: StrPath, content: bytes) -> None:
    """Write a file so that it is never seen half written, even after a power cut."""
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
