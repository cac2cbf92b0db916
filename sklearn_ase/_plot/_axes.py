"""Parts that all displays share. matplotlib is imported only to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from sklearn_ase._active_risk import ActiveRiskEstimator

# Colours that colour-blind readers can distinguish, each with another marker.
STYLES = [
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
    {"color": "#009E73", "marker": "^"},
    {"color": "#CC79A7", "marker": "D"},
    {"color": "#56B4E9", "marker": "v"},
    {"color": "#E69F00", "marker": "P"},
]


def new_axes(display, **options):
    """Return new matplotlib axes, or raise an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} draws with matplotlib, which is not installed. "
            "Install the extra: pip install 'sklearn_ase[plot]'."
        ) from error
    return plt.subplots(constrained_layout=True, **options)[1]


class EvaluationDisplay:
    """Base class of the displays of one evaluation."""

    from_evaluation: Any

    @classmethod
    def from_estimator(cls, estimator: ActiveRiskEstimator, **options: Any) -> Self:
        """Draw the evaluation of a fitted :class:`ActiveRiskEstimator`.

        Parameters
        ----------
        estimator : ActiveRiskEstimator
        **options
            See :meth:`from_evaluation`.

        Returns
        -------
        display : object
        """
        check_is_fitted(estimator, "evaluation_")
        return cls.from_evaluation(estimator.evaluation_, **options)
