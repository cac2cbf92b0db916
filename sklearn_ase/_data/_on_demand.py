"""Predictions of a model that are asked for when they are needed, and not kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._predictions import (
    Predictions,
    check_is_given,
    is_model,
    predict_pool,
)
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._data._sources import RowMemory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sklearn_ase._data._sources import RowSource
    from sklearn_ase._pool._pool import LocalParts
    from sklearn_ase._utils._typing import Rows
    from sklearn_ase.dask._parts import DaskParts

# Rows whose predictions stand for all in the header of a journal.
_MOST_SAMPLED = 20_000


@dataclass(frozen=True, eq=False)
class Asking:
    """How the model under test is asked about some rows.

    Attributes
    ----------
    estimator : fitted estimator, callable or None
    loss : BaseLoss
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,) or None
        Class of each column that a callable or given predictions have.
    needs_expert : bool
        Whether probabilities are needed even if the loss reads labels only.
    """

    estimator: object
    loss: object
    task: str
    classes: np.ndarray | None
    needs_expert: bool

    def __call__(self, rows: Rows, given: Any = None) -> Predictions:
        """Return the predictions for some rows."""
        return predict_pool(
            self.estimator,
            rows,
            self.loss,
            self.task,
            self.classes,
            given,
            self.needs_expert,
        )


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of the predictions for a pool after one pass over them.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,) or None
        Classes that the model may predict, sorted; None for regression.
    given, likely : ndarray or None
        Classes that have a probability > 0 anywhere, and those that are the most
        likely one anywhere.
    """

    columns: np.ndarray | None = None
    given: np.ndarray | None = None
    likely: np.ndarray | None = None

    @classmethod
    def of(cls, predictions):
        """Look at the predictions for some rows."""
        columns, expert = predictions.columns, predictions.expert
        if columns is None:
            return cls()
        given = columns[np.nanmax(expert, axis=0) > 0]
        likely = columns[np.unique(expert.argmax(axis=1))]
        return cls(np.unique(columns), given, likely)

    def plus(self, other):
        """Return what is known after both."""
        if other is None or self.columns is None:
            return self
        names = ("columns", "given", "likely")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        return Survey(*(np.union1d(*pair) for pair in pairs))


class PredictionsOnDemand:
    """Predictions of the model under test for a pool, asked for when needed.

    It takes the place of :class:`Predictions`.

    Parameters
    ----------
    source : RowSource
    asking : Asking
    given : array-like or frame, or None
        Predictions for the whole pool.
    survey : Survey
    """

    has_expert = True

    def __init__(self, source, asking, given, survey):
        self.asking = asking
        self.given = given
        self._source, self._survey = source, survey
        self._memory = RowMemory(self._ask, _stacked, Predictions.at)

    @classmethod
    def of(cls, source, asking, given: Rows | None, parts: LocalParts | DaskParts):
        """Ask the model about all rows once, to see which classes it predicts."""
        check_is_given(asking.estimator, given)
        _check_length(given, source)
        survey = parts.survey(asking)
        if asking.classes is None and not is_model(asking.estimator):
            asking = replace(asking, classes=survey.columns)
        return cls(source, asking, given, survey)

    @classmethod
    def unseen(cls, source, asking, given) -> PredictionsOnDemand:
        """Predictions of another model, of which only the first row is looked at."""
        _check_length(given, source)
        first = np.zeros(1, dtype=int)
        asking(
            source.like_chunks(first),
            None if given is None else take_rows(given, first),
        )
        return cls(source, asking, given, Survey())

    @property
    def columns(self):
        """Classes that the model may predict; None for regression."""
        return self._survey.columns

    def at(self, rows):
        """Return the predictions for some rows, as :class:`Predictions`."""
        return self._memory(rows)

    def model_classes(self, classes):
        """Return a mask of the classes that the model gives any probability."""
        return None if classes is None else np.isin(classes, self._survey.given)

    def likely_classes(self, classes):
        """Return a mask of the classes that are the most likely one anywhere."""
        return np.isin(classes, self._survey.likely)

    def some(self):
        """Return the predictions for rows that stand for all: all if they are few."""
        rows = np.arange(len(self._source))
        if len(rows) > _MOST_SAMPLED:
            rows = np.linspace(0, len(rows) - 1, _MOST_SAMPLED).astype(int)
        return self._ask(rows)

    def _ask(self, rows):
        given = None if self.given is None else take_rows(self.given, rows)
        found = self.asking(self._source.like_chunks(rows), given)
        if found.columns is None:
            return found
        columns, names = self.columns, ("response", "expert")
        values = [_aligned(getattr(found, n), found.columns, columns) for n in names]
        return Predictions(*values, columns)


def chunks_with(source: RowSource, given, size: int) -> Iterator[tuple[Rows, Any]]:
    """Yield chunks of rows, each with what was given for its rows."""
    start = 0
    for rows in source.chunks(size):
        stop = start + n_rows(rows)
        yield rows, None if given is None else take_rows(given, slice(start, stop))
        start = stop


def _check_length(given, source):
    if given is not None and n_rows(given) != len(source):
        raise ValueError(
            f"predictions has {n_rows(given)} rows, but the pool has "
            f"{len(source)}. Give one prediction for each row."
        )


def _stacked(top, bottom):
    names = ("response", "expert")
    values = [np.concatenate([getattr(p, n) for p in (top, bottom)]) for n in names]
    return Predictions(*values, top.columns)


def _aligned(values, columns, wanted):
    return Predictions(values, values, columns).expert_for(wanted)
