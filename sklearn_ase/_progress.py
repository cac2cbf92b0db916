"""A progress bar that needs nothing installed."""

import sys


def track(iterable, total, label, verbose):
    """Yield from `iterable`; with `verbose` draw how much of it is done.

    Uses tqdm where it is installed and a plain line on stderr otherwise.
    """
    if not verbose:
        yield from iterable
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from _plain(iterable, total, label)
    else:
        yield from tqdm(iterable, total=total, desc=label)


def _plain(iterable, total, label):
    shown = -1
    for done, item in enumerate(iterable, start=1):
        percent = 100 * done // max(total, 1)
        if percent > shown:
            shown = percent
            sys.stderr.write(f"\r{label}: {done}/{total} ({percent} %)")
            sys.stderr.flush()
        yield item
    sys.stderr.write("\n")
