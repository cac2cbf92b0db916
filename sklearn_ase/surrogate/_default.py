"""Names and defaults of surrogates: from what the user gave to a checked surrogate."""

from __future__ import annotations

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._rows import is_dataset, is_frame
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._estimators import unfrozen
from sklearn_ase._utils._typing import Estimator, Rows, Task
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._encoder import PoolEncoder, frame_transformer
from sklearn_ase.surrogate._estimator import EstimatorSurrogate
from sklearn_ase.surrogate._experts import ExpertSurrogate
from sklearn_ase.surrogate._regressor import RegressorSurrogate

_WRAPPERS = {"classification": ClassifierSurrogate, "regression": RegressorSurrogate}


def as_surrogate(surrogate: Estimator | None, task: Task, X: Rows) -> BaseSurrogate:
    """Turn what the user gave into a surrogate, and check that it suits the task.

    Parameters
    ----------
    surrogate : BaseSurrogate, classifier, regressor or None
        A classifier or regressor is wrapped. None means a default that suits X.
    task : {"classification", "regression"}
    X : array, sparse matrix, frame or list of texts
        The pool.

    Returns
    -------
    surrogate : BaseSurrogate
    """
    if isinstance(surrogate, BaseSurrogate) and surrogate.uses_experts:
        return as_expert_surrogate(surrogate, task, X)
    if not isinstance(surrogate, BaseSurrogate):
        _check_estimator(surrogate)
        surrogate = _WRAPPERS[task](surrogate)
    _check_estimator(getattr(surrogate, "estimator", None))
    surrogate.validate()
    if isinstance(surrogate, EstimatorSurrogate):
        return _with_estimator(surrogate, task, X)
    if surrogate.task not in _WRAPPERS:
        raise ValueError(
            f"{type(surrogate).__name__}.task is {surrogate.task!r}. Set the class "
            "attribute task to 'classification' or 'regression'."
        )
    if surrogate.task != task:
        raise _wrong_task(surrogate, task)
    return surrogate


def as_expert_surrogate(
    surrogate: Estimator | None, task: Task, X: Rows | None
) -> BaseSurrogate:
    """Turn what the user gave into a surrogate that weighs what experts say.

    Parameters
    ----------
    surrogate : classifier, regressor, BaseSurrogate that uses experts, or None
        A classifier or regressor learns from the features, beside the experts.
    task : {"classification", "regression"}
    X : array, sparse matrix, frame or list of texts, or None
        The pool; None if nothing but experts is known.

    Returns
    -------
    surrogate : BaseSurrogate
    """
    if not isinstance(surrogate, BaseSurrogate):
        _check_estimator(surrogate)
        surrogate = ExpertSurrogate(task, surrogate)
    if not surrogate.uses_experts:
        raise TypeError(
            f"surrogate={shown(surrogate)} cannot use experts, and needs a model under "
            "test. Give a classifier or a regressor, or None for the default; it is "
            "then combined with the experts."
        )
    surrogate.validate()
    if surrogate.task != task:
        raise _wrong_task(surrogate, task)
    if not getattr(surrogate, "has_features", False):
        return surrogate
    if X is None:
        return clone(surrogate).set_params(estimator="drop")
    inner = as_surrogate(surrogate.estimator, task, X)
    return clone(surrogate).set_params(estimator=inner.estimator)


def _with_estimator(surrogate, task, X):
    """Return the surrogate with a default estimator if it has none, and check it."""
    if surrogate.estimator is None:
        surrogate = clone(surrogate).set_params(estimator=default_estimator(task, X))
    estimator = surrogate.estimator
    is_wrong = is_regressor if task == "classification" else is_classifier
    if surrogate.task != task or is_wrong(estimator):
        raise _wrong_task(estimator, task)
    _check_reads(estimator, X)
    if surrogate.is_constant:
        _check_frozen(estimator)
    return surrogate


def _check_reads(estimator, X):
    """Refuse estimators of scikit-learn that take tables, where rows are images."""
    if getattr(X, "ndim", 2) == 2:
        return
    first = unfrozen(estimator)
    while isinstance(first, Pipeline):
        first = unfrozen(first.steps[0][1])
    # Others may take what they want, and a wrapper takes what its estimator takes.
    is_known = type(first).__module__.startswith("sklearn.")
    takes_all = isinstance(first, FunctionTransformer) or hasattr(first, "estimator")
    if is_known and not takes_all:
        name = type(first).__name__
        raise ValueError(
            f"surrogate={name} reads tables, but the rows of the pool have shape "
            f"{X.shape[1:]}. Use surrogate=None, which flattens them, "
            f"make_pipeline(PoolEncoder(), {name}(...)) with the encoder of "
            "sklearn_ase.surrogate, or a network of sklearn_ase.neural."
        )


def _check_estimator(estimator):
    if estimator is None:
        return
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"surrogate={shown(estimator)} is not an estimator with a fit method. Give "
            "an instance of a classifier or regressor."
        )
    if hasattr(estimator, "belief"):
        raise TypeError(
            f"surrogate={type(estimator).__name__} has a method belief, as surrogates "
            "have, but is not a BaseSurrogate. Let it inherit from "
            "sklearn_ase.surrogate.BaseSurrogate."
        )


def _wrong_task(surrogate, task):
    return ValueError(
        f"The loss is one of {task}, but surrogate={type(surrogate).__name__} is not "
        f"made for it. Use a surrogate for {task} or another loss."
    )


def _check_frozen(frozen):
    try:
        check_is_fitted(frozen)
    except NotFittedError as error:
        raise NotFittedError(
            f"The frozen surrogate {type(unfrozen(frozen)).__name__} is not fitted. "
            "Fit it first, or give it without FrozenEstimator to have it fitted here."
        ) from error
    except TypeError:
        return  # Not a scikit-learn estimator: only the object knows if it is fitted.


def default_estimator(task: Task, X: Rows) -> Estimator:
    """A forest, behind an encoder if rows are frames or images; linear for texts."""
    if is_dataset(X):
        raise ValueError(
            "The pool is a torch dataset, which the default surrogate cannot read. "
            "Give one that can, such as sklearn_ase.neural.DeepEnsembleClassifier()."
        )
    forest = {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor}
    trees = forest[task](n_estimators=100, bootstrap=True, max_features=0.3)
    if isinstance(X, list):  # Texts. Trees would be slow on so many columns.
        linear = {"classification": LogisticRegression(), "regression": Ridge()}
        return make_pipeline(TfidfVectorizer(), linear[task])
    if is_frame(X):
        # Named here, so that a journal knows what encoded the rows.
        return make_pipeline(PoolEncoder(frame_transformer()), trees)
    return make_pipeline(PoolEncoder(), trees) if PoolEncoder().encodes(X) else trees
