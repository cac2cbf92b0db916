"""The skorch net that trains networks, the rows it reads, and its temperature."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches
from skorch import NeuralNet
from skorch.callbacks import Callback, LRScheduler, PassthroughScoring
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

from sklearn_ase._utils._display import progress

if TYPE_CHECKING:
    from torch import Tensor

    from sklearn_ase.neural._base import BaseDeepClassifier


class AllStopped(Exception):  # noqa: N818
    """Raised to end the training when no network improves any more."""


class KeepBest(Callback):
    """Early stopping of each network on its own; the best weights are restored.

    Parameters
    ----------
    rows : Rows
        Validation rows with their class codes.
    patience : int or None
        Epochs without improvement until a network stops; None never stops.
    """

    def __init__(self, rows, patience):
        self.rows = rows
        self.patience = patience

    def on_train_begin(self, net, X=None, y=None, **kwargs):
        """Forget the best weights of an earlier training."""
        n_networks = len(net.module_.active)
        self.best_loss = np.full(n_networks, np.inf)
        self.best_epoch = np.zeros(n_networks, dtype=int)
        self.best_state = [None] * n_networks
        net.module_.active = [True] * n_networks

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Store the weights of networks that improved; stop those out of patience."""
        epoch = len(net.history)
        losses = net.evaluate(self.rows, net.module_.validation_losses)
        losses = sum(losses).cpu().numpy() / sum(map(len, self.rows.batches))
        net.history.record("valid_loss", float(losses.mean()))
        better = (losses < self.best_loss) & np.array(net.module_.active)
        for number in np.flatnonzero(better):
            self.best_loss[number] = losses[number]
            self.best_epoch[number] = epoch
            self.best_state[number] = net.module_.snapshot(number)
        if self.patience is not None:
            active = epoch - self.best_epoch < self.patience
            net.module_.active = active.tolist()

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """Restore the best weights of each network; all may be trained again."""
        net.module_.active = [True] * len(self.best_state)
        for number, state in enumerate(self.best_state):
            if state is not None:
                net.module_.restore(number, state)


class StopTogether(Callback):
    """Ends the training when every network has stopped.

    It comes last, so that all other callbacks see the last epoch.
    """

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Stop if no network is still being trained."""
        if not any(net.module_.active):
            raise AllStopped


class EpochBar(Callback):
    """Progress bar over the epochs that shows the losses.

    Parameters
    ----------
    total : int
        Number of epochs at most.
    """

    def __init__(self, total):
        self.total = total

    def on_train_begin(self, net, X=None, y=None, **kwargs):
        """Draw an empty bar."""
        self.bar, self.n_epochs = progress(self.total, "epochs", True), 0
        self.show = self.bar.__enter__()

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Advance the bar by one epoch."""
        names = ("train_loss", "valid_loss")
        last = net.history[-1]
        self.n_epochs += 1
        losses = [f"{name} {last[name]:.3g}" for name in names if name in last]
        self.show(self.n_epochs, ", ".join(losses))

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """Close the bar; what was drawn stays."""
        self.bar.__exit__(None, None, None)
        self.bar = self.show = None


def make_callbacks(classifier: BaseDeepClassifier, validation) -> list:
    """Callbacks for one training, in the order in which they are called."""
    callbacks = []
    # First, because the user's own callbacks may read the validation loss.
    if validation is not None:
        callbacks.append(("keep_best", KeepBest(validation, classifier.patience)))
    callbacks += list(classifier.callbacks or [])
    if classifier.schedule == "cosine":
        schedule = LRScheduler("CosineAnnealingLR", T_max=classifier.max_epochs)
        callbacks.append(("schedule", schedule))
    elif classifier.schedule is not None:
        callbacks.append(("schedule", clone(classifier.schedule)))
    if classifier.verbose:
        callbacks.append(("bar", EpochBar(classifier.max_epochs)))
    return [*callbacks, ("stop", StopTogether())]


# The device.


def resolve_device(device):
    """Torch device; ``"auto"`` is CUDA if it is available, else the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def check_device(device):
    """Device to train on; an error if it is not available."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} needs CUDA, but torch finds no CUDA device. Use "
            "device='auto', which uses CUDA only if it is available."
        )
    return found


def usable_device(device):
    """Device to predict on; the CPU if the given one is not available."""
    found = resolve_device(device)
    if found.type == "cuda" and not torch.cuda.is_available():
        return torch.device("cpu")
    return found


# The net.


class TogetherNet(NeuralNet):
    """A skorch net whose module holds one or several networks.

    A batch holds separate rows for each network, so that each sees the data in another
    order. The networks share no weights: the optimizer updates each weight
    independently, so that networks do not influence each other.

    Parameters
    ----------
    module : Looped, Stacked or another Module with `losses` and `logits`
    augment : callable, default=None
        Takes a batch of training rows and returns another of the same shape.
    precision : torch.dtype, default=None
        For mixed precision in training. Predictions are made in float32.
    channels_last : bool, default=False
        Whether images are stored with the channels last.
    may_stop : bool, default=False
        Whether a callback may end the training by KeyboardInterrupt.
    **kwargs
        Parameters of :class:`skorch.NeuralNet`.
    """

    def __init__(
        self,
        *args,
        augment=None,
        precision=None,
        channels_last=False,
        may_stop=False,
        **kwargs,
    ):
        super().__init__(*args, **kwargs)
        # The method instead of the module: skorch would train a module.
        self.augment = augment.__call__ if isinstance(augment, nn.Module) else augment
        self.precision = precision
        self.channels_last = channels_last
        self.may_stop = may_stop

    def __getstate__(self):
        state = super().__getstate__()
        # Both hold tensors that skorch does not move from CUDA to the CPU. The module
        # is the same as module_; a schedule is not needed after the training.
        state["module"] = None
        callbacks = state.get("callbacks_", [])
        state["callbacks_"] = [pair for pair in callbacks if pair[0] != "schedule"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self.module = self.module_

    @property
    def _default_callbacks(self):
        return [("train_loss", PassthroughScoring("train_loss", on_train=True))]

    def get_iterator(self, dataset, training=False):
        """Batches of the rows, in the order that the rows define."""
        options = self.get_params_for("iterator_train")
        return dataset.loader(torch.device(self.device), **options)

    def train_for(self, rows, n_epochs):
        """Train until all networks have stopped, for `n_epochs` at most."""
        self.notify("on_train_begin", X=rows, y=None)
        # Callbacks of skorch stop by KeyboardInterrupt. If the user gave no callback,
        # an interrupt comes from outside and must not be suppressed.
        stops = (AllStopped, KeyboardInterrupt) if self.may_stop else (AllStopped,)
        with suppress(*stops):
            self.fit_loop(rows, epochs=n_epochs)
        self.notify("on_train_end", X=rows, y=None)

    def forget_fit(self, lr):
        """Drop the validation rows and the schedule of a fit; reset the rate to `lr`.

        Later calls of ``partial_fit`` would follow them otherwise.
        """
        names = ("keep_best", "schedule", "stop")
        self.callbacks_ = [pair for pair in self.callbacks_ if pair[0] not in names]
        self.callbacks = None
        for group in self.optimizer_.param_groups:
            group["lr"] = lr

    def move_to(self, device):
        """Move the networks to a device if they are on another."""
        if str(device) != self.device:
            self.module_.to(device)
            self.device = str(device)

    def train_step_single(self, batch, **fit_params):
        """Compute the gradients of all networks for one batch."""
        self._set_training(True)
        X, codes = (part.to(self.device, non_blocking=True) for part in batch)
        if self.augment is not None:
            # Contiguous: convolutions of few channels crash on other strides.
            X = self.augment(X.flatten(0, 1)).reshape(X.shape).contiguous()
        if self.channels_last:
            X = X.flatten(0, 1).contiguous(memory_format=torch.channels_last)
            X = X.unflatten(0, codes.shape)
        total = torch.zeros((), device=X.device)
        losses = self.module_.losses(X, codes)
        while (loss := self._next_loss(losses)) is not None:
            loss.backward()
            total += loss.detach()
        return {"loss": total / sum(self.module_.active), "y_pred": None}

    def _next_loss(self, losses):
        """Loss of the next network, in mixed precision if `precision` says so."""
        kind = torch.device(self.device).type
        with torch.autocast(kind, self.precision, enabled=self.precision is not None):
            return next(losses, None)

    @torch.no_grad()
    def evaluate(self, rows, function):
        """Call `function` with the tensors of each batch, in evaluation mode."""
        self.module_.eval()
        # A loader draws a seed when it starts. It must not come from torch's global
        # generator, which belongs to the user.
        options = {"generator": torch.Generator()}
        options |= self.get_params_for("iterator_valid")
        for batch in rows.loader(torch.device(self.device), **options):
            X, *rest = (part.to(self.device, non_blocking=True) for part in batch)
            if self.channels_last:
                X = X.contiguous(memory_format=torch.channels_last)
            yield function(X, *rest)

    def member_logits(self, rows):
        """Logits of the members, batch by batch."""

        def call(X, *codes):
            return self.module_.logits(X)

        for logits in self.evaluate(rows, call):
            yield logits.cpu().numpy()


def make_net(classifier, networks, validation, row) -> TogetherNet:
    """A skorch net with the parameters of a classifier, ready to be trained."""
    device = check_device(classifier.device)
    channels_last = classifier.channels_last
    if channels_last == "auto":
        channels_last = device.type == "cuda"
    nested = classifier._nested_params().items()
    net = TogetherNet(
        networks,
        criterion=nn.CrossEntropyLoss,
        optimizer=classifier.optimizer or torch.optim.Adam,
        lr=classifier.lr,
        train_split=None,
        callbacks=make_callbacks(classifier, validation),
        device=str(device),
        verbose=0,
        augment=classifier.augment,
        precision=mixed_precision_type(classifier.mixed_precision, device),
        channels_last=channels_last and row.ndim == 4,
        may_stop=bool(classifier.callbacks),
        **{name: value for name, value in nested if not name.startswith("module__")},
    )
    return net.initialize()


def mixed_precision_type(wanted, device):
    """Type for mixed precision, or None to train in float32."""
    if wanted == "auto":
        wanted = device.type == "cuda" and torch.cuda.is_bf16_supported(
            including_emulation=False
        )
    return torch.bfloat16 if wanted else None


# Rows, read in batches.


# With fewer validation rows their loss is too noisy to decide when to stop.
MIN_VALIDATION_ROWS = 10


class DeviceRows(Dataset):
    """Dataset that is indexed by arrays: rows, with their class codes if given.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...) or torch Dataset
        If the items of a dataset are tuples, the first entry is used.
    codes : ndarray of shape (n_samples,), default=None
        Class code of each row.
    batches : iterable of arrays of indices, default=None
        Rows of each batch, in the order in which they are read.
    """

    def __init__(self, X, codes=None, batches=None):
        self.X = X
        self.codes = codes
        self.batches = batches

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        X = self._read(index)
        if self.codes is None:
            return (X,)
        return X, torch.as_tensor(self.codes[index])

    def _read(self, index):
        if not isinstance(self.X, Dataset):
            # A copy: modules may work in place, and a memmap may be read-only.
            return torch.as_tensor(np.array(self.X[index], dtype=np.float32))
        rows = torch.stack([first_part(self.X[i]) for i in index.ravel().tolist()])
        return rows.reshape(*index.shape, *rows.shape[1:])

    def loader(self, device, **options):
        """Loader of the batches, with pinned memory for CUDA."""
        options = {"pin_memory": device.type == "cuda"} | options
        return DataLoader(self, sampler=self.batches, batch_size=None, **options)


def first_part(item):
    """Features of one item of a dataset, as a float32 tensor."""
    if isinstance(item, tuple | list):
        item = item[0]
    return torch.tensor(np.asarray(item), dtype=torch.float32)


def in_order(X, batch_size, codes=None, rows=None):
    """Batches of all rows, or of the given ones, in order."""
    rows = np.arange(len(X)) if rows is None else rows
    batches = [rows[part] for part in gen_batches(len(rows), batch_size)]
    return DeviceRows(X, codes, batches)


class MemberBatches(Sampler):
    """Batches for networks that are trained together, in another order for each.

    Parameters
    ----------
    rows : list of n_networks ndarrays of shape (n_rows,)
        Indices of the rows that each network learns from.
    batch_size : int
        Rows per network in one batch, at most. The sizes of the batches differ by at
        most one, so that none is too small for batch norm.
    generators : list of n_networks numpy Generators
        Each draws the order of its network.
    """

    def __init__(self, rows, batch_size, generators):
        self.rows = rows
        self.batch_size = batch_size
        self.generators = generators

    def __len__(self):
        return -(-len(self.rows[0]) // self.batch_size)

    def __iter__(self):
        pairs = zip(self.generators, self.rows, strict=True)
        order = np.stack([rng.permutation(rows) for rng, rows in pairs])
        yield from np.array_split(order, len(self), axis=1)


def first_row(X):
    """First row, as a tensor of shape (1, ...)."""
    return DeviceRows(X)[np.arange(1)][0]


def split_rows(
    codes: np.ndarray, fraction: float | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split the rows into training and validation rows.

    The classes are stratified if each has two rows and there are at least as many
    validation rows as classes.
    """
    rows = np.arange(len(codes))
    n_validation = round((fraction or 0.0) * len(codes))
    if n_validation < MIN_VALIDATION_ROWS:
        return rows, rows[:0]
    counts = np.bincount(codes)[np.unique(codes)]
    stratify = codes if counts.min() > 1 and len(counts) <= n_validation else None
    return train_test_split(
        rows, test_size=n_validation, stratify=stratify, random_state=seed
    )


# Random crops and flips of images.


class RandomCrop(nn.Module):
    """Shift each image by a random number of pixels; the new pixels are zero.

    Parameters
    ----------
    padding : int, default=4
        Largest shift in each direction.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import RandomCrop
    >>> RandomCrop(2)(torch.ones(5, 3, 8, 8)).shape
    torch.Size([5, 3, 8, 8])
    """

    def __init__(self, padding: int = 4) -> None:
        super().__init__()
        self.padding = padding

    def forward(self, X: Tensor) -> Tensor:
        """Crop images of shape (n_samples, n_channels, height, width)."""
        n_samples, _, height, width = X.shape
        padded = F.pad(X, [self.padding] * 4)
        shift = torch.randint(2 * self.padding + 1, (2, n_samples, 1), device=X.device)
        rows = shift[0] + torch.arange(height, device=X.device)
        columns = shift[1] + torch.arange(width, device=X.device)
        sample = torch.arange(n_samples, device=X.device)
        # With indices on both sides of the channels, the result has them last.
        cropped = padded[sample[:, None, None], :, rows[:, :, None], columns[:, None]]
        return cropped.permute(0, 3, 1, 2)


class RandomFlip(nn.Module):
    """Mirror each image left to right, with probability 1/2.

    Examples
    --------
    >>> import torch
    >>> from sklearn_ase.neural import RandomFlip
    >>> RandomFlip()(torch.ones(5, 3, 8, 8)).shape
    torch.Size([5, 3, 8, 8])
    """

    def forward(self, X: Tensor) -> Tensor:
        """Flip images of shape (n_samples, n_channels, height, width)."""
        flip = torch.rand(len(X), 1, 1, 1, device=X.device) < 0.5
        return torch.where(flip, X.flip(-1), X)


# Temperature scaling.


# Standard deviation of the prior of log T. Without a prior, a few rows that are all
# classified correctly would make every prediction certain.
PRIOR_STD = 0.5
# T is between 1 / MAX_TEMPERATURE and MAX_TEMPERATURE.
MAX_TEMPERATURE = 20.0


def fit_temperature(member_logits: np.ndarray, codes: np.ndarray) -> float:
    """Temperature for the smallest log loss of the members' mean probability.

    The logarithm of the temperature has a normal prior with mean 0. It matters little
    with a hundred rows or more.
    """
    logits = np.asarray(member_logits, dtype=np.float64)

    def penalised_log_loss(log_temperature):
        scaled = logits / np.exp(log_temperature)
        log_proba = scaled[:, np.arange(len(codes)), codes] - logsumexp(scaled, axis=2)
        log_loss = np.log(len(logits)) - logsumexp(log_proba, axis=0)
        return log_loss.sum() + 0.5 * (log_temperature / PRIOR_STD) ** 2

    bound = np.log(MAX_TEMPERATURE)
    found = minimize_scalar(
        penalised_log_loss, bounds=(-bound, bound), method="bounded"
    )
    return float(np.exp(found.x))


def scaled_softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities from logits that are divided by a temperature."""
    proba = logits / temperature
    proba -= proba.max(axis=2, keepdims=True)  # Against overflow.
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=2, keepdims=True)
    return proba
