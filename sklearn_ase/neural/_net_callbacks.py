"""Callbacks of the skorch net: early stopping per network and a progress bar."""

import numpy as np
from sklearn.base import clone
from skorch.callbacks import Callback, LRScheduler

from sklearn_ase._utils._progress import progress


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


def make_callbacks(classifier, validation):
    """Callbacks for one training, in the order in which they are called.

    Parameters
    ----------
    classifier : BaseDeepClassifier
    validation : Rows or None

    Returns
    -------
    callbacks : list
    """
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
