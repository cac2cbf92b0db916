"""Start a choice between models: check everything, ask the models, open the ledger."""

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from sklearn_ase._data._label_checks import check_class_list, check_classes
from sklearn_ase._data._predictions import is_model, predict_pool
from sklearn_ase._data._problem import Problem
from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._rows import n_rows
from sklearn_ase._data._same_model import check_is_of_model
from sklearn_ase._data._training_rows import TrainingRows
from sklearn_ase._data._validation import (
    check_cost,
    check_rows,
    check_same_kind,
    check_task,
    check_training_rows,
)
from sklearn_ase._evaluation._models import Models, check_depends_on_model
from sklearn_ase._evaluation._plan import Plan, check_stop
from sklearn_ase._evaluation._starting import loss_of_metric, refuse_unknown
from sklearn_ase._evaluation._weights import check_weight, weight_of
from sklearn_ase._labels._opening import (
    check_known_labels,
    check_ledger,
    header_of,
    open_ledger,
    recognise_pool,
    record_known_labels,
    sketch_predictions,
)
from sklearn_ase._model_selection._model_checks import check_models
from sklearn_ase._model_selection._selection import ModelSelection
from sklearn_ase._utils._checks import check_number, check_verbose, shown
from sklearn_ase._utils._seeding import draw_seed
from sklearn_ase.acquisition import BestModel
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics import as_metric
from sklearn_ase.risk import GuardedASE
from sklearn_ase.selection import Proportional
from sklearn_ase.surrogate import PredictionSurrogate, VoteSurrogate, as_surrogate
from sklearn_ase.surrogate._feature_expert import FeatureExpert

# The belief is fitted with every label up to here, then with every third, and later
# whenever there are 3 % more.
_EVERY, _THIRD, _GROWTH = 30, 120, 1.03
_UNIFORM_SHARE = 0.15
VOTES_ONLY = "votes"


def start_selection(
    selector,
    X,
    *,
    predictions=None,
    X_train=None,
    y_train=None,
    sample_weight=None,
    ledger=None,
    journal=None,
    known_labels=None,
    cost=None,
    **other,
):
    """Start a choice between models; see :meth:`ActiveModelSelector.start`.

    Parameters
    ----------
    selector : ActiveModelSelector
        Its ``n_features_in_`` is set.
    X : array, sparse matrix, frame or list of shape (n_samples, n_features), or None
    predictions, X_train, y_train, sample_weight, ledger, journal, known_labels, cost
        See :meth:`ActiveModelSelector.start`.
    **other
        Is refused.

    Returns
    -------
    selection : ModelSelection
    """
    refuse_unknown(other, selector)
    check_same_kind(X_train, X)
    names, estimators, given = check_models(selector.estimators, predictions)
    has_features = X is not None
    by_name = dict(zip(names, given, strict=True))
    order = RowOrder.of(**({"X": X} if has_features else {"predictions": by_name}))
    order.check(predictions=by_name, cost=cost, sample_weight=sample_weight)
    if has_features:
        X = check_rows(selector, X, reset=True)
    else:
        X = _row_numbers(names, given)
    metric = as_metric("accuracy" if selector.metric is None else selector.metric)
    check_depends_on_model(metric)
    check_number(selector.level_share, "level_share", 0, 1)
    check_verbose(selector.verbose)
    model = next((each for each in estimators if each is not None), None)
    loss = as_loss(loss_of_metric(metric))
    surrogate = None if selector.surrogate == VOTES_ONLY else selector.surrogate
    task = check_task(loss, model, surrogate, selector.classes)
    risk = GuardedASE()
    if selector.stop is not None:
        check_stop(selector.stop, risk, has_models=True)
    n_samples = n_rows(X)
    check_ledger(ledger, n_samples)
    cost = check_cost(cost, n_samples)
    weight = check_weight(sample_weight, n_samples)
    known_labels = check_known_labels(known_labels, n_samples)
    if isinstance(X_train, TrainingRows):
        X_train, y_train = X_train.X, X_train.y
    has_expert = has_features and selector.surrogate != VOTES_ONLY
    if X_train is not None and not has_expert:
        raise ValueError(
            "X_train is for the surrogate on features, but there is none: X is None, "
            f"or surrogate={VOTES_ONLY!r}. Leave X_train and y_train out."
        )
    RowOrder.of(X_train=X_train).check(y_train=y_train)
    X_train, y_train = check_training_rows(X_train, y_train, X, task, selector)
    problems = _problems(
        X,
        names,
        estimators,
        given,
        metric,
        as_loss(loss, task),
        task,
        selector,
        y_train,
        cost=cost,
        sample_weight=weight,
        order=order,
    )
    models = Models(names, problems, estimators, metric, weight_of(None, weight))
    models.bound(problems[0].classes)  # Refuses a metric that does not fit.
    expert = None
    if has_expert:
        expert = _expert(selector.surrogate, task, X, X_train, y_train)
    plan = Plan(
        surrogate=_stack(problems, metric, task, expert),
        acquisition=BestModel(level_share=selector.level_share),
        selection=Proportional(uniform_share=_UNIFORM_SHARE),
        risk=risk,
        refit=_refits(n_samples),
        cv=0,
        metric=metric,
        random_state=selector.random_state,
    )
    with open_ledger(ledger, journal) as ledger:
        seed = ledger.seed
        if seed is None:
            seed = draw_seed(selector.random_state)
        problem = problems[0]
        with_training = replace(problem, X_train=X_train, y_train=y_train)
        recognise_pool(ledger, problem)
        ledger.begin(lambda: _header(models, with_training, seed, plan, selector))
        record_known_labels(ledger, problem, known_labels)
        problem = problem.prepared_by(plan.surrogate)
        return ModelSelection(models, problem, plan, ledger, seed)


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


def _row_numbers(names, given):
    """A pool without features: its rows have numbers."""
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


def _problems(
    X, names, estimators, given, metric, loss, task, selector, y_train, **rows
):
    """The pool with the predictions of each model."""
    classes = None
    if task == "classification":
        classes = check_class_list(selector.classes)
    needs_proba = metric.response_method == "predict_proba"
    found = []
    for name, estimator, values in zip(names, estimators, given, strict=True):
        try:
            how = loss, task, classes
            found.append(predict_pool(estimator, X, *how, values, needs_proba))
            if values is not None:
                check_is_of_model(found[-1], estimator, X, *how, needs_proba)
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
            **rows,
            model=model if values is None and is_model(model) else None,
        )
        for each, model, values in zip(found, estimators, given, strict=True)
    ]


def _stack(problems, metric, task, expert):
    """The surrogate that believes what the models predict."""
    predictions = [problem.predictions for problem in problems]
    responses = [each.response for each in predictions]
    if task == "regression":
        return PredictionSurrogate(np.stack(responses, axis=1), expert=expert)
    if metric.response_method == "predict_proba":
        proba = [(each.expert, each.columns) for each in predictions]
        return VoteSurrogate(proba=proba, expert=expert)
    return VoteSurrogate(np.stack(responses, axis=1), expert=expert)


def _expert(surrogate, task, X, X_train, y_train):
    """Trees on the features, or what was given, as one more expert."""
    found = clone(as_surrogate(surrogate, task, X))
    if not hasattr(found, "estimator"):
        raise TypeError(
            f"surrogate={shown(surrogate)} must be a classifier or a regressor, which "
            f"predicts labels from features, None or {VOTES_ONLY!r}."
        )
    features, train_features = found.prepare(X, X_train)
    return FeatureExpert(found.estimator, features, train_features, y_train)
