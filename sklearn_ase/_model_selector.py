"""The selector: the best of several models from few labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from sklearn_ase._data._label_checks import check_oracle
from sklearn_ase._evaluation._plan import check_n_labels
from sklearn_ase._model_selection._fitted import FittedSelector
from sklearn_ase._model_selection._starting import start_selection
from sklearn_ase._utils._naming import named_after
from sklearn_ase._utils._typing import ByName, Estimator, Oracle, Rows, Seed

if TYPE_CHECKING:
    from sklearn_ase._model_selection._selection import ModelSelection
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.stopping import BaseStop


class ActiveModelSelector(FittedSelector):
    """Find the best of several fitted models on a pool from few labels.

    Rows are labelled where models that may be the best differ. What the models predict
    is the belief about the labels; labels correct it, so a wrong majority is found out.
    Probabilities of picks are kept, so the labels also give each model's metric, the
    differences with intervals, and the models that may be the best.

    Parameters
    ----------
    estimators : list of (str, estimator) tuples, default=None
        Names and fitted models, as ``FrozenEstimator(model)``, or functions
        ``X -> predictions``. A bare fitted model works too, but ``clone`` unfits it.
        None if `predictions` are given to :meth:`fit` or :meth:`start`.
    metric : str or BaseMetric, default="accuracy"
        What makes a model good: a name such as ``"f1"``, ``"log_loss"`` or
        ``"squared_error"``, or an object of :mod:`sklearn_ase.metrics`. Where less is
        better, the model with the least is the best.
    n_labels : int, default=50
        Labels that :meth:`fit` buys.
    batch_size : int, default=1
        Labels that :meth:`fit` asks for at a time.
    stop : stopping rule, default=None
        Ends :meth:`fit` before `n_labels`, for instance
        :class:`~sklearn_ase.stopping.OneCandidate` or
        :class:`~sklearn_ase.stopping.RegretBelow`.
    surrogate : classifier, regressor or "votes", default=None
        Learns the labels from X, as one more expert beside the models. None means
        extremely randomised trees. With ``"votes"``, or if X is None, there is none:
        the belief is made of what the models predict alone.
    level_share : float, default=0.0
        Share of picks that serve the metric of the best model by itself. All others are
        bought for differences between models, and say less about a single model.
    classes : array-like, default=None
        All possible labels. None takes what the models know, and adds others as they
        are met.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether :meth:`fit` shows a progress bar with the model that leads.

    Attributes
    ----------
    selection_ : ModelSelection
        The run, which can be continued by hand; if it has a journal, by :meth:`start`.
    best_index_ : int
    best_name_ : str
    best_estimator_ : estimator, function or None
        None if only predictions were given.
    best_score_ : float
        Estimated metric of the best model. It is a little too good: the model was
        chosen for what the same labels say. New labels would show that.
    candidates_ : list of str
        Models that may be the best, at 90 %, all comparisons together.
    results_ : dict of str to list
        One entry per model: its estimate, how far it is behind the best one, whether it
        may be the best; see :meth:`Comparison.to_dict`. ``pandas.DataFrame(results_)``
        makes a table of it.
    stop_reason_ : str
        Why :meth:`fit` bought no more labels.
    ledger_ : LabelLedger
        Every query and label.
    classes_ : ndarray of shape (n_classes,) or None
        None for regression.
    n_features_in_ : int
        If X is given.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)

    See Also
    --------
    ModelSelection : The same by hand, with ask and tell.
    ActiveRiskEstimator : Evaluate one model.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveModelSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> models = [("bayes", GaussianNB()), ("linear", LogisticRegression(C=1e-3))]
    >>> models = [(n, FrozenEstimator(m.fit(X[:500], y[:500]))) for n, m in models]
    >>> selector = ActiveModelSelector(models, n_labels=25, random_state=0)
    >>> selector.fit(X[500:], y[500:]).best_name_
    'linear'
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Estimator]] | None = None,
        *,
        metric: str | BaseMetric = "accuracy",
        n_labels: int = 50,
        batch_size: int = 1,
        stop: BaseStop | None = None,
        surrogate: Estimator | None = None,
        level_share: float = 0.0,
        classes: ArrayLike | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.metric = metric
        self.n_labels = n_labels
        self.batch_size = batch_size
        self.stop = stop
        self.surrogate = surrogate
        self.level_share = level_share
        self.classes = classes
        self.random_state = random_state
        self.verbose = verbose

    @named_after(
        1,
        "Labels come by tell(). Name the others: start(X, X_train=..., y_train=...).",
    )
    def start(
        self, X: Rows | None, *, predictions: ByName | None = None, **data: Any
    ) -> ModelSelection:
        """Start a choice by hand, or resume one.

        Parameters
        ----------
        X : array, sparse matrix, frame, list or None
            The pool. None if only `predictions` are known.
        predictions : dict of str to array-like, frame or array, default=None
            Predictions of each model for the pool, by its name, instead of calling it:
            labels, values, or probabilities with the columns of ``classes``. Labels
            suffice for metrics of labels. A frame or an array has a column of labels or
            values for each model.
        **data
            Any of these, as in :meth:`ActiveRiskEstimator.start`:

            ``X_train``, ``y_train``
                Rows and labels that the surrogate on features also learns from.
            ``sample_weight`` : array-like of shape (n_samples,)
                How much each row of the pool counts in the metric.
            ``ledger`` : LabelLedger
                Queries and labels of an earlier choice from the same pool, to be
                resumed.
            ``journal`` : str or path
                File in which every query and label is kept. If it exists, the choice
                resumes exactly where it stopped. ``close()`` of the run releases the
                file.
            ``known_labels`` : dict of int to label
                Labels that are already available, as ``{row: label}``.
            ``cost`` : array-like of shape (n_samples,)
                What a label of each row costs. Cheap rows are preferred.

        Returns
        -------
        selection : ModelSelection
        """
        # A copy, so that a start by hand does not change the selector.
        return start_selection(copy(self), X, predictions=predictions, **data)

    @named_after(2, "Name the others: fit(X, y, X_train=..., y_train=...).")
    def fit(
        self,
        X: Rows | None,
        y: ArrayLike | Oracle | None = None,
        *,
        predictions: ByName | None = None,
        **data: Any,
    ) -> Self:
        """Buy `n_labels` labels and choose a model.

        If the oracle raises, the labels so far are kept in ``ledger_``, and
        ``fit(X, y, ledger=selector.ledger_)`` resumes.

        Parameters
        ----------
        X : array, sparse matrix, frame, list or None
            The pool.
        y : array-like of shape (n_samples,) or callable
            Labels, of which only those asked for are read, or a function
            ``indices -> labels``.
        predictions : dict of str to array-like, frame or array, default=None
            See :meth:`start`, here and for the rest.
        **data
            ``X_train``, ``y_train``, ``sample_weight``, ``ledger``, ``journal``,
            ``known_labels`` and ``cost``.

        Returns
        -------
        self : object
        """
        selection = start_selection(self, X, predictions=predictions, **data)
        with selection:
            oracle = check_oracle(y, selection.problem)
            check_n_labels(self.n_labels, self.batch_size, selection.n_samples)
            # From here on labels are kept whatever happens.
            self.selection_ = selection
            self.stop_reason_ = selection.run(
                oracle, self.n_labels, self.batch_size, self.verbose, stop=self.stop
            )
        return self
