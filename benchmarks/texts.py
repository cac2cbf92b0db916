"""Numbers as the tables of the documentation have them."""

import numpy as np


def slashed(values):
    """Numbers with slashes between them, to two digits."""
    texts = ("–" if np.isnan(value) else f"{value:.2f}" for value in values)
    return " / ".join(text.removeprefix("0") for text in texts)
