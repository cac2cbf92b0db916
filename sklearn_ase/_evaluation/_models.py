"""Several models on one pool."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.exceptions import NotFittedError

from sklearn_ase._data._on_demand import Asking, PredictionsOnDemand
from sklearn_ase._data._predictions import predict_pool
from sklearn_ase._data._responses import response_of
from sklearn_ase._evaluation._questions import pool_metric
from sklearn_ase._inference._agreement import Agreement
from sklearn_ase._inference._columns import Columns
from sklearn_ase._pool._metrics import response_in_chunks
from sklearn_ase.losses import SquaredError, ZeroOne
from sklearn_ase.metrics._labels import with_positive
from sklearn_ase.metrics._ranking import BaseRanking, ranking_scores


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

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @cached_property
    def agreement(self):
        """Which models predict the same at which rows, for this metric."""
        classes = self.problems[0].classes
        if self.problems[0].pool is not None:
            found = [response_in_chunks(e, self.metric, classes) for e in self.problems]
        else:
            found = [response_of(each, self.metric, classes) for each in self.problems]
        if isinstance(self.metric, BaseRanking):
            metric = with_positive(self.metric, self.problems[0].classes, classes)
            found = ranking_scores(metric, found, classes)
        return Agreement.of(found, self.weight)

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


def as_models(models, problem, metric, weight):
    """Ask models about the pool of an evaluation.

    Parameters
    ----------
    models : dict of str to model, or list of (str, model), or Models
        Fitted estimators, functions of X, or arrays of predictions. Models of this pool
        are not asked again.
    problem : Problem
    metric : BaseMetric
    weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    models : Models
    """
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
    pool = problem.pool
    problem.order.check(**{f"models[{name!r}]": given})
    try:
        if pool is None:
            predictions = predict_pool(
                estimator, problem.X, loss, problem.task, classes, given
            )
        else:
            asking = Asking(estimator, loss, problem.task, classes, needs_expert=True)
            predictions = PredictionsOnDemand.unseen(problem.X, asking, given)
            pool = pool.of_model(predictions)
    except NotFittedError as error:
        raise NotFittedError(
            f"The model {name!r}, {type(model).__name__}, is not fitted. Fit each "
            f"model before: compare({{{name!r}: model.fit(X_train, y_train), ...}})."
        ) from error
    except (TypeError, ValueError) as error:
        error.add_note(f"This is about the model {name!r}.")
        raise
    model = model if is_model else None
    return replace(problem, predictions=predictions, model=model, pool=pool)
