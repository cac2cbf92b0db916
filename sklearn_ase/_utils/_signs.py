"""Characters that do more than stand in a text."""

import unicodedata

# These join or separate letters, as in Persian, Hindi and emoji.
_JOINERS = "\u200c\u200d"


def spelled_out(text, kept=""):
    """Return a text in which signs that steer how it is shown are spelled out.

    Parameters
    ----------
    text : str
    kept : str, default=""
        Signs that stay all the same.

    Returns
    -------
    text : str
        Control characters, and those that change the direction of writing, are written
        as in ``\\x1b``. Blanks and joiners that some alphabets need stay.
    """
    kept += _JOINERS
    return "".join(
        sign if _is_shown(sign) or sign in kept else repr(sign)[1:-1] for sign in text
    )


def _is_shown(sign):
    return sign.isprintable() or unicodedata.category(sign) == "Zs"
