"""The evaluator: the estimator of scikit-learn that runs an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._labels import check_oracle
from sklearn_ase._data._rows import RowOrder
from sklearn_ase._data._validation import check_rows, row_numbers
from sklearn_ase._evaluation._loop import check_can_estimate
from sklearn_ase._evaluation._other_pool import (
    expected_and_observed,
    expected_and_observed_metric,
    expected_loss,
)
from sklearn_ase._evaluation._plan import check_n_labels
from sklearn_ase._evaluation._start import start_evaluation
from sklearn_ase._utils._checks import named_after
from sklearn_ase._utils._display import warn_caller
from sklearn_ase._utils._estimators import CallbackSupportMixin, Watch, with_callbacks
from sklearn_ase._utils._typing import (
    ByName,
    Estimator,
    Floats,
    Label,
    LossFunction,
    Model,
    Oracle,
    Rows,
    Seed,
    StrPath,
)
from sklearn_ase.exceptions import SurrogateWarning

if TYPE_CHECKING:
    from sklearn_ase._data._problem import TrainingRows
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._labels._store import BaseStore
    from sklearn_ase.acquisition._base import BaseAcquisition
    from sklearn_ase.losses._base import BaseLoss
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk import Estimate
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.selection import BaseSelection
    from sklearn_ase.stopping import BaseStop


# What a fitted evaluator offers.


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


# Evaluations that are run by hand.


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
        journal: StrPath | BaseStore | None = None,
        known_labels: Mapping[int, Label] | None = None,
        cost: ArrayLike | None = None,
        **other: Any,
    ) -> Evaluation:
        """Start an evaluation by hand, or resume one.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool: rows in memory, or a :class:`PoolSample`. Of a path to Parquet, a
            dataset of pyarrow, a lazy frame of polars or a collection of dask a
            million rows are drawn; see :func:`sample_pool`.
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
        journal : str, path or BaseStore, default=None
            File in which every query and label is kept. They are on disk before
            anything else happens. If the file exists, the evaluation resumes exactly
            where it stopped. ``evaluation.close()`` releases the file. A store of
            your own may take its place.
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
            the pool counts in what is reported.

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


# Parameters and fit.


class ActiveRiskEstimator(CallbackSupportMixin, StartableEvaluator):
    """Estimate a metric of a model, or its mean loss, on a pool from few labels.

    A second model, the surrogate, learns from the labels bought so far and predicts
    the other labels. An acquisition and a selection choose the rows to label next. A
    risk estimator turns labels and predictions into an estimate. ``predict`` returns
    the expected loss at each row.

    Parameters
    ----------
    estimator : fitted estimator or callable, default=None
        The model under test, as ``FrozenEstimator(model)`` or a function
        ``X -> predictions``. A bare fitted model works too, but ``clone`` unfits it.
        None if `predictions` are given to :meth:`fit` or :meth:`start`.
    surrogate : classifier, regressor or BaseSurrogate, default=None
        Model that learns the labels of the pool. It is wrapped in a
        :class:`ClassifierSurrogate` or :class:`RegressorSurrogate`. None means
        extremely randomised trees, after a
        :class:`~sklearn_ase.surrogate.PoolEncoder` for frames and images.
        ``FrozenEstimator(surrogate)`` is never refitted.
    loss : str, callable or loss object, default=None
        What a label costs the model at a row: ``"log_loss"``, ``"zero_one"``,
        ``"brier"``, ``"squared_error"``, ``"absolute_error"``, a function
        ``(y_true, y_pred) -> one value per row`` where `y_pred` is what the model's
        ``predict`` returns, or an instance of :class:`BaseLoss`; see
        :class:`CustomLoss` for functions of probabilities. None means ``"log_loss"``
        or, with a `metric`, a loss that fits to it.
    metric : str or BaseMetric, default=None
        What is reported: a name such as ``"f1"``, ``"recall"`` or ``"roc_auc"``, or an
        object of :mod:`sklearn_ase.metrics`. Rows are picked for it. None means the
        mean of the loss.
    acquisition : acquisition, default=None
        Scores how much a label of each row is worth. None means
        :class:`TrustWeighted`: XWED and some loss spread, uniform once the labels
        contradict the surrogate.
    selection : selection, default=None
        Picks the rows to label by these scores. None means :class:`Proportional`.
    risk : risk estimator, default=None
        The estimate that is reported. None means :class:`GuardedASE`, or :class:`ASE`
        if the selection picks without probabilities.
    n_labels : int, default=50
        Labels that :meth:`fit` buys.
    batch_size : int, default=1
        Labels that :meth:`fit` asks for at a time.
    stop : stopping rule, default=None
        Ends :meth:`fit` before `n_labels` when the labels are sufficient; see
        :mod:`sklearn_ase.stopping`.
    budget : float, default=None
        Ends :meth:`fit` with the label at which the `cost` of all labels reaches it.
    refit : float, int or array-like of int, default=1.5
        When the surrogate is refitted: a float > 1 when the number of labels has
        grown by that factor (and by five and 2 % of the rows, if it is calibrated), an
        int after that many labels, a list at these label counts. :meth:`fit` also
        refits after the last label, if at least half of such a step has come since the
        last refit. Between refits the calibration learns from every label.
    cv : int, default=5
        Number of folds for out-of-fold predictions of the model on `X_train`. They
        decide how much weight the surrogate gives to the model. The model is fitted
        once per fold, at the start. 0 never fits the model: the weight is then learned
        from labels of the pool only, which costs accuracy while labels are few. Models
        given as a function or by `predictions` are never fitted.
    recalibrate : bool, default=True
        Whether the calibration learns from every label between refits. Without it
        labels take less time, and early estimates are less precise.
    classes : array-like, default=None
        All possible labels. None takes the model's classes and those of `y_train`,
        and adds others when they appear.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 makes :meth:`fit` show a progress bar with the running estimate and its 90 %
        interval, which holds for one look at the end; `stop` ends a run earlier.

    Attributes
    ----------
    evaluation_ : Evaluation
        The evaluation that :meth:`fit` ran. It can be continued by hand; if it has a
        journal, by :meth:`start`.
    estimate_ : Estimate
        The estimate of the mean loss, or of the `metric`. Also named ``risk_``.
    stop_reason_ : str
        Why :meth:`fit` bought no more labels.
    history_ : dict of str to ndarray
        One entry per label; ``pandas.DataFrame(history_)`` makes a table of it.
    ledger_ : LabelLedger
        Every query and label.
    classes_ : ndarray of shape (n_classes,) or None
        None for regression.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)

    See Also
    --------
    Evaluation : The same by hand, with ask and tell.

    References
    ----------
    .. [1] Kossen, Farquhar, Gal and Rainforth, "Active Surrogate Estimators: An Active
       Learning Approach to Label-Efficient Model Evaluation", NeurIPS 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GaussianNB().fit(X[:500], y[:500])
    >>> evaluator = ActiveRiskEstimator(
    ...     FrozenEstimator(model), loss="zero_one", n_labels=30, random_state=0)
    >>> evaluator.fit(X[500:], y[500:], X_train=X[:500], y_train=y[:500]).risk_.n_labels
    30
    """

    def __init__(
        self,
        estimator: Model | None = None,
        *,
        surrogate: Estimator | None = None,
        loss: str | LossFunction | BaseLoss | None = None,
        metric: str | BaseMetric | None = None,
        acquisition: BaseAcquisition | None = None,
        selection: BaseSelection | None = None,
        risk: BaseRisk | None = None,
        n_labels: int = 50,
        batch_size: int = 1,
        stop: BaseStop | None = None,
        budget: float | None = None,
        refit: float | Sequence[int] | np.ndarray = 1.5,
        cv: int = 5,
        recalibrate: bool = True,
        classes: ArrayLike | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.surrogate = surrogate
        self.loss = loss
        self.metric = metric
        self.acquisition = acquisition
        self.selection = selection
        self.risk = risk
        self.n_labels = n_labels
        self.batch_size = batch_size
        self.stop = stop
        self.budget = budget
        self.refit = refit
        self.cv = cv
        self.recalibrate = recalibrate
        self.classes = classes
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @named_after(2, "Name the others: fit(X, y, X_train=..., y_train=...).")
    def fit(
        self,
        X: Rows,
        y: ArrayLike | Oracle | None = None,
        *,
        X_train: Rows | TrainingRows | None = None,
        y_train: ArrayLike | None = None,
        predictions: ArrayLike | None = None,
        train_predictions: ArrayLike | None = None,
        experts: ByName | None = None,
        ledger: LabelLedger | None = None,
        journal: StrPath | BaseStore | None = None,
        known_labels: Mapping[int, Label] | None = None,
        cost: ArrayLike | None = None,
        **other: Any,
    ) -> Self:
        """Buy `n_labels` labels and estimate the risk.

        If the oracle raises, the labels so far are kept in ``ledger_``, and
        ``fit(X, y, ledger=evaluator.ledger_)`` resumes. A :class:`SurrogateWarning`
        tells when the labels contradict the surrogate; ``evaluation_.diagnose()``
        gives details. Callbacks (``set_callbacks``, scikit-learn 1.9) may end the loop.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool. It need not be in memory; see :meth:`start`.
        y : array-like of shape (n_samples,) or callable
            Labels, of which only those asked for are read, or a function
            ``indices -> labels``.
        X_train : same kind as X, or TrainingRows, default=None
            See :meth:`start`, here and for the rest.
        y_train, predictions, train_predictions : array-like, default=None
        experts : array-like, or dict of str to array-like, default=None
            What judges or other models say about the labels; see :meth:`start`.
        ledger, journal, known_labels, cost : see `start`, default=None
        **other

        Returns
        -------
        self : object
        """
        evaluation = start_evaluation(
            self,
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
        with evaluation:
            oracle = check_oracle(y, evaluation.problem)
            check_n_labels(self.n_labels, self.batch_size, evaluation.n_samples)
            check_can_estimate(evaluation, self.n_labels)
            # From here on labels are kept whatever happens.
            self.evaluation_ = evaluation
            n_missing = self.n_labels - len(evaluation.ledger)
            watch = Watch(self, X, y, n_missing, self.batch_size)
            self.stop_reason_ = evaluation.run(
                oracle,
                self.n_labels,
                self.batch_size,
                self.verbose,
                stop=self.stop,
                budget=self.budget or np.inf,
                watch=watch,
            )
            watch.close()
        if evaluation.can_diagnose:
            diagnosis = evaluation.diagnose()
            leans = evaluation.risk.leans_on_surrogate
            if diagnosis.is_bad and leans and not evaluation.is_cross_fitted:
                warn_caller(diagnosis.advice, SurrogateWarning)
        return self
