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
        Metrics of one mean, by name: mean and variance of their values.
    all_classes : bool
        Whether all probabilities are kept.
    disagreement : bool
        Whether the disagreement of the members is kept, for the same classes. That is
        for rows that are picked for a metric.
    """

    classes: np.ndarray | None
    targets: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    all_classes: bool = False
    disagreement: bool = False

    @classmethod
    def of(cls, metrics, classes, disagreement=False):
        """What metrics need.

        Parameters
        ----------
        metrics : sequence of PoolMetric or PoolRanking
        classes : ndarray of shape (n_classes,) or None
        disagreement : bool, default=False

        Returns
        -------
        keeps : Keeps
        """
        if classes is None:
            return cls(None, disagreement=disagreement)
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
                    tables[part.name] = part.metric
                all_classes |= isinstance(part, TableValues)
        return cls(
            classes, {} if all_classes else targets, tables, all_classes, disagreement
        )

    def covers(self, other):
        """Whether all is kept that the other needs, for the same classes."""
        has_targets = self.all_classes or other.targets.keys() <= self.targets.keys()
        has_tables = other.tables.keys() <= self.tables.keys()
        has_rest = self.all_classes >= other.all_classes
        return has_targets and has_tables and has_rest

    def plus(self, other):
        """What both need; the other may be None."""
        if other is None:
            return self
        return Keeps(
            self.classes,
            self.targets | other.targets,
            self.tables | other.tables,
            self.all_classes or other.all_classes,
            self.disagreement or other.disagreement,
        )

    @property
    def names(self):
        """Names of the columns that are kept."""
        names = ["label mean", "label variance"]
        if self.classes is not None:
            places = range(len(self.classes)) if self.all_classes else ()
            of_classes = [*self.targets, *places]
            names = [(name, k) for name in self.tables for k in ("mean", "variance")]
            names += of_classes
            if self.disagreement:
                names += [("disagreement", name) for name in of_classes]
        return (*names, "all disagreement") if self.disagreement else tuple(names)

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
        total = [belief.disagreement()] if self.disagreement else []
        if self.classes is None:
            return [belief.mean, belief.variance, *total]
        known, found = self._aligned(belief.proba, classes), []
        for metric in self.tables.values():
            response, n_samples = response_of(metric), len(belief.proba)
            bound = metric.on_pool(response, self.classes, n_samples=n_samples)
            found.extend(bound.parts[0].moments(known))
        found.extend(self._of_classes(known))
        if self.disagreement:
            found.extend(
                self._of_classes(self._aligned(belief.class_disagreement, classes))
            )
        return found + total

    def _aligned(self, values, classes):
        """Values of the classes that a belief knows, for the classes of now."""
        return BeliefColumns(classes, proba=values).aligned(self.classes)

    def _of_classes(self, known):
        found = [known.proba_of(target) for target in self.targets.values()]
        return found + (list(known.proba.T) if self.all_classes else [])


@dataclass(frozen=True, eq=False)
class ReadBelief(BeliefColumns):
    """What was kept of a belief in a pass over the pool.

    Attributes
    ----------
    columns : dict of object to ndarray of shape (n_samples,)
        By the names of :class:`Keeps`.
    keeps : Keeps
    training_worth : TrainingWorth or None
    places : ndarray of int of shape (n_classes,) or None
        Places of `classes` among those of `keeps`; None if they are the same.
    """

    columns: dict = field(default_factory=dict)
    keeps: Keeps | None = None
    training_worth: object = None
    places: np.ndarray | None = None

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
        known = {"training_worth": training_worth, "keeps": keeps}
        proba = None
        if keeps.classes is None:
            mean, variance = (found.pop(name) for name in list(found)[:2])
            return cls(None, mean=mean, variance=variance, columns=found, **known)
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
        columns = {k: v for k, v in columns.items() if "disagreement" not in k}
        return replace(self, proba=proba, columns=columns, training_worth=None)

    def aligned(self, classes):
        """The same for the classes of an earlier time, when fewer were known.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None
            All are among the classes it was kept for.

        Returns
        -------
        belief : ReadBelief
        """
        if classes is None or np.array_equal(classes, self.classes):
            return self
        places = np.searchsorted(self.keeps.classes, classes)
        proba = None
        if self.proba is not None:
            proba = self.proba[:, np.searchsorted(self.classes, classes)]
        return replace(self, classes=classes, proba=proba, places=places)

    def _name_of(self, target):
        """The name by which the probability of a class for each row was kept."""
        return name_of(target if self.places is None else self.places[target])

    def proba_of(self, target):
        if self.proba is not None:
            return super().proba_of(target)
        return self.columns[self._name_of(target)]

    def proba_at(self, rows):
        if self.proba is not None:
            return super().proba_at(rows)
        found = np.full((len(rows), len(self.keeps.classes)), -1.0)
        for name, target in self.keeps.targets.items():
            found[np.arange(len(rows)), target[rows]] = self.columns[name][rows]
        if self.places is not None:
            found = found[:, self.places]
        # Classes that are no target are alike to all questions: they share the rest.
        is_other = found < 0
        found[is_other] = 0.0
        rest = np.maximum(1.0 - found.sum(axis=1), 0.0)
        share = rest / np.maximum(is_other.sum(axis=1), 1)
        return np.where(is_other, share[:, None], found)

    def disagreement(self):
        """BALD: what a label is expected to tell about the member, (n_samples,)."""
        return self.columns["all disagreement"]

    def disagreement_of(self, target):
        """The part of one class for each row, of shape (n_samples,)."""
        return self.columns["disagreement", self._name_of(target)]

    @property
    def class_disagreement(self):
        """The parts of all classes, of shape (n_samples, n_classes)."""
        if self.proba is None:
            raise AttributeError("class_disagreement")
        places = range(len(self.classes)) if self.places is None else self.places
        parts = [self.columns["disagreement", int(place)] for place in places]
        return np.stack(parts, axis=1)

    def moments_of(self, name):
        """Mean and variance of the values of a metric of one mean, (n_samples,)."""
        return tuple(self.columns[name, k] for k in ("mean", "variance"))


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
