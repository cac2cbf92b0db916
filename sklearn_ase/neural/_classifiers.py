"""Three deep classifiers: an ensemble, a radial Bayesian network, dropout."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from numpy.typing import ArrayLike
from torch import nn

from sklearn_ase._utils._typing import Seed
from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._net import check_device, first_row
from sklearn_ase.neural._networks import (
    Looped,
    RadialBNN,
    Stacked,
    is_worth_stacking,
    mean_proba_loss,
    network_losses,
)


class DeepEnsembleClassifier(BaseDeepClassifier):
    """Deep ensemble: each member is a network that is trained independently.

    All members have the same architecture. Each has its own initial weights, order of
    the rows and, with `bootstrap`, sample of the rows. They are trained at the same
    time, but do not influence each other.

    Parameters
    ----------
    module : torch Module class or instance, default=None
        Network to train. If None, :class:`MLP`.
    n_members : int, default=None
        Number of networks. If None, 10.
    bootstrap : bool, default=False
        Whether each member learns from a bootstrap sample of the rows. If so, a
        surrogate is calibrated on the rows that its members did not learn from.
    vectorized : bool or "auto", default="auto"
        Whether the members are computed together with stacked parameters
        (``torch.func.vmap``) or one after another. Both give the same members up to
        rounding, except that dropout draws other random numbers. ``"auto"`` stacks
        small networks without convolutions and batch norm. Batch norm can be stacked,
        too: each member always has its own statistics.

    Attributes
    ----------
    estimators_samples_ : list of n_members ndarrays
        Indices of the rows that each member learned from.

    See Also
    --------
    BaseDeepClassifier : Describes all other parameters.

    References
    ----------
    Lakshminarayanan, Pritzel and Blundell (2017), Simple and scalable predictive
    uncertainty estimation using deep ensembles.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_ase.neural import DeepEnsembleClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> ensemble = DeepEnsembleClassifier(
    ...     n_members=5, max_epochs=3, module__width=32, random_state=0
    ... )
    >>> ensemble.fit(X / 16, y).predict_proba_members(X / 16).shape
    (5, 1797, 10)
    """

    def __init__(
        self,
        module: Any = None,
        *,
        n_members: int | None = None,
        bootstrap: bool = False,
        vectorized: bool | Literal["auto"] = "auto",
        classes: ArrayLike | None = None,
        optimizer: type | None = None,
        lr: float = 0.001,
        max_epochs: int = 100,
        batch_size: int = 64,
        validation_fraction: float = 0.1,
        patience: int = 10,
        schedule: Any = None,
        augment: Callable[..., Any] | None = None,
        temperature: bool = True,
        device: str = "auto",
        mixed_precision: bool | Literal["auto"] = "auto",
        channels_last: bool | Literal["auto"] = "auto",
        compile: bool = False,
        warm_start: bool = False,
        callbacks: Sequence[Any] | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            module,
            n_members=n_members,
            classes=classes,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            validation_fraction=validation_fraction,
            patience=patience,
            schedule=schedule,
            augment=augment,
            temperature=temperature,
            device=device,
            mixed_precision=mixed_precision,
            channels_last=channels_last,
            compile=compile,
            warm_start=warm_start,
            callbacks=callbacks,
            random_state=random_state,
            verbose=verbose,
            **kwargs,
        )
        self.bootstrap = bootstrap
        self.vectorized = vectorized

    def _n_networks(self):
        return self.n_members_

    def _join(self, networks):
        stack = self.vectorized
        if stack == "auto":
            device = check_device(self.device)
            stack = not self.compile and is_worth_stacking(networks[0], device)
        if stack and self.compile:
            raise ValueError(
                "compile=True calls networks one by one, vectorized=True calls all at "
                "once. Use one of them."
            )
        return Stacked(networks) if stack else Looped(networks, self.compile)

    def _rows_of_networks(self, rows, generators):
        rows = super()._rows_of_networks(rows, generators)
        if self.bootstrap:
            pairs = zip(rows, generators, strict=True)
            rows = [rng.choice(own, size=len(own)) for own, rng in pairs]
        self.estimators_samples_ = rows
        return rows


# The radial Bayesian network: each member is a draw of its weights.


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


# Monte Carlo dropout: each member leaves some units out.


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
