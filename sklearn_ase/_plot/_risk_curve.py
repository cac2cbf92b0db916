"""The estimate as labels come in, with its interval."""

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes


class RiskCurveDisplay(EvaluationDisplay):
    """Estimated risk against the number of labels, with interval and refits.

    Parameters
    ----------
    n_labels : ndarray of shape (n_estimates,)
        Labels at each estimate.
    risk : ndarray of shape (n_estimates,)
        NaN where there was no estimate yet.
    low, high : ndarrays of shape (n_estimates,)
        Interval; infinite where none could be given.
    refit : ndarray of shape (n_estimates,), dtype bool
        Whether the surrogate was refitted after these labels.
    truth : float, default=None
        Drawn as a line, where it is known.
    name : str, default=None
        Of the estimate, for the legend.
    level : float, default=None
        Of the interval, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    band_ : matplotlib collection
        The interval.
    bars_ : matplotlib collection
        Intervals with none before or after them, which a band would not show.
    refits_ : matplotlib collection
        Ticks at the refits.

    See Also
    --------
    AcquisitionDisplay : Which rows were labelled.

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
        self, n_labels, risk, low, high, refit, *, truth=None, name=None, level=None
    ):
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
        cls, evaluation, *, level=0.9, truth=None, name=None, ax=None, **line_options
    ):
        """Draw how the estimate of an evaluation went.

        Labels that came in batches are drawn at the end of each batch, where the
        estimate was made.

        Parameters
        ----------
        evaluation : Evaluation
        level : float, default=0.9
            Of the interval.
        truth : float, default=None
        name : str, default=None
            None is the name of the risk.
        ax : matplotlib Axes, default=None
        **line_options
            For the line of the estimate.

        Returns
        -------
        display : RiskCurveDisplay
        """
        history = evaluation.history
        low, high = evaluation.intervals(level)
        ends = _ends_of_batches(evaluation.ledger)
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

    def plot(self, ax=None, **line_options):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new ones.
        **line_options
            For the line of the estimate.

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
        given = np.isfinite(self.low) & np.isfinite(self.high)
        label = None if self.level is None else f"{100 * self.level:g} % interval"
        ink = {"color": self.line_.get_color(), "alpha": 0.2}
        low, high = (np.where(given, ends, np.nan) for ends in (self.low, self.high))
        self.band_ = ax.fill_between(
            self.n_labels,
            low,
            high,
            linewidth=0,
            label=label if given.any() else None,
            **ink,
        )
        neighbours = np.concatenate([[False], given, [False]])
        alone = given & ~neighbours[:-2] & ~neighbours[2:]
        places = np.asarray(self.n_labels)[alone]
        self.bars_ = ax.vlines(places, low[alone], high[alone], linewidth=5, **ink)


def _ends_of_batches(ledger):
    """Whether the estimate noted for each label was made right after that label."""
    estimates = [note["estimate"] for note in ledger.notes.values()]
    # A batch shares one estimate. Its last label may have another one by now, of a
    # refit, and then the one that the rest shares was made of more labels.
    return np.array(
        [
            made is None or (made is not after and made["n_labels"] <= count)
            for count, (made, after) in enumerate(
                zip(estimates, [*estimates[1:], None], strict=True), start=1
            )
        ],
        dtype=bool,
    )
