"""The skorch net that trains one or several networks together."""

from contextlib import suppress

import torch
from skorch import NeuralNet
from skorch.callbacks import PassthroughScoring
from torch import nn

from sklearn_ase.neural._device import check_device
from sklearn_ase.neural._net_callbacks import AllStopped, make_callbacks


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
        """Call `function` with the tensors of each batch, in evaluation mode.

        Yields
        ------
        result : tensor
        """
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
        """Logits of the members, batch by batch.

        Yields
        ------
        logits : ndarray of shape (n_members, batch_size, n_classes), float32
        """

        def call(X, *codes):
            return self.module_.logits(X)

        for logits in self.evaluate(rows, call):
            yield logits.cpu().numpy()


def make_net(classifier, networks, validation, row):
    """A skorch net with the parameters of a classifier, ready to be trained.

    Parameters
    ----------
    classifier : BaseDeepClassifier
    networks : Module
        With `losses` and `logits`, like Looped and Stacked.
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
