"""Result of a simulation: estimates of many runs, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sklearn_ase._utils._typing import StrPath
from sklearn_ase.simulation._run_file import COLUMNS, read_rows, replace_rows


@dataclass(frozen=True, eq=False)
class LabelEfficiency:
    """Estimates of many runs, one entry per run, risk and label count.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_estimates,)
        ``evaluator``, ``run``, ``seed``, ``risk``, ``n_labels``
            Where the estimate comes from.
        ``value``, ``low``, ``high``
            The estimate and its interval; infinite ends if there is no interval.
        ``anytime``
            Whether the anytime interval held the truth at every label count, from the
            smallest of `n_labels` on; NaN without such an interval.
        ``flagged``
            Whether ``evaluation.diagnose()`` warned; NaN if it could not be used.
        ``truth``
            The true risk.
        ``mc_variance``
            Exact variance of a Monte Carlo estimate with the same number of labels.

    Examples
    --------
    See :func:`label_efficiency_curve`.
    """

    columns: dict

    def summary(self) -> dict[str, np.ndarray]:
        """Summarise the runs, one entry per evaluator, risk and label count.

        Returns
        -------
        figures : dict of str to ndarray of shape (n_entries,)
            ``mean_squared_error``, ``median_squared_error``, ``bias``
                Of the estimates.
            ``ratio``, ``ratio_error``
                Mean squared error divided by that of Monte Carlo, which is known
                exactly, and the standard error of this ratio.
            ``interval_rate``, ``coverage``, ``width``
                Share of estimates with an interval; share of these intervals that
                hold the truth, and their median width.
            ``anytime_coverage``, ``flagged``
                Means of the columns ``anytime`` and ``flagged``.

            ``pandas.DataFrame(figures)`` makes a table of it.
        """
        data = self.columns
        keys = list(zip(data["evaluator"], data["risk"], data["n_labels"], strict=True))
        groups: dict = {}
        for place, key in enumerate(keys):
            groups.setdefault(key, []).append(place)
        lines = [
            {
                "evaluator": evaluator,
                "risk": risk,
                "n_labels": n_labels,
                **_figures({name: column[places] for name, column in data.items()}),
            }
            for (evaluator, risk, n_labels), places in groups.items()
        ]
        names = lines[0] if lines else []
        return {name: np.array([line[name] for line in lines]) for name in names}

    def save(self, path: StrPath) -> None:
        """Write all columns to a CSV file; an existing file is replaced."""
        replace_rows(path, zip(*(self.columns[name] for name in COLUMNS), strict=True))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read a file of :meth:`save`, or the finished part of a running simulation."""
        return cls(columns_of(read_rows(path)))


def columns_of(rows):
    """Return rows as columns.

    Parameters
    ----------
    rows : list of Row

    Returns
    -------
    columns : dict of str to ndarray of shape (n_rows,)
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return {
        name: np.array(column, dtype=kind)
        for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
    }


def _figures(part):
    """Return the figures of one evaluator, risk and label count."""
    error = part["value"] - part["truth"]
    # If all losses are equal, Monte Carlo has no error: do not divide by 0.
    variance = max(np.mean(part["mc_variance"]), np.finfo(float).tiny)
    ratio = np.mean(error**2) / variance
    # Delta method: the standard error of a ratio of two means.
    excess = error**2 - ratio * part["mc_variance"]
    has_interval = np.isfinite(part["low"])
    inside = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
    width = (part["high"] - part["low"])[has_interval]
    return {
        "n_runs": len(error),
        "mean_squared_error": np.mean(error**2),
        "median_squared_error": np.median(error**2),
        "bias": np.mean(error),
        "ratio": ratio,
        "ratio_error": _standard_error(excess) / variance,
        "interval_rate": np.mean(has_interval),
        "coverage": np.mean(inside[has_interval]) if has_interval.any() else np.nan,
        "width": np.median(width) if has_interval.any() else np.nan,
        "anytime_coverage": _mean_of_known(part["anytime"]),
        "flagged": _mean_of_known(part["flagged"]),
    }


def _standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def _mean_of_known(values):
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan
