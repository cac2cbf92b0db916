"""Draw a progress bar, with tqdm or without."""

import sys
from contextlib import contextmanager


@contextmanager
def progress(total, label, verbose):
    """Draw a progress bar if `verbose` is true.

    Uses tqdm if it is installed, and a plain line on stderr otherwise.

    Parameters
    ----------
    total : int
        Number of steps.
    label : str
        Text before the bar.
    verbose : bool or int

    Yields
    ------
    show : callable
        ``show(done, text)`` draws that `done` steps are finished, with a short text
        after the bar. If `done` did not change, the text is redrawn at once.
    """
    if not verbose:
        yield lambda done, text="": None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from _plain_line(total, label)
        return
    with tqdm(total=total, desc=label) as bar:

        def show(done, text=""):
            bar.set_postfix_str(text, refresh=done == bar.n)
            bar.update(done - bar.n)

        yield show


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


def _plain_line(total, label):
    """Yield a `show` that rewrites one line on stderr."""

    def show(done, text=""):
        percent = 100 * done // max(total, 1)
        line = f"{label}: {done}/{total} ({percent} %) {text}"
        sys.stderr.write(f"\r{line:<60}")  # Padded to cover a longer text.
        sys.stderr.flush()

    yield show
    sys.stderr.write("\n")
