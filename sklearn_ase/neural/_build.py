"""Networks from a module class or instance, with the sizes that the data tell."""

import copy
import inspect

import torch
from torch import nn


def build_network(module, arguments):
    """A network with new initial weights.

    Parameters
    ----------
    module : Module class, function or instance
    arguments : dict
        For a class or a function.
    """
    if not isinstance(module, nn.Module):
        return module(**arguments)
    network = copy.deepcopy(module).train()
    for part in network.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
        elif next(part.parameters(recurse=False), None) is not None:
            raise ValueError(
                f"{type(part).__name__} has weights but no reset_parameters, so that "
                "every network would start from the same. Give the class of the module "
                "or a function that makes it."
            )
    return network


def told_arguments(module, row, n_classes):
    """Sizes that the module asks for by their usual names.

    Parameters
    ----------
    module : Module class, function or instance
    row : tensor of shape (1, ...)
    n_classes : int

    Returns
    -------
    arguments : dict
    """
    if isinstance(module, nn.Module):
        return {}
    wanted = inspect.signature(module).parameters
    least = 4 if "image_size" in wanted else 3 if "in_channels" in wanted else 2
    if row.ndim < least:
        raise ValueError(
            f"{module.__name__} takes images of shape (n_channels, height, width), but "
            f"a row has shape {tuple(row.shape[1:])}. Give X.reshape(n_samples, "
            "n_channels, height, width)."
        )
    told = {
        "n_features": row.numel(),
        "in_channels": row.shape[1],
        "image_size": row.shape[-1],
        "n_classes": n_classes,
    }
    return {name: value for name, value in told.items() if name in wanted}


@torch.no_grad()
def check_outputs(network, row, classes):
    """Refuse a network that does not give one logit for each class."""
    shape = tuple(network.eval()(row).shape)[-2:]
    network.train()
    if shape != (1, len(classes)):
        raise ValueError(
            f"The module must give one logit for each of the {len(classes)} classes "
            f"{classes.tolist()}, but gives an output of shape {shape} for one row. "
            "Pass classes=... with every label there may be, or give the module as "
            "many outputs."
        )
