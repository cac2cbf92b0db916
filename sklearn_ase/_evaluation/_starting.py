"""The start of an evaluation: check everything, ask the model, open the ledger."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sklearn_ase._data._problem import make_problem, needs_no_model
from sklearn_ase._data._rows import RowOrder, n_rows
from sklearn_ase._data._sampling import (
    PoolSample,
    draw,
    is_stored,
    reader_of,
    sample_pool,
)
from sklearn_ase._data._validation import (
    check_cost,
    check_rows,
    check_same_kind,
    check_task,
    row_numbers,
)
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._plan import Plan
from sklearn_ase._evaluation._questions import check_weight
from sklearn_ase._labels._journal import (
    check_known_labels,
    check_ledger,
    header_of,
    identify,
    open_ledger,
    origin_in,
    record_known_labels,
)
from sklearn_ase._utils._estimators import draw_seed
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics import MeanLoss, as_metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase._selector import ActiveModelSelector
    from sklearn_ase._utils._typing import Rows, Seed, StrPath

_ROWS = {"X_train", "y_train", "predictions", "train_predictions", "experts"}
_KNOWN = _ROWS | {"ledger", "journal", "known_labels", "cost", "sample_weight"}
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
    """Start an evaluation; see :meth:`ActiveRiskEstimator.start`."""
    refuse_unknown(set(rows) - _ROWS, evaluator)
    X, sample = drawn_pool(X, evaluator.random_state, journal)
    if sample is not None:
        cost = sample.entries_of(cost, "cost")
        sample_weight = sample.entries_of(sample_weight, "sample_weight")
        for name in ("predictions", "experts"):
            rows[name] = sample.entries_of(rows.get(name), name)
    check_same_kind(rows.get("X_train"), X)
    has_features = X is not None
    if not has_features:
        X = row_numbers(rows.get("experts"), rows.get("predictions"))
    about = {name: rows.get(name) for name in ("predictions", "experts")}
    order = RowOrder.of(**({"X": X} if has_features else about))
    order.check(**about, cost=cost, sample_weight=sample_weight)
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
    has_model = not needs_no_model(*given)
    leans = rows.get("experts") is not None or not has_model
    plan = Plan.of(evaluator, task, X, leans or not has_features, has_features)
    sample_weight = check_weight(sample_weight, n_samples)
    if sample is not None:
        sample_weight = sample.weighted(sample_weight)
    if sample_weight is not None and plan.metric is None:
        plan = replace(plan, metric=MeanLoss(as_loss(loss, task)))
    check_ledger(ledger, n_samples if sample is None else sample.n_source_rows)
    cost = check_cost(cost, n_samples)
    known_labels = check_known_labels(known_labels, n_samples, sample)
    with open_ledger(ledger, journal) as ledger:
        seed = ledger.seed
        if seed is None:
            seed = draw_seed(evaluator.random_state)
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
            order=order,
            sample=sample,
            **rows,
        )
        identify(ledger, problem, header_of(problem, seed, plan.settings()))
        record_known_labels(ledger, problem, known_labels)
        # After the header, which has the surrogate as it was given.
        problem = problem.prepared_by(plan.surrogate)
        return Evaluation(problem, plan, ledger, seed)


def drawn_pool(
    X: Rows, random_state: Seed, journal: StrPath | None
) -> tuple[Rows, PoolSample | None]:
    """Return the rows of a pool in memory, and the sample that they are, if any.

    A pool that is not in memory is drawn; for a journal the rows are drawn again.
    """
    if is_stored(X):
        origin = origin_in(journal)
        if origin is None:
            X = sample_pool(X, random_state=random_state)
        elif origin["by_score"]:
            raise ValueError(
                f"The rows of {journal} were drawn by a score. Draw the same again and "
                "give them as the pool: sample_pool(source, n_rows, by=score, "
                "random_state=...) with the values of then."
            )
        else:
            reader, n_rows_of = reader_of(X), origin["n_drawn"]
            X = draw(reader, n_rows_of, by=None, seed=origin["seed"])
    if not isinstance(X, PoolSample):
        return X, None
    return X.X, None if X.is_whole else X


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


def refuse_unknown(
    names: Iterable[str], evaluator: ActiveRiskEstimator | ActiveModelSelector
) -> None:
    """Refuse arguments of fit and start that do not exist."""
    for name in sorted(names):
        owner = type(evaluator).__name__
        folded = {known.lower(): known for known in sorted(_KNOWN | {"X", "y"})}
        close = get_close_matches(name.lower(), folded, n=1)
        cure = f"Did you mean {folded[close[0]]}?" if close else ""
        cure = cure or _ELSEWHERE.get(name, "")
        if name in evaluator.get_params(deep=False):
            cure = f"It is a parameter of the evaluator: {owner}(..., {name}=...)."
        cure = cure or f"They take X, y and {', '.join(sorted(_KNOWN))}."
        raise TypeError(f"fit and start take no argument {name}. {cure}")
