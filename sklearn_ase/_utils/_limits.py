"""Limits: when there are enough labels, for `fit`, the console and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Limits:
    """When there are enough labels.

    Attributes
    ----------
    n_labels : float
        Labels in all.
    batch_size : int
    budget : float
        Cost of all labels.
    stops : tuple of stopping rule
    words : str
        What is said when `n_labels` are there.
    """

    n_labels: float = np.inf
    batch_size: int = 1
    budget: float = np.inf
    stops: tuple = ()
    words: str = "n_labels={most} were bought."

    def reason_to_stop(self, evaluation):
        """Why no more labels are bought; empty to continue."""
        ledger = evaluation.ledger
        spent = evaluation.spent if self.budget < np.inf else 0.0
        if reason := self.reached(ledger, spent):
            return reason
        if not ledger.pending and not evaluation.state.n_free:
            return "Every row of the pool was asked for."
        return next(filter(None, map(evaluation.stop_reason, self.stops)), "")

    def reached(self, ledger, spent):
        """Why these labels, at this cost, are as many as there may be."""
        if len(ledger) >= self.n_labels:
            return self.words.format(n=len(ledger), most=self.n_labels)
        is_spent = self.budget < np.inf and spent >= self.budget
        return f"The budget of {self.budget:g} is spent." if is_spent else ""
