"""What others say about the labels of the pool: judges, other models, cheap labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sklearn_ase._data._arrays import plain, read_array
from sklearn_ase._data._class_columns import align_columns, one_hot
from sklearn_ase._data._rows import is_frame, is_missing, plain_labels
from sklearn_ase._utils._checks import shown


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
    middle, scale : float
        Mean and standard deviation of the values in the pool that is evaluated
        (regression).
    """

    name: str
    values: np.ndarray
    columns: np.ndarray | None = None
    middle: float = 0.0
    scale: float = 1.0

    @property
    def is_present(self):
        """Rows about which the expert says something, a mask."""
        return np.isfinite(self.values.reshape(len(self.values), -1)).all(axis=1)

    def proba_for(self, classes):
        """Probability of each class; NaN where missing.

        What the columns leave is shared by the classes without a column.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        stays = np.isin(self.columns, classes)
        proba = align_columns(self.values[:, stays], self.columns[stays], classes)
        others = ~np.isin(classes, self.columns)
        proba = np.array(proba, dtype=float)
        if others.any():
            rest = np.clip(1.0 - self.values.sum(axis=1), 0.0, 1.0)
            proba[:, others] = rest[:, None] / others.sum()
        proba[~self.is_present] = np.nan
        return proba


@dataclass(frozen=True, eq=False)
class Experts:
    """What several experts say about the label of each row.

    Attributes
    ----------
    each : tuple of Expert
    """

    each: tuple

    @property
    def names(self):
        """Names of the experts, in order."""
        return tuple(expert.name for expert in self.each)

    @property
    def labels(self):
        """Labels that the experts name, by argument."""
        return {
            f"experts[{expert.name!r}]": expert.columns
            for expert in self.each
            if expert.columns is not None
        }

    def scores_for(self, classes):
        """What each expert adds to the score of each class.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        scores : ndarray of shape (n_samples, n_experts, n_classes)
            Probability minus ``1 / n_classes``; 0 where missing. For regression
            standardised values, of shape (n_samples, n_experts).
        """
        if classes is None:
            scores = [(each.values - each.middle) / each.scale for each in self.each]
            return np.nan_to_num(np.stack(scores, axis=1))
        proba = np.stack([expert.proba_for(classes) for expert in self.each], axis=1)
        return np.nan_to_num(proba - 1.0 / len(classes))


def check_experts(experts, n_samples, task, classes, positive, is_closed):
    """Check what others say about the labels of the pool.

    Parameters
    ----------
    experts : array-like, frame, list of them, or dict of str to them
    n_samples : int
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,) or None
        Labels known so far, sorted.
    positive : label or None
        The label that a score between 0 and 1 is the probability of. None means the
        second of two classes.
    is_closed : bool
        Whether labels other than `classes` are refused.

    Returns
    -------
    experts : Experts
    """
    found = []
    for name, values in _named(experts).items():
        argument = f"experts[{name!r}]"
        array = _read(values, n_samples, argument)
        if task == "regression":
            array = _numbers(array, argument)
            middle, scale = np.nanmean(array), np.nanstd(array)
            found.append(Expert(name, array, None, middle, scale if scale > 0 else 1.0))
            continue
        if array.ndim == 2:
            columns = plain_labels(values.columns) if is_frame(values) else classes
            array, columns = _probabilities(array, columns, argument)
        else:
            array, columns = _one_column(array, classes, positive, is_closed, argument)
        found.append(Expert(name, array, columns))
    return Experts(tuple(found))


def _named(experts):
    """Experts by name."""
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


def _read(values, n_samples, argument):
    """An array of numbers or of texts, with NaN or None where an entry is missing."""
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


def _split_missing(array, argument):
    """Entries that are there, as numbers or texts, and a mask of them."""
    flat = array.ravel()
    if array.dtype.kind == "f":
        present = ~np.isnan(flat)
    elif array.dtype == object or array.dtype.kind in "UT":
        is_blank = [isinstance(v, str) and not v.strip() for v in flat.tolist()]
        present = ~np.array([is_missing(v) for v in flat.tolist()]) & ~np.array(is_blank)
    else:
        present = np.ones(len(flat), dtype=bool)
    if not present.any():
        raise ValueError(
            f"{argument} is missing for every row. Leave this expert out."
        )
    return plain(flat[present], argument), present.reshape(array.shape)


def _numbers(array, argument):
    if array.ndim == 2:
        raise ValueError(
            f"{argument} has {array.shape[1]} columns, but labels are numbers. Give "
            "one number for each row."
        )
    entries, present = _split_missing(array, argument)
    if entries.dtype.kind == "U" or not np.isfinite(entries.astype(float)).all():
        raise ValueError(
            f"{argument} must hold finite numbers, since labels are numbers, but holds "
            f"{shown(entries[0])}."
        )
    values = np.full(len(array), np.nan)
    values[present] = entries.astype(float)
    return values


def _probabilities(array, columns, argument):
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


def _one_column(array, classes, positive, is_closed, argument):
    """Labels as certain probabilities, or scores as those of the positive label."""
    entries, present = _split_missing(array, argument)
    is_text = entries.dtype.kind == "U"
    if is_text or np.isin(entries, classes).all():
        return _labels(entries, present, classes, is_closed, argument)
    if positive is None and len(classes) == 2:
        positive = classes[1]
    numbers = entries.astype(float)
    is_score = ((numbers >= 0) & (numbers <= 1)).all()
    if not is_score or positive is None:
        raise ValueError(
            f"{argument} must hold labels among {shown(classes.tolist())}, or scores "
            f"between 0 and 1, but holds {shown(numbers[[0, -1]].tolist())}. "
            + (
                "It is not known of which label a score is the probability: use "
                "metric=LabelShare(label), two classes, or one column for each class."
                if is_score
                else "Divide scores by their greatest value."
            )
        )
    values = np.full((len(array), 1), np.nan)
    values[present, 0] = numbers
    return values, np.array([positive])


def _labels(entries, present, classes, is_closed, argument):
    if (entries.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise ValueError(
            f"{argument} holds text, such as {shown(entries[0])}, but labels are "
            f"numbers, such as {shown(classes[0])}. Give both in the same way."
        )
    unknown = np.setdiff1d(entries, classes)
    if is_closed and len(unknown):
        raise ValueError(
            f"{argument} holds {shown(unknown[:5].tolist())}, which is not among "
            f"classes={shown(classes.tolist())}. Put None where the expert says "
            "nothing, or pass classes=... with every label there may be."
        )
    columns = np.union1d(classes, entries)
    values = np.full((len(present), len(columns)), np.nan)
    values[present] = one_hot(entries, columns)
    return values, columns
