"""The estimator: parameters and fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._label_checks import check_oracle
from sklearn_ase._evaluation._loop import check_can_estimate
from sklearn_ase._evaluation._plan import check_n_labels
from sklearn_ase._evaluation._startable import StartableEvaluator
from sklearn_ase._evaluation._starting import start_evaluation
from sklearn_ase._utils._callbacks import CallbackSupportMixin, Watch, with_callbacks
from sklearn_ase._utils._naming import named_after
from sklearn_ase._utils._typing import (
    ByName,
    Estimator,
    Label,
    LossFunction,
    Model,
    Oracle,
    Rows,
    Seed,
    StrPath,
)
from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import SurrogateWarning

if TYPE_CHECKING:
    from sklearn_ase._data._training_rows import TrainingRows
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase.acquisition._base import BaseAcquisition
    from sklearn_ase.losses._base import BaseLoss
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.selection import BaseSelection
    from sklearn_ase.stopping import BaseStop


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
        :class:`~sklearn_ase.surrogate.FrameEncoder` for frames or an
        :class:`~sklearn_ase.surrogate.ImageEncoder` for images.
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
    recalibrate : bool or "auto", default="auto"
        Whether the calibration learns from every label between refits. That takes a
        pass for each label if the pool is read in chunks. So ``"auto"`` means False for
        chunks of more than 200,000 rows: the surrogate is then refitted more often, and
        early estimates are less precise. Otherwise it means True.
    classes : array-like, default=None
        All possible labels. None takes the model's classes and those of `y_train`,
        and adds others when they appear.
    store : {"auto", "tables", "chunks"}, default="auto"
        What is kept of the pool. ``"tables"`` keeps predictions, losses and beliefs of
        all rows: ``8 N (4 C + 2)`` bytes for C classes. ``"chunks"`` reads the pool
        in chunks and keeps 24 bytes for each row, with the same results; the model is
        then asked again in every pass. A later question, such as another metric, some
        rows or a comparison of models, reads the pool again. ``"auto"`` keeps tables
        up to 1 GB, and reads larger pools, and those that are not in memory, in chunks
        if it can.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 makes :meth:`fit` show a progress bar with the running estimate and its 90 %
        interval, which holds for one look at the end; `stop` ends a run earlier. It
        also says when a pool that is read in chunks is read again for a question. 2
        also shows a bar for each pass over such a pool.

    Attributes
    ----------
    evaluation_ : Evaluation
        The evaluation that :meth:`fit` ran. It can be continued by hand; if it has a
        journal, by :meth:`start`.
    estimate_ : RiskEstimate or MetricEstimate
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
        recalibrate: bool | Literal["auto"] = "auto",
        classes: ArrayLike | None = None,
        store: Literal["auto", "tables", "chunks"] = "auto",
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
        self.store = store
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
        journal: StrPath | None = None,
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
            how = {"budget": self.budget or np.inf, "stop": self.stop, "watch": watch}
            self.stop_reason_ = evaluation.run(
                oracle, self.n_labels, self.batch_size, self.verbose, **how
            )
            watch.close()
        if evaluation.can_diagnose:
            diagnosis = evaluation.diagnose()
            leans = evaluation.risk.leans_on_surrogate
            if diagnosis.is_bad and leans and not evaluation.is_cross_fitted:
                warn_caller(diagnosis.advice, SurrogateWarning)
        return self
