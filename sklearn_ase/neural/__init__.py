"""Deep surrogates with the interface of scikit-learn classifiers.

They need torch and skorch, which no other part of sklearn_ase imports. Install both
with ``pip install 'sklearn-ase[neural]'``.
"""

from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._classifiers import (
    DeepEnsembleClassifier,
    MCDropoutClassifier,
    RadialBNNClassifier,
)
from sklearn_ase.neural._net import RandomCrop, RandomFlip
from sklearn_ase.neural._networks import (
    MLP,
    RadialBNN,
    ResNet18,
    SmallCNN,
    WideResNet40,
)
from sklearn_ase.neural._surrogate import DeviceSurrogate

try:
    import skorch  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "sklearn_ase.neural needs torch and skorch. Install them with "
        "pip install 'sklearn-ase[neural]'."
    ) from error


__all__ = [
    "MLP",
    "BaseDeepClassifier",
    "DeepEnsembleClassifier",
    "DeviceSurrogate",
    "MCDropoutClassifier",
    "RadialBNN",
    "RadialBNNClassifier",
    "RandomCrop",
    "RandomFlip",
    "ResNet18",
    "SmallCNN",
    "WideResNet40",
]
