"""Estimates for several groups of rows, from one set of labels."""

import numpy as np

from sklearn_ase._data._groups import number_groups
from sklearn_ase._evaluation._tables import ColumnTable, cell
from sklearn_ase._utils._checks import check_flag, check_number
from sklearn_ase.risk import ASE

# With fewer labels in a group the surrogate decides alone.
_MIN_LABELS = 2
_FEW_LABELS = 10
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
      precise, NaN if there is no interval;
    * ``estimate``, ``low``, ``high``: the estimate and its interval;
    * ``verdict``: what can be made of it, in words.
    """

    def __init__(self, columns, level, name, simultaneous=False):
        super().__init__(columns)
        self.level, self.name, self.simultaneous = level, name, simultaneous
        self.caption = name, " by group"

    def _cells(self):
        """The table as texts, names first."""
        rows = zip(*(self[name] for name in _COLUMNS), strict=True)
        return [list(_COLUMNS.values()), *([cell(v) for v in row] for row in rows)]


def slice_table(evaluation, groups, level, simultaneous, risk=None, **about):
    """Estimate the same for each group; see :meth:`Evaluation.estimate_by`."""
    check_number(level, "level", 0, 1, ends="()")
    check_flag(simultaneous, "simultaneous")
    names, numbers = number_groups(groups, evaluation.n_samples)
    asked_risk = evaluation.risk if risk is None else risk
    each = 1.0 - (1.0 - level) / len(names) if simultaneous else level
    labelled = np.bincount(numbers[evaluation.state.indices], minlength=len(names))
    lines, name = [], ""
    for place, group in enumerate(names):
        where = numbers == place
        n_labels = int(labelled[place])
        # Without a label here the steps tell nothing about the surrogate's error.
        is_alone = n_labels < _MIN_LABELS and asked_risk.leans_on_surrogate
        found = evaluation.estimate(ASE() if is_alone else risk, where=where, **about)
        name = found.name
        has_interval = not found.refusal and n_labels >= _MIN_LABELS
        low, high = found.interval(each) if has_interval else (np.nan, np.nan)
        effective = np.nan
        if has_interval:
            asked = evaluation.question(where=where, **about)
            effective = evaluation.effective_labels(found, asked)
        verdict = _verdict(found, n_labels)
        numbers_of = int(where.sum()), n_labels, effective
        lines.append((group, *numbers_of, found.value, low, high, verdict))
    columns = zip(*lines, strict=True)
    table = {
        name: np.array(column) for name, column in zip(_COLUMNS, columns, strict=True)
    }
    if len({type(group) for group in names}) > 1:  # Not made alike.
        table["group"] = np.array(names, dtype=object)
    return SliceTable(table, level, name, simultaneous)


def _verdict(found, n_labels):
    if n_labels < _MIN_LABELS:
        return "too few labels: the surrogate's word alone"
    if found.refusal:
        return f"no interval: {found.refusal}"
    if n_labels < _FEW_LABELS:
        return "few labels: mostly the surrogate's word"
    return "supported by labels"
