"""Radial Bayesian networks: a distribution over weights, members are draws from it."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_ase.neural._architectures import side_after_convolutions
from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._data import first_row
from sklearn_ase.neural._joint import mean_proba_loss, network_losses

# Numbers of the first hidden layer that are computed at a time on the CPU, and in one
# batch of a pool.
CACHED_NUMBERS = 2**23
POOL_BATCH_NUMBERS = 2**27


class RadialWeight(nn.Module):
    """A weight tensor ``w = μ + softplus(ρ) (ε / ‖ε‖) r`` with ε, r standard normal.

    Parameters
    ----------
    shape : tuple of int
    fan_in : int
        Inputs of one unit; scale of the initial means.
    initial_rho : float
    """

    def __init__(self, shape, fan_in, initial_rho):
        super().__init__()
        bound = 1.0 / math.sqrt(fan_in)
        self.mean = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.rho = nn.Parameter(torch.full(shape, float(initial_rho)))

    def draw(self, n_draws, generator=None):
        """Draws of the tensor, of shape (n_draws, *shape)."""
        # With a generator on the CPU, so that members do not depend on the device.
        device = self.mean.device if generator is None else "cpu"
        shape = (n_draws, self.mean.numel())
        normal = torch.randn(shape, generator=generator, device=device)
        radius = torch.randn((n_draws, 1), generator=generator, device=device)
        noise = (F.normalize(normal, dim=1) * radius).to(self.mean.device)
        return self.mean + F.softplus(self.rho) * noise.view(-1, *self.mean.shape)

    def divergence(self, draws, prior_std):
        """Divergence from the prior N(0, prior_std²), up to a constant."""
        cross_entropy = 0.5 * (draws / prior_std).square().flatten(1).sum(dim=1).mean()
        return cross_entropy - F.softplus(self.rho).log().sum()


class RadialBNN(nn.Module):
    """The paper's radial Bayesian network: :class:`SmallCNN` with radial weights.

    Parameters
    ----------
    in_channels : int, default=1
    n_classes : int, default=10
    image_size : int, default=28
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
        in_channels=1,
        n_classes=10,
        image_size=28,
        width=16,
        n_train_draws=8,
        prior_std=0.25,
        initial_rho=-4.0,
    ):
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

    def draw(self, n_draws, generator=None):
        """Draws of all weight tensors, a list of tensors (n_draws, ...)."""
        return [tensor.draw(n_draws, generator) for tensor in self.tensors]

    def divergence(self, draws):
        """Divergence of the weights from their prior, up to a constant."""
        pairs = zip(self.tensors, draws, strict=True)
        return sum(tensor.divergence(drawn, self.prior_std) for tensor, drawn in pairs)

    def forward(self, X, draws=None):
        """Logits under each draw, of shape (n_draws, n_samples, n_classes)."""
        draws = self.draw(self.n_train_draws) if draws is None else draws
        return self.call(X, self.arrange(draws))

    @staticmethod
    def arrange(draws, blocked=False):
        """Draws side by side as channels, as `call` takes them.

        Parameters
        ----------
        draws : list of 8 tensors of shape (n_draws, ...)
        blocked : bool, default=False
            Whether convolutions are computed in the layout of oneDNN, in which pooling
            costs next to nothing. For the CPU, without gradients.
        """
        w1, b1, w2, b2, w3, b3, w4, b4 = draws
        convolutions = [w1.flatten(0, 1), b1.flatten(), w2.flatten(0, 1), b2.flatten()]
        if blocked:
            convolutions[::2] = [weight.to_mkldnn() for weight in convolutions[::2]]
        dense = [w3.mT.contiguous(), b3[:, None], w4.mT.contiguous(), b4[:, None]]
        return [*convolutions, *dense]

    def call(self, X, weights):
        """Logits under each draw for weights that are arranged."""
        *convolutions, w3, b3, w4, b4 = weights
        if convolutions[0].is_mkldnn:
            # Few rows at a time, so that what lies between stays in the cache.
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
    def convolve(X, convolutions, n_draws):
        """What the convolutions leave, with the draws side by side as channels."""
        w1, b1, w2, b2 = convolutions
        X = X.to_mkldnn() if w1.is_mkldnn else X
        X = F.relu(F.max_pool2d(F.conv2d(X, w1, b1), 2))
        # The second convolution keeps the draws apart.
        X = F.relu(F.max_pool2d(F.conv2d(X, w2, b2, groups=n_draws), 2))
        return X.to_dense() if w1.is_mkldnn else X


class RadialBNNClassifier(BaseDeepClassifier):
    """Radial Bayesian network for images; a member is one draw of its weights.

    A member is the same function over the whole pool, and all draws are computed
    together. The loss is the mean log loss of the draws plus the divergence of the
    weights from their prior, divided by the number of rows.

    Parameters
    ----------
    module : class, default=None
        None is :class:`RadialBNN`; its parameters go in as ``module__width=8``,
        ``module__n_train_draws=8``. Another must have the same methods and
        `n_train_draws`.
    n_members : int, default=None
        Draws in prediction; None is 100.

    See Also
    --------
    BaseDeepClassifier : All other parameters, with their meaning and default.

    Notes
    -----
    The paper trains with ``lr=1e-4``, ``optimizer__weight_decay=1e-4``,
    ``max_epochs=500`` and ``patience=10``. `compile` has no effect here.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.neural import RadialBNNClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(20, 1, 16, 16)), np.repeat([0, 1], 10)
    >>> bnn = RadialBNNClassifier(n_members=5, max_epochs=1, random_state=0)
    >>> bnn.fit(X, y).predict_proba_members(X).shape
    (5, 20, 2)
    """

    _default_members = 100

    def _module_class(self):
        return RadialBNN if self.module is None else self.module

    def _n_networks(self):
        return 1

    def _join(self, networks):
        return RadialMembers(networks[0], self.n_members_, self.seed_)

    def _train(self, X, codes, rows, n_epochs):
        self.net_.module_.n_rows = len(rows)
        super()._train(X, codes, rows, n_epochs)

    def _pool_batch_size(self, X):
        width = self._module_arguments(X).get("width", 16)
        numbers = first_row(X).numel() * width * self.n_members_
        return max(1, POOL_BATCH_NUMBERS // numbers)


class RadialMembers(nn.Module):
    """A radial network, with the draws that are its members.

    Parameters
    ----------
    network : RadialBNN
    n_members : int
    seed : int
    """

    def __init__(self, network, n_members, seed):
        super().__init__()
        self.network = network
        self.n_members = n_members
        self.seed = seed
        self.n_rows = 1
        self.active = [True]
        self.weights = None

    def __getstate__(self):
        return self.__dict__ | {"weights": None}  # They are drawn again where needed.

    def train(self, mode=True):
        """Training changes the weights, so the members are drawn anew after it."""
        if mode:
            self.weights = None
        return super().train(mode)

    def losses(self, X, codes):
        """Negative evidence bound for each row."""
        draws = self.network.draw(self.network.n_train_draws)
        log_loss = network_losses(self.network(X[0], draws), codes[0]).mean()
        yield log_loss + self.network.divergence(draws) / self.n_rows

    def logits(self, X):
        """Logits of the members, of shape (n_members, n_samples, n_classes)."""
        if self.weights is None or self.weights[-1].device != X.device:
            generator = torch.Generator().manual_seed(self.seed)
            draws = self.network.draw(self.n_members, generator)
            blocked = X.device.type == "cpu" and torch.backends.mkldnn.is_available()
            self.weights = self.network.arrange(draws, blocked)
        return self.network.call(X, self.weights)

    def validation_losses(self, X, codes):
        """Sum of the log losses of the mean over these rows, (1,)."""
        return mean_proba_loss(self.logits(X), codes)

    def snapshot(self, number):
        """A copy of the weights."""
        return copy.deepcopy(self.network.state_dict())

    def restore(self, number, state):
        """Go back to the weights of a snapshot."""
        self.network.load_state_dict(state)
        self.weights = None
