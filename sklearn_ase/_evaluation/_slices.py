"""Slices: estimates for several groups of rows, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_ase._data._labels import group_name, number_groups
from sklearn_ase._display._blocks import Table, Words
from sklearn_ase._display._html import notebook
from sklearn_ase._display._text import text
from sklearn_ase._evaluation._plan import check_risk
from sklearn_ase._evaluation._questions import effective_labels, rows_that_count
from sklearn_ase._inference._bounds import FEW_LABELS, MIN_BOUNDED_LABELS
from sklearn_ase._inference._evidence import errors_of_groups, has_evidence
from sklearn_ase._utils._checks import check_flag, check_level
from sklearn_ase.risk import ASE

# A table that prints, that notebooks show and that pandas takes.


class ColumnTable(dict[str, np.ndarray]):
    """A dict of columns of one length, shown as a table with a title.

    A subclass has ``title`` and ``blocks()``: a Table, and perhaps Words below it.
    """

    title: str

    def blocks(self) -> list[Any]:
        """What is shown."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table, each as a dict of plain values."""
        rows = zip(*(column.tolist() for column in self.values()), strict=True)
        return [dict(zip(self, row, strict=True)) for row in rows]

    def __str__(self):
        return text(*self.blocks())

    __repr__ = __str__

    def _repr_html_(self):
        return notebook(self.title, *self.blocks())


# The table of slices.


# Groups learn from each other only if at least this many have labels.
_MIN_GROUPS = 2
# The value stays in the interval of this level from the group's own labels.
_OWN_LEVEL = 0.99
_COLUMNS = {
    "group": "group",
    "n_samples": "rows",
    "n_labels": "labels",
    "effective_labels": "as good as",
    "estimate": "estimate",
    "low": "low",
    "high": "high",
    "verdict": "verdict",
}


class SliceTable(ColumnTable):
    """Estimates for groups of rows: a dict of columns with one entry per group.

    ``pandas.DataFrame(table)`` makes a frame of it. A notebook shows it as a table.

    Attributes
    ----------
    level : float
        Of the intervals.
    name : str
        Of what was estimated.
    simultaneous : bool
        Whether all intervals together hold at that level.

    Notes
    -----
    The columns:

    * ``group``: its name;
    * ``n_samples``, ``n_labels``: rows of the pool and labels in the group;
    * ``effective_labels``: size of a plain random sample of the group that would be as
      precise, NaN if there is no interval or the group has fewer than ten labels;
    * ``estimate``, ``low``, ``high``: the estimate and its interval;
    * ``verdict``: what can be made of it, in words. The printed table has the reasons
      for no interval below it.
    """

    def __init__(
        self,
        columns: dict[str, Any],
        level: float,
        name: str,
        simultaneous: bool = False,
    ) -> None:
        super().__init__(columns)
        self.level, self.name, self.simultaneous = level, name, simultaneous
        self.title = f"{name} by group"
        # Whether labels of each group are enough, but do not allow for an interval.
        self.is_refused: list[bool] = [False] * len(next(iter(columns.values()), ()))

    def blocks(self) -> list[Any]:
        """The table, and why groups have no interval."""
        rows: list[list] = []
        refused: dict[str, list[str]] = {}
        columns = (self[name] for name in _COLUMNS)
        for is_refused, group, *cells, verdict in zip(
            self.is_refused, *columns, strict=True
        ):
            name = group_name(group)
            if is_refused:
                refused.setdefault(verdict, []).append(name)
            rows.append([name, *cells, "no interval" if is_refused else verdict])
        reasons = [Words(f"{', '.join(n)}: {why}") for why, n in refused.items()]
        return [Table(list(_COLUMNS.values()), rows), *reasons]


def slice_table(evaluation, groups, level, simultaneous, risk=None, **about):
    """Estimate the same for each group; see :meth:`Evaluation.estimate_by`."""
    check_level(level)
    check_flag(simultaneous, "simultaneous")
    names, numbers = number_groups(groups, evaluation.problem)
    asked_risk = evaluation.risk if risk is None else risk
    check_risk(asked_risk)
    each = 1.0 - (1.0 - level) / len(names) if simultaneous else level
    rows = rows_that_count(evaluation.state, asked_risk)
    labelled = np.bincount(numbers[rows], minlength=len(names))
    found = []
    for place, n_labels in enumerate(labelled):
        # Without a label here the steps do not show the surrogate's error.
        is_alone = n_labels < MIN_BOUNDED_LABELS and asked_risk.leans_on_surrogate
        asked = ASE() if is_alone else risk
        found.append(evaluation.estimate(asked, where=numbers == place, **about))
    is_tested = labelled >= MIN_BOUNDED_LABELS
    values = _borrowed(evaluation, asked_risk, found, numbers, is_tested, about)
    lines = []
    for place, group in enumerate(names):
        where, n_labels = numbers == place, int(labelled[place])
        here = replace(found[place], value=float(values[place]))
        has_interval = not here.refusal and n_labels >= MIN_BOUNDED_LABELS
        low, high = here.interval(each) if has_interval else (np.nan, np.nan)
        effective = np.nan
        if has_interval and n_labels >= FEW_LABELS:
            asked = evaluation.question(where=where, **about)
            effective = effective_labels(evaluation, here, asked)
        verdict = _verdict(here, n_labels)
        numbers_of = int(where.sum()), n_labels, effective
        lines.append((group, *numbers_of, here.value, low, high, verdict))
    columns = zip(*lines, strict=True)
    table = {
        name: np.array(column) for name, column in zip(_COLUMNS, columns, strict=True)
    }
    if len({type(group) for group in names}) > 1:  # numpy would convert them.
        table["group"] = np.array(names, dtype=object)
    slices = SliceTable(table, level, found[0].name, simultaneous)
    slices.is_refused = [
        bool(each.refusal) and n_labels >= MIN_BOUNDED_LABELS
        for each, n_labels in zip(found, labelled, strict=True)
    ]
    return slices


def _borrowed(evaluation, risk, found, numbers, is_tested, about):
    """The value of each group, with what the other groups say about the surrogate.

    This is for guarded estimates. Others do not judge the surrogate. A group without an
    interval, or without a label that tests the surrogate, keeps its own value.
    """
    values = np.array([each.value for each in found])
    state = evaluation.state
    is_judged = risk.worth > 0 and has_evidence(state)
    if not is_judged or evaluation.is_cross_fitted:
        return values
    corrected = np.array([each.centre for each in found])
    variances = np.array([each.standard_error for each in found]) ** 2
    takes_part = is_tested & np.isfinite(values) & np.isfinite(corrected)
    takes_part &= (variances > 0) & ~np.array([bool(each.refusal) for each in found])
    places, n_labels = np.flatnonzero(takes_part), len(state.settled)
    if len(places) < _MIN_GROUPS or n_labels == state.n_samples:
        return values
    metric = evaluation.question(where=numbers == 0, **about).metric.metric
    surrogate = np.array(
        [
            float(evaluation.estimate(ASE(), where=numbers == place, **about))
            for place in places
        ]
    )
    whole = [float(evaluation.estimate(each, **about)) for each in (ASE(), risk)]
    errors = errors_of_groups(
        gaps=surrogate - corrected[places],
        variances=variances[places],
        common=whole[0] - whole[1],
        one_label=n_labels / (1.0 - n_labels / state.n_samples),
        worth=risk.with_worth(metric.surrogate_worth).worth,
        is_calibrated=state.is_calibrated,
    )
    for place, value in zip(places, surrogate - errors, strict=True):
        # Other groups move the value only as far as the group's own labels allow.
        values[place] = np.clip(value, *found[place].interval(_OWN_LEVEL))
    return values


def _verdict(found, n_labels):
    if not n_labels:
        return "too few labels (none): only from the surrogate"
    if n_labels < MIN_BOUNDED_LABELS:
        return "too few labels: only from the surrogate"
    if found.refusal:
        reason = found.refusal
        is_said = reason.startswith("No interval")
        return f"n{reason[1:]}" if is_said else f"no interval: {reason}"
    if n_labels < FEW_LABELS:
        return "few labels: mostly from the surrogate"
    return "supported by labels"
