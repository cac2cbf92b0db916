"""Find the estimator inside pipelines and frozen wrappers."""

from typing import NamedTuple

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline


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


def unwrap(estimator):
    """Take an estimator out of pipelines and frozen wrappers, however they nest.

    Parameters
    ----------
    estimator : estimator
        Anything else than a pipeline or a frozen wrapper is returned as it is.

    Returns
    -------
    unwrapped : Unwrapped
    """
    pipelines, prefix, is_frozen = [], "", False
    while isinstance(estimator, (FrozenEstimator, Pipeline)):
        if isinstance(estimator, FrozenEstimator):
            estimator, is_frozen = estimator.estimator, True
        else:
            pipelines.append(estimator)
            prefix += f"{estimator.steps[-1][0]}__"
            estimator = estimator[-1]
    return Unwrapped(estimator, tuple(pipelines), prefix, is_frozen)


def last_step(estimator):
    """Return the innermost estimator of pipelines and frozen wrappers."""
    return unwrap(estimator).last


def unfrozen(estimator):
    """Return what is inside frozen wrappers; a pipeline stays a pipeline."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator
