"""The loop of ``fit``: ask and tell until there is a reason to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._display import progress
from sklearn_ase._utils._limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_ase._evaluation._evaluation import Evaluation


def run_loop(
    evaluation: Evaluation,
    oracle: Callable,
    limits: Limits,
    so_far: Callable,
    watch=None,
    verbose: int = 0,
) -> str:
    """Buy labels; see :meth:`Evaluation.run`."""
    reason = limits.reason_to_stop(evaluation)
    known, text = len(evaluation.ledger), so_far if verbose else str
    with progress(int(limits.n_labels), "labels", verbose, start=known) as show:

        def answers(indices):
            labels = oracle(indices)
            if evaluation.beliefs.is_due(len(indices)):
                show(len(evaluation.ledger), "refitting the surrogate")
            return labels

        while not reason:
            if watch is not None:
                watch.begin()
            _buy(evaluation, answers, limits)
            reason = watch.end() if watch is not None else ""
            reason = reason or limits.reason_to_stop(evaluation)
            show(len(evaluation.ledger), text())
        show(len(evaluation.ledger), "refitting the surrogate")
        evaluation.finish()
        show(len(evaluation.ledger), text())
    return reason


def _buy(evaluation, oracle, limits):
    """Buy one batch of labels; open queries are answered first."""
    missing = limits.n_labels - len(evaluation.ledger)
    indices = evaluation.pending.indices[:missing]
    if not len(indices):
        n_free = evaluation.state.n_free
        indices = evaluation.ask(min(limits.batch_size, missing, n_free)).indices
    if limits.budget < np.inf:
        # A row is bought if the rows before it leave something of the budget.
        cost_before = np.cumsum([0.0, *evaluation.problem.cost_of(indices)])[:-1]
        indices = indices[evaluation.spent + cost_before < limits.budget]
    if len(indices):
        evaluation.tell(indices, oracle(indices))


def check_can_estimate(evaluation: Evaluation, n_labels: int) -> None:
    """Refuse a number of labels that never suffices for the estimate."""
    name, surrogate = type(evaluation.risk).__name__, evaluation.surrogate
    zero_shot = evaluation.is_fitted and evaluation.risk.leans_on_surrogate
    if n_labels == 0 and not len(evaluation.ledger) and not zero_shot:
        raise ValueError(
            f"n_labels=0 leaves {name} nothing to estimate from. Buy labels, or "
            "give X_train and y_train with risk=GuardedASE() or ASE()."
        )
    n_training = evaluation.problem.n_training + len(evaluation.ledger.known)
    if evaluation.risk.needs_belief and not surrogate.can_fit(n_training + n_labels):
        raise ValueError(
            f"{name} needs a fitted surrogate. That takes at least "
            f"{surrogate.min_rows} labelled rows, but n_labels={n_labels} and there "
            f"are {n_training} training rows. Give X_train and y_train or buy more "
            "labels."
        )
