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
        For mixed precision in training; predictions are made in float32.
    channels_last : bool, default=False
    may_stop : bool, default=False
        Whether a callback may end the training by KeyboardInterrupt.
    **kwargs
        As of :class:`skorch.NeuralNet`.
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
        # A method, because skorch takes a module for one that is to be trained.
        self.augment = augment.__call__ if isinstance(augment, nn.Module) else augment
        self.precision = precision
        self.channels_last = channels_last
        self.may_stop = may_stop

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
        # Callbacks of skorch stop by KeyboardInterrupt. Without one of the user's own
        # an interrupt comes from outside and is not swallowed.
        stops = (AllStopped, KeyboardInterrupt) if self.may_stop else (AllStopped,)
        with suppress(*stops):
            self.fit_loop(rows, epochs=n_epochs)
        self.notify("on_train_end", X=rows, y=None)

    def forget_plan(self, lr):
        """Drop what belonged to the last fit: validation rows and the schedule."""
        plan = ("keep_best", "schedule", "stop")
        self.callbacks_ = [pair for pair in self.callbacks_ if pair[0] not in plan]
        self.callbacks = None
        for group in self.optimizer_.param_groups:
            group["lr"] = lr

    def train_step_single(self, batch, **fit_params):
        """Gradients of all networks for one batch."""
        self._set_training(True)
        X, codes = (part.to(self.device, non_blocking=True) for part in batch)
        if self.augment is not None:
            # In plain order: convolutions of few channels crash on other strides.
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
        """The loss of one more network, in mixed precision if that is wanted."""
        kind = torch.device(self.device).type
        with torch.autocast(kind, self.precision, enabled=self.precision is not None):
            return next(losses, None)

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
            yield function(X, *rest)


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
        """Compare each network with its best."""
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
        """Take the best weights of each network; all may be trained again."""
        net.module_.active = [True] * len(self.best_state)
        for number, state in enumerate(self.best_state):
            if state is not None:
                net.module_.restore(number, state)


class StopTogether(Callback):
    """Ends the training when every network has stopped, after all other callbacks."""

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Stop if no network goes on."""
        if not any(net.module_.active):
            raise AllStopped


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
