"""Write files as a whole, or not at all."""

import os
from pathlib import Path


def write_whole(path, content):
    """Write a file so that it is never seen half written, even after a power cut.

    Parameters
    ----------
    path : str or path
        A file of this name is replaced.
    content : bytes
    """
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
