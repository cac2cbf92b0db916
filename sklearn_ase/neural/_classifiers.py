"""Deep ensembles: networks that differ in initial weights and order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from sklearn_ase._utils._typing import Seed
from sklearn_ase.neural._base import BaseDeepClassifier
from sklearn_ase.neural._device import check_device
from sklearn_ase.neural._joint import Looped, Stacked, is_worth_stacking


class DeepEnsembleClassifier(BaseDeepClassifier):
    """Deep ensemble: each member is a network that is trained independently.

    All members have the same architecture. Each has its own initial weights, order of
    the rows and, with `bootstrap`, sample of the rows. They are trained at the same
    time, but do not influence each other.

    Parameters
    ----------
    module : torch Module class or instance, default=None
        Network to train. If None, :class:`MLP`.
    n_members : int, default=None
        Number of networks. If None, 10.
    bootstrap : bool, default=False
        Whether each member learns from a bootstrap sample of the rows. If so, a
        surrogate is calibrated on the rows that its members did not learn from.
    vectorized : bool or "auto", default="auto"
        Whether the members are computed together with stacked parameters
        (``torch.func.vmap``) or one after another. Both give the same members up to
        rounding, except that dropout draws other random numbers. ``"auto"`` stacks
        small networks without convolutions and batch norm. Batch norm can be stacked,
        too: each member always has its own statistics.

    Attributes
    ----------
    estimators_samples_ : list of n_members ndarrays
        Indices of the rows that each member learned from.

    See Also
    --------
    BaseDeepClassifier : Describes all other parameters.

    References
    ----------
    Lakshminarayanan, Pritzel and Blundell (2017), Simple and scalable predictive
    uncertainty estimation using deep ensembles.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_ase.neural import DeepEnsembleClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> ensemble = DeepEnsembleClassifier(
    ...     n_members=5, max_epochs=3, module__width=32, random_state=0
    ... )
    >>> ensemble.fit(X / 16, y).predict_proba_members(X / 16).shape
    (5, 1797, 10)
    """

    def __init__(
        self,
        module: Any = None,
        *,
        n_members: int | None = None,
        bootstrap: bool = False,
        vectorized: bool | Literal["auto"] = "auto",
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
        super().__init__(
            module,
            n_members=n_members,
            classes=classes,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            validation_fraction=validation_fraction,
            patience=patience,
            schedule=schedule,
            augment=augment,
            temperature=temperature,
            device=device,
            mixed_precision=mixed_precision,
            channels_last=channels_last,
            compile=compile,
            warm_start=warm_start,
            callbacks=callbacks,
            random_state=random_state,
            verbose=verbose,
            **kwargs,
        )
        self.bootstrap = bootstrap
        self.vectorized = vectorized

    def _n_networks(self):
        return self.n_members_

    def _join(self, networks):
        stack = self.vectorized
        if stack == "auto":
            device = check_device(self.device)
            stack = not self.compile and is_worth_stacking(networks[0], device)
        if stack and self.compile:
            raise ValueError(
                "compile=True calls networks one by one, vectorized=True calls all at "
                "once. Use one of them."
            )
        return Stacked(networks) if stack else Looped(networks, self.compile)

    def _rows_of_networks(self, rows, generators):
        rows = super()._rows_of_networks(rows, generators)
        if self.bootstrap:
            pairs = zip(rows, generators, strict=True)
            rows = [rng.choice(own, size=len(own)) for own, rng in pairs]
        self.estimators_samples_ = rows
        return rows
