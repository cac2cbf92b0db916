"""Display of the losses that the surrogate expected and those observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._evaluation import Evaluation


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

    def __init__(self, expected: np.ndarray, observed: np.ndarray) -> None:
        self.expected = expected
        self.observed = observed

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
