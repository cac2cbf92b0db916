"""Means over the pool of all models at once."""

from copy import copy
from functools import cached_property

import numpy as np

from sklearn_ase.metrics._combine import combine
from sklearn_ase.metrics._row_values import ClassValues, TableValues

# Nodes for labels that are numbers, in standard deviations, and their weights. They are
# exact for squares of squared errors.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


class Columns:
    """Values at each row whose means decide how good each model is.

    A model has one column for each mean that its metric depends on.

    Parameters
    ----------
    metrics : list of PoolMetric
        One for each model.
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    sign : {1.0, -1.0}
        1 if a greater metric is better.

    Attributes
    ----------
    targets : ndarray of int of shape (n_samples, n_models) or None
        If each model has one column, which is the weight of the row where the label is
        the target and 0 elsewhere, and the metric is its mean: the targets.
    """

    def __init__(self, metrics, classes, sign):
        self.metrics = metrics
        self.classes = classes
        self.sign = sign
        self.parts = [part for metric in metrics for part in metric.parts]
        sizes = [len(metric.parts) for metric in metrics]
        self.ends = np.cumsum([0, *sizes])
        self.n_samples = self.parts[0].n_samples
        self._gather = None
        if all(isinstance(part, ClassValues) for part in self.parts):
            targets = np.stack([part.target for part in self.parts], axis=1)
            self._gather = (
                targets,
                np.stack([part.weight for part in self.parts], axis=1),
            )
        self.targets = self._simple_targets()

    @property
    def n_models(self):
        """Number of models."""
        return len(self.metrics)

    def _simple_targets(self):
        if self._gather is None or len(self.parts) != self.n_models or self.sign < 0:
            return None
        points = np.array([0.0, 0.25, 1.0])
        values = [
            [metric.value(point[None]) for point in points] for metric in self.metrics
        ]
        is_mean = np.array_equal(values, np.tile(points, (self.n_models, 1)))
        targets, weight = self._gather
        is_common = (weight == weight[:, :1]).all() and (weight >= 0).all()
        return targets if is_mean and is_common else None

    @cached_property
    def are_linear(self):
        """Whether all metrics are linear functions of their means."""
        return all(metric.is_linear for metric in self.metrics)

    def each(self):
        """The same with each column as a model of its own."""
        found = copy(self)
        found.metrics, found.ends = self.parts, np.arange(len(self.parts) + 1)
        return found

    def limits(self, state, observed, weight=None):
        """Least and greatest mean of each column that the labels leave possible.

        Parameters
        ----------
        state : PoolState
        observed : ndarray of shape (n_labels, n_columns)
        weight : ndarray of shape (n_samples,), default=None

        Returns
        -------
        least, most : ndarray of shape (n_columns,)
        """
        ends = []
        for part, seen in zip(self.parts, observed.T, strict=True):
            sides = [np.array(side, dtype=float) for side in part.limits()]
            if state.settled.n_skipped:  # Only what holds for every row is proved.
                counts = np.ones(self.n_samples) if weight is None else weight
                here = counts > 0
                low, high = (side[here] / counts[here] for side in sides)
                ends.append((low.min(), high.max()))
                continue
            for side in sides:
                side[state.indices] = seen
            ends.append([side.mean() for side in sides])
        return tuple(np.array(ends).T)

    def expected(self, belief):
        """Expected value of each column at each row, (n_samples, n_columns)."""
        if self._gather is not None:
            targets, weight = self._gather
            proba = [belief.proba_of(target) for target in targets.T]
            return weight * np.stack(proba, axis=1)
        found = [part.moments(belief)[0] for part in self.parts]
        return np.stack(found, axis=1)

    def observed(self, indices, labels, more_labels=None):
        """Values at labelled rows, the mean over several answers.

        Parameters
        ----------
        indices, labels : ndarray of shape (n_labels,)
        more_labels : dict of int to list, default=None

        Returns
        -------
        values : ndarray of shape (n_labels, n_columns)
        """
        if not len(indices):
            return np.empty((0, len(self.parts)))
        found = self._at(indices, labels)
        for row, more in (more_labels or {}).items():
            places = np.flatnonzero(indices == row)
            if more and len(places):
                others = self._at(np.full(len(more), row), np.array(more))
                total = found[places[0]] + others.sum(axis=0)
                found[places[0]] = total / (len(more) + 1)
        return found

    def _at(self, indices, labels):
        if self._gather is not None:
            targets, weight = (part[indices] for part in self._gather)
            codes = np.searchsorted(self.classes, labels)
            return weight * (targets == codes[:, None])
        found = [part.observed(indices, labels) for part in self.parts]
        return np.stack(found, axis=1).astype(float)

    def gains(self, means):
        """How good each model is, greater is better, given the means of all columns.

        A metric that is not defined counts as the least.
        """
        found = np.array([m.value(own) for m, own in self._split(means)]) * self.sign
        known = np.isfinite(found)
        found[~known] = found[known].min() if known.any() else 0.0
        return found

    def gradient(self, means):
        """Derivative of each model's gain by its own columns, (n_columns,)."""
        found = [m.gradient(own) for m, own in self._split(means)]
        return np.nan_to_num(self.sign * np.concatenate(found), posinf=0.0, neginf=0.0)

    def _split(self, means):
        for place, metric in enumerate(self.metrics):
            yield metric, means[self.ends[place] : self.ends[place + 1]]

    def per_model(self, values, gradient):
        """Values of the columns, combined to one for each model, (..., n_models)."""
        return np.add.reduceat(values * gradient, self.ends[:-1], axis=-1)

    def influence(self, model, gradient):
        """What a label of each row adds to the gain of a model, as RowValues."""
        here = slice(self.ends[model], self.ends[model + 1])
        return combine(self.parts[here], gradient[here])

    def tables(self, rows, belief, gradient):
        """What each label of some rows would add to the gain of each model.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        belief : CategoricalBelief, GaussianBelief or BeliefColumns
        gradient : ndarray of shape (n_columns,)

        Returns
        -------
        values : ndarray of shape (n_rows, n_labels, n_models)
            For regression the labels are nodes of a quadrature.
        proba : ndarray of shape (n_rows, n_labels)
        slope : ndarray of shape (n_rows, n_labels)
            For regression how the weight of each node in the mean of a function
            depends on the mean of the belief. Otherwise the probabilities again.
        """
        if self.classes is None:
            return self._tables_at_nodes(rows, belief, gradient)
        proba = belief.proba_at(rows)
        values = np.zeros((len(rows), len(self.classes), self.n_models))
        places = np.arange(len(rows))
        for model in range(self.n_models):
            for column in range(self.ends[model], self.ends[model + 1]):
                part, factor = self.parts[column], gradient[column]
                if isinstance(part, ClassValues):
                    target = part.target[rows]
                    values[places, target, model] += factor * part.weight[rows]
                elif isinstance(part, TableValues):
                    values[:, :, model] += factor * part.values[rows]
                else:
                    for code, label in enumerate(self.classes):
                        labels = np.full(len(rows), label)
                        found = part.observed(rows, labels)
                        values[:, code, model] += factor * found
        return values, proba, proba

    def _tables_at_nodes(self, rows, belief, gradient):
        deviation = np.sqrt(belief.variance[rows])
        labels = belief.mean[rows][:, None] + deviation[:, None] * _NODES
        repeated = np.repeat(rows, len(_NODES))
        found = self._at(repeated, labels.ravel())
        shape = len(rows), len(_NODES), self.n_models
        values = self.per_model(found, gradient).reshape(shape)
        proba = np.broadcast_to(_NODE_WEIGHTS, shape[:2])
        # Stein: the mean of f moves with that of the label as E[f z] / deviation.
        return values, proba, proba * _NODES / deviation[:, None]
