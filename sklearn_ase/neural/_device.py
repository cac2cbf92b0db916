"""Choice of the torch device for training and prediction."""

import torch


def resolve_device(device):
    """Torch device; ``"auto"`` is CUDA if it is available, else the CPU.

    Parameters
    ----------
    device : str or torch.device

    Returns
    -------
    device : torch.device
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def check_device(device):
    """Device to train on; an error if it is not available."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} needs CUDA, but torch finds no CUDA device. Use "
            "device='auto', which uses CUDA only if it is available."
        )
    return found


def usable_device(device):
    """Device to predict on; the CPU if the given one is not available."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        return torch.device("cpu")
    return found
