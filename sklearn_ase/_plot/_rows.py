"""Displays of the labelled rows: their order, classes, positions and losses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._plot._curves import STYLES, EvaluationDisplay, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation


@dataclass(eq=False, repr=False)
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

    indices: np.ndarray
    labels: np.ndarray
    positions: np.ndarray | None = None
    _: KW_ONLY
    is_regression: bool = False

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
        positions = evaluation.problem.entries_of(positions, "positions")
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
            self._plot_positions(ax, order, self.positions)
        elif self.is_regression:
            self.points_ = ax.scatter(order, self.labels, color=STYLES[0]["color"])
            ax.set(xlabel="labels", ylabel="label")
        else:
            self._plot_shares(ax, order)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_positions(
        self, ax: Axes, order: np.ndarray, positions: np.ndarray
    ) -> None:
        ax.scatter(*positions.T, color="lightgrey", s=8, label="pool")
        chosen = positions[self.indices]
        self.points_ = ax.scatter(*chosen.T, c=order, cmap="viridis", s=30)
        ax.figure.colorbar(self.points_, ax=ax, label="order of the labels")

    def _plot_shares(self, ax: Axes, order: np.ndarray) -> None:
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


# Display of the losses that the surrogate expected and those observed.


@dataclass(eq=False, repr=False)
class LossCalibrationDisplay(EvaluationDisplay):
    """Observed loss of each label against the loss expected before it.

    Parameters
    ----------
    expected : ndarray of shape (n_labels,)
        Loss that the surrogate expected at each row when the row was picked.
    observed : ndarray of shape (n_labels,)
        Loss of the label at each row.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib collection
        One point per label.
    bars_ : matplotlib ErrorbarContainer
        Means over groups of labels of equal size, with bars of two standard errors.
        Bars end at 0 if no loss is negative.

    See Also
    --------
    Diagnosis : The same in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import LossCalibrationDisplay
    >>> expected = np.linspace(0, 1, 40)
    >>> display = LossCalibrationDisplay(expected, expected > 0.5).plot(n_groups=4)
    >>> len(display.bars_[0].get_xdata())
    4
    """

    expected: np.ndarray
    observed: np.ndarray

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, n_groups: int = 5, ax: Axes | None = None
    ) -> Self:
        """Draw the labels of an evaluation that came after the first fit.

        Before, the surrogate expected nothing.

        Parameters
        ----------
        evaluation : Evaluation
        n_groups : int, default=5
            Number of groups to draw means of.
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        display : LossCalibrationDisplay
        """
        state = evaluation.state
        # Before the first fit the expected loss is recorded as 0 everywhere.
        known = state.labelled.free_expected_loss > 0
        if not known.any():
            raise ValueError(
                "No label was bought after the first fit of the surrogate, so it had "
                "no expectations yet. Buy more labels, or give X_train and y_train."
            )
        display = cls(state.labelled.expected_loss[known], state.losses[known])
        return display.plot(ax=ax, n_groups=n_groups)

    def plot(self, ax: Axes | None = None, *, n_groups: int = 5) -> Self:
        """Draw the labels, and means over groups of them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.
        n_groups : int, default=5
            Number of groups to draw means of.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        expected = np.asarray(self.expected, dtype=float)
        observed = np.asarray(self.observed, dtype=float)
        self.points_ = ax.scatter(
            expected, observed, s=12, alpha=0.4, color=STYLES[0]["color"], label="label"
        )
        order = np.argsort(expected, kind="stable")
        groups = np.array_split(order, min(n_groups, len(order)))
        means = np.array([(expected[g].mean(), observed[g].mean()) for g in groups])
        error = [2 * observed[g].std() / max(len(g) - 1, 1) ** 0.5 for g in groups]
        # If no loss is negative, no mean of losses is negative.
        down = np.minimum(error, means[:, 1]) if observed.min() >= 0 else error
        self.bars_ = ax.errorbar(
            *means.T,
            yerr=[down, error],
            fmt=STYLES[1]["marker"],
            color=STYLES[1]["color"],
            capsize=3,
            label=f"mean of {len(groups[0])} labels",
        )
        top = means.max()
        ax.plot([0, top], [0, top], color="grey", linestyle=":", label="as expected")
        ax.set(xlabel="expected loss", ylabel="observed loss")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
