"""Building networks from a module class, function or instance."""

import copy
import inspect

import torch
from torch import nn

from sklearn_ase._utils._seeding import torch_seed


def build_networks(module, arguments, sequences):
    """Networks of one kind, each with initial weights from its own seed.

    Parameters
    ----------
    module : Module class, function or instance
    arguments : dict
        For a class or a function.
    sequences : list of n_networks numpy SeedSequences

    Returns
    -------
    networks : list of n_networks Modules
    """
    networks = []
    for sequence in sequences:
        with torch_seed(int(sequence.generate_state(1)[0])):
            networks.append(build_network(module, arguments))
    return networks


def build_network(module, arguments):
    """A network with new initial weights.

    Parameters
    ----------
    module : Module class, function or instance
        An instance is copied and re-initialised.
    arguments : dict
        For a class or a function.

    Returns
    -------
    network : Module
    """
    if not isinstance(module, nn.Module):
        return module(**arguments)
    network = copy.deepcopy(module).train()
    for part in network.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
        elif next(part.parameters(recurse=False), None) is not None:
            raise ValueError(
                f"{type(part).__name__} has weights but no reset_parameters method, so "
                "that all networks would start from the same weights. Pass the class "
                "of the module instead of an instance, or a function that makes it."
            )
    return network


def inferred_arguments(module, row, n_classes):
    """Sizes of the data, for the arguments that the module has for them.

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
            f"a row has shape {tuple(row.shape[1:])}. Pass X.reshape(n_samples, "
            "n_channels, height, width)."
        )
    sizes = {
        "n_features": row.numel(),
        "in_channels": row.shape[1],
        "image_size": row.shape[-1],
        "n_classes": n_classes,
    }
    return {name: value for name, value in sizes.items() if name in wanted}


@torch.no_grad()
def check_outputs(network, row, classes):
    """Raise an error if the network does not return one logit per class."""
    shape = tuple(network.eval()(row).shape)[-2:]
    network.train()
    if shape != (1, len(classes)):
        raise ValueError(
            f"The module must return one logit for each of the {len(classes)} classes "
            f"{classes.tolist()}, but its output for one row has shape {shape}. Pass "
            "classes=... with all possible labels, or change the number of outputs of "
            "the module."
        )
