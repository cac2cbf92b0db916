"""Network architectures: those of the paper, and a perceptron.

A small `width` makes each of them fast enough for a CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor


class MLP(nn.Module):
    """Multi-layer perceptron with ReLU.

    Parameters
    ----------
    n_features : int
    n_classes : int
    width : int or tuple of int, default=64
        Units of each hidden layer.
    dropout : float, default=0.0
        Probability of dropout after each hidden layer.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import MLP
    >>> MLP(n_features=4, n_classes=3)(torch.zeros(5, 4)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        width: int | tuple[int, ...] = 64,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        layers = [nn.Flatten()]
        for units in (width,) if isinstance(width, int) else width:
            layers += [nn.Linear(n_features, units), nn.ReLU()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            n_features = units
        self.layers = nn.Sequential(*layers, nn.Linear(n_features, n_classes))

    def forward(self, X: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes)."""
        return self.layers(X)


class SmallCNN(nn.Module):
    """Network of two convolutions and two dense layers, for small images.

    The paper's radial Bayesian network has the same layers.

    Parameters
    ----------
    in_channels : int, default=1
    n_classes : int, default=10
    image_size : int, default=28
        Height and width, at least 16.
    width : int, default=16
        Channels of the first convolution; the second has twice as many.
    dropout : float, default=0.0
        Probability of dropout before the last layer.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import SmallCNN
    >>> SmallCNN()(torch.zeros(5, 1, 28, 28)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        in_channels: int = 1,
        n_classes: int = 10,
        image_size: int = 28,
        width: int = 16,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        side = side_after_convolutions(image_size)
        self.layers = nn.Sequential(
            nn.Conv2d(in_channels, width, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2 * width * side**2, 128),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(128, n_classes),
        )

    def forward(self, X: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes)."""
        return self.layers(X)


def side_after_convolutions(image_size):
    """Height and width after two 5x5 convolutions with pooling."""
    if image_size < 16:
        raise ValueError(
            f"image_size={image_size} is too small for two 5x5 convolutions with "
            "pooling: 16 is the minimum. Use MLP for smaller images."
        )
    return ((image_size - 4) // 2 - 4) // 2


class ResNet18(nn.Module):
    """ResNet-18 for small images.

    The first convolution is 3x3, and there is no pooling before the end.

    Parameters
    ----------
    in_channels : int, default=3
    n_classes : int, default=10
    width : int, default=64
        Channels of the first stage. On a CPU, use 8 or 16.

    References
    ----------
    He et al. (2016), Deep residual learning for image recognition.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import ResNet18
    >>> ResNet18(width=4)(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self, in_channels: int = 3, n_classes: int = 10, width: int = 64
    ) -> None:
        super().__init__()
        blocks, before = [], width
        for stage in range(4):
            after = width * 2**stage
            blocks.append(_ResidualBlock(before, after, stride=1 if stage == 0 else 2))
            blocks.append(_ResidualBlock(after, after, stride=1))
            before = after
        self.stem = nn.Sequential(
            _conv3x3(in_channels, width), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(before, n_classes)

    def forward(self, X: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes)."""
        return self.head(self.blocks(self.stem(X)).mean(dim=(2, 3)))


class WideResNet40(nn.Module):
    """Wide ResNet with 40 layers.

    Parameters
    ----------
    in_channels : int, default=3
    n_classes : int, default=100
    width : float, default=4
        Factor of the channels, k in WRN-40-k. On a CPU, use 1 or less.

    References
    ----------
    Zagoruyko and Komodakis (2016), Wide residual networks.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import WideResNet40
    >>> WideResNet40(width=1)(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 100])
    """

    def __init__(
        self, in_channels: int = 3, n_classes: int = 100, width: float = 4
    ) -> None:
        super().__init__()
        blocks, before = [], min(16, int(16 * width))
        for group in range(3):
            after = int(16 * width * 2**group)
            for block in range(6):  # 4 + 3 groups x 6 blocks x 2 convolutions = 40
                stride = 2 if group > 0 and block == 0 else 1
                blocks.append(_PreactivationBlock(before, after, stride))
                before = after
        self.stem = _conv3x3(in_channels, min(16, int(16 * width)))
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.BatchNorm2d(before)
        self.head = nn.Linear(before, n_classes)

    def forward(self, X: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_classes)."""
        X = F.relu(self.norm(self.blocks(self.stem(X))))
        return self.head(X.mean(dim=(2, 3)))


class _ResidualBlock(nn.Module):
    """Two convolutions with batch norm after each, and a shortcut."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.branch = nn.Sequential(
            _conv3x3(before, after, stride),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            _conv3x3(after, after),
            nn.BatchNorm2d(after),
        )
        self.shortcut = nn.Identity()
        if before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, X):
        return F.relu(self.branch(X) + self.shortcut(X))


class _PreactivationBlock(nn.Module):
    """Two convolutions with batch norm before each, and a shortcut."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.norm = nn.BatchNorm2d(before)
        self.branch = nn.Sequential(
            _conv3x3(before, after, stride),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            _conv3x3(after, after),
        )
        self.shortcut = None
        if before != after:
            self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, X):
        active = F.relu(self.norm(X))
        kept = X if self.shortcut is None else self.shortcut(active)
        return kept + self.branch(active)


def _conv3x3(before, after, stride=1):
    conv = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
    nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
    return conv
