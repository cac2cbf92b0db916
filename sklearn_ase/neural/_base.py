"""Base class of the deep classifiers: their parameters and what subclasses define."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ase._utils._typing import Seed
from sklearn_ase.neural._architectures import MLP
from sklearn_ase.neural._nested_params import NestedParams
from sklearn_ase.neural._prediction import PredictionMixin
from sklearn_ase.neural._training import TrainingMixin

if TYPE_CHECKING:
    from torch.nn import Module


class BaseDeepClassifier(
    TrainingMixin,
    PredictionMixin,
    NestedParams,
    ClassifierMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
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
        vars(self).update(kwargs)

    @property
    def n_members_(self) -> int:
        """Number of members: `n_members`, or the default of the class if it is None."""
        return self._default_members if self.n_members is None else self.n_members

    @property
    def networks_(self) -> Module:
        """The trained networks, as one module."""
        return self.net_.module_

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
