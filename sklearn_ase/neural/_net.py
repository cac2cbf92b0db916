"""The skorch net that trains networks together, and what watches over it."""

from contextlib import suppress

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, PassthroughScoring
from torch import nn


class TogetherNet(NeuralNet):
    """A skorch net whose module holds one or several networks.

    A batch holds the rows of each network, so that each has an order of its own. The
    optimizer treats every weight by itself, so networks do not touch each other.

    Parameters
    ----------
    module : Looped, Stacked or another with `losses`
    augment : callable, default=None
        From a batch of training rows to another.
    precision : torch.dtype, default=None
        For mixed precision.
    channels_last : bool, default=False
    **kwargs
        As of :class:`skorch.NeuralNet`.
    """

    def __init__(
        self, *args, augment=None, precision=None, channels_last=False, **kwargs
    ):
        super().__init__(*args, **kwargs)
        # A method, because skorch takes a module for one that is to be trained.
        self.augment = augment.__call__ if isinstance(augment, nn.Module) else augment
        self.precision = precision
        self.channels_last = channels_last

    def __getstate__(self):
        state = super().__getstate__()
        # Both hold tensors that skorch does not bring from CUDA to the CPU. The module
        # is the same as module_; a schedule has had its effect.
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
        """Batches of the rows, in the way the rows themselves say."""
        options = self.get_params_for("iterator_train")
        return dataset.loader(torch.device(self.device), **options)

    def train_for(self, rows, n_epochs):
        """Train until all networks have stopped, at most for so many epochs."""
        self.notify("on_train_begin", X=rows, y=None)
        # Not by KeyboardInterrupt as in skorch, which would swallow one from outside.
        with suppress(AllStopped):
            self.fit_loop(rows, epochs=n_epochs)
        self.notify("on_train_end", X=rows, y=None)

    def train_step_single(self, batch, **fit_params):
        """Gradients of all networks for one batch."""
        self._set_training(True)
        X, codes = (part.to(self.device, non_blocking=True) for part in batch)
        if self.augment is not None:
            X = self.augment(X.flatten(0, 1)).view(X.shape)
        if self.channels_last:
            X = X.flatten(0, 1).contiguous(memory_format=torch.channels_last)
            X = X.unflatten(0, codes.shape)
        total = torch.zeros((), device=X.device)
        with self.autocast():
            for loss in self.module_.losses(X, codes):
                loss.backward()
                total += loss.detach()
        return {"loss": total / len(codes), "y_pred": None}

    def autocast(self):
        """Mixed precision, if it is wanted."""
        return torch.autocast(
            torch.device(self.device).type,
            dtype=self.precision,
            enabled=self.precision is not None,
        )

    @torch.no_grad()
    def evaluate(self, rows, function):
        """Call `function` with the tensors of each batch, in evaluation mode.

        Yields
        ------
        result : tensor
        """
        self.module_.eval()
        # A loader draws a seed when it starts: not from the generator that all share.
        options = {"generator": torch.Generator()}
        options |= self.get_params_for("iterator_valid")
        for batch in rows.loader(torch.device(self.device), **options):
            X, *rest = (part.to(self.device, non_blocking=True) for part in batch)
            if self.channels_last:
                X = X.contiguous(memory_format=torch.channels_last)
            with self.autocast():
                result = function(X, *rest)
            yield result.float()


class AllStopped(Exception):  # noqa: N818
    """Raised to end the training when no network improves any more."""


class KeepBest(Callback):
    """Early stopping of each network by itself, with its best weights restored.

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
        """Forget what was best."""
        n_networks = len(net.module_.active)
        self.best_loss = np.full(n_networks, np.inf)
        self.best_epoch = np.zeros(n_networks, dtype=int)
        self.best_state = [None] * n_networks
        net.module_.active = [True] * n_networks

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Compare each network with its best, and stop when none has improved."""
        epoch = len(net.history)
        losses = net.evaluate(self.rows, net.module_.validation_losses)
        losses = sum(losses).cpu().numpy() / len(self.rows)
        net.history.record("valid_loss", float(losses.mean()))
        better = (losses < self.best_loss) & np.array(net.module_.active)
        for number in np.flatnonzero(better):
            self.best_loss[number] = losses[number]
            self.best_epoch[number] = epoch
            self.best_state[number] = net.module_.snapshot(number)
        if self.patience is not None:
            active = epoch - self.best_epoch < self.patience
            net.module_.active = active.tolist()
            if not active.any():
                raise AllStopped

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """Take the best weights of each network; all may be trained again."""
        net.module_.active = [True] * len(self.best_state)
        for number, state in enumerate(self.best_state):
            if state is not None:
                net.module_.restore(number, state)


class EpochBar(Callback):
    """A progress bar over the epochs, with the losses beside it."""

    def __init__(self, total):
        self.total = total

    def on_train_begin(self, net, X=None, y=None, **kwargs):
        """Draw an empty bar."""
        from tqdm.auto import tqdm

        self.bar = tqdm(total=self.total, desc="epochs")

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Draw one more epoch."""
        names = ("train_loss", "valid_loss")
        last = net.history[-1]
        self.bar.set_postfix({name: last[name] for name in names if name in last})
        self.bar.update()

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """Leave the bar as it is."""
        self.bar.close()
        self.bar = None
