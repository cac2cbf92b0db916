"""Training of deep classifiers: `fit`, `partial_fit` and their steps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_ase._utils._seeding import torch_seed
from sklearn_ase.neural._build import (
    build_networks,
    check_outputs,
    inferred_arguments,
)
from sklearn_ase.neural._data import (
    MemberBatches,
    Rows,
    first_row,
    in_order,
    split_rows,
)
from sklearn_ase.neural._net import make_net
from sklearn_ase.neural._temperature import fit_temperature
from sklearn_ase.neural._validation import check_training_rows, encode_labels


class TrainingMixin:
    """Mixin with the training of a deep classifier."""

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset
            Numpy arrays, memmaps and datasets are read batch by batch. If the items of
            a dataset are tuples, the first entry is used.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        resume = self.warm_start and hasattr(self, "net_")
        X, codes = self._check_training(X, y, reset=not resume)
        networks = self.networks_ if resume else self._draw_networks(X)
        training, validation = self._split(X, codes)
        self.net_ = make_net(self, networks, validation, first_row(X))
        self._train(X, codes, training, self.max_epochs)
        self.net_.forget_fit(self.lr)
        self.temperature_ = self._best_temperature(validation)
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Train for one epoch, without validation.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All possible labels. Needed at the first call, unless they are a parameter
            of the classifier or `y` has all of them.

        Returns
        -------
        self : object
        """
        first = not hasattr(self, "net_")
        X, codes = self._check_training(X, y, reset=first, classes=classes)
        if first:
            self.net_ = make_net(self, self._draw_networks(X), None, first_row(X))
            self.temperature_ = 1.0
        self._train(X, codes, np.arange(len(codes)), 1)
        return self

    def _check_training(self, X, y, reset, classes=None):
        """Rows as they are read, and the class code of each."""
        self._check_names()
        if self.n_members_ < 1:
            raise ValueError(f"n_members={self.n_members} must be at least 1.")
        X, y = check_training_rows(self, X, y, reset)
        if reset:
            given = self.classes if classes is None else classes
            self.classes_ = np.unique(y if given is None else given)
        return X, encode_labels(y, self.classes_)

    def _draw_networks(self, X):
        """New networks in one module; each has its own seed."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.seed_ = int(seed)
        # The first sequence is for what all networks share, the others for one each,
        # so that a member does not depend on how many members there are.
        sequences = np.random.SeedSequence(self.seed_).spawn(self._n_networks() + 1)
        self.generators_ = [np.random.default_rng(sequence) for sequence in sequences]
        networks = build_networks(
            self._module_class(), self._module_arguments(X), sequences[1:]
        )
        with torch_seed(self.seed_):
            check_outputs(networks[0], first_row(X), self.classes_)
        return self._join(networks)

    def _module_arguments(self, X):
        """Arguments of the module: sizes of the data, and what the user gave."""
        module, n_classes = self._module_class(), len(self.classes_)
        given = self._nested_params("module__").items()
        return inferred_arguments(module, first_row(X), n_classes) | {
            name.removeprefix("module__"): value for name, value in given
        }

    def _split(self, X, codes):
        """Indices of the training rows, and the validation rows or None."""
        seed = int(self.generators_[0].integers(2**31))
        training, validation = split_rows(codes, self.validation_fraction, seed)
        if not len(validation):
            return training, None
        return training, in_order(X, self._pool_batch_size(X), codes, validation)

    def _train(self, X, codes, rows, n_epochs):
        """Train for some epochs on the given rows."""
        generators = self.generators_[1:]
        rows = self._rows_of_networks(rows, generators)
        batches = MemberBatches(rows, self.batch_size, generators)
        net = self.net_
        with torch_seed(int(self.generators_[0].integers(2**31))):
            net.train_for(Rows(X, codes, batches), n_epochs)
        weights = net.module_.parameters()
        if not all(torch.isfinite(weight).all() for weight in weights):
            raise ValueError(
                f"Training diverged: weights are infinite after {len(net.history)} "
                f"epochs. Use a smaller learning rate than lr={self.lr}, and scale the "
                "features to the order of 1 (StandardScaler)."
            )

    def _best_temperature(self, validation):
        """Temperature for the validation rows; 1 without them or if not wanted."""
        if validation is None or not self.temperature:
            return 1.0
        logits = np.concatenate(list(self._member_logits(validation)), axis=1)
        codes = validation.codes[np.concatenate(validation.batches)]
        return fit_temperature(logits, codes)
