"""Network architectures: those of the paper, and a perceptron.

A small `width` makes each of them fast enough for a CPU.
"""

from __future__ import annotations

import copy
import inspect
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F

from sklearn_ase._utils._estimators import torch_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Generator, Tensor


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


# The radial Bayesian network: a distribution over weights.


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


# Several networks in one module.


# Stacking is faster while the product of a single network is so small that calling it
# costs more than computing it. The bound for the CPU is measured by
# benchmarks/surrogates/neural.py; the bound for CUDA is a guess.
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

    def losses(self, X, codes) -> Iterator[Any]:
        """Training losses, to call ``backward`` on one at a time."""
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
    """Log loss of each network at each row, of shape (n_networks, n_samples)."""
    codes = codes.expand(logits.shape[:2])
    return F.cross_entropy(logits.transpose(1, 2), codes, reduction="none")


def mean_proba_loss(logits, codes):
    """Log loss of the members' mean probability, summed over the rows, (1,)."""
    log_proba = logits.log_softmax(dim=2).logsumexp(dim=0) - math.log(len(logits))
    return F.nll_loss(log_proba, codes, reduction="sum")[None]


# Networks from a class, a function or an instance.


def build_networks(module, arguments: dict, sequences: list[Any]) -> list[Any]:
    """Networks of one kind, each with initial weights from its own seed."""
    networks = []
    for sequence in sequences:
        with torch_seed(int(sequence.generate_state(1)[0])):
            networks.append(build_network(module, arguments))
    return networks


def build_network(module, arguments: dict):
    """A network with new initial weights."""
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


def inferred_arguments(module, row, n_classes: int) -> dict:
    """Sizes of the data, for the arguments that the module has for them."""
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
