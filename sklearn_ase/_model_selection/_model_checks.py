"""Checks of the models that are to be compared."""

import numpy as np

from sklearn_ase._data._predictions import is_model
from sklearn_ase._data._rows import is_frame
from sklearn_ase._utils._checks import shown


def check_models(estimators, predictions):
    """Check names, models and given predictions, and put them in one order.

    Parameters
    ----------
    estimators : list of (str, estimator) tuples or None
    predictions : dict, frame, array or None

    Returns
    -------
    names : list of str
    models : list
    given : list
        Predictions of each model, or None.
    """
    pairs = _pairs(estimators)
    given = _named(predictions, [name for name, _ in pairs])
    if not pairs and not given:
        raise ValueError(
            "There are no models. Give estimators=[(name, model), ...], or "
            "predictions={name: array, ...}."
        )
    if predictions is None:
        given = dict.fromkeys([name for name, _ in pairs])
    elif not pairs:
        pairs = [(name, None) for name in given]
    names, models = [name for name, _ in pairs], [model for _, model in pairs]
    if set(names) != set(given):
        raise ValueError(
            f"predictions are of {shown(sorted(given))}, but the estimators are named "
            f"{shown(sorted(names))}. Give predictions of each."
        )
    if len(names) < 2:
        raise ValueError(
            f"There is only one model, {names[0]!r}. To evaluate it use "
            "ActiveRiskEstimator; a choice takes two."
        )
    return names, models, [given[name] for name in names]


def _pairs(estimators):
    if estimators is None:
        return []
    if isinstance(estimators, dict):
        estimators = list(estimators.items())
    pairs = list(estimators) if isinstance(estimators, (list, tuple)) else [None]
    for pair in pairs:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str):
            raise TypeError(
                "estimators must be a list of pairs (name, fitted model), but "
                f"{'is' if pair is None else 'holds'} "
                f"{shown(estimators if pair is None else pair)}."
            )
        model = pair[1]
        if isinstance(model, type) or not (is_model(model) or callable(model)):
            raise TypeError(
                f"The model {pair[0]!r} must be a fitted estimator or a function X -> "
                f"predictions, but is {shown(model)}."
            )
    _refuse_twice([name for name, _ in pairs])
    return [tuple(pair) for pair in pairs]


def _named(predictions, names):
    """Predictions by the name of the model."""
    if predictions is None:
        return {}
    if is_frame(predictions):
        _refuse_twice(list(map(str, predictions.columns)))
        return {str(name): predictions[name] for name in predictions.columns}
    if hasattr(predictions, "items"):
        _refuse_twice(list(map(str, predictions)))
        return {str(name): array for name, array in predictions.items()}
    try:
        table = np.asarray(predictions)
    except ValueError:  # Of different lengths, as pairs of name and array.
        table = np.empty(0)
    if table.ndim != 2:
        raise TypeError(
            "predictions must be a dict from name to array, a frame with a column for "
            "each model, or an array of shape (n_samples, n_models), but are "
            f"{shown(predictions)}."
        )
    names = names or [f"model {place}" for place in range(table.shape[1])]
    if len(names) != table.shape[1]:
        raise ValueError(
            f"predictions have {table.shape[1]} columns, but there are {len(names)} "
            "models. Give one column for each."
        )
    return dict(zip(names, table.T, strict=True))


def _refuse_twice(names):
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"The names {twice} are given twice. Give each model its own.")
