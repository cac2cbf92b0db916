"""A progress bar that needs nothing installed."""

import sys
from contextlib import contextmanager


@contextmanager
def progress(total, label, verbose):
    """With `verbose` draw how much is done.

    Uses tqdm where it is installed and a plain line on stderr otherwise.

    Yields
    ------
    show : callable
        ``show(done, text)``, with a few words to put behind the bar. If nothing was
        done since, only the words change, at once.
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


def track(iterable, total, label, verbose):
    """Yield from `iterable`; with `verbose` draw how much of it is done."""
    with progress(total, label, verbose) as show:
        for done, item in enumerate(iterable, start=1):
            show(done)
            yield item


def _plain_line(total, label):
    def show(done, text=""):
        percent = 100 * done // max(total, 1)
        line = f"{label}: {done}/{total} ({percent} %) {text}"
        sys.stderr.write(f"\r{line:<60}")  # Covers words that were longer.
        sys.stderr.flush()

    yield show
    sys.stderr.write("\n")
