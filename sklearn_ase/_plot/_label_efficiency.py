"""Display of a simulation: one metric against the number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._plot._axes import STYLES, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase.simulation._result import LabelEfficiency


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

    def __init__(self, metrics: dict[str, np.ndarray], *, level: float = 0.9) -> None:
        self.metrics = metrics
        self.level = level

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

    def _finish_axes(self, ax, metric, counts):
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


def _curves(data, risks):
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
