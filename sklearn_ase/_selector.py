"""The selector: the estimator of scikit-learn that finds the best of several models."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._inputs import Inputs
from sklearn_ase._data._labels import (
    check_class_list,
    check_classes,
    check_oracle,
)
from sklearn_ase._data._predictions import check_is_of_model, is_model, predict_pool
from sklearn_ase._data._problem import Problem
from sklearn_ase._data._rows import is_frame, n_rows
from sklearn_ase._data._validation import (
    check_rows,
    check_task,
    check_training_rows,
)
from sklearn_ase._evaluation._choice import ModelSelection
from sklearn_ase._evaluation._compare import Models, check_depends_on_model
from sklearn_ase._evaluation._plan import Plan, check_n_labels, check_stop
from sklearn_ase._evaluation._questions import weight_of
from sklearn_ase._evaluation._start import (
    begin,
    drawn_pool,
    loss_of_metric,
    refuse_unknown,
)
from sklearn_ase._labels._journal import (
    header_of,
    sketch_predictions,
)
from sklearn_ase._utils._checks import check_number, check_verbose, named_after, shown
from sklearn_ase._utils._typing import ByName, Estimator, Floats, Oracle, Rows, Seed
from sklearn_ase.acquisition import BestModel
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics import as_metric
from sklearn_ase.risk import GuardedASE
from sklearn_ase.selection import Proportional
from sklearn_ase.surrogate import as_surrogate
from sklearn_ase.surrogate._experts import ModelSurrogate

if TYPE_CHECKING:
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.stopping import BaseStop


# What a fitted selector offers.


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


# Checks of the models.


def check_models(estimators, predictions) -> tuple[list[str], list, list]:
    """Check names, models and given predictions, and put them in one order."""
    pairs = _pairs(estimators)
    given = _named(predictions, [name for name, _ in pairs])
    if not pairs and not given:
        raise ValueError(
            "There are no models. Give estimators=[(name, model), ...], or "
            "predictions={name: array, ...}."
        )
    if predictions is None:
        given = dict.fromkeys([name for name, _ in pairs])
    elif not pairs:
        pairs = [(name, None) for name in given]
    names, models = [name for name, _ in pairs], [model for _, model in pairs]
    if set(names) != set(given):
        raise ValueError(
            f"predictions are of {shown(sorted(given))}, but the estimators are named "
            f"{shown(sorted(names))}. Give predictions of each."
        )
    if len(names) < 2:
        raise ValueError(
            f"There is only one model, {names[0]!r}. To evaluate it use "
            "ActiveRiskEstimator; a choice takes two."
        )
    return names, models, [given[name] for name in names]


def _pairs(estimators):
    if estimators is None:
        return []
    if isinstance(estimators, dict):
        estimators = list(estimators.items())
    pairs = list(estimators) if isinstance(estimators, (list, tuple)) else [None]
    for pair in pairs:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str):
            raise TypeError(
                "estimators must be a list of pairs (name, fitted model), but "
                f"{'is' if pair is None else 'holds'} "
                f"{shown(estimators if pair is None else pair)}."
            )
        model = pair[1]
        if isinstance(model, type) or not (is_model(model) or callable(model)):
            raise TypeError(
                f"The model {pair[0]!r} must be a fitted estimator or a function X -> "
                f"predictions, but is {shown(model)}."
            )
    _refuse_twice([name for name, _ in pairs])
    return [tuple(pair) for pair in pairs]


def _named(predictions, names):
    """Predictions by the name of the model."""
    if predictions is None:
        return {}
    if is_frame(predictions):
        _refuse_twice(list(map(str, predictions.columns)))
        return {str(name): predictions[name] for name in predictions.columns}
    if hasattr(predictions, "items"):
        _refuse_twice(list(map(str, predictions)))
        return {str(name): array for name, array in predictions.items()}
    try:
        table = np.asarray(predictions)
    except ValueError:  # Of different lengths, as pairs of name and array.
        table = np.empty(0)
    if table.ndim != 2:
        raise TypeError(
            "predictions must be a dict from name to array, a frame with a column for "
            "each model, or an array of shape (n_samples, n_models), but are "
            f"{shown(predictions)}."
        )
    names = names or [f"model {place}" for place in range(table.shape[1])]
    if len(names) != table.shape[1]:
        raise ValueError(
            f"predictions have {table.shape[1]} columns, but there are {len(names)} "
            "models. Give one column for each."
        )
    return dict(zip(names, table.T, strict=True))


def _refuse_twice(names):
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"The names {twice} are given twice. Give each model its own.")


# The start of a choice.


# The belief is fitted with every label up to here, then with every third, and later
# whenever there are 3 % more.
_EVERY, _THIRD, _GROWTH = 30, 120, 1.03
_UNIFORM_SHARE = 0.15
VOTES_ONLY = "votes"


def start_selection(
    selector: ActiveModelSelector,
    X: Rows | None,
    *,
    predictions: Any = None,
    X_train: Any = None,
    y_train: Any = None,
    sample_weight: Any = None,
    cost: Any = None,
    ledger: LabelLedger | None = None,
    journal: Any = None,
    known_labels: Any = None,
    **other: Any,
) -> ModelSelection:
    """Start a choice between models; see :meth:`ActiveModelSelector.start`."""
    refuse_unknown(other, selector)
    X, sample = drawn_pool(X, selector.random_state, journal)
    names, estimators, given = check_models(selector.estimators, predictions)
    inputs = Inputs.of(
        selector,
        X,
        sample,
        X_train=X_train,
        y_train=y_train,
        predictions=dict(zip(names, given, strict=True)),
        cost=cost,
        sample_weight=sample_weight,
        number_rows=_row_numbers,
    )
    metric = as_metric("accuracy" if selector.metric is None else selector.metric)
    check_depends_on_model(metric)
    check_number(selector.level_share, "level_share", 0, 1)
    check_verbose(selector.verbose)
    model = next((each for each in estimators if each is not None), None)
    loss = as_loss(loss_of_metric(metric))
    surrogate = None if selector.surrogate == VOTES_ONLY else selector.surrogate
    task = check_task(loss, model, surrogate, selector.classes)
    if selector.stop is not None:
        check_stop(selector.stop, GuardedASE(), has_models=True)
    has_expert = inputs.has_features and selector.surrogate != VOTES_ONLY
    if inputs.X_train is not None and not has_expert:
        raise ValueError(
            "X_train is for the surrogate on features, but there is none: X is None, "
            f"or surrogate={VOTES_ONLY!r}. Leave X_train and y_train out."
        )
    X_train, y_train = check_training_rows(
        inputs.X_train, inputs.y_train, inputs.X, task, selector
    )

    def make(seed):
        problems = _problems(
            inputs, estimators, metric, as_loss(loss, task), task, selector, y_train
        )
        weight = weight_of(None, inputs.sample_weight)
        models = Models(names, problems, estimators, metric, weight)
        models.bound(problems[0].classes)  # Refuses a metric that does not fit.
        surrogate = _surrogate(problems, metric, task)
        estimator = "drop"
        if has_expert:
            estimator = _estimator(selector.surrogate, task, inputs.X)
        surrogate.set_params(estimator=estimator, X_train=X_train, y_train=y_train)
        plan = _plan(selector, surrogate, metric, inputs.n_samples)
        with_training = replace(problems[0], X_train=X_train, y_train=y_train)
        header = _header(models, with_training, seed, plan, selector)
        return problems[0], plan, header, partial(ModelSelection, models)

    return begin(
        selector,
        inputs,
        make,
        ledger=ledger,
        journal=journal,
        known_labels=known_labels,
    )


def _plan(selector, surrogate, metric, n_samples) -> Plan:
    """How a choice picks rows, learns and estimates."""
    return Plan(
        surrogate=surrogate,
        acquisition=BestModel(level_share=selector.level_share),
        selection=Proportional(uniform_share=_UNIFORM_SHARE),
        risk=GuardedASE(),
        refit=_refits(n_samples),
        cv=0,
        metric=metric,
        random_state=selector.random_state,
    )


def _header(models, problem, seed, plan, selector):
    """What identifies the run: the predictions of all models."""
    settings = plan.settings()
    settings["surrogate"] = selector.surrogate
    del settings["refit"]  # It follows from the size of the pool.
    header = header_of(problem, seed, settings)
    sketches = [sketch_predictions(problem.predictions) for problem in models.problems]
    names = "models " + ", ".join(map(repr, models.names))
    return header | {
        "predictions": [column for each in sketches for column in each],
        "models": names,
    }


def _refits(n_samples):
    counts = [*range(1, _EVERY + 1), *range(_EVERY + 3, _THIRD + 1, 3)]
    while counts[-1] < n_samples:
        counts.append(max(counts[-1] + 3, int(np.ceil(_GROWTH * counts[-1]))))
    return counts


def _row_numbers(_, predictions: dict[str, Any]) -> np.ndarray:
    """Numbers of the rows, in the place of features of a pool without any."""
    names, given = list(predictions), list(predictions.values())
    if given[0] is None:
        raise ValueError(
            "X is None, so the models cannot be asked. Give X, or predictions={name: "
            "array, ...}."
        )
    sizes = [n_rows(each) for each in given]
    if min(sizes) < max(sizes):
        short, long = names[np.argmin(sizes)], names[np.argmax(sizes)]
        raise ValueError(
            f"The models have predictions for different numbers of rows: {short!r} for "
            f"{min(sizes)} and {long!r} for {max(sizes)}. Give one for each row of the "
            "pool."
        )
    return np.arange(sizes[0])[:, None]


def _problems(inputs, estimators, metric, loss, task, selector, y_train):
    """The pool with the predictions of each model."""
    X, names, given = inputs.X, list(inputs.predictions), inputs.predictions.values()
    classes = None
    if task == "classification":
        classes = check_class_list(selector.classes)
    needs_proba = metric.response_method == "predict_proba"
    found = []
    for name, estimator, values in zip(names, estimators, given, strict=True):
        try:
            predicted = predict_pool(
                estimator, X, loss, task, classes, values, needs_proba
            )
            found.append(predicted)
            if values is not None:
                check_is_of_model(
                    predicted, estimator, X, loss, task, classes, needs_proba
                )
        except Exception as error:
            error.add_note(f"This is about the model {name!r}.")
            raise
    labels = None
    if task == "classification":
        columns = [each.columns for each in found]
        met = {f"model {n!r}": c for n, c in zip(names, columns, strict=True)}
        labels = check_classes(classes, met | {"y_train": y_train})
    return [
        Problem(
            X=X,
            predictions=each,
            loss=loss,
            task=task,
            classes=labels,
            given_classes=classes,
            cost=inputs.cost,
            sample_weight=inputs.sample_weight,
            order=inputs.order,
            sample=inputs.sample,
            model=model if values is None and is_model(model) else None,
        )
        for each, model, values in zip(found, estimators, given, strict=True)
    ]


def _surrogate(problems, metric, task):
    """The surrogate that believes what the models predict."""
    predictions = [problem.predictions for problem in problems]
    if task == "classification" and metric.response_method == "predict_proba":
        proba = [(each.expert, each.columns) for each in predictions]
        return ModelSurrogate(task, proba=proba)
    return ModelSurrogate(task, np.stack([each.response for each in predictions], 1))


def _estimator(surrogate, task, X):
    """Trees on the features, or what was given, as one more expert."""
    found = as_surrogate(surrogate, task, X)
    if not hasattr(found, "estimator"):
        raise TypeError(
            f"surrogate={shown(surrogate)} must be a classifier or a regressor, which "
            f"predicts labels from features, None or {VOTES_ONLY!r}."
        )
    return found.estimator


# Parameters and fit.


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
            The pool, or a :class:`PoolSample` of one that is not in memory. None if
            only `predictions` are known.
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
            ``journal`` : str, path or BaseStore
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
