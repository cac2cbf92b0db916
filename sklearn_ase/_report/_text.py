"""Texts and numbers as a report shows them."""

import math

from sklearn_ase._utils._signs import spelled_out

LONGEST = 200


def plain(value, limit=LONGEST):
    """Return a value as one line of text that does nothing but stand there.

    Control characters and those that change the direction of writing are spelled out,
    as in ``\\x1b``. Blanks and ends of lines become one blank. Long texts are cut.

    Parameters
    ----------
    value : object
    limit : int, default=200
        The greatest number of characters.

    Returns
    -------
    text : str
    """
    # A cell may hold a whole book.
    text = " ".join(str(value)[: 20 * limit].split())
    text = spelled_out(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def number(value, reach=math.nan):
    """Return a number as text, with as many decimals as it is known to.

    Parameters
    ----------
    value : float
    reach : float, default=nan
        How far the interval reaches to one side, roughly.

    Returns
    -------
    text : str
        Empty for NaN.
    """
    if math.isnan(value):
        return ""
    is_plain = value == 0 or 1e-4 <= abs(value) < 1e7
    if not (is_plain and math.isfinite(reach) and reach > 1e-6):
        return f"{value:.4g}"
    text = f"{value:.{min(max(1 - math.floor(math.log10(reach)), 0), 8)}f}"
    return text if float(text) else text.removeprefix("-")


def with_ends(value, low, high):
    """Return a number with its interval as text.

    Parameters
    ----------
    value, low, high : float
        NaN if there is none. An interval without a width is not shown.

    Returns
    -------
    text : str
    """
    if math.isnan(low) or math.isnan(high) or low == high:
        return number(value)
    return f"{number(value, _reach(low, high))} ({ends(low, high)})"


def ends(low, high, reach=None):
    """Return an interval as text.

    Parameters
    ----------
    low, high : float
    reach : float, default=None
        Of the interval that says how many decimals there are; None means this one.

    Returns
    -------
    text : str
    """
    reach = _reach(low, high) if reach is None else reach
    return f"{number(low, reach)} to {number(high, reach)}"


def counted(n, noun):
    """Return a number of things in words, as in ``1 label`` and ``2 labels``.

    Parameters
    ----------
    n : int
    noun : str

    Returns
    -------
    text : str
    """
    return f"{n} {noun}{'s' * (n != 1)}"


def percent(level):
    """Return a level in words, as in ``90 %``.

    Parameters
    ----------
    level : float

    Returns
    -------
    text : str
    """
    return f"{100 * level:g} %"


def roughly(proba):
    """Return a probability that is known roughly as text, never rounded to 0 or 1.

    Parameters
    ----------
    proba : float

    Returns
    -------
    text : str
    """
    if 0 < proba < 0.01:
        return "<0.01"
    return ">0.99" if 0.99 < proba < 1 else f"{proba:.2f}"


def _reach(low, high):
    return 0.5 * (high - low)
