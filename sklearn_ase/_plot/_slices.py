"""Display of the estimates for groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._groups import group_name
from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._slices import SliceTable


class SliceDisplay(EvaluationDisplay):
    """Estimate and interval of each group of rows.

    Parameters
    ----------
    table : SliceTable
        What ``evaluation.estimate_by(groups)`` returned.
    overall : float, default=None
        The estimate for all rows, drawn as a line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib ErrorbarContainer
        Groups that have an interval.
    points_ : matplotlib collection
        Groups with too few labels for an interval.

    See Also
    --------
    Evaluation.estimate_by : The same in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import SliceDisplay, SliceTable
    >>> columns = {"group": np.array(["a", "b"]), "estimate": np.array([0.7, 0.9]),
    ...            "low": np.array([0.6, np.nan]), "high": np.array([0.8, np.nan]),
    ...            "n_labels": np.array([40, 1])}
    >>> display = SliceDisplay(SliceTable(columns, 0.9, "Accuracy")).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a  (40 labels)', 'b  (1 label)']
    """

    def __init__(self, table: SliceTable, overall: float | None = None) -> None:
        self.table = table
        self.overall = overall

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        groups: ArrayLike,
        *,
        ax: Axes | None = None,
        **question: Any,
    ) -> Self:
        """Estimate and draw each group.

        Parameters
        ----------
        evaluation : Evaluation
        groups : array-like of shape (n_samples,)
            Group of each row of the pool.
        ax : matplotlib Axes, default=None
            None makes new axes.
        **question
            See :meth:`Evaluation.estimate_by`.

        Returns
        -------
        display : SliceDisplay
        """
        table = evaluation.estimate_by(groups, **question)
        asked = {k: v for k, v in question.items() if k in ("metric", "sample_weight")}
        overall = float(evaluation.estimate(question.get("risk"), **asked))
        return cls(table, overall).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the groups, the first one on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        table = self.table
        places = np.arange(len(table["group"]))
        values, has = np.asarray(table["estimate"]), np.isfinite(table["low"])
        reach = np.abs([values - table["low"], table["high"] - values])
        colour = STYLES[0]["color"]
        together = " of all groups together" if table.simultaneous else ""
        self.bars_ = ax.errorbar(
            values[has],
            places[has],
            xerr=reach[:, has],
            fmt="o",
            color=colour,
            capsize=3,
            label=f"estimate, {100 * table.level:g} % interval{together}",
        )
        self.points_ = ax.scatter(
            values[~has],
            places[~has],
            facecolors="none",
            edgecolors=colour,
            label="too few labels for an interval" if not has.all() else None,
        )
        if self.overall is not None:
            ax.axvline(self.overall, color="grey", linestyle=":", label="all rows")
        counts = [f"{n} label" + "s" * int(n != 1) for n in table["n_labels"]]
        names = [
            f"{group_name(group)}  ({n})"
            for group, n in zip(table["group"], counts, strict=True)
        ]
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set(xlabel=table.name)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
