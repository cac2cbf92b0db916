"""Radial Bayesian network: a network with a distribution over its weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_ase.neural._architectures import side_after_convolutions

if TYPE_CHECKING:
    from torch import Generator, Tensor

# Numbers of the first hidden layer that are computed at a time on the CPU.
CACHED_NUMBERS = 2**23


class RadialWeight(nn.Module):
    """Random weight tensor ``w = μ + softplus(ρ) (ε / ‖ε‖) r`` with ε, r normal.

    Parameters
    ----------
    shape : tuple of int
    fan_in : int
        Number of inputs of one unit. The initial means are drawn from
        ``±1 / sqrt(fan_in)``.
    initial_rho : float
        Initial value of ρ.
    """

    def __init__(self, shape, fan_in, initial_rho):
        super().__init__()
        bound = 1.0 / math.sqrt(fan_in)
        self.mean = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.rho = nn.Parameter(torch.full(shape, float(initial_rho)))

    def draw(self, n_draws, generator=None):
        """Draw the tensor several times, result of shape (n_draws, *shape)."""
        # With a generator: on the CPU, so that members do not depend on the device.
        device = self.mean.device if generator is None else "cpu"
        shape = (n_draws, self.mean.numel())
        normal = torch.randn(shape, generator=generator, device=device)
        radius = torch.randn((n_draws, 1), generator=generator, device=device)
        noise = (F.normalize(normal, dim=1) * radius).to(self.mean.device)
        return self.mean + F.softplus(self.rho) * noise.view(-1, *self.mean.shape)

    def divergence(self, draws, prior_std):
        """KL divergence from the prior N(0, prior_std²), up to a constant."""
        cross_entropy = 0.5 * (draws / prior_std).square().flatten(1).sum(dim=1).mean()
        return cross_entropy - F.softplus(self.rho).log().sum()


class RadialBNN(nn.Module):
    """Radial Bayesian network: :class:`SmallCNN` with random weights.

    The paper uses it for its experiments on images. Each weight has a mean and a scale,
    which are trained.

    Parameters
    ----------
    in_channels : int, default=1
    n_classes : int, default=10
    image_size : int, default=28
        Height and width, at least 16.
    width : int, default=16
        Channels of the first convolution; the second has twice as many.
    n_train_draws : int, default=8
        Draws of the weights in each training step.
    prior_std : float, default=0.25
        Standard deviation of the prior of each weight.
    initial_rho : float, default=-4.0
        The initial scale of each weight is ``softplus(initial_rho)``.

    References
    ----------
    Farquhar, Osborne and Gal (2020), Radial Bayesian neural networks.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import RadialBNN
    >>> RadialBNN()(torch.zeros(5, 1, 28, 28)).shape  # 8 draws
    torch.Size([8, 5, 10])
    """

    def __init__(
        self,
        in_channels: int = 1,
        n_classes: int = 10,
        image_size: int = 28,
        width: int = 16,
        n_train_draws: int = 8,
        prior_std: float = 0.25,
        initial_rho: float = -4.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.n_train_draws = n_train_draws
        self.prior_std = prior_std
        n_flat = 2 * width * side_after_convolutions(image_size) ** 2
        shapes = [
            (width, in_channels, 5, 5),
            (2 * width, width, 5, 5),
            (128, n_flat),
            (n_classes, 128),
        ]
        tensors = []
        for shape in shapes:
            fan_in = math.prod(shape[1:])
            tensors.append(RadialWeight(shape, fan_in, initial_rho))
            tensors.append(RadialWeight(shape[:1], fan_in, initial_rho))
        self.tensors = nn.ModuleList(tensors)

    def draw(self, n_draws: int, generator: Generator | None = None) -> list[Tensor]:
        """Draw all weight tensors, a list of tensors of shape (n_draws, ...)."""
        return [tensor.draw(n_draws, generator) for tensor in self.tensors]

    def divergence(self, draws: list[Tensor]) -> Tensor:
        """KL divergence of the weights from their prior, up to a constant."""
        pairs = zip(self.tensors, draws, strict=True)
        return sum(tensor.divergence(drawn, self.prior_std) for tensor, drawn in pairs)

    def forward(self, X: Tensor, draws: list[Tensor] | None = None) -> Tensor:
        """Logits under each draw, of shape (n_draws, n_samples, n_classes)."""
        draws = self.draw(self.n_train_draws) if draws is None else draws
        return self.call(X, self.arrange(draws))

    @staticmethod
    def arrange(draws: list[Tensor], blocked: bool = False) -> list[Tensor]:
        """Weights for `call`, in which each draw has its own channels.

        Parameters
        ----------
        draws : list of 8 tensors of shape (n_draws, ...)
        blocked : bool, default=False
            Whether convolutions are computed in the layout of oneDNN, which makes
            pooling much faster. Only for the CPU, without gradients.

        Returns
        -------
        weights : list of 8 tensors
        """
        w1, b1, w2, b2, w3, b3, w4, b4 = draws
        convolutions = [w1.flatten(0, 1), b1.flatten(), w2.flatten(0, 1), b2.flatten()]
        if blocked:
            convolutions[::2] = [weight.to_mkldnn() for weight in convolutions[::2]]
        dense = [w3.mT.contiguous(), b3[:, None], w4.mT.contiguous(), b4[:, None]]
        return [*convolutions, *dense]

    def call(self, X: Tensor, weights: list[Tensor]) -> Tensor:
        """Logits under each draw, for weights from `arrange`."""
        *convolutions, w3, b3, w4, b4 = weights
        if convolutions[0].is_mkldnn:
            # Few rows at a time, so that intermediate results stay in the cache.
            numbers = X[0].numel() * self.width * len(w3)
            parts = X.split(max(1, CACHED_NUMBERS // numbers))
            X = torch.cat(
                [self.convolve(part, convolutions, len(w3)) for part in parts]
            )
        else:
            X = self.convolve(X, convolutions, len(w3))
        X = X.unflatten(1, (len(w3), -1)).flatten(2).transpose(0, 1)
        X = F.relu(torch.baddbmm(b3, X, w3))
        return torch.baddbmm(b4, X, w4)

    @staticmethod
    def convolve(X: Tensor, convolutions: Any, n_draws: int) -> Tensor:
        """Output of the convolutions, in which each draw has its own channels."""
        w1, b1, w2, b2 = convolutions
        X = X.to_mkldnn() if w1.is_mkldnn else X
        X = F.relu(F.max_pool2d(F.conv2d(X, w1, b1), 2))
        # Groups keep the draws separate.
        X = F.relu(F.max_pool2d(F.conv2d(X, w2, b2, groups=n_draws), 2))
        return X.to_dense() if w1.is_mkldnn else X
