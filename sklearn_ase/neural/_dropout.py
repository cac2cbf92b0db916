"""Monte Carlo dropout: each member is one network with some units left out."""

from contextlib import contextmanager

import torch
from torch import nn

from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._joint import Looped, mean_proba_loss

DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


class MCDropoutClassifier(BaseDeepClassifier):
    """Monte Carlo dropout: each member is a dropout mask of one trained network.

    A member leaves out the same units for every row, so it is one function over the
    whole pool, as the acquisition functions assume.

    Parameters
    ----------
    module : torch Module class or instance, default=None
        Network with dropout layers. If None, :class:`MLP` with
        ``module__dropout=0.5``.
    n_members : int, default=None
        Number of masks. If None, 50.

    See Also
    --------
    BaseDeepClassifier : Describes all other parameters.

    References
    ----------
    Gal and Ghahramani (2016), Dropout as a Bayesian approximation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_ase.neural import MCDropoutClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCDropoutClassifier(n_members=5, max_epochs=3, random_state=0)
    >>> model.fit(X, y).predict_proba_members(X).shape
    (5, 150, 3)
    """

    _default_members = 50

    def _module_arguments(self, X):
        arguments = super()._module_arguments(X)
        if self.module is None:
            arguments.setdefault("dropout", 0.5)
        return arguments

    def _n_networks(self):
        return 1

    def _join(self, networks):
        layers = [part for part in networks[0].modules() if isinstance(part, DROPOUTS)]
        if not any(layer.p > 0 for layer in layers):
            raise ValueError(
                f"{type(networks[0]).__name__} has no dropout layer with p > 0, so all "
                "members would be the same. Pass a module with dropout."
            )
        return DropoutMembers(networks, self.compile, self.n_members_, self.seed_)


class DropoutMembers(Looped):
    """One network, and a mask of its units for each member.

    Parameters
    ----------
    networks : list of one Module
    compiled : bool
        Whether to call the network through ``torch.compile`` in training.
    n_members : int
        Number of masks.
    seed : int
        Fixes the masks.
    """

    def __init__(self, networks, compiled, n_members, seed):
        super().__init__(networks, compiled)
        self.n_members = n_members
        self.seed = seed

    def logits(self, X):
        """Logits of the members, of shape (n_members, n_samples, n_classes)."""
        members = []
        for number in range(self.n_members):
            with self._masked(number):
                members.append(self.networks[0](X))
        return torch.stack(members)

    def validation_losses(self, X, codes):
        """Log loss of the mean probability, summed over the rows, (1,)."""
        return mean_proba_loss(self.logits(X), codes)

    @contextmanager
    def _masked(self, number):
        """Make every dropout layer leave out the units of one member."""
        # Drawn on the CPU, so that members do not depend on the device.
        generator = torch.Generator().manual_seed(self.seed + number)

        def mask(layer, inputs, output):
            (values,) = inputs
            shape = values.shape[1:]
            if type(layer) is not nn.Dropout:  # Others drop whole channels.
                shape = (shape[0], *[1] * (len(shape) - 1))
            keep = torch.rand(shape, generator=generator) >= layer.p
            keep = keep.to(values.device, values.dtype)
            return values * keep / max(1.0 - layer.p, 1e-12)

        layers = [m for m in self.networks[0].modules() if isinstance(m, DROPOUTS)]
        handles = [layer.register_forward_hook(mask) for layer in layers]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
