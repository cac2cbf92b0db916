"""Support scikit-learn's callbacks, which exist from version 1.9 on."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

_Method = TypeVar("_Method", bound=Callable)

if TYPE_CHECKING:  # The method keeps its type.
    from sklearn.base import BaseEstimator as CallbackSupportMixin

    def with_callbacks(method: _Method) -> _Method: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """Stand-in for versions of scikit-learn without callbacks."""

            def _init_callback_context(self, **options):
                return None

        def with_callbacks(method):
            """Return the method in a wrapper that adds nothing.

            The stack is then as deep as with callbacks, so that warnings point at the
            same line.
            """

            @functools.wraps(method)
            def plain_method(estimator, *args, **kwargs):
                return method(estimator, *args, **kwargs)

            return plain_method


class Watch:
    """Call the callbacks of an estimator before and after each batch of labels.

    Parameters
    ----------
    estimator : ActiveRiskEstimator
        The estimator whose ``fit`` is running.
    X, y : pool and labels
    n_missing : int
        Number of labels still to buy.
    batch_size : int
        Number of labels per batch.
    """

    def __init__(self, estimator, X, y, n_missing, batch_size):
        # One batch more, for rows that were waiting for a label before.
        n_batches = math.ceil(max(n_missing, 0) / batch_size) + 1
        self._context = estimator._init_callback_context(max_subtasks=n_batches)
        self._data = {"estimator": estimator, "X": X, "y": None if callable(y) else y}
        self._batch = None
        if self._context is not None:
            self._context.call_on_fit_task_begin(**self._data)

    def begin(self):
        """Call the callbacks before a batch of labels is asked for."""
        if self._context is not None:
            self._batch = self._context.subcontext(task_name="batch")
            self._batch.call_on_fit_task_begin(**self._data)

    def end(self):
        """Call the callbacks after a batch; return why to stop, or an empty text."""
        stop = self._call_end(self._batch)
        return "A callback asked to stop." if stop else ""

    def close(self):
        """Call the callbacks at the end of the fit."""
        self._call_end(self._context)

    def _call_end(self, context):
        if context is None:
            return False
        fitted = {"evaluation_": self._data["estimator"].evaluation_}
        return context.call_on_fit_task_end(
            **self._data, reconstruction_attributes=fitted
        )
