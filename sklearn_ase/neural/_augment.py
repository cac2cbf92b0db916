"""Random crops and flips of a batch of images, computed on its device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor


class RandomCrop(nn.Module):
    """Shift each image by a random number of pixels; the new pixels are zero.

    Parameters
    ----------
    padding : int, default=4
        Largest shift in each direction.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import RandomCrop
    >>> RandomCrop(2)(torch.ones(5, 3, 8, 8)).shape
    torch.Size([5, 3, 8, 8])
    """

    def __init__(self, padding: int = 4) -> None:
        super().__init__()
        self.padding = padding

    def forward(self, X: Tensor) -> Tensor:
        """Crop images of shape (n_samples, n_channels, height, width)."""
        n_samples, _, height, width = X.shape
        padded = F.pad(X, [self.padding] * 4)
        shift = torch.randint(2 * self.padding + 1, (2, n_samples, 1), device=X.device)
        rows = shift[0] + torch.arange(height, device=X.device)
        columns = shift[1] + torch.arange(width, device=X.device)
        sample = torch.arange(n_samples, device=X.device)
        # With indices on both sides of the channels, the result has them last.
        cropped = padded[sample[:, None, None], :, rows[:, :, None], columns[:, None]]
        return cropped.permute(0, 3, 1, 2)


class RandomFlip(nn.Module):
    """Mirror each image left to right, with probability 1/2.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import RandomFlip
    >>> RandomFlip()(torch.ones(5, 3, 8, 8)).shape
    torch.Size([5, 3, 8, 8])
    """

    def forward(self, X: Tensor) -> Tensor:
        """Flip images of shape (n_samples, n_channels, height, width)."""
        flip = torch.rand(len(X), 1, 1, 1, device=X.device) < 0.5
        return torch.where(flip, X.flip(-1), X)
