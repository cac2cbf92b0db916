"""What a pass over a pool keeps for questions besides the mean loss."""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from sklearn_ase._inference._epochs import BeliefColumns
from sklearn_ase.metrics._read_table import ReadTable
from sklearn_ase.metrics._row_values import ClassValues, TableValues

# Larger columns are kept in single precision for epochs, as tables are.
_MANY = 2**20


@dataclass(frozen=True, eq=False)
class Keeps:
    """What a pass keeps of the belief about labels: a few numbers of each row.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Classes as they are now; the belief of a pass may know fewer. None for
        regression, which keeps the mean and the variance of the label.
    targets : dict of str to ndarray of int of shape (n_samples,)
        The probability of a class for each row, by a name that its places give.
    tables : dict of str to BaseMetric
        Mean and variance of the values of a metric of one mean.
    all_classes : bool
        Whether all probabilities are kept. Then nothing else is.
    """

    classes: np.ndarray | None
    targets: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    all_classes: bool = False

    @classmethod
    def of(cls, metrics, classes):
        """What metrics need.

        Parameters
        ----------
        metrics : sequence of PoolMetric or PoolRanking
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        keeps : Keeps
        """
        if classes is None:
            return cls(None)
        targets, tables, all_classes = {}, {}, False
        for metric in metrics:
            if hasattr(metric, "column"):  # A ranking.
                target = np.broadcast_to(metric.column, metric.n_samples)
                targets[name_of(target)] = target
                continue
            for part in metric.parts:
                if isinstance(part, ClassValues):
                    targets[name_of(part.target)] = part.target
                elif isinstance(part, ReadTable):
                    tables[repr(part.metric)] = part.metric
                all_classes |= isinstance(part, TableValues)
        if all_classes and not tables:
            return cls(classes, all_classes=True)
        return cls(classes, targets, tables, all_classes)

    def covers(self, other):
        """Whether all is kept that the other needs."""
        if self.classes is None or other.classes is None:
            return self.classes is other.classes
        if not np.array_equal(self.classes, other.classes):
            return False
        has_targets = self.all_classes or other.targets.keys() <= self.targets.keys()
        has_all = self.all_classes or not other.all_classes
        return has_all and has_targets and other.tables.keys() <= self.tables.keys()

    @property
    def names(self):
        """Names of the columns that are kept."""
        if self.classes is None:
            return ("label mean", "label variance")
        moments = [(name, k) for name in self.tables for k in ("mean", "variance")]
        places = range(len(self.classes)) if self.all_classes else ()
        return (*self.targets, *moments, *places)

    def at(self, rows):
        """The same for some rows.

        Parameters
        ----------
        rows : slice
        """
        targets = {name: target[rows] for name, target in self.targets.items()}
        return replace(self, targets=targets)

    def columns(self, belief, classes, response_of):
        """The columns that are kept of some rows.

        Parameters
        ----------
        belief : CategoricalBelief or GaussianBelief
            About these rows.
        classes : ndarray of shape (n_classes,) or None
            That the belief knows.
        response_of : callable
            ``metric -> response``: what the metric reads of the predictions.

        Returns
        -------
        columns : list of ndarray of shape (n_rows,)
        """
        if self.classes is None:
            return [belief.mean, belief.variance]
        known = BeliefColumns(classes, proba=belief.proba).aligned(self.classes)
        found = [known.proba_of(target) for target in self.targets.values()]
        for metric in self.tables.values():
            response, n_samples = response_of(metric), len(belief.proba)
            bound = metric.on_pool(response, self.classes, n_samples=n_samples)
            found.extend(bound.parts[0].moments(known))
        return found + (list(known.proba.T) if self.all_classes else [])


@dataclass(frozen=True, eq=False)
class ReadBelief(BeliefColumns):
    """What was kept of a belief in a pass over the pool.

    Attributes
    ----------
    columns : dict of object to ndarray of shape (n_samples,)
        By the names of :class:`Keeps`.
    targets : dict of str to ndarray of int of shape (n_samples,)
        Those of :class:`Keeps`.
    training_worth : TrainingWorth or None
    """

    columns: dict = field(default_factory=dict)
    targets: dict = field(default_factory=dict)
    training_worth: object = None

    @classmethod
    def of(cls, keeps, columns, training_worth=None):
        """Put together what a pass kept.

        Parameters
        ----------
        keeps : Keeps
        columns : dict of object to column of shape (n_samples,)
            Those on a cluster are brought here.
        training_worth : TrainingWorth, default=None

        Returns
        -------
        belief : ReadBelief
        """
        found = {name: np.asarray(columns[name]) for name in keeps.names}
        known = {"training_worth": training_worth, "targets": keeps.targets}
        proba = None
        if keeps.classes is None:
            mean, variance = found.values()
            return cls(None, mean=mean, variance=variance, **known)
        if keeps.all_classes:
            places = range(len(keeps.classes))
            proba = np.stack([found.pop(place) for place in places], axis=1)
        return cls(keeps.classes, proba=proba, columns=found, **known)

    @property
    def nbytes(self):
        return super().nbytes + sum(each.nbytes for each in self.columns.values())

    def of_epoch(self):
        """The same for a run of picks, smaller if it is large."""
        columns, proba = self.columns, self.proba
        if proba is not None and proba.size > _MANY:
            proba = proba.astype(np.float32)
        if any(column.size > _MANY for column in columns.values()):
            columns = {k: column.astype(np.float32) for k, column in columns.items()}
        return replace(self, proba=proba, columns=columns, training_worth=None)

    def aligned(self, classes):
        return self  # It was kept for the classes of now.

    def proba_of(self, target):
        if self.proba is not None:
            return super().proba_of(target)
        return self.columns[name_of(target)]

    def proba_at(self, rows):
        if self.proba is not None:
            return super().proba_at(rows)
        places, found = (
            np.arange(len(rows)),
            np.full((len(rows), len(self.classes)), -1.0),
        )
        for name, target in self.targets.items():
            found[places, target[rows]] = self.columns[name][rows]
        # Classes that are no target are alike to all questions: they share the rest.
        is_other = found < 0
        found[is_other] = 0.0
        rest = np.maximum(1.0 - found.sum(axis=1), 0.0)
        share = rest / np.maximum(is_other.sum(axis=1), 1)
        return np.where(is_other, share[:, None], found)

    def moments_of(self, metric):
        """Mean and variance of the values of a metric of one mean, (n_samples,)."""
        return tuple(self.columns[repr(metric), k] for k in ("mean", "variance"))


def name_of(target):
    """A name that the places of a class at each row give.

    Parameters
    ----------
    target : ndarray of int of shape (n_samples,)

    Returns
    -------
    name : str
    """
    if (target == target[0]).all():
        return f"class {target[0]}"
    return blake2b(np.ascontiguousarray(target, dtype=np.int32)).hexdigest()
