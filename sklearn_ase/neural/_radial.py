"""Classifier of a radial Bayesian network; each member is a draw of its weights."""

import copy

import torch
from torch import nn

from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._data import first_row
from sklearn_ase.neural._joint import mean_proba_loss, network_losses
from sklearn_ase.neural._radial_network import RadialBNN

# Bound on the numbers of the first hidden layer in one batch of a pool.
POOL_BATCH_NUMBERS = 2**27


class RadialBNNClassifier(BaseDeepClassifier):
    """Radial Bayesian network for images; each member is one draw of its weights.

    A member is the same function over the whole pool, and all draws are computed
    together. The training loss per row is the mean log loss of the draws, plus the KL
    divergence of the weights from their prior divided by the number of rows.

    Parameters
    ----------
    module : class, default=None
        If None, :class:`RadialBNN`. Its parameters are given as ``module__width=8``,
        ``module__n_train_draws=8``. Another class must have the same methods and the
        attribute `n_train_draws`.
    n_members : int, default=None
        Number of draws in prediction. If None, 100.

    See Also
    --------
    BaseDeepClassifier : Describes all other parameters.

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
        # The largest intermediate result is the output of the first convolution.
        width = self._module_arguments(X).get("width", 16)
        numbers = first_row(X).numel() * width * self.n_members_
        return max(1, POOL_BATCH_NUMBERS // numbers)


class RadialMembers(nn.Module):
    """Module of a radial network and the draws that are its members.

    Parameters
    ----------
    network : RadialBNN
    n_members : int
        Number of draws in prediction.
    seed : int
        Fixes these draws.

    Attributes
    ----------
    n_rows : int
        Number of training rows, by which the divergence is divided.
    active : list of one bool
        Whether the network is still trained.
    weights : list of tensors or None
        The members, once they were drawn.
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
        return self.__dict__ | {"weights": None}  # They are drawn again when needed.

    def train(self, mode=True):
        """Switch to training or evaluation mode."""
        if mode:
            # Training changes the network, so members must be drawn again after it.
            self.weights = None
        return super().train(mode)

    def losses(self, X, codes):
        """Negative evidence lower bound per row, as the only training loss."""
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
        """Log loss of the mean probability, summed over the rows, (1,)."""
        return mean_proba_loss(self.logits(X), codes)

    def snapshot(self, number):
        """Copy of the means and scales of the weights."""
        return copy.deepcopy(self.network.state_dict())

    def restore(self, number, state):
        """Restore the means and scales of a snapshot."""
        self.network.load_state_dict(state)
        self.weights = None
