"""Where the work is done."""

import torch


def resolve_device(device):
    """The torch device that is meant: ``"auto"`` is CUDA where there is one.

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
    """The device to train on; it must be there."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} was asked for, but torch finds no CUDA device. Use "
            "device='auto', which takes CUDA where there is one."
        )
    return found


def usable_device(device):
    """The device to predict on: the CPU where the one it was trained on is absent."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        return torch.device("cpu")
    return found
