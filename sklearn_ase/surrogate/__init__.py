"""Surrogates: models that predict the unknown labels of the pool."""

from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._bootstrap import BootstrapClassifier, BootstrapRegressor
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._expert_classifier import ExpertClassifierSurrogate
from sklearn_ase.surrogate._expert_regressor import ExpertRegressorSurrogate
from sklearn_ase.surrogate._frame_encoder import FrameEncoder
from sklearn_ase.surrogate._gaussian_stack import GaussianStack
from sklearn_ase.surrogate._image_encoder import ImageEncoder
from sklearn_ase.surrogate._log_linear_stack import LogLinearStack
from sklearn_ase.surrogate._prediction_stack import PredictionSurrogate
from sklearn_ase.surrogate._regressor import RegressorSurrogate
from sklearn_ase.surrogate._votes import VoteSurrogate
from sklearn_ase.surrogate._wrapping import as_expert_surrogate, as_surrogate

__all__ = [
    "BaseSurrogate",
    "BootstrapClassifier",
    "BootstrapRegressor",
    "ClassifierSurrogate",
    "ExpertClassifierSurrogate",
    "ExpertRegressorSurrogate",
    "FrameEncoder",
    "GaussianStack",
    "ImageEncoder",
    "LogLinearStack",
    "PredictionSurrogate",
    "RegressorSurrogate",
    "VoteSurrogate",
    "as_expert_surrogate",
    "as_surrogate",
]
