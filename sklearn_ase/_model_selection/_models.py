"""Several models on one pool."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_ase._evaluation._questions import pool_metric
from sklearn_ase._model_selection._columns import Columns


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
    """

    names: list
    problems: list
    estimators: list
    metric: object

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @cached_property
    def keys(self):
        """Numbers that are equal where two models predict the same at a row.

        Of shape (n_samples, n_models).
        """
        responses = [problem.predictions.response for problem in self.problems]
        if responses[0].ndim == 2:
            # Rows of probabilities are told apart by one number each.
            rng, classes = np.random.default_rng(0), self.problems[0].classes
            weights = rng.normal(size=len(classes))
            aligned = [p.predictions.response_for(classes) for p in self.problems]
            responses = [each @ weights for each in aligned]
        table = np.stack(responses, axis=1)
        return np.unique(table, return_inverse=True)[1].reshape(table.shape)

    @cached_property
    def apart(self):
        """Rows on which not all models predict the same, (n_samples,)."""
        return (self.keys != self.keys[:, :1]).any(axis=1)

    @cached_property
    def n_rows_apart(self):
        """Number of rows on which each two predict differently."""
        found = [(self.keys != column[:, None]).sum(axis=0) for column in self.keys.T]
        return np.array(found)

    def predictions(self):
        """Predictions of each model for the pool, by its name."""
        needs_proba = self.metric.response_method == "predict_proba"
        found = {}
        for name, problem in zip(self.names, self.problems, strict=True):
            known = problem.predictions
            aligned = known.expert_for if needs_proba else known.response_for
            found[name] = aligned(problem.classes)
        return found

    def n_apart(self, rows):
        """Number of some rows on which each two predict differently."""
        keys = self.keys[rows]
        return (keys[:, :, None] != keys[:, None, :]).sum(axis=0)

    def bound(self, classes):
        """The metric applied to the predictions of each model, as a list."""
        return [self.bound_one(place, classes) for place in range(len(self.problems))]

    def effective_apart(self, rows, weight):
        """The same as the number of rows that count alike, where some weigh more."""
        keys = self.keys[rows]
        apart = (keys[:, :, None] != keys[:, None, :]).astype(float)
        total = np.tensordot(weight, apart, axes=1)
        square = np.tensordot(weight**2, apart, axes=1)
        return np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)

    def bound_one(self, model, classes):
        """The metric applied to the predictions of one model."""
        return pool_metric(self.problems[model], self.metric, classes)

    def columns(self, metrics, classes, proba):
        """Means that decide about the models, near a belief."""
        near = [metric.at(proba) for metric in metrics]
        return Columns(near, classes, self.sign)
