"""Surrogate that reduces its members to scores on a torch device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from sklearn_ase._utils._typing import Estimator
from sklearn_ase.neural._net import usable_device
from sklearn_ase.surrogate import ClassifierSurrogate

if TYPE_CHECKING:
    from sklearn_ase.surrogate._log_linear_stack import LogLinearStack


class DeviceSurrogate(ClassifierSurrogate):
    """A :class:`~sklearn_ase.surrogate.ClassifierSurrogate` that scores in torch.

    It computes in float32 on the device what acquisition functions need: expected loss,
    disagreement per class, and the risk that each member expects. It pays off for many
    members, rows and classes on a GPU.

    Parameters
    ----------
    estimator : classifier, default=None
        See :class:`~sklearn_ase.surrogate.ClassifierSurrogate`. Only `device` is new.
    n_members, calibration, pool_weight, rows_per_acquired, prior_mass, cv, min_rows, \
n_jobs
        See :class:`~sklearn_ase.surrogate.ClassifierSurrogate`.
    device : str, default="auto"
        ``"auto"`` uses CUDA if it is available.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_ase.losses import LossTable
    >>> from sklearn_ase.neural import DeepEnsembleClassifier, DeviceSurrogate
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = DeepEnsembleClassifier(n_members=3, max_epochs=2)
    >>> surrogate = DeviceSurrogate(ensemble).fit(X, y, classes=[0, 1, 2])
    >>> loss = LossTable(1.0 - surrogate.predict_proba(X), surrogate.classes_)
    >>> surrogate.belief(X, loss).weighted_disagreement(loss).shape
    (150,)
    """

    # scikit-learn reads parameters from the signature, so it has to repeat them all.
    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_members: int = 20,
        calibration: LogLinearStack | Literal["auto"] | None = "auto",
        pool_weight: float = 1.0,
        rows_per_acquired: float = 50,
        prior_mass: float = 0.01,
        cv: int = 5,
        min_rows: int = 5,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        super().__init__(
            estimator,
            n_members=n_members,
            calibration=calibration,
            pool_weight=pool_weight,
            rows_per_acquired=rows_per_acquired,
            prior_mass=prior_mass,
            cv=cv,
            min_rows=min_rows,
            n_jobs=n_jobs,
        )
        self.device = device

    @torch.no_grad()
    def _chunk_belief(self, X, loss, **about):
        return super()._chunk_belief(X, loss, **about)

    def _members_at(self, X):
        return torch.as_tensor(
            self._aligned_members(X),
            dtype=torch.float32,
            device=usable_device(self.device),
        )
