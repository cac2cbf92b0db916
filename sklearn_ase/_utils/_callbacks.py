"""scikit-learn's callbacks, where there are any: from version 1.9 on."""

import functools
import math

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:
        """Nothing to support."""

        def _init_callback_context(self, **options):
            return None

    def with_callbacks(method):
        """The method, as deep in the stack as with callbacks."""

        @functools.wraps(method)
        def plain_method(estimator, *args, **kwargs):
            return method(estimator, *args, **kwargs)

        return plain_method


class Watch:
    """Tells the callbacks of an estimator about each batch of labels.

    Parameters
    ----------
    estimator : ActiveRiskEstimator
        Whose fit has begun.
    X, y : pool and labels
    n_missing : int
        Labels to be bought.
    batch_size : int
    """

    def __init__(self, estimator, X, y, n_missing, batch_size):
        # One more for rows that were open before.
        n_batches = math.ceil(max(n_missing, 0) / batch_size) + 1
        self._context = estimator._init_callback_context(max_subtasks=n_batches)
        self._data = {"estimator": estimator, "X": X, "y": None if callable(y) else y}
        self._batch = None
        if self._context is not None:
            self._context.call_on_fit_task_begin(**self._data)

    def begin(self):
        """A batch of labels is asked for."""
        if self._context is not None:
            self._batch = self._context.subcontext(task_name="batch")
            self._batch.call_on_fit_task_begin(**self._data)

    def end(self):
        """A batch of labels has come; returns why to stop, or nothing."""
        stop = self._call_end(self._batch)
        return "A callback asked to stop." if stop else ""

    def close(self):
        """No more labels are bought."""
        self._call_end(self._context)

    def _call_end(self, context):
        if context is None:
            return False
        fitted = {"evaluation_": self._data["estimator"].evaluation_}
        return context.call_on_fit_task_end(
            **self._data, reconstruction_attributes=fitted
        )
