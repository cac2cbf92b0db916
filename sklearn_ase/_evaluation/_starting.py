"""Whether an evaluation keeps tables of its pool, or reads it in chunks."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sklearn_ase._data._problem import make_problem, needs_no_model
from sklearn_ase._data._rows import RowOrder, is_from, n_rows
from sklearn_ase._data._sources import (
    RememberingSource,
    RowSource,
    ViewSource,
    disk_source,
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
    open_ledger,
    recognise_pool,
    record_known_labels,
)
from sklearn_ase._pool._columns import tables_needed
from sklearn_ase._pool._pool import LocalParts, PartedPool, chunks_obstacle
from sklearn_ase._utils._checks import check_choice
from sklearn_ase._utils._estimators import draw_seed
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics import MeanLoss, as_metric

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase._selector import ActiveModelSelector
    from sklearn_ase._utils._typing import Rows
    from sklearn_ase.dask._parts import DaskParts

# Bytes that all tables may take with store="auto".
_MOST_BYTES = 2**30
# Rows up to which the calibration learns from every label with recalibrate="auto", if
# the pool is read in chunks: that takes a pass for each label. Tables need none.
_MOST_RECALIBRATED = 200_000
# Parts of a Parquet directory on a cluster have so many rows, or more.
_ROWS_OF_A_PART = 250_000


def as_source(X: Any) -> Any:
    """Return the source of a pool that is not in memory; anything else as it is."""
    if is_from(X, "dask") and hasattr(X, "dask"):
        from sklearn_ase.dask._parts import DaskSource

        return DaskSource(X)
    source = disk_source(X)
    return X if source is None else source


def resolve_recalibrate(recalibrate, n_samples: int, in_chunks: bool = True) -> bool:
    """Whether the calibration learns from every label between two fits."""
    check_choice(recalibrate, "recalibrate", ("auto", True, False))
    if recalibrate == "auto":
        return not in_chunks or n_samples <= _MOST_RECALIBRATED
    return bool(recalibrate)


def choose_parts(
    store: str,
    X: Rows,
    plan: Plan,
    n_classes: int,
    given,
    client=None,
    verbose: int = 0,
):
    """Say where the columns of a pool that is read in chunks are kept."""
    check_choice(store, "store", ("auto", "tables", "chunks"))
    is_source = isinstance(X, RowSource)
    obstacle = chunks_obstacle(plan, given["experts"], given["has_model"])
    if store == "auto" and client is None and not is_source:
        size = 8 * n_rows(X) * (4 * n_classes + 2)
        store = "tables" if obstacle or size <= _MOST_BYTES else "chunks"
    if store == "tables":
        if is_source or client is not None:
            where = "is on a cluster" if client is not None else "is not in memory"
            raise ValueError(
                f"store='tables' keeps tables with a row for each sample, but the pool "
                f"{where}. Use store='chunks', or load the pool first."
            )
        return None
    if obstacle:
        raise tables_needed(obstacle)
    source = X if is_source else ViewSource(X)
    if client is None and hasattr(source, "client"):
        client = source.client
    if client is None:
        return LocalParts(source, given["predictions"], verbose)
    if plan.metric is not None:
        raise ValueError(
            f"metric={plan.metric!r} (or sample_weight) picks rows by columns in this "
            "process, but the pool is on a cluster. Leave it out and ask afterwards: "
            "evaluation.estimate(metric=..., sample_weight=...); or give client=None."
        )
    if plan.acquisition.needs_member_loss and plan.can_update:
        raise ValueError(
            f"{type(plan.acquisition).__name__} keeps what the members said at the "
            "last fit, which a pool on a cluster cannot between two fits. Use "
            "recalibrate=False."
        )
    from sklearn_ase.dask._parts import DaskParts

    return DaskParts.of(source, client, given, _ROWS_OF_A_PART, verbose)


def with_pool(problem: Problem, parts: LocalParts | DaskParts) -> Problem:
    """Return the problem with the pool that is read in chunks."""
    return replace(problem, pool=PartedPool(parts, problem.predictions))


def remembering(parts):
    """Return the source of the parts, which keeps rows that were taken once."""
    return RememberingSource(parts.source)


# Start an evaluation: check everything, ask the model, open the ledger.


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
    client=None,
    **rows,
):
    """Start an evaluation; see :meth:`ActiveRiskEstimator.start`."""
    refuse_unknown(set(rows) - _ROWS, evaluator)
    check_same_kind(rows.get("X_train"), X)
    has_features = X is not None
    if not has_features:
        X = row_numbers(rows.get("experts"), rows.get("predictions"))
    about = {name: rows.get(name) for name in ("predictions", "experts")}
    order = RowOrder.of(**({"X": X} if has_features else about))
    order.check(**about, cost=cost, sample_weight=sample_weight)
    X = check_pool(evaluator, as_source(X))
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
    head = X.head() if isinstance(X, RowSource) else X
    plan = Plan.of(evaluator, task, head, leans or not has_features, has_features)
    recalibrate = resolve_recalibrate(evaluator.recalibrate, n_samples)
    plan = replace(plan, recalibrate=recalibrate)
    if sample_weight is not None and plan.metric is None:
        plan = replace(plan, metric=MeanLoss(as_loss(loss, task)))
    check_ledger(ledger, n_samples)
    cost = check_cost(cost, n_samples)
    sample_weight = check_weight(sample_weight, n_samples)
    known_labels = check_known_labels(known_labels, n_samples)
    given = {"cost": cost, "has_model": has_model} | about
    n_classes = _n_classes(evaluator, task, rows)
    parts = choose_parts(
        evaluator.store, X, plan, n_classes, given, client, int(evaluator.verbose)
    )
    if parts is None:
        recalibrate = resolve_recalibrate(evaluator.recalibrate, n_samples, False)
    else:
        X = remembering(parts)
        # The belief of other surrogates may differ from what their update returned.
        recalibrate = recalibrate and plan.surrogate.takes_sources
    plan = replace(plan, recalibrate=recalibrate)
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
            parts=parts,
            order=order,
            **rows,
        )
        if parts is not None:
            problem = with_pool(problem, parts)
        recognise_pool(ledger, problem)
        ledger.begin(lambda: header_of(problem, seed, plan.settings()))
        record_known_labels(ledger, problem, known_labels)
        # After the header, which has the surrogate as it was given.
        problem = problem.prepared_by(plan.surrogate)
        return Evaluation(problem, plan, ledger, seed)


def check_pool(evaluator, X):
    """Check a pool; if it is not in memory, only its first row."""
    if not isinstance(X, RowSource):
        return check_rows(evaluator, X, reset=True)
    if not len(X):
        raise ValueError("The pool has 0 rows: X is empty. Give some rows.")
    check_rows(evaluator, X.head(), reset=True)
    return X


def _n_classes(evaluator, task, rows):
    """Number of classes, as far as it is known before the model is asked.

    The arguments have not been checked yet.
    """
    if task == "regression":
        return 1
    known = [evaluator.classes, getattr(evaluator.estimator, "classes_", None)]
    counts = [len(each) for each in known if hasattr(each, "__len__")]
    shape = getattr(rows.get("predictions"), "shape", ())
    return max([2, *counts, *shape[1:2]])


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
