"""Several models on one pool."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

from sklearn_ase._data._labels import group_name, number_groups
from sklearn_ase._data._predictions import predict_pool, response_of
from sklearn_ase._evaluation._questions import pool_metric, weight_of
from sklearn_ase._inference._models import Columns, SamePredictions
from sklearn_ase.losses import SquaredError, ZeroOne
from sklearn_ase.metrics._counts import with_positive
from sklearn_ase.metrics._ranking import BaseRanking, ranking_scores

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._data._problem import Problem


@dataclass(frozen=True, eq=False)
class Models:
    """Models whose predictions for the pool are known.

    Attributes
    ----------
    names : list of str
    problems : list of Problem
        The same pool with the predictions of each model.
    estimators : list
        Each a fitted estimator, a function, or None if only predictions are known.
    metric : BaseMetric
    weight : ndarray of shape (n_samples,) or None
        How much each row counts, with mean 1; 0 outside the rows that are asked about.
    """

    names: list
    problems: list
    estimators: list
    metric: object
    weight: np.ndarray | None = None
    what = "model"

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @cached_property
    def agreement(self):
        """Which models predict the same at which rows, for this metric."""
        classes = self.problems[0].classes
        found = [response_of(each, self.metric, classes) for each in self.problems]
        if isinstance(self.metric, BaseRanking):
            metric = with_positive(self.metric, self.problems[0].classes, classes)
            found = ranking_scores(metric, found, classes)
        return SamePredictions.of(found, self.weight)

    def bound(self, classes):
        """The metric applied to the predictions of each model, as a list."""
        return [
            pool_metric(problem, self.metric, classes, self.weight)
            for problem in self.problems
        ]

    def columns(self, metrics, classes, proba):
        """Means that decide about the models, near a belief."""
        near = [metric.at(proba) for metric in metrics]
        return Columns(near, classes, self.sign)


def check_depends_on_model(metric):
    """Refuse a metric of the labels alone."""
    if metric.response_method is None:
        raise ValueError(
            f"metric={metric!r} does not depend on a model, so it cannot tell models "
            "apart. Use another metric."
        )


def as_models(models, problem: Problem, metric, weight: np.ndarray | None):
    """Ask models about the pool of an evaluation."""
    check_depends_on_model(metric)
    if isinstance(models, Models):
        return replace(models, metric=metric, weight=weight)
    pairs = list(models.items()) if hasattr(models, "items") else models
    is_list = isinstance(pairs, (list, tuple))
    # A pipeline of two steps would unpack, too.
    if not is_list or not all(isinstance(e, tuple) and len(e) == 2 for e in pairs):
        raise TypeError(
            f"models must have names, but a {type(models).__name__} without names was "
            "given. Give a dict: compare({'a': model_a, 'b': model_b})."
        )
    pairs = [(str(name), model) for name, model in pairs]
    names = [name for name, _ in pairs]
    if len(pairs) < 2 or len(set(names)) < len(names):
        raise ValueError(
            f"models must be at least two models with different names, got {names}."
        )
    problems = [_with_model(problem, *pair) for pair in pairs]
    return Models(names, problems, [model for _, model in pairs], metric, weight)


def _with_model(problem, name, model):
    loss = SquaredError() if problem.task == "regression" else ZeroOne()
    is_model = hasattr(model, "predict") or hasattr(model, "predict_proba")
    is_function = callable(model) and not is_model
    given = None if is_model or is_function else model
    estimator = model if given is None else None
    classes = problem.given_classes if given is None else problem.classes
    given = problem.entries_of(given, f"models[{name!r}]")
    problem.order.check(**{f"models[{name!r}]": given})
    try:
        predictions = predict_pool(
            estimator, problem.X, loss, problem.task, classes, given
        )
    except NotFittedError as error:
        raise NotFittedError(
            f"The model {name!r}, {type(model).__name__}, is not fitted. Fit each "
            f"model before: compare({{{name!r}: model.fit(X_train, y_train), ...}})."
        ) from error
    except (TypeError, ValueError) as error:
        error.add_note(f"This is about the model {name!r}.")
        raise
    model = model if is_model else None
    return replace(problem, predictions=predictions, model=model)


# Groups of rows as competitors, such as the answers of several systems.


@dataclass(frozen=True, eq=False)
class Systems:
    """Groups of rows that are compared as models are.

    Attributes
    ----------
    names : list of str
    numbers : ndarray of int of shape (n_samples,)
        Group of each row.
    problem : Problem
    metric : BaseMetric
    row_weight : ndarray of shape (n_samples,) or None
        How much each row counts.
    """

    names: list
    numbers: np.ndarray
    problem: object
    metric: object
    row_weight: np.ndarray | None = None
    weight = None  # Each group has weights of its own.
    what = "group"

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @property
    def agreement(self):
        """Which rows belong to neither of two groups, so that they say nothing."""
        places = np.arange(len(self.names))
        is_own = self.numbers[:, None] == places
        return SamePredictions(np.where(is_own, places + 1, 0))

    def bound(self, classes):
        """The metric of each group, as a list."""
        return [
            pool_metric(
                self.problem,
                self.metric,
                classes,
                weight_of(self.numbers == place, self.row_weight),
            )
            for place in range(len(self.names))
        ]

    def columns(self, metrics, classes, proba):
        """Means that decide about the groups, near a belief."""
        near = [metric.at(proba) for metric in metrics]
        return Columns(near, classes, self.sign)


def as_systems(
    groups: Any, problem: Problem, metric, weight: np.ndarray | None
) -> Systems:
    """Make competitors of groups of rows."""
    names, numbers = number_groups(groups, problem)
    if len(names) < 2:
        raise ValueError(
            f"groups must name at least two groups to compare, but only {names} is "
            "there."
        )
    return Systems(list(map(group_name, names)), numbers, problem, metric, weight)
