"""What a fitted selector offers: the best model, and what is known of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._validation import check_rows
from sklearn_ase._utils._typing import Estimator, Floats, Rows

if TYPE_CHECKING:
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._model_selection._selection import ModelSelection


def _best_can(method):
    """Whether the best model, or before a fit the first one, has a method."""

    def check(selector):
        model = getattr(selector, "best_estimator_", None)
        if model is None and selector.estimators:
            model = selector.estimators[0][1]
        if method == "predict" and callable(model):
            return True
        return bool(getattr(model, method))  # Raises AttributeError if there is none.

    return check


class FittedSelector(BaseEstimator):
    """Selector with a ``selection_``, whose results it passes on."""

    selection_: ModelSelection
    stop_reason_: str

    @property
    def best_index_(self) -> int:
        """Place of the best model."""
        return self._run().best_index

    @property
    def best_name_(self) -> str:
        """Name of the best model."""
        return self._run().best_name

    @property
    def best_estimator_(self) -> Estimator | None:
        """The best model; None if only predictions were given."""
        run = self._run()
        return run.models.estimators[run.best_index]

    @property
    def best_score_(self) -> float:
        """Estimated metric of the best model."""
        return float(self._run().estimate())

    @property
    def candidates_(self) -> list[str]:
        """Names of the models that may be the best."""
        return self._run().candidates

    @property
    def results_(self) -> dict[str, list]:
        """Dict of columns with an entry per model."""
        return self._run().results

    @property
    def ledger_(self) -> LabelLedger:
        """Every query and label."""
        return self._run().ledger

    @property
    def classes_(self) -> np.ndarray | None:
        """Labels known so far, sorted; None for regression."""
        return self._run().classes_

    def _run(self):
        if "selection_" not in vars(self):
            # Properties must not look fitted before a fit.
            raise AttributeError("The selector is not fitted: call fit first.")
        return self.selection_

    @available_if(_best_can("predict"))
    def predict(self, X: Rows) -> np.ndarray:
        """Predict with the best model.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._ask_best("predict", X)

    @available_if(_best_can("predict_proba"))
    def predict_proba(self, X: Rows) -> Floats:
        """Probabilities of the classes by the best model.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        return self._ask_best("predict_proba", X)

    def _ask_best(self, method, X):
        check_is_fitted(self, "selection_")
        X = check_rows(self, X, reset=False)
        model = self.best_estimator_
        # A function gives labels, values or probabilities, whatever it was made for.
        return getattr(model, method, model)(X)

    def score(self, X: Rows, y: ArrayLike) -> float:
        """The metric of the best model on rows whose labels are known.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        score : float
            Greater is better: minus the metric where less is.
        """
        check_is_fitted(self, "selection_")
        X = check_rows(self, X, reset=False)
        metric = self.selection_.plan.metric
        method = metric.response_method
        sign = 1.0 if metric.greater_is_better else -1.0
        model: Any = self.best_estimator_
        if model is None:
            raise ValueError(
                "score needs a model, but only predictions were given. Give estimators="
                "[(name, model), ...]."
            )
        predicted = getattr(model, method, model)(X)
        return sign * metric(np.asarray(y), np.asarray(predicted))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "selection_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        pairs = self.estimators if isinstance(self.estimators, (list, tuple)) else ()
        parts = [pair[1] for pair in pairs if isinstance(pair, (list, tuple))]
        parts = [part for part in parts if not isinstance(part, type)]
        parts = [part for part in parts if hasattr(part, "__sklearn_tags__")]
        inputs = [get_tags(part).input_tags for part in parts]
        tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        tags.input_tags.allow_nan = all(tag.allow_nan for tag in inputs)
        return tags
