"""What a pass over a pool keeps for questions besides the mean loss."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._on_demand import Asking
from sklearn_ase._data._predictions import refuse_labels, response_of
from sklearn_ase._data._problem import build_loss
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._inference._questions import BeliefColumns
from sklearn_ase._utils._checks import same_settings
from sklearn_ase._utils._display import say
from sklearn_ase.belief import TrainingWorth
from sklearn_ase.metrics._base import pool_weight
from sklearn_ase.metrics._counts import with_positive
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._ranking import BaseRanking
from sklearn_ase.metrics._row_values import ClassValues, ReadTable, TableValues

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.metrics._pool_metric import PoolRanking

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
    def of(cls, metrics, classes, disagreement: bool = False):
        """What metrics need."""
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

    def at(self, rows: slice):
        """The same for some rows."""
        targets = {name: target[rows] for name, target in self.targets.items()}
        return replace(self, targets=targets)

    def columns(self, belief, classes, response_of):
        """The columns that are kept of some rows."""
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
    def of(cls, keeps, columns, training_worth: TrainingWorth | None = None):
        """Put together what a pass kept."""
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
        """The same for the classes of an earlier time, when fewer were known."""
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
    """A name that the places of a class at each row give."""
    if (target == target[0]).all():
        return f"class {target[0]}"
    return blake2b(np.ascontiguousarray(target, dtype=np.int32)).hexdigest()


# From a chunk of rows to the few numbers per row that stay.


# Covariance of the loss at a row with the pool risk over the members, and the variance
# of that loss.
MEMBER_COLUMNS = ("risk_covariance", "member_variance")


@dataclass(frozen=True, eq=False)
class Reading:
    """How rows are read: which model is asked, and what is kept.

    Attributes
    ----------
    asking : Asking
    classes : ndarray of shape (n_classes,) or None
    reads : tuple of str
        Further columns: "disagreement", "weighted_disagreement" and those of the
        members, `MEMBER_COLUMNS`.
    keeps : Keeps or None
        What questions need besides.
    responses : ReadResponse or None
        With `keeps`: what metrics read of the predictions.
    member_risk : ndarray of shape (n_members,) or None
        Pool risk that each member expects, for the columns of the members.
    """

    asking: Asking
    classes: np.ndarray | None
    reads: tuple = ()
    keeps: object = None
    responses: object = None
    member_risk: np.ndarray | None = None

    @property
    def names(self):
        """Names of all columns that are kept."""
        asked = () if self.keeps is None else self.keeps.names
        return ("expected", "variance", *self.reads, *asked)

    def at(self, rows):
        """The same for some rows of the pool."""
        if self.keeps is None:
            return self
        return replace(self, keeps=self.keeps.at(rows))

    def loss_of(self, predictions):
        """Loss of the model at some rows, given its predictions."""
        return build_loss(self.asking.loss, predictions, self.classes)


@dataclass(frozen=True, eq=False)
class PoolSums:
    """Sums over rows, from which everything that belongs to the whole pool is made.

    Attributes
    ----------
    n_rows : int
    member_risk : ndarray of shape (n_members,)
        Sum of the loss that each member expects.
    by_class : ndarray of shape (n_classes,) or None
        Sum of the expected loss that comes from each class.
    loss_ends : tuple of two float
        Least and greatest entry of the loss table; 0 for regression.
    worth : TrainingWorth or None
        Its risk is a sum.
    is_gaussian : bool
        Whether the belief is about numbers.
    """

    n_rows: int
    member_risk: np.ndarray
    by_class: np.ndarray | None
    loss_ends: tuple
    worth: TrainingWorth | None
    is_gaussian: bool

    @classmethod
    def of(cls, belief, loss):
        """Sums over the rows of one chunk."""
        n_rows, worth, by_class, ends = belief.n_samples, None, None, (0.0, 0.0)
        if belief.training_worth is not None:
            worth = belief.training_worth.plus(None, n_rows)
        if not belief.is_gaussian:
            by_class = belief.risk_by_class(loss)
            ends = float(loss.values.min()), float(loss.values.max())
        members = n_rows * np.asarray(belief.member_risk)
        return cls(n_rows, members, by_class, ends, worth, belief.is_gaussian)

    def plus(self, other):
        """Sums over the rows of both."""
        if other is None:
            return self
        by_class = None if self.by_class is None else self.by_class + other.by_class
        worth = None if self.worth is None else self.worth.plus(other.worth, 1.0)
        (least, most), (low, high) = self.loss_ends, other.loss_ends
        ends = min(least, low), max(most, high)
        return PoolSums(
            self.n_rows + other.n_rows,
            self.member_risk + other.member_risk,
            by_class,
            ends,
            worth,
            self.is_gaussian,
        )


def reduce_chunk(rows, given, reading, surrogate):
    """Ask model and surrogate about some rows, and keep a few numbers of each."""
    predictions = reading.asking(rows, given)
    loss = reading.loss_of(predictions)
    expert, risk = predictions.expert_for(reading.classes), reading.member_risk
    belief = surrogate.belief(
        surrogate.prepare_other(rows), loss, expert, keep_member_loss=risk is not None
    )
    columns = [*moments_of(belief, loss, type(surrogate).__name__)]
    if "disagreement" in reading.reads:
        columns.append(belief.disagreement())
    if "member_variance" in reading.reads:
        columns.append(belief.member_loss.var(axis=0))
    if "risk_covariance" in reading.reads:
        columns.append((risk - risk.mean()) @ belief.member_loss / len(risk))
    if "weighted_disagreement" in reading.reads:
        columns.append(belief.weighted_disagreement(loss))
    if reading.keeps is not None:
        response_of = partial(reading.responses.of, rows, predictions)
        columns.extend(reading.keeps.columns(belief, reading.classes, response_of))
    return columns, PoolSums.of(belief, loss)


def moments_of(belief, loss, name):
    """Mean and variance of the loss at each row, checked."""
    if not hasattr(belief, "expected_loss"):
        raise TypeError(
            f"{name}.belief must return a CategoricalBelief or a GaussianBelief, but "
            f"returned {belief!r}."
        )
    moments = belief.expected_loss(loss), belief.loss_variance(loss)
    for values in map(np.asarray, moments):
        shape = (loss.n_samples,)
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(
                f"{name}.belief must expect a finite loss at each row of the pool, "
                f"shape {shape}, but has shape {values.shape} with "
                f"{np.sum(~np.isfinite(values))} values that are not finite. Look at "
                "what the surrogate predicts."
            )
    return moments


# What stays of a pool that is read in chunks, in the place of loss and belief.


_ADVICE = (
    "The pool is read in chunks (store='chunks'), which keeps a few numbers of each "
    "row and no table of its classes or members. Use store='tables'; labels "
    "that were bought are not lost: start(X, ..., ledger=evaluation.ledger)."
)


class TablesNeededError(ValueError, AttributeError):
    """Raised for what a pool that is read in chunks does not have."""


def tables_needed(what: str) -> TablesNeededError:
    """Return the error for something that needs tables with all rows."""
    return TablesNeededError(
        f"{what} needs a table with a row for each sample. {_ADVICE}"
    )


class _Kept:
    """An object that says what to do if it is asked for what was not kept."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise tables_needed(f"{type(self).__name__}.{name}")


@dataclass(frozen=True, eq=False)
class KeptBelief(_Kept):
    """What stays of a belief.

    Attributes
    ----------
    columns : dict of str to column of shape (n_samples,)
        "expected" and "variance" of the loss, and further ones that the acquisition
        reads. A column is an array or, on a cluster, a :class:`PartedColumn`.
    sums : PoolSums or None
        None for a part of the pool.
    asked : ReadBelief or None
        What the pass kept for questions.
    cache : dict
        What was computed from the columns once.
    """

    columns: dict
    sums: PoolSums | None = None
    asked: ReadBelief | None = None
    member_loss: None = field(default=None, init=False)
    cache: dict = field(default_factory=dict, init=False)

    @property
    def n_samples(self):
        """Number of samples the belief is about."""
        return len(self.columns["expected"])

    @property
    def is_gone(self):
        """Whether the columns lay on a cluster that has forgotten them."""
        return getattr(self.columns, "is_gone", False)

    @property
    def is_gaussian(self):
        """Whether it is about numbers."""
        return self.sums.is_gaussian

    @cached_property
    def member_risk(self):
        """Pool risk expected by each member, of shape (n_members,)."""
        return self.sums.member_risk / self.sums.n_rows

    @cached_property
    def training_worth(self):
        """How much the training rows count; None without a calibration."""
        worth = self.sums.worth
        return None if worth is None else worth.plus(None, 1.0 / self.sums.n_rows)

    def expected_loss(self, loss=None):
        """``g(x)``, of shape (n_samples,)."""
        return self.columns["expected"]

    def loss_variance(self, loss=None):
        """Variance of the loss over the belief, of shape (n_samples,)."""
        return self.columns["variance"]

    def disagreement(self):
        """BALD, of shape (n_samples,), if the acquisition reads it."""
        return self._column("disagreement")

    def weighted_disagreement(self, loss=None):
        """XWED, of shape (n_samples,), if the acquisition reads it."""
        return self._column("weighted_disagreement")

    def risk_covariance(self):
        """Covariance of the pool risk with the loss at each row, over the members."""
        return self._column("risk_covariance")

    def member_variance(self):
        """Variance over the members of the loss that they expect, (n_samples,)."""
        return self._column("member_variance")

    def risk_by_class(self, loss=None):
        """Sum of the expected loss that comes from each class, (n_classes,)."""
        return self.sums.by_class

    def _column(self, name):
        if name not in self.columns:
            raise tables_needed(f"belief.{name}()")
        return self.columns[name]


class LossOnDemand(_Kept):
    """Loss of the model at rows of a pool, built when it is asked for.

    It takes the place of a :class:`LossTable` or a :class:`PointLoss`.

    Parameters
    ----------
    pool : PartedPool
    reading : Reading
    """

    def __init__(self, pool, reading):
        self._pool, self._reading = pool, reading
        self.n_samples = pool.n_samples
        probe = self.take(np.zeros(1, dtype=int))
        self.is_bounded = probe.is_bounded
        self._is_table = hasattr(probe, "values")
        if not (self._is_table and self.is_bounded and probe.min_loss > 0):
            self.min_loss = 0.0
        if not self._is_table:
            self.loss = probe.loss
        if self.is_bounded or not self._is_table:
            self.max_loss = probe.max_loss

    @cached_property
    def max_loss(self):
        """The greatest value of the loss, or of the table if there is none."""
        return self._pool.loss_ends(self._reading)[1]

    @cached_property
    def min_loss(self):
        """The least value of the table if the loss has a greatest value, else 0."""
        return self._pool.loss_ends(self._reading)[0]

    def take(self, rows):
        """The loss of some of the samples, a LossTable or a PointLoss."""
        return self._reading.loss_of(self._pool.predictions.at(rows))

    def observed(self, indices, labels):
        """Loss at the given samples once their labels are known."""
        places = np.arange(len(indices))
        return self.take(np.asarray(indices)).observed(places, labels)


class RowCount(_Kept):
    """Stands for the loss at a part of the pool.

    Parameters
    ----------
    n_samples : int
    """

    def __init__(self, n_samples):
        self.n_samples = n_samples


# What metrics read of the predictions for a pool that is read in chunks.


@dataclass(frozen=True, eq=False)
class ReadResponse:
    """Asks a model about some rows, and returns what a metric reads of it.

    Attributes
    ----------
    problem : Problem
        Without rows.
    asking : Asking
    classes : ndarray of shape (n_classes,) or None
    metric : BaseMetric, default=None
        That a call is about.
    """

    problem: object
    asking: object
    classes: np.ndarray | None
    metric: object = None

    @classmethod
    def of_pool(cls, problem, asking, classes):
        """Take of the problem only what is needed, for it is sent to workers."""
        names = "X predictions X_train y_train train_predictions cost sample_weight"
        names += " features train_features pool"
        return cls(replace(problem, **dict.fromkeys(names.split())), asking, classes)

    @property
    def may_be_labels(self):
        """Whether only all rows together tell probabilities from labels."""
        names = ["predict_proba"]
        if getattr(self.metric, "takes_scores", False):
            names.append("decision_function")
        knows = any(hasattr(self.problem.model, name) for name in names)
        return self.metric.response_method == "predict_proba" and not knows

    def __call__(self, rows, given):
        return self.of(rows, self.asking(rows, given), self.metric)

    def of(self, rows, predictions, metric):
        """What a metric reads of the predictions for some rows."""
        problem = replace(self.problem, X=rows, predictions=predictions)
        found = response_of(problem, metric, self.classes, is_part=True)
        if isinstance(metric, BaseRanking) and found.ndim == 2:
            return found[:, metric.on_pool(found[:1], self.classes).column]
        return found


@dataclass(frozen=True, eq=False)
class ReadLimits:
    """Finds the least and the greatest value that a metric of one mean has at rows.

    And whether all probabilities of a row are 0 or 1, as those of labels are.

    Attributes
    ----------
    response : ReadResponse
        Of that metric.
    """

    response: ReadResponse

    def __call__(self, rows, given):
        metric, classes = self.response.metric, self.response.classes
        response = self.response(rows, given)
        bound = metric.on_pool(response, classes, n_samples=n_rows(rows))
        is_label = np.ones(n_rows(rows))
        if self.response.may_be_labels:
            is_label = np.isin(response, (0.0, 1.0)).all(axis=1)
        return np.stack([*bound.parts[0].limits(), is_label], axis=1)


class AskedColumns:
    """Columns that questions have read of the predictions for a pool.

    Parameters
    ----------
    parts : LocalParts or DaskParts
    """

    def __init__(self, parts):
        self._parts, self._found = parts, {}
        self._metrics = []  # That questions were about; their places are names.

    def name_of(self, metric: BaseMetric) -> str:
        """A name that only metrics with the same parameters share."""
        for place, known in enumerate(self._metrics):
            if same_settings(known, metric):
                return f"metric {place}"
        self._metrics.append(metric)
        return f"metric {len(self._metrics) - 1}"

    def collected(self, response):
        """What a metric reads of the predictions for all rows; takes one pass."""
        metric, classes = response.metric, response.classes
        if metric.response_method is None:
            return None
        # Labels and values are the same for all metrics.
        if classes is None or metric.response_method == "predict":
            return self._once(("response",), response)
        found = self._once(("response", *self._key_of(response)), response)
        if response.may_be_labels:
            refuse_labels(found, metric)
        return found

    def limits_of(self, response: ReadResponse) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of a metric of one mean at all rows; one pass."""
        key = "limits", *self._key_of(response)
        least, most, is_label = self._once(key, ReadLimits(response)).T
        if response.may_be_labels and is_label.all():
            refuse_labels(is_label, response.metric)
        return least, most

    def _key_of(self, response):
        return self.name_of(response.metric), *response.classes.tolist()

    def _once(self, key, function):
        if key not in self._found:
            say("The pool is read once to ask the model.", self._parts.verbose)
            self._found[key] = self._parts.collect(function, "asking the model")
        return self._found[key]

    def forget(self) -> None:
        """Let go the columns that questions have read."""
        self._found.clear()


# Metrics of a pool that is read in chunks.


# Numbers of each row that a question may take for each of its means.
_NUMBERS_OF_A_MEAN = 3


@dataclass(frozen=True, eq=False)
class ResponseAt:
    """Finds what a metric reads of the predictions for some rows.

    Attributes
    ----------
    source : RowSource
    given : array-like, frame or None
        Predictions for the whole pool, if they are known.
    response : ReadResponse
    """

    source: object
    given: object
    response: ReadResponse

    def __call__(self, rows):
        given = None if self.given is None else take_rows(self.given, rows)
        return self.response(self.source.like_chunks(rows), given)


@dataclass(frozen=True, eq=False)
class TableAt:
    """Finds the values of a metric of one mean at some rows, not weighted.

    Attributes
    ----------
    metric : BaseMetric
    classes : ndarray of shape (n_classes,)
    at : ResponseAt
    """

    metric: object
    classes: np.ndarray
    at: ResponseAt

    def __call__(self, rows):
        response, n_rows = self.at(rows), len(rows)
        found = self.metric.on_pool(response, classes=self.classes, n_samples=n_rows)
        return found.parts[0]


def metric_in_chunks(
    problem: Problem, metric: BaseMetric, classes, weight: np.ndarray | None = None
) -> PoolMetric | PoolRanking:
    """Apply a metric to the predictions for a pool, without a table of them."""
    pool, n_samples = problem.pool, problem.n_samples
    response = _response(problem, metric, classes)

    at = ResponseAt(problem.X, pool.predictions.given, response)
    probe = metric.on_pool(at(np.zeros(1, dtype=int)), classes=classes, n_samples=1)
    parts = getattr(probe, "parts", ())
    has_table = any(isinstance(part, TableValues) for part in parts)
    if has_table and len(classes) > _NUMBERS_OF_A_MEAN * len(probe.known):
        if len(probe.known) > 1:
            raise tables_needed(
                f"metric={metric!r}, which has {len(probe.known)} means and a value "
                f"for each of {len(classes)} classes,"
            )
        return _of_table(pool, response, at, pool_weight(None, weight, n_samples))
    found = pool.asked.collected(response)
    return metric.on_pool(found, classes=classes, weight=weight, n_samples=n_samples)


def response_in_chunks(
    problem: Problem, metric: BaseMetric, classes: np.ndarray | None
) -> np.ndarray:
    """What a metric reads of the predictions; see :func:`response_of`."""
    metric = with_positive(metric, problem.classes, classes)
    response = _response(problem, metric, classes)
    return problem.pool.asked.collected(response)


def _response(problem, metric, classes):
    asking = problem.pool.predictions.asking
    return replace(ReadResponse.of_pool(problem, asking, classes), metric=metric)


def _of_table(pool, response, at, weight):
    """A metric of one mean, with a value for each of many classes."""
    metric, classes = response.metric, response.classes

    look_up = TableAt(metric, classes, at)
    least, most = pool.asked.limits_of(response)
    is_bounded = look_up(np.zeros(1, dtype=int)).is_bounded
    name = pool.asked.name_of(metric)
    values = ReadTable(metric, name, least, most, look_up, weight, is_bounded)
    return PoolMetric(metric, (values,), np.full(1, np.nan))
