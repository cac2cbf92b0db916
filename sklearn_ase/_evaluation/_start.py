"""The start of an evaluation: check everything, ask the model, open the ledger."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sklearn_ase._data._inputs import Inputs
from sklearn_ase._data._problem import make_problem, needs_no_model
from sklearn_ase._data._sampling import (
    PoolSample,
    draw,
    is_stored,
    reader_of,
    sample_pool,
)
from sklearn_ase._data._validation import check_task
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._plan import Plan
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
    from collections.abc import Callable, Iterable

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._labels._store import BaseStore
    from sklearn_ase._selector import ActiveModelSelector
    from sklearn_ase._utils._typing import Rows, Seed, StrPath

_DATA = {"X_train", "y_train", "predictions", "train_predictions", "experts"}
_DATA |= {"cost", "sample_weight"}
_KNOWN = _DATA | {"ledger", "journal", "known_labels"}
_ELSEWHERE = {
    "groups": "Groups belong to the interval: "
    'evaluation.estimate(groups=...).interval(target="population").',
}


def start_evaluation(
    evaluator: ActiveRiskEstimator,
    X: Rows | None,
    *,
    ledger: LabelLedger | None,
    journal: BaseStore | StrPath | None,
    known_labels: Any,
    **data: Any,
) -> Evaluation:
    """Start an evaluation; see :meth:`ActiveRiskEstimator.start`."""
    refuse_unknown(set(data) - _DATA, evaluator)
    X, sample = drawn_pool(X, evaluator.random_state, journal)
    inputs = Inputs.of(evaluator, X, sample, **data)
    loss = _loss_of(evaluator)
    task = check_task(
        as_loss(loss), evaluator.estimator, evaluator.surrogate, evaluator.classes
    )
    loss = as_loss(loss, task)
    metric = None if evaluator.metric is None else as_metric(evaluator.metric)
    has_model = not needs_no_model(evaluator.estimator, inputs.predictions, metric)
    leans = inputs.experts is not None or not has_model or not inputs.has_features
    plan = Plan.of(evaluator, task, inputs.X, leans, inputs.has_features)
    if inputs.sample_weight is not None and plan.metric is None:
        plan = replace(plan, metric=MeanLoss(loss))

    def make(seed):
        problem = make_problem(inputs, evaluator, plan, loss, task, seed)
        header = header_of(problem, seed, plan.settings())
        return problem, plan, header, Evaluation

    return begin(
        evaluator,
        inputs,
        make,
        ledger=ledger,
        journal=journal,
        known_labels=known_labels,
    )


def begin(
    owner: ActiveRiskEstimator | ActiveModelSelector,
    inputs: Inputs,
    make: Callable[[int], tuple[Problem, Plan, dict[str, Any], Callable[..., Any]]],
    *,
    ledger: LabelLedger | None,
    journal: BaseStore | StrPath | None,
    known_labels: Any,
) -> Any:
    """Open the ledger, and make what it is of: problem, plan, header and run."""
    check_ledger(ledger, inputs.n_named)
    known = check_known_labels(known_labels, inputs.n_samples, inputs.sample)
    with open_ledger(ledger, journal) as ledger:
        seed = ledger.seed
        if seed is None:
            seed = draw_seed(owner.random_state)
        problem, plan, header, run = make(seed)
        identify(ledger, problem, header)
        record_known_labels(ledger, problem, known)
        # After the header, which has the surrogate as it was given.
        return run(problem.prepared_by(plan.surrogate), plan, ledger, seed)


def drawn_pool(
    X: Rows, random_state: Seed, journal: BaseStore | StrPath | None
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
