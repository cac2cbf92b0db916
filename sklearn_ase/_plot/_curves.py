"""Displays of curves, and what all displays share. matplotlib is imported to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase.simulation._curve import LabelEfficiency

# Colours that colour-blind readers can distinguish, each with another marker.
STYLES = [
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
    {"color": "#009E73", "marker": "^"},
    {"color": "#CC79A7", "marker": "D"},
    {"color": "#56B4E9", "marker": "v"},
    {"color": "#E69F00", "marker": "P"},
]


def new_axes(display: object, **options) -> Any:
    """Return new matplotlib axes, or raise an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} draws with matplotlib, which is not installed. "
            "Install the extra: pip install 'sklearn_ase[plot]'."
        ) from error
    return plt.subplots(constrained_layout=True, **options)[1]


class EvaluationDisplay:
    """Base class of the displays of one evaluation."""

    from_evaluation: Any

    @classmethod
    def from_estimator(cls, estimator: ActiveRiskEstimator, **options: Any) -> Self:
        """Draw the evaluation of a fitted :class:`ActiveRiskEstimator`.

        Parameters
        ----------
        estimator : ActiveRiskEstimator
        **options
            See :meth:`from_evaluation`.

        Returns
        -------
        display : object
        """
        check_is_fitted(estimator, "evaluation_")
        return cls.from_evaluation(estimator.evaluation_, **options)


# Display of the estimate against the number of labels, with its interval.


@dataclass(eq=False, repr=False)
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

    n_labels: np.ndarray
    risk: np.ndarray
    low: np.ndarray
    high: np.ndarray
    refit: np.ndarray
    _: KW_ONLY
    truth: float | None = None
    name: str | None = None
    level: float | None = None

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

    def _plot_intervals(self, ax: Axes) -> None:
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


# Display of a simulation: one metric against the number of labels.


_LABELS = {
    "mean_squared_error": "mean squared error",
    "median_squared_error": "median squared error",
    "ratio": "squared error / Monte Carlo's",
    "bias": "bias",
    "coverage": "coverage of the interval",
    "anytime_coverage": "coverage at every label count so far",
    "width": "median width of the interval",
    "flagged": "share of runs flagged",
}
_PLAIN = "Monte Carlo"  # The name of plain samples in simulations.
_LOGARITHMIC = ("mean_squared_error", "median_squared_error", "ratio", "width")


@dataclass(eq=False, repr=False)
class LabelEfficiencyDisplay:
    """Metrics of a simulation against the number of labels.

    Parameters
    ----------
    metrics : dict of str to ndarray of shape (n_entries,)
        What ``LabelEfficiency.summary()`` returns.
    level : float, default=0.9
        Level of the intervals; a line shows it as the target of coverages.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One line per evaluator and risk, and one for Monte Carlo.

    See Also
    --------
    label_efficiency_curve : Runs the simulation.

    Examples
    --------
    >>> from sklearn_ase import LabelEfficiencyDisplay
    >>> metrics = {
    ...     "evaluator": ["default"] * 2, "risk": ["ASE"] * 2, "n_labels": [10, 50],
    ...     "mean_squared_error": [0.4, 0.1]}
    >>> len(LabelEfficiencyDisplay(metrics).plot().lines_)
    1
    """

    metrics: dict[str, np.ndarray]
    _: KW_ONLY
    level: float = 0.9

    @classmethod
    def from_result(
        cls,
        result: LabelEfficiency,
        *,
        level: float = 0.9,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the result of a simulation.

        Parameters
        ----------
        result : LabelEfficiency
        level : float, default=0.9
            Level of the intervals.
        ax : matplotlib Axes, default=None
            None makes new axes.
        **options
            See :meth:`plot`.

        Returns
        -------
        display : LabelEfficiencyDisplay
        """
        return cls(result.summary(), level=level).plot(ax=ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        metric: str = "mean_squared_error",
        risks: Sequence[str] | None = None,
    ) -> Self:
        """Draw one metric against the number of labels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.
        metric : str, default="mean_squared_error"
            Name of an entry of `metrics`.
        risks : sequence of str, default=None
            Risks to draw; None draws all.

        Returns
        -------
        self : object
        """
        data = {name: np.asarray(values) for name, values in self.metrics.items()}
        if metric not in data:
            known = sorted(set(data) & set(_LABELS))
            raise ValueError(f"metric={metric!r} is not known. Use one of {known}.")
        ax = new_axes(self) if ax is None else ax
        self.lines_: list = []
        for name, part in _curves(data, risks).items():
            values = data[metric][part]
            if np.isnan(values).all():
                continue
            style = STYLES[len(self.lines_) % len(STYLES)]
            self.lines_ += ax.plot(
                data["n_labels"][part], values, label=name, markersize=5, **style
            )
        self._finish_axes(ax, metric, np.unique(data["n_labels"]))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _finish_axes(self, ax: Axes, metric: str, counts: np.ndarray) -> None:
        ax.set(xscale="log", xlabel="labels", ylabel=_LABELS.get(metric, metric))
        ax.set_xticks(counts, [str(count) for count in counts])
        ax.minorticks_off()
        if metric in _LOGARITHMIC:
            ax.set_yscale("log")
        target = {"ratio": 1.0, "bias": 0.0}.get(metric)
        if "coverage" in metric:
            target = self.level
        if target is not None:
            ax.axhline(target, color="grey", linewidth=1, linestyle=":")
        ax.legend(frameon=False)


def _curves(
    data: dict[str, np.ndarray], risks: Sequence[str] | None
) -> dict[str, np.ndarray]:
    """Return the entries of each curve, as a mask, by the name of the curve."""
    pairs = dict.fromkeys(
        zip(data["evaluator"].tolist(), data["risk"].tolist(), strict=True)
    )
    first = next(iter(pairs))[0] if pairs else None
    several = len({evaluator for evaluator, _ in pairs}) > 1
    curves = {}
    for evaluator, risk in pairs:
        # Every evaluator has the same plain samples beside it: draw them once.
        if risk == _PLAIN and evaluator != first:
            continue
        if risks is not None and risk not in risks:
            continue
        name = f"{risk}, {evaluator}" if several and risk != _PLAIN else risk
        curves[name] = (data["evaluator"] == evaluator) & (data["risk"] == risk)
    return curves
