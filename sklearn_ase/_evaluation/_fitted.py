"""What a fitted evaluator offers: predictions, scores and the evaluation's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._validation import check_rows, row_numbers
from sklearn_ase._evaluation._other_pool import (
    expected_and_observed,
    expected_and_observed_metric,
    expected_loss,
)
from sklearn_ase._utils._typing import ByName, Floats, Rows

if TYPE_CHECKING:
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase.risk._either import Estimate


class FittedEvaluator(BaseEstimator):
    """Estimator with an ``evaluation_``, whose results it passes on."""

    evaluation_: Evaluation
    stop_reason_: str

    def predict(self, X: Rows, experts: ByName | None = None) -> Floats:
        """Predict the loss of the model at each row, ``g(x)``, by the surrogate.

        Without a model it is the probability of any label but the one whose share is
        estimated, or the expected square of the label.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
        experts : array-like, or dict of str to array-like, default=None
            What the experts of the evaluation, if it has any, say about these rows.

        Returns
        -------
        expected_loss : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "evaluation_")
        X = self._other_rows(X, experts)
        return expected_loss(self.evaluation_, self.estimator, X, experts)

    def score(
        self,
        X: Rows | None = None,
        y: ArrayLike | None = None,
        experts: ByName | None = None,
    ) -> float:
        """Score the model, or, with labels, the estimate of its risk.

        Parameters
        ----------
        X : array, sparse matrix, frame or list, default=None
            Another pool; None means the one that was evaluated.
        y : array-like of shape (n_samples,), default=None
            Labels of `X`.
        experts : array-like, or dict of str to array-like, default=None
            What the experts of the evaluation, if it has any, say about `X`.

        Returns
        -------
        score : float
            Greater is better. Without `y` minus the estimated risk on X, or the
            metric. With `y` minus the distance of that estimate from the truth, so
            that cross-validation prefers the evaluator with the closest estimate, not
            the one with the lowest risk. On another pool the estimate is what the
            surrogate expects, whatever `risk` is.
        """
        check_is_fitted(self, "evaluation_")
        if X is None and experts is None:
            if y is not None:
                raise ValueError("score(y=...) needs the rows of these labels as X.")
            metric, value = self.evaluation_.plan.metric, float(self.estimate_)
            return value if metric is not None and metric.greater_is_better else -value
        metric = self.evaluation_.plan.metric
        if y is None and metric is None:
            return -float(self.predict(X, experts).mean())
        X = self._other_rows(X, experts, y)
        if metric is not None:
            expected, observed = expected_and_observed_metric(
                self.evaluation_, self.estimator, X, y, experts
            )
            if y is None:
                return expected if metric.greater_is_better else -expected
            return -abs(float(expected - observed))
        expected, observed = expected_and_observed(
            self.evaluation_, self.estimator, X, y, experts=experts
        )
        return -abs(float(expected.mean() - observed.mean()))

    def _other_rows(self, X, experts, y=None):
        """Rows of another pool; their numbers if there are no features."""
        order = RowOrder.of(**({"experts": experts} if X is None else {"X": X}))
        order.check(experts=experts, y=y)
        X = row_numbers(experts) if X is None else X
        return check_rows(self, X, reset=False)

    @property
    def estimate_(self) -> Estimate:
        """The estimate of the mean loss, or of the metric."""
        check_is_fitted(self, "evaluation_")
        return self.evaluation_.estimate()

    @property
    def risk_(self) -> Estimate:
        """The same as ``estimate_``."""
        return self.estimate_

    @property
    def history_(self) -> dict[str, np.ndarray]:
        """Dict of arrays with one entry per label."""
        check_is_fitted(self, "evaluation_")
        return self.evaluation_.history

    @property
    def ledger_(self) -> LabelLedger:
        """Every query and label."""
        check_is_fitted(self, "evaluation_")
        return self.evaluation_.ledger

    @property
    def classes_(self) -> np.ndarray | None:
        """Labels known so far, sorted; None for regression."""
        return self.evaluation_.classes_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "evaluation_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        surrogate = ExtraTreesClassifier() if self.surrogate is None else self.surrogate
        parts = [self.estimator, surrogate]
        # A class in place of an instance is refused later, with a clear message.
        parts = [part for part in parts if not isinstance(part, type)]
        parts = [part for part in parts if hasattr(part, "__sklearn_tags__")]
        inputs = [get_tags(part).input_tags for part in parts]
        tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        tags.input_tags.allow_nan = all(tag.allow_nan for tag in inputs)
        return tags
