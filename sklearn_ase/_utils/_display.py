"""Draw a progress bar: a box in a notebook, a line in a terminal."""

import sys
import time
from contextlib import contextmanager
from functools import lru_cache
from html import escape

# Seconds between two pictures, which a notebook can keep up with.
_SECONDS = 0.1


@contextmanager
def progress(total, label, verbose, keep=True, start=0):
    """Draw a progress bar if `verbose` is true.

    A notebook shows one box below the cell, a terminal one line on stderr. Both are
    rewritten.

    Parameters
    ----------
    total : int
        Number of steps.
    label : str
        Text before the bar.
    verbose : bool or int
    keep : bool, default=True
        Whether the bar stays when it is full. If not, a terminal removes it, and a
        notebook draws the next bar with this label in the same box.
    start : int, default=0
        Number of steps that are finished already.

    Yields
    ------
    show : callable
        ``show(done, text)`` draws that `done` steps are finished, with a short text
        after the bar. If `done` did not change, the text is redrawn at once.
    """
    if not verbose:
        yield lambda done, text="": None
        return
    is_notebook = _is_notebook()
    draw = _box(label, keep) if is_notebook else _write_line
    began = drawn = time.monotonic()
    last = start, ""

    def show(done, text=""):
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


def say(text, verbose):
    """Write a line on stderr if `verbose` is true."""
    if verbose:
        sys.stderr.write(f"{text}\n")


def track(iterable, total, label, verbose):
    """Yield from `iterable`, with a progress bar if `verbose` is true."""
    with progress(total, label, verbose) as show:
        for done, item in enumerate(iterable, start=1):
            show(done)
            yield item


def _is_notebook():
    """Whether a kernel of Jupyter runs the code."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _in_words(seconds):
    for length, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _write_line(label, done, total, duration, text):
    line = ", ".join(filter(None, [f"{label}: {done}/{total}", duration, text]))
    sys.stderr.write(f"\r{line:<79}")  # Padded to cover a longer text.
    sys.stderr.flush()


def _box(label, keep):
    """Return a function that rewrites one box below the cell."""
    from IPython import get_ipython
    from IPython.display import HTML

    box = _new_box() if keep else _box_of(get_ipython().execution_count, label)

    def draw(label, done, total, duration, text):
        html = (
            f'<div><progress value="{done}" max="{max(total, 1)}" '
            'style="width:12em;vertical-align:middle"></progress>&ensp;'
            f"<b>{escape(label)}: {done} of {total}</b>&ensp;{escape(text)}&ensp;"
            f'<span style="opacity:.7">{duration}</span></div>'
        )
        box.update(HTML(html))

    return draw


def _new_box():
    from IPython.display import HTML, display

    return display(HTML(""), display_id=True)


@lru_cache(maxsize=16)
def _box_of(cell, label):
    """The box for all bars of one label below a cell."""
    return _new_box()
