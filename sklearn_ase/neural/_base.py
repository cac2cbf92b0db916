"""The base class of the deep classifiers: rows, training, predictions, parameters."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch.utils.data import Dataset

from sklearn_ase._utils._estimators import torch_seed
from sklearn_ase._utils._typing import Floats, Rows, Seed
from sklearn_ase.neural._net import (
    DeviceRows,
    MemberBatches,
    first_row,
    fit_temperature,
    in_order,
    make_net,
    scaled_softmax,
    split_rows,
    usable_device,
)
from sklearn_ase.neural._networks import (
    MLP,
    build_networks,
    check_outputs,
    inferred_arguments,
)

if TYPE_CHECKING:
    from torch.nn import Module

# Arrays of any shape and any numeric type are left as they are. They become float32
# batch by batch, so that a memmap never has to fit into memory.
ARRAYS = {"allow_nd": True, "dtype": "numeric"}


def check_rows(classifier, X):
    """Rows to predict for, by a classifier that must be fitted."""
    check_is_fitted(classifier, "net_")
    if isinstance(X, Dataset):
        return X
    return validate_data(classifier, X, reset=False, **ARRAYS)


def check_training_rows(
    classifier: BaseDeepClassifier, X: Any, y: Any, reset: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and their labels."""
    if isinstance(X, Dataset):
        y = np.asarray(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, but y has {len(y)} labels.")
    else:
        X, y = validate_data(classifier, X, y, reset=reset, **ARRAYS)
    check_classification_targets(y)
    return X, y


def encode_labels(y, classes):
    """Position of each label among the sorted classes, (n_samples,)."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"Labels {unknown.tolist()} are not among the classes "
            f"{classes.tolist()}. Pass classes=... with all possible labels."
        )
    return np.searchsorted(classes, y)


# Bound on the numbers of one batch of the pool, over members, rows and inputs or
# classes. In float32 they take 64 MB.
POOL_BATCH_NUMBERS = 2**24
# Parameters with a prefix, such as ``module__width``, as in skorch.
PREFIXES = ("module__", "optimizer__", "iterator_train__", "iterator_valid__")


class BaseDeepClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of classifiers whose members are neural networks.

    The module gets rows as float32 tensors and returns logits.

    Parameters
    ----------
    module : torch Module class or instance, default=None
        Network to train. Arguments of a class are given as ``module__name=...``; those
        named ``n_features``, ``in_channels``, ``image_size`` and ``n_classes`` are
        taken from the data if they are not given. An instance is re-initialised
        before training. If None, the subclass chooses a network.
    n_members : int, default=None
        Number of members. If None, the subclass chooses.
    classes : array-like of shape (n_classes,), default=None
        All possible labels, including those without a row so far. If None, the labels
        of the first fit.
    optimizer : torch Optimizer class, default=None
        Arguments are given as ``optimizer__name=...``. If None, Adam.
    lr : float, default=0.001
        Learning rate.
    max_epochs : int, default=100
        Number of epochs at most.
    batch_size : int, default=64
        Rows per training batch at most.
    validation_fraction : float, default=0.1
        Share of the rows that is held out for early stopping and for the temperature.
        No row is held out if it would be fewer than 10.
    patience : int, default=10
        A network stops after this number of epochs without a better validation loss.
        Its best weights are restored. If None, it trains for `max_epochs`; the best
        weights are restored as well.
    schedule : "cosine", skorch LRScheduler or None, default=None
        How the learning rate decreases, for instance ``LRScheduler("MultiStepLR",
        milestones=[60, 120], gamma=0.2)``. If None, it is constant.
    augment : callable, default=None
        Takes a batch of training rows and returns another of the same shape, for
        instance ``nn.Sequential(RandomCrop(4), RandomFlip())``.
    temperature : bool, default=True
        Whether to divide the logits by one temperature, chosen for the smallest log
        loss on the validation rows.
    device : str, default="auto"
        ``"auto"`` uses CUDA if it is available. A model that was trained on CUDA
        predicts on the CPU if CUDA is not available.
    mixed_precision : bool or "auto", default="auto"
        Whether to train in bfloat16 where that is precise enough. ``"auto"`` does so
        on CUDA devices that support it. Predictions are made in float32.
    channels_last : bool or "auto", default="auto"
        Whether to store images with the channels last. ``"auto"`` does so on CUDA.
    compile : bool, default=False
        Whether to call networks through ``torch.compile``. It has an effect only on
        networks that are called one by one.
    warm_start : bool, default=False
        Whether `fit` continues from the weights of the last fit.
    callbacks : list of skorch callbacks, default=None
        Called during the training.
    random_state : int, RandomState instance or None, default=None
        Fixes initial weights, validation rows, batches and members.
    verbose : int, default=0
        If not 0, a progress bar over the epochs is drawn.
    **kwargs
        Arguments with the prefix ``module__``, ``optimizer__``, ``iterator_train__``
        or ``iterator_valid__``. The last two are for the torch DataLoader, for
        instance ``iterator_train__num_workers``.
    """

    # Members if `n_members` is None. Subclasses may choose another number.
    _default_members = 10

    def __init__(
        self,
        module: Any = None,
        *,
        n_members: int | None = None,
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
        self.module = module
        self.n_members = n_members
        self.classes = classes
        self.optimizer = optimizer
        self.lr = lr
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.schedule = schedule
        self.augment = augment
        self.temperature = temperature
        self.device = device
        self.mixed_precision = mixed_precision
        self.channels_last = channels_last
        self.compile = compile
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.random_state = random_state
        self.verbose = verbose
        self.__dict__.update(kwargs)

    @property
    def n_members_(self) -> int:
        """Number of members: `n_members`, or the default of the class if it is None."""
        return self._default_members if self.n_members is None else self.n_members

    @property
    def networks_(self) -> Module:
        """The trained networks, as one module."""
        return self.net_.module_

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
            net.train_for(DeviceRows(X, codes, batches), n_epochs)
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

    def predict_proba_members(self, X: Rows) -> Floats:
        """Probabilities by each member.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset

        Returns
        -------
        member_proba : ndarray of shape (n_members, n_samples, n_classes), float32
        """
        X = check_rows(self, X)
        proba: Any = None
        begin = 0
        for part in self._member_proba(X):
            if proba is None:
                shape = (part.shape[0], len(X), part.shape[2])
                proba = np.empty(shape, dtype=np.float32)
            end = begin + part.shape[1]
            proba[:, begin:end] = part
            begin = end
        return proba

    def predict_proba(self, X: Rows) -> Floats:
        """Mean of the members' probabilities, of shape (n_samples, n_classes)."""
        X = check_rows(self, X)
        parts = [part.mean(axis=0, dtype=np.float64) for part in self._member_proba(X)]
        return np.concatenate(parts)

    def predict(self, X: Rows) -> np.ndarray:
        """Most probable class of each row, of shape (n_samples,)."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _member_proba(self, X):
        """Probabilities, (n_members, batch_size, n_classes), batch by batch."""
        for logits in self._member_logits(in_order(X, self._pool_batch_size(X))):
            yield scaled_softmax(logits, self.temperature_)

    def _member_logits(self, rows):
        """Logits, (n_members, batch_size, n_classes), batch by batch."""
        self.net_.move_to(usable_device(self.device))
        return self.net_.member_logits(rows)

    def _pool_batch_size(self, X):
        """Rows in one batch of a pool, so that memory is bounded for any pool."""
        numbers = max(first_row(X).numel(), self.n_members_ * len(self.classes_))
        return int(np.clip(POOL_BATCH_NUMBERS // (8 * numbers), 1, 4096))

    # Arguments of module and optimizer, with a prefix. The constructor stores any
    # keyword; unknown ones raise an error in `fit`.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, including those of the module and the optimizer."""
        return super().get_params(deep=deep) | self._nested_params()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the module and the optimizer."""
        own = super().get_params(deep=True)
        passed_on = {name for name in params if name not in own}
        self.__dict__.update({name: params.pop(name) for name in passed_on})
        return super().set_params(**params)

    def _nested_params(self, prefix=PREFIXES):
        """Parameters that were given with one of the prefixes."""
        return {name: v for name, v in vars(self).items() if name.startswith(prefix)}

    def _check_names(self) -> None:
        """Raise an error for a parameter that has no meaning."""
        known = super().get_params(deep=False)
        for name in vars(self):
            fitted = name.startswith("_") or name.endswith("_")
            if name not in known and not fitted and not name.startswith(PREFIXES):
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}. Pass arguments "
                    "of the module and the optimizer as module__name, optimizer__name."
                )

    # What subclasses define. Members are networks, or variants of a single one.

    @abstractmethod
    def _n_networks(self):
        """Number of networks to train."""

    @abstractmethod
    def _join(self, networks):
        """Join the networks into one module with `losses` and `logits`."""

    def _module_class(self):
        """Class, function or instance that the networks are made from."""
        return MLP if self.module is None else self.module

    def _rows_of_networks(self, rows, generators):
        """Rows that each network learns from, a list of n_networks arrays."""
        return [rows] * len(generators)
