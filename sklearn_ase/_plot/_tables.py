"""Displays of tables: several models, and groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._labels import group_name
from sklearn_ase._display._blocks import counted, percent
from sklearn_ase._plot._curves import STYLES, EvaluationDisplay, new_axes
from sklearn_ase._utils._typing import ManyModels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._choice import ModelSelection
    from sklearn_ase._evaluation._compare import Comparison
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._slices import SliceTable


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """Estimates of several models, and how far each is behind the best.

    Parameters
    ----------
    comparison : Comparison
        What ``evaluation.compare(models)`` returned, or ``run.compare()`` of a choice
        between models.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        Estimates on the left, differences on the right.
    figure_ : matplotlib Figure
    estimates_, differences_ : matplotlib ErrorbarContainer

    See Also
    --------
    Evaluation.compare : The same in numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ase import ActiveRiskEstimator, ComparisonDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> bayes, tree = GaussianNB().fit(X[::5], y[::5]), DecisionTreeClassifier()
    >>> evaluator = ActiveRiskEstimator(
    ...     FrozenEstimator(bayes), metric="accuracy", n_labels=30, random_state=0)
    >>> evaluator = evaluator.fit(X, y, X_train=X[::5], y_train=y[::5])
    >>> models = {"bayes": bayes, "tree": tree.fit(X[::5], y[::5])}
    >>> display = ComparisonDisplay(evaluator.evaluation_.compare(models)).plot()
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['bayes', 'tree']
    """

    comparison: Comparison

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation | ModelSelection,
        models: ManyModels | None = None,
        *,
        level: float = 0.9,
        axes: Sequence[Axes] | None = None,
        **question: Any,
    ) -> Self:
        """Compare and draw models.

        Parameters
        ----------
        evaluation : Evaluation or ModelSelection
        models : dict of str to model, or list of (str, model), default=None
            None means those of a ModelSelection.
        level : float, default=0.9
            Of the intervals and of the set of candidates.
        axes : sequence of two matplotlib Axes, default=None
            None makes new axes.
        **question
            See :meth:`Evaluation.compare`.

        Returns
        -------
        display : ComparisonDisplay
        """
        if models is not None:
            question["models"] = models
        return cls(evaluation.compare(**question)).plot(axes=axes, level=level)

    def plot(self, axes: Sequence[Axes] | None = None, *, level: float = 0.9) -> Self:
        """Draw the models, the first one on top.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            None makes new axes.
        level : float, default=0.9

        Returns
        -------
        self : object
        """
        if axes is None:
            axes = new_axes(self, ncols=2, sharey=True, figsize=(9, 3.5))
        table = self.comparison.to_dict(level)
        places = np.arange(len(table["model"]))
        may = np.array(table["may_be_best"])
        numbers = {name: np.array(column) for name, column in table.items()}
        self.estimates_ = self._draw(
            axes[0], numbers["estimate"], numbers["low"], numbers["high"], may
        )
        self.differences_ = self._draw(
            axes[1],
            numbers["behind_best"],
            numbers["behind_low"],
            numbers["behind_high"],
            may,
        )
        name = self.comparison.metric_name
        axes[0].set_yticks(places, table["model"])
        axes[0].invert_yaxis()
        axes[0].set(xlabel=f"{name}, {percent(level)} intervals")
        axes[1].locator_params(axis="x", nbins=6)
        axes[1].axvline(0.0, color="grey", linestyle=":")
        axes[1].set(xlabel="behind the best")
        axes[1].legend(frameon=False, loc="best")
        self.axes_, self.figure_ = np.asarray(axes), axes[0].figure
        return self

    @staticmethod
    def _draw(
        ax: Axes, values: np.ndarray, low: np.ndarray, high: np.ndarray, may: np.ndarray
    ) -> Any:
        """Bars of models, those that may be the best in another colour."""
        reach = np.nan_to_num(np.abs([values - low, high - values]))
        places, bars = np.arange(len(values)), None
        labels = "may be the best", "is not the best"
        for style, chosen, label in zip(STYLES, (may, ~may), labels, strict=False):
            if chosen.any():
                bars = ax.errorbar(
                    values[chosen],
                    places[chosen],
                    xerr=reach[:, chosen],
                    fmt=style["marker"],
                    color=style["color"],
                    capsize=3,
                    label=label,
                )
        return bars


# Display of the estimates for groups of rows.


@dataclass(eq=False, repr=False)
class SliceDisplay(EvaluationDisplay):
    """Estimate and interval of each group of rows.

    Parameters
    ----------
    table : SliceTable
        What ``evaluation.estimate_by(groups)`` returned.
    overall : float, default=None
        The estimate for all rows, drawn as a line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib ErrorbarContainer
        Groups that have an interval.
    points_ : matplotlib collection
        Groups with too few labels for an interval.

    See Also
    --------
    Evaluation.estimate_by : The same in numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import SliceDisplay, SliceTable
    >>> columns = {"group": np.array(["a", "b"]), "estimate": np.array([0.7, 0.9]),
    ...            "low": np.array([0.6, np.nan]), "high": np.array([0.8, np.nan]),
    ...            "n_labels": np.array([40, 1])}
    >>> display = SliceDisplay(SliceTable(columns, 0.9, "Accuracy")).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a  (40 labels)', 'b  (1 label)']
    """

    table: SliceTable
    overall: float | None = None

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        groups: ArrayLike,
        *,
        ax: Axes | None = None,
        **question: Any,
    ) -> Self:
        """Estimate and draw each group.

        Parameters
        ----------
        evaluation : Evaluation
        groups : array-like of shape (n_samples,)
            Group of each row of the pool.
        ax : matplotlib Axes, default=None
            None makes new axes.
        **question
            See :meth:`Evaluation.estimate_by`.

        Returns
        -------
        display : SliceDisplay
        """
        table = evaluation.estimate_by(groups, **question)
        asked = {k: v for k, v in question.items() if k in ("metric", "sample_weight")}
        overall = float(evaluation.estimate(question.get("risk"), **asked))
        return cls(table, overall).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the groups, the first one on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        self : object
        """
        ax = new_axes(self) if ax is None else ax
        table = self.table
        places = np.arange(len(table["group"]))
        values, has = np.asarray(table["estimate"]), np.isfinite(table["low"])
        reach = np.abs([values - table["low"], table["high"] - values])
        colour = STYLES[0]["color"]
        together = " of all groups together" if table.simultaneous else ""
        self.bars_ = ax.errorbar(
            values[has],
            places[has],
            xerr=reach[:, has],
            fmt="o",
            color=colour,
            capsize=3,
            label=f"estimate, {percent(table.level)} interval{together}",
        )
        self.points_ = ax.scatter(
            values[~has],
            places[~has],
            facecolors="none",
            edgecolors=colour,
            label="too few labels for an interval" if not has.all() else None,
        )
        if self.overall is not None:
            ax.axvline(self.overall, color="grey", linestyle=":", label="all rows")
        names = [
            f"{group_name(group)}  ({counted(n, 'label')})"
            for group, n in zip(table["group"], table["n_labels"], strict=True)
        ]
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set(xlabel=table.name)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
