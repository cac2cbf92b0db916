"""Show a row of the pool as plain text, images included."""

from itertools import pairwise

import numpy as np

_WIDTH = 40
_INK = " .:-=+*#%@"  # From the darkest pixel to the brightest.


def as_text(row):
    """Return a row as lines of text.

    Parameters
    ----------
    row : str, dict of features, or array
        An array with more than one dimension is read as an image: (height, width),
        or with 1, 3 or 4 channels as its first or last axis.

    Returns
    -------
    text : str
    """
    if isinstance(row, str):
        return row
    if not isinstance(row, dict):
        row = np.asarray(row)
        if row.ndim > 1:
            return _image(row)
        row = {f"x{j}": value for j, value in enumerate(np.atleast_1d(row).tolist())}
    width = max(map(len, row), default=0)
    return "\n".join(
        f"{name:<{width}}  " + (f"{v:.6g}" if isinstance(v, float) else str(v))
        for name, v in row.items()
    )


def _image(pixels):
    """Return an image as characters; the brighter a pixel, the denser its character."""
    if pixels.ndim == 3:
        channels = [axis for axis in (2, 0) if pixels.shape[axis] in (1, 3, 4)]
        pixels = pixels.mean(axis=channels[0]) if channels else pixels
    if pixels.ndim != 2:
        return f"(an array of shape {pixels.shape}; pass show= to say how to show it)"
    pixels = np.nan_to_num(pixels)
    height, width = pixels.shape
    # A character is about twice as high as it is wide.
    columns = min(2 * width, _WIDTH)
    lines = max(1, round(height * columns / width / 2))
    grey = _resized(_resized(pixels, lines).T, columns).T
    ink = (grey - grey.min()) / (np.ptp(grey) or 1.0) * (len(_INK) - 1)
    return "\n".join("".join(_INK[k] for k in line) for line in ink.round().astype(int))


def _resized(values, n_parts):
    """Return the means over equal parts of the first axis."""
    edges = np.linspace(0, len(values), n_parts + 1)
    parts = [
        slice(int(a), max(int(a) + 1, int(np.ceil(b)))) for a, b in pairwise(edges)
    ]
    return np.stack([values[part].mean(axis=0) for part in parts])
