"""Display of the labelled rows: their order, classes and positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation


class AcquisitionDisplay(EvaluationDisplay):
    """Rows and labels in the order in which they were bought.

    Parameters
    ----------
    indices : ndarray of shape (n_labels,)
        Labelled rows of the pool, in order.
    labels : ndarray of shape (n_labels,)
        Their labels.
    positions : ndarray of shape (n_samples, 2), default=None
        Coordinates of each row of the pool.
    is_regression : bool, default=False
        Whether labels are numbers, and not classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib collection
        Labelled rows; None if shares of classes are drawn.
    areas_ : list of matplotlib collections
        One area per class; empty if points are drawn.

    See Also
    --------
    RiskCurveDisplay : Estimates from these labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import AcquisitionDisplay
    >>> display = AcquisitionDisplay(np.array([4, 2, 0]), np.array(["a", "b", "a"]))
    >>> len(display.plot().areas_)
    2
    """

    def __init__(
        self,
        indices: np.ndarray,
        labels: np.ndarray,
        positions: np.ndarray | None = None,
        *,
        is_regression: bool = False,
    ) -> None:
        self.indices = indices
        self.labels = labels
        self.positions = positions
        self.is_regression = is_regression

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        positions: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the labelled rows of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        positions : array-like of shape (n_samples, 2), default=None
            Coordinates of each row of the pool. None draws the share of each class
            among the labels, or for regression the labels themselves.
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        display : AcquisitionDisplay
        """
        state = evaluation.state
        evaluation.problem.order.check(positions=positions)
        positions = None if positions is None else np.asarray(positions)
        is_regression = evaluation.classes_ is None
        display = cls(
            state.indices, state.labels, positions, is_regression=is_regression
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the labels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        self.points_: Any = None
        self.areas_: list = []
        order = np.arange(1, len(self.indices) + 1)
        if self.positions is not None:
            self._plot_positions(ax, order)
        elif self.is_regression:
            self.points_ = ax.scatter(order, self.labels, color=STYLES[0]["color"])
            ax.set(xlabel="labels", ylabel="label")
        else:
            self._plot_shares(ax, order)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_positions(self, ax, order):
        ax.scatter(*self.positions.T, color="lightgrey", s=8, label="pool")
        chosen = self.positions[self.indices]
        self.points_ = ax.scatter(*chosen.T, c=order, cmap="viridis", s=30)
        ax.figure.colorbar(self.points_, ax=ax, label="order of the labels")

    def _plot_shares(self, ax, order):
        from matplotlib import colormaps

        classes = np.unique(self.labels)
        is_class = np.asarray(self.labels)[:, None] == classes
        shares = np.cumsum(is_class, axis=0) / order[:, None]
        colours = colormaps["viridis"](np.linspace(0, 1, len(classes)))
        self.areas_ = ax.stackplot(
            order, shares.T, labels=classes, colors=colours, edgecolor="white"
        )
        ax.set(xlabel="labels", ylabel="share of each class", ylim=(0, 1))
        ax.set_xlim(order[0], max(order[-1], order[0] + 1))
        # In the order of the areas from top to bottom, to be readable without colours.
        ax.legend(
            self.areas_[::-1],
            classes[::-1],
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            frameon=False,
        )
