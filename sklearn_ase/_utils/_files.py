"""Write files."""

import os
from pathlib import Path


def write_whole(path, text):
    """Write a text to a file, as a whole or not at all.

    Parameters
    ----------
    path : str or path
        A file of this name is replaced.
    text : str
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
