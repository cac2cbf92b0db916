"""Draw a progress bar: a box in a notebook, a line in a terminal."""

import sys
import time
from contextlib import contextmanager
from functools import lru_cache
from html import escape

# A notebook keeps up with so many seconds between two pictures.
_SECONDS = 0.1
# Without a rate, so that an estimate and its interval fit into 80 columns.
_BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"


@contextmanager
def progress(total, label, verbose, keep=True):
    """Draw a progress bar if `verbose` is true.

    A notebook shows one box below the cell, which needs no other package. A terminal
    shows a line on stderr, drawn by tqdm if it is installed.

    Parameters
    ----------
    total : int
        Number of steps.
    label : str
        Text before the bar.
    verbose : bool or int
    keep : bool, default=True
        Whether the bar stays when it is full. If not, a notebook draws the next bar
        with this label in the same box.

    Yields
    ------
    show : callable
        ``show(done, text)`` draws that `done` steps are finished, with a short text
        after the bar. If `done` did not change, the text is redrawn at once.
    """
    if not verbose:
        yield lambda done, text="": None
        return
    if _is_notebook():
        yield _in_a_box(total, label, keep)
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from _plain_line(total, label, keep)
        return
    with tqdm(total=total, desc=label, bar_format=_BAR, leave=keep) as bar:

        def show(done, text=""):
            bar.set_postfix_str(text, refresh=done == bar.n)
            bar.update(done - bar.n)

        yield show


def track(iterable, total, label, verbose):
    """Yield from `iterable`, with a progress bar if `verbose` is true."""
    with progress(total, label, verbose) as show:
        for done, item in enumerate(iterable, start=1):
            show(done)
            yield item


def _plain_line(total, label, keep):
    """Yield a `show` that rewrites one line on stderr."""
    width = 0

    def show(done, text=""):
        nonlocal width
        percent = 100 * done // max(total, 1)
        line = f"{label}: {done}/{total} ({percent} %) {text}"
        sys.stderr.write(f"\r{line:<{width}}")  # Padded to cover a longer text.
        sys.stderr.flush()
        width = len(line)

    yield show
    sys.stderr.write("\n" if keep else f"\r{'':<{width}}\r")


def _is_notebook():
    """Whether a kernel of Jupyter runs the code."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _in_a_box(total, label, keep):
    """Return a `show` that rewrites one box below the cell."""
    from IPython import get_ipython
    from IPython.display import HTML

    start = drawn = time.monotonic()
    before = 0
    box = _new_box() if keep else _box_of(get_ipython().execution_count, label)
    box.update(HTML(_html(total, label, 0, "", 0.0)))

    def show(done, text=""):
        nonlocal before, drawn
        now = time.monotonic()
        if done == before or done >= total or now - drawn > _SECONDS:
            box.update(HTML(_html(total, label, done, text, now - start)))
            drawn = now
        before = done

    return show


def _new_box():
    from IPython.display import HTML, display

    return display(HTML(""), display_id=True)


@lru_cache(maxsize=16)
def _box_of(cell, label):
    """The box for all bars of one label below a cell."""
    return _new_box()


def _html(total, label, done, text, seconds):
    """The box: a bar, the count, the text, and the time that it took and takes."""
    left = ""
    if 0 < done < total:
        left = f", about {_duration(seconds * (total - done) / done)} left"
    return (
        f'<div><progress value="{done}" max="{max(total, 1)}" '
        'style="width:12em;vertical-align:middle"></progress>&ensp;'
        f"<b>{escape(label)}: {done} of {total}</b>&ensp;{escape(text)}&ensp;"
        f'<span style="opacity:.7">{_duration(seconds)}{left}</span></div>'
    )


def _duration(seconds):
    for length, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
