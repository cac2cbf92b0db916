"""A pool whose labels are known, for simulations."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_ase.exceptions import NewClassWarning


@dataclass(frozen=True, eq=False)
class Scenario:
    """A pool whose labels are known, and the model to be evaluated on it.

    Attributes
    ----------
    X : array, sparse matrix, frame or list of shape (n_samples, n_features)
        The pool.
    y : array-like of shape (n_samples,)
        Its labels; with `label_proba` the classes of its columns.
    estimator : fitted estimator or callable, default=None
        The model under test; None means that of the evaluator.
    X_train, y_train : rows the surrogate may also learn from, default=None
    train_predictions : array-like, default=None
        What the model says about `X_train`, if it did not learn from these rows.
    label_proba : array-like of shape (n_samples, n_classes), default=None
        Distribution of each label, from which one is drawn afresh in every run. The
        truth is then the expected loss, whatever was drawn.
    surrogate : classifier, regressor or surrogate, default=None
        One of its own, as a frozen one that was fitted on these training rows; None
        means that of the evaluator.

    Examples
    --------
    >>> from sklearn_ase.simulation import Scenario
    >>> Scenario(X=[[0.0], [1.0]], y=["cat", "dog"]).estimator is None
    True
    """

    X: object
    y: object
    estimator: object = None
    X_train: object = None
    y_train: object = None
    train_predictions: object = None
    label_proba: object = None
    surrogate: object = None


def training_rows(scenario):
    """Arguments of ``start`` and ``fit`` that tell of the training rows."""
    names = ("X_train", "y_train", "train_predictions")
    return {name: getattr(scenario, name) for name in names}


def known_labels():
    """Silence about classes that come up: labels that are known hold no slips."""
    return warnings.catch_warnings(action="ignore", category=NewClassWarning)


def with_model(evaluator, scenario):
    """The evaluator, with the scenario's model and surrogate if it brings them."""
    if scenario.surrogate is not None:
        evaluator.set_params(surrogate=scenario.surrogate)
    model = scenario.estimator
    if model is None:
        return evaluator
    model = FrozenEstimator(model) if hasattr(model, "predict") else model
    return evaluator.set_params(estimator=model)


def draw_labels(evaluation, scenario, rng):
    """Labels for this run, the expected loss of each row and its noise."""
    task = evaluation.task
    if scenario.label_proba is None:
        y = task.check_labels(scenario.y)
        loss = task.loss_for(task.classes_with(y))
        losses = loss.observed(np.arange(len(y)), y)
        return y, losses, np.zeros(len(y))
    classes = task.check_labels(scenario.y)
    proba = np.asarray(scenario.label_proba, dtype=float)
    proba = proba / proba.sum(axis=1, keepdims=True)
    edges = np.cumsum(proba, axis=1)
    codes = (rng.random((len(proba), 1)) > edges[:, :-1]).sum(axis=1)
    table = task.loss_for(task.classes_with(classes))
    columns = [
        table.observed(np.arange(len(proba)), np.full(len(proba), label))
        for label in classes
    ]
    values = np.stack(columns, axis=1)
    losses = np.einsum("nc,nc->n", proba, values)
    noise = np.einsum("nc,nc->n", proba, (values - losses[:, None]) ** 2)
    return classes[codes], losses, noise
