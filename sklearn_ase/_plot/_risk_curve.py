"""The estimate as labels come in, with its interval."""

import numpy as np

from sklearn_ase._plot._axes import STYLES, EvaluationDisplay, new_axes


class RiskCurveDisplay(EvaluationDisplay):
    """Estimated risk against the number of labels, with interval and refits.

    Parameters
    ----------
    n_labels : ndarray of shape (n_labels,)
    risk : ndarray of shape (n_labels,)
        NaN where there was no estimate yet.
    low, high : ndarrays of shape (n_labels,)
        Interval; infinite where none could be given.
    refit : ndarray of shape (n_labels,), dtype bool
        Whether the surrogate was refitted after this label.
    truth : float, default=None
        Drawn as a line, where it is known.
    name : str, default=None
        Of the estimate, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    band_ : matplotlib collection
        The interval.
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

    def __init__(self, n_labels, risk, low, high, refit, *, truth=None, name=None):
        self.n_labels = n_labels
        self.risk = risk
        self.low = low
        self.high = high
        self.refit = refit
        self.truth = truth
        self.name = name

    @classmethod
    def from_evaluation(
        cls, evaluation, *, level=0.9, truth=None, name=None, ax=None, **line_options
    ):
        """Draw how the estimate of an evaluation went.

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
        display = cls(
            history["n_labels"],
            history["risk"],
            low,
            high,
            history["refit"].astype(bool),
            truth=truth,
            name=type(evaluation.risk).__name__ if name is None else name,
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
        (self.line_,) = ax.plot(self.n_labels, self.risk, **style)
        given = np.isfinite(self.low) & np.isfinite(self.high)
        self.band_ = ax.fill_between(
            self.n_labels,
            np.where(given, self.low, np.nan),
            np.where(given, self.high, np.nan),
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
        )
        places = np.asarray(self.n_labels)[np.asarray(self.refit, dtype=bool)]
        self.refits_ = ax.vlines(
            places, 0, 0.02, transform=ax.get_xaxis_transform(), color="grey"
        )
        if self.truth is not None:
            ax.axhline(self.truth, color="black", linestyle=":", label="truth")
        ax.set(xlabel="labels", ylabel="estimated risk")
        if self.name is not None or self.truth is not None:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
