"""Surrogates: any classifier or regressor, as calibrated members aligned by class."""

from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._bootstrap import BootstrapClassifier, BootstrapRegressor
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._default import check_surrogate_estimator
from sklearn_ase.surrogate._frames import FrameEncoder
from sklearn_ase.surrogate._gaussian_stack import GaussianStack
from sklearn_ase.surrogate._log_linear_stack import LogLinearStack
from sklearn_ase.surrogate._regressor import RegressorSurrogate

__all__ = [
    "BaseSurrogate",
    "BootstrapClassifier",
    "BootstrapRegressor",
    "ClassifierSurrogate",
    "FrameEncoder",
    "GaussianStack",
    "LogLinearStack",
    "RegressorSurrogate",
    "check_surrogate_estimator",
]
