"""Modules that join several networks, called one by one or stacked."""

import copy
import math

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F

# Stacking is faster while the product of a single network is so small that calling it
# costs more than computing it. The bound for the CPU is measured by
# benchmarks/neural.py; the bound for CUDA is a guess.
MAX_STACKED_PARAMETERS = {"cpu": 200_000, "cuda": 2_000_000}
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def is_worth_stacking(module, device):
    """Whether such networks are trained faster with stacked parameters."""
    slow = CONVOLUTIONS + BATCH_NORMS
    if any(isinstance(part, slow) for part in module.modules()):
        return False
    return n_parameters(module) <= MAX_STACKED_PARAMETERS.get(device.type, 0)


def n_parameters(module):
    """Number of weights of a network."""
    return sum(parameter.numel() for parameter in module.parameters())


class Looped(nn.Module):
    """Networks that are called one by one.

    Parameters
    ----------
    networks : list of n_networks Modules
    compiled : bool, default=False
        Whether to call them through ``torch.compile``.

    Attributes
    ----------
    active : list of n_networks bools
        Networks that are still trained; early stopping switches them off.
    """

    def __init__(self, networks, compiled=False):
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.compiled = compiled
        self.active = [True] * len(networks)

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_calls", None)  # Compiled functions cannot be pickled.
        return state

    def _callables(self):
        if not self.compiled:
            return self.networks
        if "_calls" not in self.__dict__:
            # Not as an attribute: nn.Module would register them as parts of itself.
            calls = [torch.compile(network) for network in self.networks]
            self.__dict__["_calls"] = calls
        return self.__dict__["_calls"]

    def losses(self, X, codes):
        """Training losses, to call ``backward`` on one at a time.

        Parameters
        ----------
        X : tensor of shape (n_networks, batch_size, ...)
        codes : tensor of shape (n_networks, batch_size)

        Yields
        ------
        loss : tensor
            Sum of the losses of one network or several.
        """
        calls = zip(self._callables(), self.active, X, codes, strict=True)
        for network, active, rows, labels in calls:
            # The optimizer does not change a network without gradients.
            if active:
                yield F.cross_entropy(network(rows), labels)

    def logits(self, X):
        """Logits of the members, of shape (n_members, n_samples, n_classes)."""
        return torch.stack([network(X) for network in self._callables()])

    def validation_losses(self, X, codes):
        """Log loss of each network, summed over the rows, (n_networks,)."""
        return network_losses(self.logits(X), codes).sum(dim=1)

    def snapshot(self, number):
        """Copy of everything that training changes in one network."""
        return copy.deepcopy(self.networks[number].state_dict())

    def restore(self, number, state):
        """Restore one network from a snapshot."""
        self.networks[number].load_state_dict(state)


class Stacked(nn.Module):
    """Networks of one architecture, called together by ``torch.func.vmap``.

    Parameters
    ----------
    networks : list of n_networks Modules

    Attributes
    ----------
    active : list of n_networks bools
        Networks whose snapshots may still be replaced. All of them are trained until
        the last one has stopped.
    """

    def __init__(self, networks):
        super().__init__()
        weights, buffers = stack_module_state(networks)
        self.names = list(weights)
        self.weights = nn.ParameterList([weights[name] for name in self.names])
        self.buffer_names = list(buffers)
        for number, name in enumerate(self.buffer_names):
            self.register_buffer(f"buffer{number}", buffers[name])
        # In a tuple, so that nn.Module does not register its weights.
        self.skeleton = (copy.deepcopy(networks[0]).to("meta"),)
        self.active = [True] * len(networks)

    def train(self, mode=True):
        """Switch to training or evaluation mode, including the networks."""
        self.skeleton[0].train(mode)
        return super().train(mode)

    def _state(self):
        weights = dict(zip(self.names, self.weights, strict=True))
        buffers = (getattr(self, f"buffer{i}") for i in range(len(self.buffer_names)))
        return weights | dict(zip(self.buffer_names, buffers, strict=True))

    def _call(self, X, shared):
        def one(state, rows):
            return functional_call(self.skeleton[0], state, (rows,))

        in_dims = (0, None if shared else 0)
        return vmap(one, in_dims=in_dims, randomness="different")(self._state(), X)

    def losses(self, X, codes):
        """Sum of the training losses of all networks, for one ``backward``."""
        yield network_losses(self._call(X, shared=False), codes).mean(dim=1).sum()

    def logits(self, X):
        """Logits of the members, of shape (n_members, n_samples, n_classes)."""
        return self._call(X, shared=True)

    def validation_losses(self, X, codes):
        """Log loss of each network, summed over the rows, (n_networks,)."""
        return network_losses(self.logits(X), codes).sum(dim=1)

    def snapshot(self, number):
        """Copy of everything that training changes in one network."""
        state = self._state().items()
        return {name: values[number].detach().clone() for name, values in state}

    @torch.no_grad()
    def restore(self, number, state):
        """Restore one network from a snapshot."""
        for name, values in self._state().items():
            values[number] = state[name]


def network_losses(logits, codes):
    """Log loss of each network at each row, of shape (n_networks, n_samples).

    Parameters
    ----------
    logits : tensor of shape (n_networks, n_samples, n_classes)
    codes : tensor of shape (n_networks, n_samples) or (n_samples,)
    """
    codes = codes.expand(logits.shape[:2])
    return F.cross_entropy(logits.transpose(1, 2), codes, reduction="none")


def mean_proba_loss(logits, codes):
    """Log loss of the members' mean probability, summed over the rows, (1,)."""
    log_proba = logits.log_softmax(dim=2).logsumexp(dim=0) - math.log(len(logits))
    return F.nll_loss(log_proba, codes, reduction="sum")[None]
