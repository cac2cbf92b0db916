"""Labels that no surrogate could learn."""

import numpy as np

# The variance of a squared error is of the fourth power, and must be finite.
_LARGEST = 1e70


def check_learnable(labels, classes, rows=None):
    """Refuse new labels that no surrogate could learn.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        What :func:`check_labels` returned.
    classes : ndarray of shape (n_classes,) or None
        Labels that are allowed in any case; None for regression.
    rows : array-like of shape (n_labels,), default=None
        Their rows of the pool, for the message; None means 0, 1, ...
    """
    if classes is None:
        is_wrong, need = np.abs(labels) > _LARGEST, f"numbers up to {_LARGEST:g}"
    else:
        is_wrong = ~(_is_class(labels) | np.isin(labels, classes))
        need = "text, or whole numbers of at most 63 bits"
    if not is_wrong.any():
        return
    places = np.flatnonzero(is_wrong)
    rows = places if rows is None else np.asarray(rows)[places]
    raise ValueError(
        f"Labels {labels[places][:5].tolist()} of rows {rows[:5].tolist()} cannot be "
        f"learned: labels must be {need}. Nothing was recorded. Correct them and try "
        "again."
    )


def _is_class(labels):
    """Whether each label can be a class, as scikit-learn has it."""
    if labels.dtype.kind in "biUST":
        return np.ones(len(labels), dtype=bool)
    # Greater integers are objects, or would turn all others into floats.
    return np.array(
        [
            isinstance(label, (int, float)) and abs(label) < 2**63 and label % 1 == 0
            for label in labels.tolist()
        ],
        dtype=bool,
    )
