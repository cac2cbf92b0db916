"""Display of several models: their estimates and how far each is behind the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._plot._axes import STYLES, new_axes
from sklearn_ase._utils._typing import ManyModels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_ase._evaluation._comparison import Comparison
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._model_selection._selection import ModelSelection


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

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

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
        given = () if models is None else (models,)
        comparison = evaluation.compare(*given, **question)
        return cls(comparison).plot(axes=axes, level=level)

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
        columns = [
            ("estimate", "low", "high"),
            ("behind_best", "behind_low", "behind_high"),
        ]
        bars = [
            self._draw(ax, places, *[*(np.array(table[name]) for name in names), may])
            for ax, names in zip(axes, columns, strict=True)
        ]
        self.estimates_, self.differences_ = bars
        name = self.comparison.metric_name
        axes[0].set_yticks(places, table["model"])
        axes[0].invert_yaxis()
        axes[0].set(xlabel=f"{name}, {100 * level:g} % intervals")
        axes[1].locator_params(axis="x", nbins=6)
        axes[1].axvline(0.0, color="grey", linestyle=":")
        axes[1].set(xlabel="behind the best")
        axes[1].legend(frameon=False, loc="best")
        self.axes_, self.figure_ = np.asarray(axes), axes[0].figure
        return self

    @staticmethod
    def _draw(ax, places, values, low, high, may):
        reach = np.nan_to_num(np.abs([values - low, high - values]))
        bars = None
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
