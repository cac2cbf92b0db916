"""Which array library to compute with: numpy, or torch where a tensor came in."""

import sys

import numpy as np


def namespace(values):
    """Module whose functions take `values`: torch for a tensor, else numpy.

    Both have ``einsum``, ``matmul``, ``where`` and ``inf``, so that one formula serves
    both.

    Parameters
    ----------
    values : array-like or torch tensor

    Returns
    -------
    xp : module
    """
    # Not an import: without torch in memory there cannot be a tensor.
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(values, torch.Tensor) else np


def as_floats(values, like=None):
    """Values as an array of doubles, or as a tensor beside another one.

    Parameters
    ----------
    values : array-like or torch tensor
    like : array-like or torch tensor, default=None
        If it is a tensor, so is the result, with the same precision and on the same
        device. None takes `values` itself.

    Returns
    -------
    values : ndarray or torch tensor
    """
    like = values if like is None else like
    xp = namespace(like)
    if xp is np:
        return np.asarray(values, dtype=np.float64)
    return xp.as_tensor(values, dtype=like.dtype, device=like.device)


def to_numpy(values):
    """Array or tensor as a numpy array of doubles; a tensor leaves its device."""
    if namespace(values) is not np:
        values = values.double().cpu().numpy()
    return np.asarray(values, dtype=np.float64)
