"""The scikit-learn face: parameters, start, fit, predict, score."""

import warnings
from copy import copy

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_ase._data._predictions import predict_pool
from sklearn_ase._data._problem import make_task
from sklearn_ase._data._rows import n_rows, plain_labels
from sklearn_ase._data._validation import check_oracle, check_rows, check_task
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._plan import (
    check_budget,
    check_can_estimate,
    check_cost,
    check_cv,
    check_known_labels,
    check_ledger,
    check_n_labels,
    check_plan,
    check_stop,
)
from sklearn_ase._evaluation._schedule import check_refit
from sklearn_ase._labels._opening import begin, opened, stored_seed
from sklearn_ase._utils._callbacks import CallbackSupportMixin, Watch, with_callbacks
from sklearn_ase.acquisition import TrustWeighted
from sklearn_ase.exceptions import SurrogateWarning
from sklearn_ase.losses import as_loss
from sklearn_ase.risk import ASE, GuardedASE
from sklearn_ase.selection import Proportional
from sklearn_ase.surrogate import BaseSurrogate, as_surrogate


class ActiveRiskEstimator(CallbackSupportMixin, BaseEstimator):
    """Estimate the risk of a model on a pool, buying few labels.

    A surrogate learns from the labels bought so far what the labels of the whole pool
    may be; an acquisition and a selection say which label to buy next; a risk turns
    labels and belief into an estimate of the model's mean loss.

    Parameters
    ----------
    estimator : fitted estimator or callable, default=None
        The model under test, as ``FrozenEstimator(model)`` or a function
        ``X -> predictions``. A bare fitted model works too, but ``clone`` unfits it.
        None if `predictions` are given to :meth:`fit` or :meth:`start`.
    surrogate : classifier, regressor or BaseSurrogate, default=None
        Learns the labels of the pool; see :class:`ClassifierSurrogate` and
        :class:`RegressorSurrogate` for what happens to it. None means extremely
        randomised trees. ``FrozenEstimator(surrogate)`` is never refitted.
    loss : str, callable or loss object, default="log_loss"
        ``"log_loss"``, ``"zero_one"``, ``"brier"``, ``"squared_error"``,
        ``"absolute_error"`` or a function ``(y_true, y_pred) -> one value a row``,
        where `y_pred` is what the model's ``predict`` returns; see
        :class:`CustomLoss` for functions of probabilities.
    acquisition : acquisition, default=None
        How much a label of each row is worth. None means :class:`TrustWeighted`: XWED
        and some loss spread, uniform once the labels contradict the surrogate.
    selection : selection, default=None
        From these scores to the rows to label. None means :class:`Proportional`.
    risk : risk, default=None
        The estimate that is reported. None means :class:`GuardedASE`, or :class:`ASE`
        if the selection picks without probabilities.
    n_labels : int, default=50
        Labels that :meth:`fit` buys.
    batch_size : int, default=1
        Labels that :meth:`fit` asks for at a time.
    stop : stopping rule, default=None
        Ends :meth:`fit` before `n_labels` when the labels are enough; see
        :mod:`sklearn_ase.stopping`.
    budget : float, default=None
        Ends :meth:`fit` with the label that makes their `cost` reach it.
    refit : float, int or array-like of int, default=1.5
        When the surrogate is refitted: a float > 1 when the number of labels has
        grown by that factor, an int after that many labels, a list at these label
        counts. :meth:`fit` also refits after the last label.
    cv : int, default=5
        The surrogate learns how far to trust the model from predictions it could not
        know by heart: with `X_train`, copies of the model are fitted in that many
        folds, once, at the start. 0 never fits the model and trusts pool labels
        only, which costs accuracy while labels are few. Models given as a function
        or by `predictions` are never fitted.
    classes : array-like, default=None
        Every label there may be. None takes the model's classes and those of
        `y_train`, and adds others as they are met.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether :meth:`fit` shows a progress bar with the running estimate.

    Attributes
    ----------
    evaluation_ : Evaluation
        The evaluation that :meth:`fit` ran. It can be continued by hand; one with a
        journal by :meth:`start`.
    risk_ : RiskEstimate
    stop_reason_ : str
        Why :meth:`fit` bought no more labels.
    history_ : dict of str to ndarray
        One entry a label; ``pandas.DataFrame(history_)`` makes a table of it.
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
        estimator=None,
        *,
        surrogate=None,
        loss="log_loss",
        acquisition=None,
        selection=None,
        risk=None,
        n_labels=50,
        batch_size=1,
        stop=None,
        budget=None,
        refit=1.5,
        cv=5,
        classes=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.surrogate = surrogate
        self.loss = loss
        self.acquisition = acquisition
        self.selection = selection
        self.risk = risk
        self.n_labels = n_labels
        self.batch_size = batch_size
        self.stop = stop
        self.budget = budget
        self.refit = refit
        self.cv = cv
        self.classes = classes
        self.random_state = random_state
        self.verbose = verbose

    def start(
        self,
        X,
        *,
        X_train=None,
        y_train=None,
        predictions=None,
        train_predictions=None,
        ledger=None,
        journal=None,
        known_labels=None,
        cost=None,
    ):
        """Start an evaluation by hand, or go on with one.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool.
        X_train : same kind as X, or TrainingRows, default=None
            Rows the surrogate may also learn from, for instance those the model was
            trained on. Cross-validation cuts arrays as long as X; what is wrapped
            in ``TrainingRows(X_train, y_train)`` it leaves whole.
        y_train : array-like, default=None
        predictions : array-like of shape (n_samples, n_classes) or (n_samples,), \
default=None
            What the model says about the pool, instead of calling it. Columns are
            those of ``classes``, or named by their labels in a frame.
        train_predictions : array-like, default=None
            What the model says about `X_train`, if it can be trusted there: out of
            fold, or rows the model has not learned from. Saves `cv`.
        ledger : LabelLedger, default=None
            Queries and labels of an earlier evaluation of the same pool, to go on
            from there.
        journal : str or path, default=None
            File in which every query and label is kept, safe on disk before anything
            else happens. If it exists, the campaign goes on exactly where it was.
            ``evaluation.close()`` lets go of it.
        known_labels : dict of int to label, default=None
            Labels of rows of the pool that were there before. The surrogate learns
            from them. Estimates that weigh labels count them only when the rows are
            picked like any other, which costs nothing.
        cost : array-like of shape (n_samples,), default=None
            What a label of each row costs. Cheap rows are preferred, as far as that
            makes the estimate more precise for the money: sampling goes by
            ``score / √cost``, ``ArgMax`` by ``score / cost``, ``Uniform`` stays
            uniform.

        Returns
        -------
        evaluation : Evaluation
        """
        # A copy, so that a start by hand leaves no trace on the evaluator.
        rows = (X, X_train, y_train, predictions, train_predictions)
        return copy(self)._start(*rows, ledger, journal, known_labels, cost)

    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        *,
        X_train=None,
        y_train=None,
        predictions=None,
        train_predictions=None,
        ledger=None,
        journal=None,
        known_labels=None,
        cost=None,
    ):
        """Buy `n_labels` labels and estimate the risk.

        If the oracle raises, the labels so far are kept in ``ledger_``, and
        ``fit(X, y, ledger=evaluator.ledger_)`` goes on from there. A
        :class:`SurrogateWarning` says when the labels contradict the surrogate;
        ``evaluation_.diagnose()`` says more. Callbacks of scikit-learn 1.9
        (``set_callbacks``) hear of every batch and may end it.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool.
        y : array-like of shape (n_samples,) or callable
            Labels, of which only those asked for are read, or a function
            ``indices -> labels``.
        X_train : same kind as X, or TrainingRows, default=None
            See :meth:`start`, here and for the rest.
        y_train : array-like, default=None
        predictions : array-like of shape (n_samples, n_classes) or (n_samples,), \
default=None
        train_predictions : array-like, default=None
        ledger : LabelLedger, default=None
        journal : str or path, default=None
        known_labels : dict of int to label, default=None
        cost : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        rows = (X, X_train, y_train, predictions, train_predictions)
        evaluation = self._start(*rows, ledger, journal, known_labels, cost)
        try:
            oracle = check_oracle(y, evaluation.n_samples)
            plan = (self.n_labels, self.batch_size)
            check_n_labels(*plan, evaluation.n_samples)
            check_can_estimate(self.n_labels, evaluation)
            # From here on labels are kept whatever happens.
            self.evaluation_ = evaluation
            watch = Watch(self, X, y, self.n_labels - len(evaluation.ledger), plan[1])
            self.stop_reason_ = evaluation.run(
                oracle,
                *plan,
                self.verbose,
                stop=self.stop,
                budget=np.inf if self.budget is None else self.budget,
                watch=watch,
            )
            watch.close()
        finally:
            evaluation.close()
        if evaluation.can_diagnose:
            diagnosis = evaluation.diagnose()
            if diagnosis.is_bad and evaluation.risk.leans_on_surrogate:
                # One deeper, for the callbacks are around this method.
                warnings.warn(diagnosis.advice, SurrogateWarning, stacklevel=3)
        return self

    def predict(self, X):
        """Loss the surrogate expects of the model at each row, ``g(x)``.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)

        Returns
        -------
        expected_loss : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "evaluation_")
        return self._expected_loss(check_rows(self, X, reset=False))[0]

    def score(self, X=None, y=None):
        """Estimated score of the model, or how well the risk was estimated.

        Parameters
        ----------
        X : array, sparse matrix, frame or list, default=None
            Another pool; None means the one that was evaluated.
        y : array-like of shape (n_samples,), default=None
            Labels of `X`.

        Returns
        -------
        score : float
            Greater is better. Without `y` minus the estimated risk on X. With `y`
            minus the distance of that estimate from the true risk, so that
            cross-validation prefers the evaluator that estimates best and not the
            one that flatters the model. On another pool the estimate is the mean of
            :meth:`predict`, whatever `risk` is.
        """
        check_is_fitted(self, "evaluation_")
        if X is None:
            if y is not None:
                raise ValueError("score(y=...) needs the rows of these labels as X.")
            return -float(self.risk_)
        if y is None:
            return -float(self.predict(X).mean())
        expected, observed = self._both_losses(X, y)
        return -abs(float(expected.mean() - observed.mean()))

    @property
    def risk_(self):
        """The estimate of the risk."""
        return self.evaluation_.estimate()

    @property
    def history_(self):
        """Dict of arrays with one entry a label."""
        return self.evaluation_.history

    @property
    def ledger_(self):
        """Every query and label."""
        return self.evaluation_.ledger

    @property
    def classes_(self):
        """Labels known so far, sorted; None for regression."""
        return self.evaluation_.classes_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "evaluation_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        surrogate = ExtraTreesClassifier() if self.surrogate is None else self.surrogate
        if isinstance(surrogate, BaseSurrogate):
            surrogate = surrogate.estimator
        parts = [self.estimator, surrogate]
        parts = [part for part in parts if hasattr(part, "__sklearn_tags__")]
        inputs = [get_tags(part).input_tags for part in parts]
        tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        tags.input_tags.allow_nan = all(tag.allow_nan for tag in inputs)
        return tags

    def _start(
        self,
        X,
        X_train,
        y_train,
        predictions,
        train_predictions,
        ledger,
        journal,
        known_labels,
        cost,
    ):
        X = check_rows(self, X, reset=True)
        kind = check_task(
            as_loss(self.loss), self.estimator, self.surrogate, self.classes
        )
        acquisition = TrustWeighted() if self.acquisition is None else self.acquisition
        selection = Proportional() if self.selection is None else self.selection
        risk = self.risk
        if risk is None:
            unweighted = getattr(selection, "has_query_proba", True) is False
            risk = ASE() if unweighted else GuardedASE()
        surrogate = clone(as_surrogate(self.surrogate, kind, X))
        refit = check_refit(self.refit)
        check_plan(risk, acquisition, selection, surrogate)
        check_budget(self.budget)
        if self.stop is not None:
            check_stop(self.stop, risk)
        check_ledger(ledger, n_rows(X))
        check_cv(self.cv)
        cost = check_cost(cost, n_rows(X))
        known_labels = check_known_labels(known_labels, n_rows(X))
        settings = {
            "surrogate": surrogate,
            "acquisition": acquisition,
            "selection": selection,
            "risk": risk,
            "refit": refit,
            "cv": self.cv,
        }
        with opened(ledger, journal) as ledger:
            seed = stored_seed(ledger)
            if seed is None:
                seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            task = make_task(
                X,
                self.estimator,
                as_loss(self.loss, kind),
                kind,
                surrogate,
                classes=self.classes,
                X_train=X_train,
                y_train=y_train,
                predictions=predictions,
                train_predictions=train_predictions,
                cv=self.cv,
                seed=seed,
                cost=cost,
            )
            begin(ledger, task, seed, settings, known_labels)
            strategies = (clone(acquisition), clone(selection), clone(risk))
            return Evaluation(task, surrogate, *strategies, refit, seed, ledger)

    def _both_losses(self, X, y):
        """Expected and observed loss at rows of another pool with known labels."""
        expected, predictions = self._expected_loss(check_rows(self, X, reset=False))
        task = self.evaluation_.task
        labels = task.check_labels(y)
        check_consistent_length(expected, labels)
        classes = task.classes_with(labels)
        loss = task.loss.build(predictions.response_for(classes), classes)
        return expected, loss.observed(np.arange(len(labels)), labels)

    def _expected_loss(self, X):
        """``g`` on another pool, and what the model says about it."""
        if self.estimator is None:
            raise ValueError(
                "The model's predictions were given for the evaluated pool only. Other "
                "rows need the model itself: pass estimator=..."
            )
        evaluation = self.evaluation_
        predictions = predict_pool(
            self.estimator,
            X,
            evaluation.task.loss,
            evaluation.task.kind,
            None if self.classes is None else plain_labels(self.classes),
            needs_expert=evaluation.surrogate.uses_estimator,
        )
        return evaluation.expected_loss(X, predictions), predictions
