"""What others say about the labels of the pool: judges, other models, cheap labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._predictions import align_columns, one_hot
from sklearn_ase._data._rows import (
    is_frame,
    is_missing,
    plain,
    plain_labels,
    read_array,
)
from sklearn_ase._utils._checks import shown

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._utils._typing import Rows


@dataclass(frozen=True, eq=False)
class Expert:
    """What one expert says about the label of each row.

    Attributes
    ----------
    name : str
    values : ndarray of shape (n_samples, n_columns) or (n_samples,)
        Probabilities of some classes, or values for regression; NaN where missing.
    columns : ndarray of shape (n_columns,) or None
        Class of each column; None for regression.
    middle : float or ndarray of shape (n_columns,)
        Mean of the values in the pool that is evaluated.
    scale : float
        By which differences from the mean are divided: their standard deviation
        (regression); less than 1 for probabilities that hardly differ from row to row.
    """

    name: str
    values: np.ndarray
    columns: Any = None
    middle: Any = 0.0
    scale: float = 1.0

    @property
    def is_present(self) -> np.ndarray:
        """Rows about which the expert says something, a mask."""
        return np.isfinite(self.values.reshape(len(self.values), -1)).all(axis=1)

    def proba_for(self, classes: Any) -> np.ndarray:
        """Probability of each class, stretched; NaN where missing.

        What the columns leave is shared by the classes without a column. Stretched
        probabilities may be negative.
        """
        stays = np.isin(self.columns, classes)
        values = self.middle + (self.values - self.middle) / self.scale
        proba = align_columns(values[:, stays], self.columns[stays], classes)
        others = ~np.isin(classes, self.columns)
        proba = np.array(proba, dtype=float)
        if others.any():
            proba[:, others] = (1.0 - values.sum(axis=1))[:, None] / others.sum()
        proba[~self.is_present] = np.nan
        return proba


@dataclass(frozen=True, eq=False)
class Experts:
    """What several experts say about the label of each row.

    Attributes
    ----------
    each : tuple of Expert
    positive : label or None
        The label that a score is the probability of.
    """

    each: tuple
    positive: object = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the experts, in order."""
        return tuple(expert.name for expert in self.each)

    @property
    def all_labels(self) -> np.ndarray:
        """Labels that the experts name (classification)."""
        return np.concatenate([expert.columns for expert in self.each])

    def scores_for(self, classes: np.ndarray | None) -> np.ndarray:
        """What each expert adds to the score of each class."""
        if classes is None:
            scores = [(each.values - each.middle) / each.scale for each in self.each]
            return np.nan_to_num(np.stack(scores, axis=1))
        proba = np.stack([expert.proba_for(classes) for expert in self.each], axis=1)
        return np.nan_to_num(proba - 1.0 / len(classes))


# Checks of experts.


# Standard deviation of the scores of a judge who uses the whole scale.
_USUAL_SPREAD = 0.3


def check_experts(
    experts: Rows, n_samples: int, problem: Problem, positive: Any = None
) -> Experts:
    """Check what others say about the labels of a pool."""
    classes, order = problem.classes, problem.given_classes
    if order is None and problem.predictions.has_expert:
        order = problem.predictions.columns
    # The label that stands for all others is not one of the user's labels.
    known = None if classes is None else classes[classes != problem.stand_in].tolist()
    found = []
    for name, values in _named(experts, classes).items():
        argument = f"experts[{name!r}]"
        array = _read(values, n_samples, argument)
        if problem.task == "regression":
            array = _numbers(array, argument)
            middle, scale = np.nanmean(array), np.nanstd(array)
            found.append(Expert(name, array, None, middle, scale if scale > 0 else 1.0))
            continue
        if array.ndim == 2:
            columns = plain_labels(values.columns) if is_frame(values) else order
            array, columns = _probabilities(array, columns, argument)
        else:
            array, columns = _one_column(array, classes, known, positive, argument)
        _check_labels(columns, classes, known, problem.is_closed, argument)
        found.append(Expert(name, array, columns, *_spread(array)))
    return Experts(tuple(found), positive)


def check_other_experts(
    experts: Any, n_samples: int, problem: Problem
) -> Experts | None:
    """Check what the experts of an evaluation say about the rows of another pool."""
    known = problem.experts
    if known is None and experts is None:
        return None
    names = [] if known is None else list(known.names)
    if known is None or experts is None:
        raise ValueError(
            "experts: the evaluation has "
            + (
                "none, so that they say nothing here. Leave them out."
                if known is None
                else f"the experts {names}. Give what they say about these rows, too."
            )
        )
    found = check_experts(experts, n_samples, problem, known.positive)
    by_name = {expert.name: expert for expert in found.each}
    if set(by_name) != set(names):
        raise ValueError(
            f"experts must have the names {names}, as in the evaluation, but has "
            f"{list(by_name)}."
        )
    # On the scale of the pool that was evaluated.
    each = [
        replace(by_name[one.name], middle=one.middle, scale=one.scale)
        for one in known.each
    ]
    return Experts(tuple(each), known.positive)


def _spread(proba: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean of each column, and by what differences from it are divided.

    Some judges give nearly the same score to all rows. What counts is how scores
    differ.
    """
    middle = np.nanmean(proba, axis=0)
    spread = float(np.sqrt(np.nanmean((proba - middle) ** 2)))
    is_vote = np.isin(proba[np.isfinite(proba)], (0.0, 1.0)).all()
    scale = 1.0 if is_vote or not spread > 0 else min(spread / _USUAL_SPREAD, 1.0)
    return middle, scale


def _named(experts: Any, classes: Any) -> dict[str, Any]:
    """Experts by name; each column of a frame is one, unless it is named by a class."""
    if is_frame(experts) and not set(experts.columns) <= set(
        [] if classes is None else classes.tolist()
    ):
        experts = {name: experts[name] for name in experts.columns}
    if isinstance(experts, Mapping):
        named = {str(name): values for name, values in experts.items()}
    elif isinstance(experts, (list, tuple)) and experts and np.ndim(experts[0]):
        named = {f"expert {place}": values for place, values in enumerate(experts)}
    else:
        named = {"expert": experts}
    if not named or len(named) < (len(experts) if isinstance(experts, Mapping) else 1):
        raise ValueError(
            "experts must be an array, or a dict of name to array with at least one "
            f"entry and different names, but is {shown(experts)}."
        )
    return named


def _read(values: Any, n_samples: int, argument: str) -> np.ndarray:
    """An array of numbers or of texts, with NaN or None where an entry is missing."""
    if np.ma.isMaskedArray(values):  # The expert says nothing where it is masked.
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    array = read_array(values, argument)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or len(array) != n_samples:
        raise ValueError(
            f"{argument} has shape {array.shape}, but the pool has {n_samples} rows. "
            "Give one entry for each row, or one column for each class; None or NaN "
            "where the expert says nothing."
        )
    return array


def _split_missing(array: np.ndarray, argument: str) -> tuple[np.ndarray, np.ndarray]:
    """Entries that are there, as numbers or texts, and a mask of them."""
    flat = array.ravel()
    if array.dtype.kind == "f":
        present = ~np.isnan(flat)
    elif array.dtype == object or array.dtype.kind in "UT":
        is_blank = [isinstance(v, str) and not v.strip() for v in flat.tolist()]
        present = ~np.array([is_missing(v) for v in flat.tolist()]) & ~np.array(
            is_blank
        )
    else:
        present = np.ones(len(flat), dtype=bool)
    if not present.any():
        raise ValueError(f"{argument} is missing for every row. Leave this expert out.")
    return plain(flat[present], argument), present.reshape(array.shape)


def _numbers(array: np.ndarray, argument: str) -> np.ndarray:
    """Numbers of an expert, NaN where it says nothing."""
    if array.ndim == 2:
        raise ValueError(
            f"{argument} has {array.shape[1]} columns, but labels are numbers. Give "
            "one number for each row."
        )
    entries, present = _split_missing(array, argument)
    is_text = entries.dtype.kind == "U"
    wrong = entries if is_text else entries[~np.isfinite(entries.astype(float))]
    if len(wrong):
        raise ValueError(
            f"{argument} must hold finite numbers, since labels are numbers, but holds "
            f"{shown(wrong[0].item())}. Put NaN where the expert says nothing."
        )
    values = np.full(len(array), np.nan)
    values[present] = entries.astype(float)
    return values


def _probabilities(
    array: np.ndarray, columns: Any, argument: str
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities with the class of each column."""
    if columns is None or len(columns) != array.shape[1]:
        given = "none are known" if columns is None else f"there are {len(columns)}"
        raise ValueError(
            f"{argument} has {array.shape[1]} columns, one for each class, but "
            f"{given}. Pass classes=[...], or a frame whose columns are named by the "
            "classes."
        )
    entries, present = _split_missing(array, argument)
    values = np.full(array.shape, np.nan)
    if entries.dtype.kind != "U":
        values[present] = entries.astype(float)
    total = values[present.all(axis=1)].sum(axis=1)
    is_proba = entries.dtype.kind != "U" and (values[present] >= 0).all()
    if not is_proba or not len(total) or np.abs(total - 1.0).max() > 1e-3:
        raise ValueError(
            f"{argument}: the probabilities of a row must be >= 0 and sum to 1. Give "
            "one column for each class, or one label, or one score between 0 and 1."
        )
    values[~present.all(axis=1)] = np.nan
    return values, np.asarray(columns)


def _one_column(
    array: np.ndarray, classes: Any, known: Any, positive: Any, argument: str
) -> tuple[np.ndarray, np.ndarray]:
    """Labels as certain probabilities, or scores as those of the positive label."""
    entries, present = _split_missing(array, argument)
    is_text = entries.dtype.kind == "U"
    if is_text or np.isin(entries, classes).all():
        columns = np.unique(entries)
        values = np.full((len(present), len(columns)), np.nan)
        values[present] = one_hot(entries, columns)
        return values, columns
    if positive is None and len(classes) == 2:
        positive = classes[1]
    numbers = entries.astype(float)
    is_score = ((numbers >= 0) & (numbers <= 1)).all()
    if not is_score or positive is None:
        cure = (
            "Pass classes=[...] with every label there may be. Scores on another scale "
            "have to be brought to 0 to 1 first."
        )
        if is_score:
            cure = (
                "It is not known of which label a score is the probability: use "
                "metric=LabelShare(label), two classes, or one column for each class."
            )
        raise ValueError(
            f"{argument} must hold labels among {shown(known)}, or scores "
            f"between 0 and 1, but its numbers go from {numbers.min():g} to "
            f"{numbers.max():g}. {cure}"
        )
    values = np.full((len(array), 1), np.nan)
    values[present, 0] = numbers
    return values, np.array([positive])


def _check_labels(
    columns: np.ndarray, classes: Any, known: Any, is_closed: bool, argument: str
) -> None:
    """Refuse labels that are of another kind, or not allowed, or all unknown."""
    is_text = columns.dtype.kind == "U"
    unknown = columns
    if is_text == (classes.dtype.kind == "U"):
        unknown = np.setdiff1d(columns, classes)
    if len(unknown) == len(columns):
        word = columns[0].item()
        raise ValueError(
            f"{argument} holds the labels {shown(columns[:5].tolist())}, none of which "
            f"is known: {shown(known)}. An expert in words of its own teaches nothing. "
            f"Write its labels as people do, for instance {argument} = pandas.Series("
            f"judge).map({{{word!r}: {known[0]!r}, ...}})."
        )
    if is_closed and len(unknown):
        raise ValueError(
            f"{argument} holds {shown(unknown[:5].tolist())}, which is not among "
            f"classes={shown(classes.tolist())}. Put None where the expert says "
            "nothing, or pass classes=... with every label there may be."
        )
