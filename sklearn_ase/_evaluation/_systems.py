"""Groups of rows as competitors, such as the answers of several systems."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._data._groups import group_name, number_groups
from sklearn_ase._evaluation._questions import pool_metric
from sklearn_ase._evaluation._weights import weight_of
from sklearn_ase._inference._agreement import Agreement
from sklearn_ase._inference._columns import Columns


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

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @property
    def agreement(self):
        """Which rows belong to neither of two groups, so that they say nothing."""
        places = np.arange(len(self.names))
        is_own = self.numbers[:, None] == places
        return Agreement(np.where(is_own, places + 1, 0))

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


def as_systems(groups, problem, metric, weight):
    """Make competitors of groups of rows.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
    problem : Problem
    metric : BaseMetric
    weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    systems : Systems
    """
    names, numbers = number_groups(groups, problem)
    if len(names) < 2:
        raise ValueError(
            f"groups must name at least two groups to compare, but only {names} is "
            "there."
        )
    return Systems(list(map(group_name, names)), numbers, problem, metric, weight)
