"""A surrogate whose members are reduced to scores on a device."""

import torch

from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.neural import _kernels
from sklearn_ase.neural._device import usable_device
from sklearn_ase.surrogate import ClassifierSurrogate


class DeviceSurrogate(ClassifierSurrogate):
    """A :class:`~sklearn_ase.surrogate.ClassifierSurrogate` that scores in torch.

    What the acquisition functions need of the members (expected loss, disagreement by
    class, the risk that each member expects) is computed in float32 on the device.
    Worth its while for many members, rows and classes on a GPU.

    Parameters
    ----------
    estimator : classifier, default=None
        As of :class:`~sklearn_ase.surrogate.ClassifierSurrogate`, like all parameters
        but the last.
    n_members, calibration, pool_weight, rows_per_acquired, prior_mass, cv, min_rows, \
n_jobs
        As of :class:`~sklearn_ase.surrogate.ClassifierSurrogate`.
    device : str, default="auto"
        ``"auto"`` is CUDA where there is one.

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

    def __init__(
        self,
        estimator=None,
        *,
        n_members=20,
        calibration=None,
        pool_weight=1.0,
        rows_per_acquired=50,
        prior_mass=0.01,
        cv=5,
        min_rows=5,
        n_jobs=None,
        device="auto",
    ):
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
    def _chunk_belief(self, X, loss, expert, keep_member_loss):
        device = usable_device(self.device)

        def put(values):
            return torch.as_tensor(values, dtype=torch.float32, device=device)

        members = put(self._aligned_members(X))
        mean = members.mean(dim=0)
        proba = self._calibrated(mean.double().cpu().numpy(), expert)
        factor = _kernels.tilt(mean, put(proba))
        member_loss = _kernels.member_expected_loss(
            members, mean, put(proba), put(loss.values)
        )
        return CategoricalBelief(
            proba=proba,
            class_disagreement=get(factor * _kernels.disagreement(members)),
            member_risk=get(member_loss.mean(dim=1)),
            member_loss=get(member_loss) if keep_member_loss else None,
        )


def get(values):
    """A tensor as an array of doubles, off the device."""
    return values.double().cpu().numpy()
