"""Which rows were labelled, in what order, and of which classes."""

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes


class AcquisitionDisplay(EvaluationDisplay):
    """Labels in the order in which they were bought.

    Parameters
    ----------
    indices : ndarray of shape (n_labels,)
        Rows of the pool.
    labels : ndarray of shape (n_labels,)
    positions : ndarray of shape (n_samples, 2), default=None
        Where each row of the pool lies on a plane.
    is_regression : bool, default=False
        Whether labels are numbers to be drawn as they are, and not classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib collection
        Labelled rows, where positions are known.
    areas_ : list of matplotlib collections
        One for each class, where they are not.

    See Also
    --------
    RiskCurveDisplay : What the labels said.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import AcquisitionDisplay
    >>> display = AcquisitionDisplay(np.array([4, 2, 0]), np.array(["a", "b", "a"]))
    >>> len(display.plot().areas_)
    2
    """

    def __init__(self, indices, labels, positions=None, *, is_regression=False):
        self.indices = indices
        self.labels = labels
        self.positions = positions
        self.is_regression = is_regression

    @classmethod
    def from_evaluation(cls, evaluation, *, positions=None, ax=None):
        """Draw which rows an evaluation has labelled.

        Parameters
        ----------
        evaluation : Evaluation
        positions : array-like of shape (n_samples, 2), default=None
            Where each row of the pool lies on a plane. None draws the share of each
            class among the labels, or the labels themselves for regression.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : AcquisitionDisplay
        """
        state = evaluation.state
        positions = None if positions is None else np.asarray(positions)
        is_regression = evaluation.classes_ is None
        display = cls(
            state.indices, state.labels, positions, is_regression=is_regression
        )
        return display.plot(ax=ax)

    def plot(self, ax=None):
        """Draw the labels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new ones.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        self.points_, self.areas_ = None, []
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
        met = np.asarray(self.labels)[:, None] == classes
        shares = np.cumsum(met, axis=0) / order[:, None]
        colours = colormaps["viridis"](np.linspace(0, 1, len(classes)))
        self.areas_ = ax.stackplot(
            order, shares.T, labels=classes, colors=colours, edgecolor="white"
        )
        ax.set(xlabel="labels", ylabel="share of each class", ylim=(0, 1))
        ax.set_xlim(order[0], max(order[-1], order[0] + 1))
        # From top to bottom as the areas lie, so that order tells them apart in print.
        ax.legend(
            self.areas_[::-1],
            classes[::-1],
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            frameon=False,
        )
