"""A scenario: a pool whose labels are known, for simulations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_ase._data._rows import read_numbers
from sklearn_ase._evaluator import ActiveRiskEstimator
from sklearn_ase._utils._checks import shown
from sklearn_ase.exceptions import NewClassWarning

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._utils._typing import Floats


@dataclass(frozen=True, eq=False)
class Scenario:
    """A pool whose labels are known, and the model to be evaluated on it.

    Attributes
    ----------
    X : array, sparse matrix, frame or list of shape (n_samples, n_features)
        The pool.
    y : array-like of shape (n_samples,)
        Labels of the pool. With `label_proba`, the classes of its columns instead.
    estimator : fitted estimator or callable, default=None
        The model under test. None means the one of the evaluator.
    X_train, y_train : array-likes, default=None
        Rows and labels that the surrogate may also learn from.
    train_predictions : array-like, default=None
        Predictions of the model for `X_train`, if it did not learn from these rows.
    label_proba : array-like of shape (n_samples, n_classes), default=None
        Distribution of the label of each row. Every run draws new labels from it. The
        truth is then the expected loss, whatever labels were drawn.
    surrogate : classifier, regressor or surrogate, default=None
        A surrogate for this scenario, for instance one that was fitted on `X_train` and
        frozen. None means the one of the evaluator.

    Examples
    --------
    >>> from sklearn_ase.simulation import Scenario
    >>> Scenario(X=[[0.0], [1.0]], y=["cat", "dog"]).estimator is None
    True
    """

    X: Any
    y: Any
    estimator: Any = None
    X_train: Any = None
    y_train: Any = None
    train_predictions: Any = None
    label_proba: Any = None
    surrogate: Any = None


def check_evaluator(evaluator: Any, name: str = "evaluator") -> None:
    """Refuse what is not an evaluator."""
    if not isinstance(evaluator, ActiveRiskEstimator):
        raise TypeError(
            f"{name} must be an ActiveRiskEstimator, but is {shown(evaluator)}."
        )


def check_scenario(scenario: Any) -> None:
    """Refuse what is not a scenario."""
    if not isinstance(scenario, Scenario):
        raise TypeError(f"scenario must be a Scenario, but is {shown(scenario)}.")


def training_rows(scenario: Scenario) -> dict[str, Any]:
    """Return the arguments of ``start`` and ``fit`` for the training rows."""
    names = ("X_train", "y_train", "train_predictions")
    return {name: getattr(scenario, name) for name in names}


def ignore_new_classes() -> AbstractContextManager:
    """Return a context without warnings about new classes."""
    # The warning is for typing errors, and known labels have none.
    return warnings.catch_warnings(action="ignore", category=NewClassWarning)


def with_model(
    evaluator: ActiveRiskEstimator, scenario: Scenario
) -> ActiveRiskEstimator:
    """Return the evaluator with the scenario's model and surrogate, if it has any."""
    if scenario.surrogate is not None:
        evaluator.set_params(surrogate=scenario.surrogate)
    model = scenario.estimator
    if model is None:
        return evaluator
    if hasattr(model, "predict") and not isinstance(model, type):
        model = FrozenEstimator(model)
    return evaluator.set_params(estimator=model)


def draw_labels(
    evaluation: Evaluation, scenario: Scenario, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels of one run, and what is known of their losses."""
    labels = evaluation.problem.check_labels(scenario.y, name="y")
    order = evaluation.problem.order
    if scenario.label_proba is None:
        order.check(y=scenario.y)
        if len(labels) != evaluation.n_samples:
            raise ValueError(
                f"y has {len(labels)} labels, but the pool has {evaluation.n_samples} "
                "rows. Give one for each row."
            )
        return labels, losses_of(evaluation, labels), np.zeros(len(labels))
    order.check(label_proba=scenario.label_proba)
    proba = read_numbers(scenario.label_proba, "label_proba")
    shape = evaluation.n_samples, len(labels)
    if proba.shape != shape or not (np.isfinite(proba) & (proba >= 0)).all():
        raise ValueError(
            "label_proba must be finite numbers >= 0, one row per row of the pool and "
            f"one column per class of y, shape {shape}, but has shape {proba.shape}, "
            "or other values."
        )
    proba = proba / proba.sum(axis=1, keepdims=True)
    edges = np.cumsum(proba, axis=1)
    codes = (rng.random((len(proba), 1)) > edges[:, :-1]).sum(axis=1)
    values = _loss_table(evaluation.problem, labels, len(proba))
    losses = np.einsum("nc,nc->n", proba, values)
    noise = np.einsum("nc,nc->n", proba, (values - losses[:, None]) ** 2)
    return labels[codes], losses, noise


def losses_of(evaluation: Evaluation, y: np.ndarray) -> np.ndarray:
    """Return the loss of the model at each row of the pool."""
    problem = evaluation.problem
    loss = problem.loss_for(problem.classes_with(y))
    return loss.observed(np.arange(len(y)), y)


def _loss_table(problem: Problem, classes: np.ndarray, n_samples: int) -> Floats:
    """Return the loss at each row for each class, of shape (n_samples, n_classes)."""
    loss = problem.loss_for(problem.classes_with(classes))
    rows = np.arange(n_samples)
    return np.stack(
        [loss.observed(rows, np.full(n_samples, label)) for label in classes], axis=1
    )
