"""What the surrogate expected of the labels, against what they showed."""

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes


class LossCalibrationDisplay(EvaluationDisplay):
    """Loss expected before each label, against the loss it showed.

    Parameters
    ----------
    expected : ndarray of shape (n_labels,)
        Loss the surrogate expected at each row when it was picked.
    observed : ndarray of shape (n_labels,)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib collection
        Single labels.
    bars_ : matplotlib ErrorbarContainer
        Means over groups of labels of equal size, with two standard errors;
        cut off at 0 where no loss is negative.

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

    def __init__(self, expected, observed):
        self.expected = expected
        self.observed = observed

    @classmethod
    def from_evaluation(cls, evaluation, *, n_groups=5, ax=None):
        """Draw the labels of an evaluation that the surrogate had expectations of.

        Parameters
        ----------
        evaluation : Evaluation
        n_groups : int, default=5
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : LossCalibrationDisplay
        """
        state = evaluation.state
        # Before the first fit nothing was expected anywhere.
        known = state.free_expected_loss > 0
        if not known.any():
            raise ValueError(
                "No label was bought after the first fit of the surrogate, so it had "
                "no expectations yet. Buy more labels, or give X_train and y_train."
            )
        display = cls(state.query_expected_loss[known], state.losses[known])
        return display.plot(ax=ax, n_groups=n_groups)

    def plot(self, ax=None, *, n_groups=5):
        """Draw the labels, and means over groups of them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new ones.
        n_groups : int, default=5

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
        # Where no loss is negative, no mean of losses is.
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
