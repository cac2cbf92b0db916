"""What a loss computes at a few rows, so that a journal keeps its loss.

The name of a function does not say what it computes.
"""

import warnings

import numpy as np

from sklearn_ase._labels._fingerprint import same_sketch, sketch

_N_ROWS = 20
# Distances of labels from the prediction, in units of how predictions spread.
_DISTANCES = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0)
# Predictions may differ by rounding, and the loss by some more.
_TOLERANCE = 1e-3


def sketch_loss(problem):
    """Return a few numbers that differ for losses that compute different values.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    sketch : list of list of float
        See :func:`sketch`; of the loss at some rows, for each class or for labels at
        some distances from the prediction.
    """
    rows = np.unique(np.linspace(0, problem.n_samples - 1, _N_ROWS).astype(int))
    loss = problem.loss_for(problem.classes, rows)
    places = np.arange(len(rows))
    if problem.task == "classification":
        labels = [np.repeat(label, len(rows)) for label in problem.classes]
    else:
        labels = _labels_around(problem.predictions.at(rows).response)
    values = [_values(loss, places, some) for some in labels]
    return sketch(np.concatenate(values))


def same_loss_values(first, second):
    """Whether two sketches may be of the same loss; older journals have none."""
    return first is None or same_sketch(first, second, _TOLERANCE)


def _labels_around(prediction):
    """Labels for each row that are near its prediction and further away."""
    mean, spread = np.abs(prediction.mean()), prediction.std()
    if spread <= 1e-6 * mean or spread == 0:  # Equal but for rounding.
        spread = mean or 1.0
    return [prediction + distance * spread for distance in _DISTANCES]


def _values(loss, places, labels):
    """The loss at some rows; NaN if it has no value for one of these labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(loss.observed(places, labels), dtype=float)
    except Exception:  # The user's function may fail at labels that nobody has given.
        return np.full(len(places), np.nan)
