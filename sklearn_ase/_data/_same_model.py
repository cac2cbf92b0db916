"""Whether given predictions are those of the model that was given beside them."""

import numpy as np

from sklearn_ase._data._label_checks import same_kind
from sklearn_ase._data._predictions import is_model, predict_pool
from sklearn_ase._data._row_source import RowSource
from sklearn_ase._data._rows import is_dataset, n_rows, subset, take_rows

_MOST_ROWS = 100
# Predictions may have been rounded, or made on another machine.
_TOLERANCE = 0.01


def check_is_of_model(given, estimator, X, loss, task, classes, needs_expert=True):
    """Refuse predictions that differ from what the model predicts at some rows.

    Parameters
    ----------
    given : Predictions or PredictionsOnDemand
        Of all rows.
    estimator : fitted estimator, callable or None
        A function is not called, since it may be costly.
    X : array, sparse matrix, frame, list or RowSource
    loss : loss object
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,) or None
        The parameter `classes`.
    needs_expert : bool, default=True
    """
    if not is_model(estimator):
        return
    n_samples = n_rows(X)
    rows = np.unique(np.linspace(0, n_samples - 1, _MOST_ROWS).astype(int))
    some = _some(X, rows)
    try:
        known = predict_pool(estimator, some, loss, task, classes, None, needs_expert)
    except Exception as error:
        error.add_note(
            "The model was asked for some rows, to compare it with predictions=. Leave "
            "the model out, estimator=None, if these are all that is to be evaluated."
        )
        raise
    said = given.at(rows)
    names = None
    if task == "classification":
        same_kind({"predictions": said.columns, "estimator": known.columns})
        names = np.union1d(known.columns, said.columns)
    first, second = (each.response_for(names) for each in (said, known))
    differ = np.flatnonzero(_differ(first, second))
    if len(differ):
        row = rows[differ[0]]
        raise ValueError(
            f"predictions are not those of estimator={type(estimator).__name__}: they "
            f"differ at {len(differ)} of {len(rows)} rows that were compared, the "
            f"first is row {row}. Give the predictions of this model in the order of "
            "the pool, or leave one of the two out."
        )


def _some(X, rows):
    """Some rows, in the container in which the model gets them."""
    if isinstance(X, RowSource):
        return X.like_chunks(rows)
    return subset(X, rows) if is_dataset(X) else take_rows(X, rows)


def _differ(first, second):
    """Which rows differ, a mask."""
    if first.dtype.kind not in "fc" or second.dtype.kind not in "fc":
        return first != second
    spread = 1.0 if first.ndim == 2 else max(first.std(), second.std())
    far = np.abs(first - second) > _TOLERANCE * (spread + 1e-6 * np.abs(second))
    return far.reshape(len(far), -1).any(axis=1)
