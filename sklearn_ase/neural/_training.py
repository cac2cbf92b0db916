"""From the parameters of a classifier to the skorch net that trains its networks."""

import torch
from sklearn.base import clone
from skorch.callbacks import LRScheduler
from torch import nn

from sklearn_ase.neural._device import check_device
from sklearn_ase.neural._net import EpochBar, KeepBest, StopTogether, TogetherNet


def make_net(classifier, networks, validation, row):
    """A skorch net, ready to be trained.

    Parameters
    ----------
    classifier : BaseDeepClassifier
        Its parameters say how to train.
    networks : Module
        With `losses` and `logits`, as Looped and Stacked.
    validation : Rows or None
    row : tensor of shape (1, ...)
        An example of the rows.

    Returns
    -------
    net : TogetherNet
    """
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
        precision=precision(classifier.mixed_precision, device),
        channels_last=channels_last and row.ndim == 4,
        may_stop=bool(classifier.callbacks),
        **{name: value for name, value in nested if not name.startswith("module__")},
    )
    return net.initialize()


def make_callbacks(classifier, validation):
    """What watches over the training; the user's own read what the first records."""
    callbacks = []
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


def precision(wanted, device):
    """The type of mixed precision, or None."""
    if wanted == "auto":
        wanted = device.type == "cuda" and torch.cuda.is_bf16_supported(
            including_emulation=False
        )
    return torch.bfloat16 if wanted else None
