"""Estimators of scikit-learn: unwrapped, fitted with a seed, run in jobs, watched."""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from sklearn_ase._utils._checks import shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sklearn_ase._utils._typing import Rows


class Unwrapped(NamedTuple):
    """An estimator inside pipelines and frozen wrappers, and the way to it.

    Attributes
    ----------
    last : estimator
        The innermost estimator: the last step of the innermost pipeline.
    pipelines : tuple of Pipeline
        The pipelines around it, outermost first.
    prefix : str
        Comes before the name of a ``fit`` parameter of `last`, as in ``"model__"``.
    is_frozen : bool
        Whether a frozen wrapper is among the wrappers; ``fit`` then changes nothing.
    """

    last: BaseEstimator
    pipelines: tuple
    prefix: str
    is_frozen: bool

    def transform(self, X):
        """Transform X as the pipelines do before it reaches the last step."""
        for pipeline in self.pipelines:
            if len(pipeline) > 1:
                X = pipeline[:-1].transform(X)
        return X


def unwrap(estimator: Any) -> Unwrapped:
    """Take an estimator out of pipelines and frozen wrappers, however they nest."""
    pipelines, prefix, is_frozen = [], "", False
    while isinstance(estimator, (FrozenEstimator, Pipeline)):
        if isinstance(estimator, FrozenEstimator):
            estimator, is_frozen = estimator.estimator, True
        else:
            pipelines.append(estimator)
            prefix += f"{estimator.steps[-1][0]}__"
            estimator = estimator[-1]
    return Unwrapped(estimator, tuple(pipelines), prefix, is_frozen)


def last_step(estimator: Any) -> Any:
    """Return the innermost estimator of pipelines and frozen wrappers."""
    return unwrap(estimator).last


def unfrozen(estimator: Any) -> Any:
    """Return what is inside frozen wrappers; a pipeline stays a pipeline."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def accepted_by(function: Callable, **options: Any) -> dict[str, Any]:
    """The options that a function names, or all if it takes any."""
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return options
    return {name: value for name, value in options.items() if name in parameters}


# Seeds: one number fixes all that is drawn.


def check_seed(random_state: Any) -> np.random.RandomState:
    """Return a RandomState; what cannot be one is refused by name."""
    try:
        if not isinstance(random_state, (bool, np.bool_)):
            return check_random_state(random_state)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"random_state={shown(random_state)} must be None, an integer >= 0 or a "
        "numpy.random.RandomState."
    )


def draw_seed(random_state: Any) -> int:
    """Return the seed of an evaluation, an integer."""
    return int(check_seed(random_state).randint(2**31 - 1))


def fit_seeded(
    estimator: Any, seed: int, X: Rows, y: np.ndarray, **fit_params: Any
) -> Any:
    """Fit a copy of the estimator; `seed` fixes what it draws.

    Torch networks draw from one generator that all of them share. It is seeded during
    the fit and restored afterwards.
    """
    model = seeded(estimator, seed)
    with torch_seed(seed):
        return model.fit(X, _targets(model, y), **fit_params)


def seeded(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy in which `seed` replaces each ``random_state=None``."""
    copy = clone(estimator)
    rng = np.random.default_rng(seed)
    names = sorted(copy.get_params()) if hasattr(copy, "get_params") else ()
    open_names = [
        name
        for name in names
        if name.rpartition("__")[2] == "random_state"
        and copy.get_params()[name] is None
    ]
    seeds = rng.integers(np.iinfo(np.int32).max, size=len(open_names))
    if open_names:
        copy.set_params(**dict(zip(open_names, map(int, seeds), strict=True)))
    return copy


@contextmanager
def torch_seed(seed: int) -> Any:
    """Fix torch's random numbers inside the block and restore them afterwards."""
    torch = sys.modules.get("torch")  # Without torch there is no network to seed.
    if torch is None:
        yield
        return
    # Asking for devices would start CUDA, which forked processes do not survive.
    cuda = torch.cuda.is_initialized()
    devices = range(torch.cuda.device_count()) if cuda else ()
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def _targets(model: Any, y: Any) -> Any:
    """Return the labels in the shape that the model takes."""
    skorch = sys.modules.get("skorch")
    if skorch is not None and isinstance(last_step(model), skorch.NeuralNetRegressor):
        # Their loss would broadcast a row of targets against a column of predictions.
        return np.asarray(y, dtype=np.float32).reshape(-1, 1)
    return y


# Jobs, on the backend of joblib that is active.


def run_jobs(jobs: Iterable[Any], n_jobs: int | None) -> Any:
    """Run jobs and return an iterable of their results, in order."""
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        return Parallel(n_jobs=n_jobs)(jobs)


# Callbacks of scikit-learn, from version 1.9 on.


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

    def begin(self) -> None:
        """Call the callbacks before a batch of labels is asked for."""
        if self._context is not None:
            self._batch = self._context.subcontext(task_name="batch")
            self._batch.call_on_fit_task_begin(**self._data)

    def end(self):
        """Call the callbacks after a batch; return why to stop, or an empty text."""
        stop = self._call_end(self._batch)
        return "A callback asked to stop." if stop else ""

    def close(self) -> None:
        """Call the callbacks at the end of the fit."""
        self._call_end(self._context)

    def _call_end(self, context):
        if context is None:
            return False
        fitted = {"evaluation_": self._data["estimator"].evaluation_}
        return context.call_on_fit_task_end(
            **self._data, reconstruction_attributes=fitted
        )
