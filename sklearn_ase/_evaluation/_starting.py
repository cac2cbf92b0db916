"""Start an evaluation: check everything, ask the model, open the ledger."""

from dataclasses import replace

from sklearn_ase._data._problem_making import make_problem, needs_no_model
from sklearn_ase._data._rows import n_rows
from sklearn_ase._data._validation import (
    check_cost,
    check_rows,
    check_task,
    row_numbers,
)
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._plan import Plan
from sklearn_ase._evaluation._weights import check_weight
from sklearn_ase._labels._opening import (
    check_known_labels,
    check_ledger,
    header_of,
    open_ledger,
    record_known_labels,
)
from sklearn_ase._utils._seeding import check_seed
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics import MeanLoss, as_metric

_ROWS = {"X_train", "y_train", "predictions", "train_predictions", "experts"}
_ELSEWHERE = {
    "groups": "Groups belong to the interval: "
    'evaluation.estimate(groups=...).interval(target="population").',
}


def start_evaluation(
    evaluator,
    X,
    *,
    cost,
    known_labels,
    ledger,
    journal,
    sample_weight=None,
    **rows,
):
    """Start an evaluation; see :meth:`ActiveRiskEstimator.start`.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator
        Its ``n_features_in_`` is set.
    X : array, sparse matrix, frame or list of shape (n_samples, n_features)
    cost, known_labels, ledger, journal, sample_weight
        See :meth:`ActiveRiskEstimator.start`.
    **rows
        Training rows and predictions; see there. Other names are refused.

    Returns
    -------
    evaluation : Evaluation
    """
    refuse_unknown(set(rows) - _ROWS)
    has_features = X is not None
    if not has_features:
        X = row_numbers(rows.get("experts"), rows.get("predictions"))
    X = check_rows(evaluator, X, reset=True)
    n_samples = n_rows(X)
    loss = _loss_of(evaluator)
    task = check_task(
        as_loss(loss),
        evaluator.estimator,
        evaluator.surrogate,
        evaluator.classes,
    )
    metric = None if evaluator.metric is None else as_metric(evaluator.metric)
    given = evaluator.estimator, rows.get("predictions"), metric
    leans = rows.get("experts") is not None or needs_no_model(*given)
    plan = Plan.of(evaluator, task, X, leans or not has_features, has_features)
    if sample_weight is not None and plan.metric is None:
        plan = replace(plan, metric=MeanLoss(as_loss(loss, task)))
    check_ledger(ledger, n_samples)
    cost = check_cost(cost, n_samples)
    sample_weight = check_weight(sample_weight, n_samples)
    known_labels = check_known_labels(known_labels, n_samples)
    with open_ledger(ledger, journal) as ledger:
        seed = ledger.seed
        if seed is None:
            seed = int(check_seed(evaluator.random_state).randint(2**31 - 1))
        problem = make_problem(
            X,
            evaluator,
            as_loss(loss, task),
            task,
            plan.surrogate,
            cv=plan.cv,
            seed=seed,
            cost=cost,
            sample_weight=sample_weight,
            metric=plan.metric,
            **rows,
        )
        ledger.begin(lambda: header_of(problem, seed, plan.settings()))
        record_known_labels(ledger, problem, known_labels)
        # After the header, which has the surrogate as it was given.
        problem = problem.prepared_by(plan.surrogate)
        return Evaluation(problem, plan, ledger, seed)


def _loss_of(evaluator):
    """The loss, or the one that fits to the metric."""
    if evaluator.loss is not None:
        return evaluator.loss
    if evaluator.metric is None:
        return "log_loss"
    return loss_of_metric(as_metric(evaluator.metric))


def loss_of_metric(metric):
    """A loss that fits to a metric."""
    if isinstance(metric, MeanLoss):
        return metric.loss
    return "squared_error" if metric.task == "regression" else "zero_one"


def refuse_unknown(names):
    """Refuse arguments of fit and start that do not exist.

    Parameters
    ----------
    names : iterable of str
    """
    for name in sorted(names):
        cure = _ELSEWHERE.get(name, "Look for its name in the documentation.")
        raise TypeError(f"fit and start take no argument {name}. {cure}")
