"""Display of the estimate against the number of labels, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation


class RiskCurveDisplay(EvaluationDisplay):
    """Estimated risk against the number of labels, with interval and refits.

    Parameters
    ----------
    n_labels : ndarray of shape (n_estimates,)
        Number of labels at each estimate.
    risk : ndarray of shape (n_estimates,)
        Estimates; NaN if there was none yet.
    low, high : ndarrays of shape (n_estimates,)
        Ends of the intervals; infinite if there was none.
    refit : ndarray of shape (n_estimates,), dtype bool
        Whether the surrogate was refitted after these labels.
    truth : float, default=None
        True risk, drawn as a line if it is given.
    name : str, default=None
        Name of the estimate in the legend.
    level : float, default=None
        Level of the intervals in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The estimates.
    band_ : matplotlib collection
        The intervals.
    bars_ : matplotlib collection
        Single intervals without a neighbour, which a band would not show.
    refits_ : matplotlib collection
        Ticks at the refits.

    See Also
    --------
    AcquisitionDisplay : The labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import RiskCurveDisplay
    >>> risk = np.array([0.5, 0.3, 0.32])
    >>> display = RiskCurveDisplay(
    ...     np.arange(1, 4), risk, risk - 0.1, risk + 0.1, np.array([0, 1, 0], bool))
    >>> display.plot().line_.get_ydata().tolist()
    [0.5, 0.3, 0.32]
    """

    def __init__(
        self,
        n_labels: np.ndarray,
        risk: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        refit: np.ndarray,
        *,
        truth: float | None = None,
        name: str | None = None,
        level: float | None = None,
    ) -> None:
        self.n_labels = n_labels
        self.risk = risk
        self.low = low
        self.high = high
        self.refit = refit
        self.truth = truth
        self.name = name
        self.level = level

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        level: float = 0.9,
        truth: float | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the estimates of an evaluation.

        If labels came in batches, there is one point per batch, at its last label.

        Parameters
        ----------
        evaluation : Evaluation
        level : float, default=0.9
            Level of the intervals.
        truth : float, default=None
            True risk, drawn as a line if it is given.
        name : str, default=None
            Name of the estimate in the legend. None means the class of the risk.
        ax : matplotlib Axes, default=None
            None makes new axes.
        **line_options
            Options of matplotlib for the line of the estimates.

        Returns
        -------
        display : RiskCurveDisplay
        """
        history = evaluation.history
        low, high = evaluation.intervals(level)
        ends = np.array(evaluation.ledger.ends_of_batches, dtype=bool)
        display = cls(
            history["n_labels"][ends],
            history["risk"][ends],
            low[ends],
            high[ends],
            history["refit"][ends],
            truth=truth,
            name=type(evaluation.risk).__name__ if name is None else name,
            level=level,
        )
        return display.plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.
        **line_options
            Options of matplotlib for the line of the estimates.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        style = {"color": STYLES[0]["color"], "label": self.name} | line_options
        if np.any(np.diff(self.n_labels) > 1):
            style = {"marker": STYLES[0]["marker"], "markersize": 4} | style
        (self.line_,) = ax.plot(self.n_labels, self.risk, **style)
        self._plot_intervals(ax)
        places = np.asarray(self.n_labels)[np.asarray(self.refit, dtype=bool)]
        self.refits_ = ax.vlines(
            places, 0, 0.02, transform=ax.get_xaxis_transform(), color="grey"
        )
        if self.truth is not None:
            ax.axhline(self.truth, color="black", linestyle=":", label="truth")
        ax.set(xlabel="labels", ylabel="estimated risk")
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_intervals(self, ax):
        has_interval = np.isfinite(self.low) & np.isfinite(self.high)
        label = None if self.level is None else f"{100 * self.level:g} % interval"
        ink = {"color": self.line_.get_color(), "alpha": 0.2}
        low, high = (
            np.where(has_interval, ends, np.nan) for ends in (self.low, self.high)
        )
        self.band_ = ax.fill_between(
            self.n_labels,
            low,
            high,
            linewidth=0,
            label=label if has_interval.any() else None,
            **ink,
        )
        # A band needs two intervals in a row; a single one is drawn as a bar.
        neighbours = np.concatenate([[False], has_interval, [False]])
        alone = has_interval & ~neighbours[:-2] & ~neighbours[2:]
        places = np.asarray(self.n_labels)[alone]
        self.bars_ = ax.vlines(places, low[alone], high[alone], linewidth=5, **ink)
