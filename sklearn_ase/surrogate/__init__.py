"""Surrogates: models that predict the unknown labels of the pool."""

from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._default import as_expert_surrogate, as_surrogate
from sklearn_ase.surrogate._encoder import PoolEncoder
from sklearn_ase.surrogate._experts import ExpertSurrogate
from sklearn_ase.surrogate._gaussian_stack import GaussianStack
from sklearn_ase.surrogate._log_linear_stack import LogLinearStack
from sklearn_ase.surrogate._members import BootstrapClassifier, BootstrapRegressor
from sklearn_ase.surrogate._regressor import RegressorSurrogate

__all__ = [
    "BaseSurrogate",
    "BootstrapClassifier",
    "BootstrapRegressor",
    "ClassifierSurrogate",
    "ExpertSurrogate",
    "GaussianStack",
    "LogLinearStack",
    "PoolEncoder",
    "RegressorSurrogate",
    "as_expert_surrogate",
    "as_surrogate",
]
