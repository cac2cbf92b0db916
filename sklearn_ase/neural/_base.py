"""What deep classifiers share: the scikit-learn face of a skorch net with members."""

from abc import ABCMeta, abstractmethod

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch.utils.data import Dataset

from sklearn_ase._utils._seeding import torch_seed
from sklearn_ase.neural._architectures import MLP
from sklearn_ase.neural._build import build_network, check_outputs, told_arguments
from sklearn_ase.neural._data import (
    MemberBatches,
    Rows,
    first_row,
    in_order,
    split_rows,
)
from sklearn_ase.neural._device import usable_device
from sklearn_ase.neural._nested_params import NestedParams
from sklearn_ase.neural._temperature import fit_temperature
from sklearn_ase.neural._training import make_net

# Numbers of one batch of the pool, over members, rows and inputs or classes: 64 MB.
POOL_BATCH_NUMBERS = 2**24


class BaseDeepClassifier(
    NestedParams, ClassifierMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base class of the deep classifiers.

    Rows reach the module as float32 tensors; it returns logits.

    Parameters
    ----------
    module : torch Module class or instance, default=None
        Arguments go in as ``module__name=...``. Those named ``n_features``,
        ``in_channels``, ``image_size`` and ``n_classes`` are taken from the data if
        they are not given. Of an instance the initial weights are drawn anew.
        None is a network that suits the class.
    n_members : int, default=None
        None is what suits the class.
    classes : array-like of shape (n_classes,), default=None
        Every label there may be, also those without a row yet. None takes the labels
        of the first fit.
    optimizer : torch Optimizer class, default=None
        Arguments go in as ``optimizer__name=...``. None is Adam.
    lr : float, default=0.001
    max_epochs : int, default=100
    batch_size : int, default=64
    validation_fraction : float, default=0.1
        Share of the rows that are kept for early stopping and for the temperature;
        none where that would be fewer than 10 rows.
    patience : int, default=10
        Epochs without a better validation loss after which a network stops; its best
        weights are taken. None trains to the end, with the best weights taken all the
        same.
    schedule : "cosine", skorch LRScheduler or None, default=None
        How the learning rate goes down. ``LRScheduler("MultiStepLR",
        milestones=[60, 120], gamma=0.2)`` goes in steps.
    augment : callable, default=None
        From a batch of training rows to another of the same shape, as
        ``nn.Sequential(RandomCrop(4), RandomFlip())``.
    temperature : bool, default=True
        Whether to scale the logits by one temperature for the least log loss on the
        validation rows.
    device : str, default="auto"
        ``"auto"`` is CUDA where there is one. A model trained on CUDA predicts on the
        CPU where there is none.
    mixed_precision : bool or "auto", default="auto"
        Whether to train in bfloat16 where that is precise enough; ``"auto"`` does on
        CUDA devices that support it. Predictions are made in float32.
    channels_last : bool or "auto", default="auto"
        Memory layout of images; ``"auto"`` does on CUDA.
    compile : bool, default=False
        Whether to call networks through ``torch.compile``, where they are called one by
        one.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the last fit.
    callbacks : list of skorch callbacks, default=None
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether to draw a progress bar over the epochs.
    **kwargs
        ``module__...``, ``optimizer__...``, ``iterator_train__...`` and
        ``iterator_valid__...``, as ``num_workers`` of the torch DataLoader.
    """

    _default_members = None

    def __init__(
        self,
        module=None,
        *,
        n_members=None,
        classes=None,
        optimizer=None,
        lr=0.001,
        max_epochs=100,
        batch_size=64,
        validation_fraction=0.1,
        patience=10,
        schedule=None,
        augment=None,
        temperature=True,
        device="auto",
        mixed_precision="auto",
        channels_last="auto",
        compile=False,
        warm_start=False,
        callbacks=None,
        random_state=None,
        verbose=0,
        **kwargs,
    ):
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

    def fit(self, X, y):
        """Train the networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset
            Numpy arrays, memmaps and datasets are read batch by batch. Of the items of
            a dataset the first part is taken.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        go_on = self.warm_start and hasattr(self, "net_")
        X, codes = self._check_training_rows(X, y, reset=not go_on)
        networks = self.net_.module_ if go_on else self._draw_networks(X)
        seed = int(self.generators_[0].integers(2**31))
        training, validation = split_rows(codes, self.validation_fraction, seed)
        rows = None
        if len(validation):
            rows = in_order(X, self._pool_batch_size(X), codes, validation)
        self.net_ = make_net(self, networks, rows, first_row(X))
        self._train(X, codes, training, self.max_epochs)
        self.net_.forget_plan(self.lr)
        self.temperature_ = 1.0
        if rows is not None and self.temperature:
            logits = np.concatenate(list(self._member_logits(rows)), axis=1)
            self.temperature_ = fit_temperature(logits, codes[validation])
        return self

    def partial_fit(self, X, y, classes=None):
        """Train for one epoch, without validation.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            Needed at the first call unless it is a parameter of the classifier or
            every label is in `y`.

        Returns
        -------
        self : object
        """
        first = not hasattr(self, "net_")
        X, codes = self._check_training_rows(X, y, reset=first, classes=classes)
        if first:
            self.net_ = make_net(self, self._draw_networks(X), None, first_row(X))
            self.temperature_ = 1.0
        self._train(X, codes, np.arange(len(codes)), 1)
        return self

    def predict_proba_members(self, X):
        """Probabilities by each member.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset

        Returns
        -------
        member_proba : ndarray of shape (n_members, n_samples, n_classes), float32
        """
        X = self._check_rows(X)
        proba, begin = None, 0
        for part in self._member_proba(X):
            if proba is None:
                shape = (part.shape[0], len(X), part.shape[2])
                proba = np.empty(shape, dtype=np.float32)
            end = begin + part.shape[1]
            proba[:, begin:end] = part
            begin = end
        return proba

    def predict_proba(self, X):
        """Mean of the members' probabilities, of shape (n_samples, n_classes)."""
        X = self._check_rows(X)
        parts = [part.mean(axis=0, dtype=np.float64) for part in self._member_proba(X)]
        return np.concatenate(parts)

    def predict(self, X):
        """Most probable class of each row."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    @property
    def n_members_(self):
        """Number of members, as given or as suits the class."""
        return self._default_members if self.n_members is None else self.n_members

    @property
    def networks_(self):
        """The trained networks, in one module."""
        return self.net_.module_

    # Checks at the border

    def _check_training_rows(self, X, y, reset, classes=None):
        """X as it is read, and the number of the class of each row."""
        self._check_names()
        if self.n_members_ < 1:
            raise ValueError(f"n_members={self.n_members} must be at least 1.")
        if isinstance(X, Dataset):
            y = np.asarray(y)
            if len(X) != len(y):
                raise ValueError(f"X has {len(X)} rows, but y has {len(y)} labels.")
        else:
            X, y = validate_data(self, X, y, reset=reset, **ARRAYS)
        check_classification_targets(y)
        if reset:
            known = self.classes if classes is None else classes
            self.classes_ = np.unique(y if known is None else known)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()} are not among the classes "
                f"{self.classes_.tolist()}. Pass classes=... with every label there "
                "may be."
            )
        return X, np.searchsorted(self.classes_, y)

    def _check_rows(self, X):
        check_is_fitted(self, "net_")
        if isinstance(X, Dataset):
            return X
        return validate_data(self, X, reset=False, **ARRAYS)

    # Training

    def _draw_networks(self, X):
        """Networks with initial weights, each from a seed of its own."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.seed_ = int(seed)
        module, arguments = self._module_class(), self._module_arguments(X)
        seeds = np.random.SeedSequence(self.seed_).spawn(self._n_networks() + 1)
        networks = []
        for sequence in seeds[1:]:
            with torch_seed(int(sequence.generate_state(1)[0])):
                networks.append(build_network(module, arguments))
        self.generators_ = [np.random.default_rng(sequence) for sequence in seeds]
        with torch_seed(self.seed_):
            check_outputs(networks[0], first_row(X), self.classes_)
        return self._join(networks)

    def _module_arguments(self, X):
        given = self._nested_params("module__").items()
        told = told_arguments(self._module_class(), first_row(X), len(self.classes_))
        return told | {name.removeprefix("module__"): value for name, value in given}

    def _module_class(self):
        return MLP if self.module is None else self.module

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
                f"epochs. Use a smaller learning rate than lr={self.lr}, and features "
                "of the order of 1 (StandardScaler)."
            )

    def _rows_of_networks(self, rows, generators):
        """Rows that each network learns from."""
        return [rows] * len(generators)

    # Prediction

    def _pool_batch_size(self, X):
        """Rows of one batch of a pool: memory is bounded whatever its size."""
        numbers = max(first_row(X).numel(), self.n_members_ * len(self.classes_))
        return int(np.clip(POOL_BATCH_NUMBERS // (8 * numbers), 1, 4096))

    def _member_logits(self, rows):
        """Logits of the members, (n_members, batch_size, n_classes), batch by batch."""
        device = str(usable_device(self.device))
        if device != self.net_.device:
            self.net_.module_.to(device)
            self.net_.device = device

        def call(X, *codes):
            return self.net_.module_.logits(X)

        for logits in self.net_.evaluate(rows, call):
            yield logits.cpu().numpy()

    def _member_proba(self, X):
        for logits in self._member_logits(in_order(X, self._pool_batch_size(X))):
            logits /= self.temperature_
            logits -= logits.max(axis=2, keepdims=True)
            np.exp(logits, out=logits)
            logits /= logits.sum(axis=2, keepdims=True)
            yield logits

    @abstractmethod
    def _n_networks(self):
        """How many networks are trained."""

    @abstractmethod
    def _join(self, networks):
        """One module of all networks, with `losses` and `logits`."""


# Arrays are read as they are and become float32 batch by batch.
ARRAYS = {"allow_nd": True, "dtype": "numeric"}
