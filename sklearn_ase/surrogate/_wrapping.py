"""The surrogate that is used when none is given, and the shell around one that is."""

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._rows import is_dataset, is_frame
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._frame_encoder import FrameEncoder
from sklearn_ase.surrogate._regressor import RegressorSurrogate

_SHELLS = {"classification": ClassifierSurrogate, "regression": RegressorSurrogate}


def as_surrogate(surrogate, task, X):
    """Turn what the user gave into a surrogate.

    Parameters
    ----------
    surrogate : BaseSurrogate, classifier, regressor or None
    task : {"classification", "regression"}
    X : array, sparse matrix or frame
        The pool; a frame gets a default surrogate that encodes its text columns.

    Returns
    -------
    surrogate : BaseSurrogate
    """
    if not isinstance(surrogate, BaseSurrogate):
        surrogate = _SHELLS[task](surrogate)
    if surrogate.estimator is None:
        surrogate = clone(surrogate).set_params(estimator=_default_estimator(task, X))
    estimator = surrogate.estimator
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            f"surrogate={estimator!r} is no estimator: it has no fit. Give an instance "
            "of a classifier or regressor."
        )
    wrong = is_regressor if task == "classification" else is_classifier
    if surrogate.task != task or wrong(estimator):
        raise ValueError(
            f"The loss is one of {task}, but surrogate={type(estimator).__name__} is "
            f"not made for it. Use a surrogate for {task} or another loss."
        )
    if surrogate.is_constant:
        _check_frozen(estimator)
    return surrogate


def _check_frozen(frozen):
    try:
        check_is_fitted(frozen)
    except NotFittedError as error:
        raise NotFittedError(
            f"The frozen surrogate {type(frozen.estimator).__name__} is not fitted. "
            "Fit it first, or give it without FrozenEstimator to have it fitted here."
        ) from error
    except TypeError:
        return  # An object without fit cannot tell, and need not.


def _default_estimator(task, X):
    if is_dataset(X):
        raise ValueError(
            "The pool is a torch dataset, which the default surrogate cannot read. "
            "Give a surrogate that can, as sklearn_ase.neural.DeepEnsembleClassifier."
        )
    forest = {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor}
    trees = forest[task](n_estimators=100, bootstrap=True, max_features=0.3)
    if isinstance(X, list):  # Texts; trees on so many columns would be slow.
        linear = {"classification": LogisticRegression(), "regression": Ridge()}
        return make_pipeline(TfidfVectorizer(), linear[task])
    if not is_frame(X):
        return trees
    return make_pipeline(FrameEncoder(), trees)
