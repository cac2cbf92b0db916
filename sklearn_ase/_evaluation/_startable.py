"""Start an evaluation by hand with the parameters of an evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from sklearn_ase._evaluation._fitted import FittedEvaluator
from sklearn_ase._evaluation._starting import start_evaluation
from sklearn_ase._utils._naming import named_after
from sklearn_ase._utils._typing import ByName, Label, Rows, StrPath

if TYPE_CHECKING:
    from sklearn_ase._data._training_rows import TrainingRows
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._labels._ledger import LabelLedger


class StartableEvaluator(FittedEvaluator):
    """Evaluator whose evaluations can be run by hand."""

    @named_after(
        1,
        "Labels come by tell(). Name the others: start(X, X_train=..., y_train=...).",
    )
    def start(
        self,
        X: Rows,
        *,
        X_train: Rows | TrainingRows | None = None,
        y_train: ArrayLike | None = None,
        predictions: ArrayLike | None = None,
        train_predictions: ArrayLike | None = None,
        experts: ByName | None = None,
        ledger: LabelLedger | None = None,
        journal: StrPath | None = None,
        known_labels: Mapping[int, Label] | None = None,
        cost: ArrayLike | None = None,
        **other: Any,
    ) -> Evaluation:
        """Start an evaluation by hand, or resume one.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool. Pools that are not in memory are read in chunks: a path to a
            Parquet file or directory, a dataset of pyarrow, a lazy frame of polars, a
            dask array or frame, or a :class:`RowSource`.
        X_train : same kind as X, or TrainingRows, default=None
            Rows the surrogate may also learn from, for instance those the model was
            trained on. Cross-validation cuts arrays that are as long as X; wrap them
            in ``TrainingRows(X_train, y_train)`` to keep them whole.
        y_train : array-like, default=None
        predictions : array-like of shape (n_samples, n_classes) or (n_samples,), \
default=None
            Predictions of the model for the pool, instead of calling it: labels,
            values, or probabilities with the columns of ``classes`` or of a frame. For
            two `classes`, a single column is the probability of the second in order.
            A fitted `estimator` may be given, too: up to 100 rows are compared with
            what it predicts, and predictions that differ are refused. Without it, and
            without `train_predictions`, `X_train` cannot show how good the model is:
            only labels of the pool do. Estimates of every metric are then less precise
            while labels are few, most of all with labels in place of probabilities.
        train_predictions : array-like, default=None
            Predictions of the model for `X_train`, if they are out-of-fold or if the
            model has not learned from these rows. `cv` is then not used.
        experts : array-like, or dict of str to array-like, default=None
            What others say about the label of each row of the pool, such as judges:
            labels, probabilities with one column per class, or scores between 0 and 1.
            A score is the probability of the label that the `metric` is about, or of
            the second of two classes. For regression, numbers. None or NaN where an
            expert says nothing. The labels teach how much each of them counts. X may
            be None then.
        ledger : LabelLedger, default=None
            Queries and labels of an earlier evaluation of the same pool, to be
            resumed.
        journal : str or path, default=None
            File in which every query and label is kept. They are on disk before
            anything else happens. If the file exists, the evaluation resumes exactly
            where it stopped. ``evaluation.close()`` releases the file.
        known_labels : dict of int to label, default=None
            Labels that are already available, as ``{row: label}``. The surrogate
            learns from them. Weighted estimates count them only when the rows are
            picked like any other row, which then costs nothing.
        cost : array-like of shape (n_samples,), default=None
            What a label of each row costs. Cheap rows are preferred, as far as that
            makes the estimate more precise for the money: sampling goes by
            ``score / √cost``, ``ArgMax`` by ``score / cost``, ``Uniform`` stays
            uniform.
        **other
            ``sample_weight``, array-like of shape (n_samples,): how much each row of
            the pool counts in what is reported. ``client``, a ``distributed.Client`` or
            the address of a scheduler: the workers read the pool, a Parquet directory
            or a collection of dask. None means the active client for a collection of
            dask, and no cluster for anything else.

        Returns
        -------
        evaluation : Evaluation
        """
        # A copy, so that a start by hand does not change the evaluator.
        return start_evaluation(
            copy(self),
            X,
            X_train=X_train,
            y_train=y_train,
            predictions=predictions,
            train_predictions=train_predictions,
            experts=experts,
            ledger=ledger,
            journal=journal,
            known_labels=known_labels,
            cost=cost,
            **other,
        )
