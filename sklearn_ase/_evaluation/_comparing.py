"""Compare several models with the labels of one evaluation."""

from dataclasses import replace

import numpy as np

from sklearn_ase._data._predictions import predict_pool
from sklearn_ase._evaluation._comparison import Comparison
from sklearn_ase._evaluation._questions import pool_metric
from sklearn_ase._inference import _kernels
from sklearn_ase._utils._checks import shown
from sklearn_ase.losses import SquaredError, ZeroOne
from sklearn_ase.metrics._difference import difference
from sklearn_ase.risk._of_metric import estimate_metric


def compare_models(problems, metric, classes, weight, proba, state_of, risk, reference):
    """Estimate a metric of several models and their differences.

    Parameters
    ----------
    problems : dict of str to Problem
        The same data with the predictions of each model.
    metric : BaseMetric
    classes : ndarray of shape (n_classes,) or None
    weight : ndarray of shape (n_samples,) or None
    proba : ndarray of shape (n_samples, n_classes) or None
        Probabilities of the labels, known where there is a label.
    state_of : callable
        ``RowValues -> PoolState``.
    risk : BaseRisk
    reference : str or None

    Returns
    -------
    comparison : Comparison
    """
    names = list(problems)
    metrics = [
        pool_metric(problem, metric, classes, weight).at(proba)
        for problem in problems.values()
    ]
    estimates = [estimate_metric(risk, each, state_of) for each in metrics]
    sign = 1.0 if metric.greater_is_better else -1.0
    values = sign * np.array([float(each) for each in estimates])
    if np.isnan(values).any():
        name = names[int(np.flatnonzero(np.isnan(values))[0])]
        raise ValueError(f"{metric.name} is not defined for {name}. Label more rows.")
    best = int(values.argmax())

    def minus(first, second):
        pair = (first, second) if sign > 0 else (second, first)
        gap = difference(*pair, lambda part: state_of(part).expected_loss.mean())
        return gap, estimate_metric(risk, gap, state_of)

    gaps, behind = zip(*(minus(metrics[best], each) for each in metrics), strict=True)
    states = [state_of(gap.parts[0]) for gap in gaps]
    to_reference = None
    if reference is not None:
        base = metrics[names.index(reference)]
        to_reference = [minus(each, base)[1] for each in metrics]
    return Comparison(
        names,
        estimates,
        list(behind),
        _correlation(states, risk),
        best,
        np.array([_n_differing(state) for state in states]),
        reference,
        to_reference,
    )


def _correlation(states, risk):
    """Correlation of the errors of differences, from the scatter of their steps."""
    deviations = np.array(
        [
            _kernels.step_deviations(risk.steps(state).values, state.n_samples)
            for state in states
        ]
    )
    norm = np.linalg.norm(deviations, axis=1)
    product = deviations @ deviations.T
    scale = np.outer(norm, norm)
    found = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    np.fill_diagonal(found, 1.0)
    return found


def _n_differing(state):
    """Number of labels at rows where the two models differ."""
    least, most = state.loss.values.limits()
    rows = state.settled.indices[state.settled.answered]
    return int(np.sum((most > least)[rows]))


def problems_of(problem, models):
    """The data of an evaluation with the predictions of other models.

    Parameters
    ----------
    problem : Problem
    models : dict of str to model, or list of (str, model)
        Fitted estimators, functions of X, or arrays of predictions.

    Returns
    -------
    problems : dict of str to Problem
    """
    pairs = list(models.items()) if hasattr(models, "items") else models
    try:
        pairs = [(str(name), model) for name, model in pairs]
    except (TypeError, ValueError):
        raise TypeError(
            f"models={shown(models)} must be a dict of name to model, or a list of "
            "(name, model)."
        ) from None
    names = [name for name, _ in pairs]
    if len(pairs) < 2 or len(set(names)) < len(names):
        raise ValueError(
            f"models must be at least two models with different names, got {names}."
        )
    return {name: _with_model(problem, name, model) for name, model in pairs}


def _with_model(problem, name, model):
    loss = SquaredError() if problem.task == "regression" else ZeroOne()
    is_model = hasattr(model, "predict") or hasattr(model, "predict_proba")
    is_function = callable(model) and not is_model
    given = None if is_model or is_function else model
    try:
        predictions = predict_pool(
            model if given is None else None,
            problem.X,
            loss,
            problem.task,
            problem.given_classes if given is None else problem.classes,
            given,
        )
    except (TypeError, ValueError) as error:
        error.add_note(f"This is about the model {name!r}.")
        raise
    return replace(problem, predictions=predictions, model=model if is_model else None)
