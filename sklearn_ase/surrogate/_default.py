"""The surrogate that is used when none is given, and the shell around one that is."""

from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._rows import is_frame
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._frames import FrameEncoder
from sklearn_ase.surrogate._regressor import RegressorSurrogate

_SHELLS = {"classification": ClassifierSurrogate, "regression": RegressorSurrogate}


def check_surrogate_estimator(surrogate, task, X):
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
    if isinstance(surrogate, BaseSurrogate):
        return surrogate
    if surrogate is None:
        surrogate = _default_estimator(task, X)
    if isinstance(surrogate, FrozenEstimator):
        try:
            check_is_fitted(surrogate)
        except NotFittedError as error:
            raise NotFittedError(
                f"The frozen surrogate {type(surrogate.estimator).__name__} is not "
                "fitted. Fit it first, or give it without FrozenEstimator to have it "
                "fitted here."
            ) from error
    if not hasattr(surrogate, "fit") or isinstance(surrogate, type):
        raise TypeError(
            f"surrogate={surrogate!r} is no estimator: it has no fit. Give an instance "
            "of a classifier or regressor."
        )
    wrong = is_regressor if task == "classification" else is_classifier
    if wrong(surrogate):
        raise ValueError(
            f"The loss is one of {task}, but surrogate={type(surrogate).__name__} is "
            f"not made for it. Use a surrogate for {task} or another loss."
        )
    return _SHELLS[task](surrogate)


def _default_estimator(task, X):
    forest = {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor}
    trees = forest[task](n_estimators=100, bootstrap=True, max_features=0.3)
    if isinstance(X, list):  # Texts; trees on so many columns would be slow.
        linear = {"classification": LogisticRegression(), "regression": Ridge()}
        return make_pipeline(TfidfVectorizer(), linear[task])
    if not is_frame(X):
        return trees
    return make_pipeline(FrameEncoder(), trees)
