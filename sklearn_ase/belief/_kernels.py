"""Formulas about beliefs and losses, on arrays of numpy or tensors of torch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any


# The library to compute with: numpy, or torch where a tensor came in.


def namespace(values) -> Any:
    """Module whose functions take `values`: torch for a tensor, else numpy.

    Both have ``einsum``, ``matmul``, ``where`` and ``inf``, so that one formula serves
    both.
    """
    # Not an import: without torch in memory there cannot be a tensor.
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(values, torch.Tensor) else np


def as_floats(values, like=None):
    """Values as an array of doubles, or as a tensor beside another one."""
    like = values if like is None else like
    xp = namespace(like)
    if xp is np:
        return np.asarray(values, dtype=np.float64)
    return xp.as_tensor(values, dtype=like.dtype, device=like.device)


def to_numpy(values):
    """Array or tensor as a numpy array of doubles; a tensor leaves its device."""
    if namespace(values) is not np:
        values = values.double().cpu().numpy()
    return np.asarray(values, dtype=np.float64)


# The formulas.


_TINY = np.finfo(np.float64).tiny
# Where the members give a class less than this on average, they agree to exclude it.
NEGLIGIBLE = 1e-12


def expected_loss(proba, loss: np.ndarray) -> np.ndarray:
    """Loss expected under the belief, ``g = sum_c p L``."""
    return namespace(proba).einsum("nc,nc->n", proba, loss)


def loss_variance(proba, loss):
    """Variance of the loss under the belief, ``sum_c p (L - g)²``."""
    # Centred first: sum p L² - g² loses all digits when the losses are huge.
    deviation = loss - expected_loss(proba, loss)[:, None]
    return namespace(proba).einsum("nc,nc,nc->n", proba, deviation, deviation)


def xlogx(x):
    """``x log x`` with ``0 log 0 = 0``."""
    xp = namespace(x)
    if xp is not np:
        return xp.xlogy(x, x)
    # numpy has no xlogy, and scipy's is slower than these three passes.
    result = np.maximum(x, _TINY)
    np.log(result, out=result)
    result *= x
    return result


def disagreement(member_proba: np.ndarray) -> np.ndarray:
    """Disagreement of the members on each class, ``mean_e(p_e log p_e) - p log p``."""
    members = as_floats(member_proba)
    # The two terms nearly cancel where members agree, so both means are in double
    # precision, also of tensors with less.
    double = namespace(members).float64
    mean = members.mean(axis=0, dtype=double)
    gap = xlogx(members).mean(axis=0, dtype=double) - xlogx(mean)
    # x log x is convex, so each term is >= 0 but for rounding.
    return gap.clip(0.0)


def tilt(mean: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Factor that moves members with this mean so that they average to `proba`.

    The distribution of the member given the label stays the same; the distribution of
    the label changes. Each term of the disagreement is multiplied by the factor.
    """
    xp = namespace(mean)
    # Division by infinity gives the zero, without a warning for 0 / 0.
    return proba / xp.where(mean > NEGLIGIBLE, mean, xp.inf)


def tilted_members(member_proba, proba):
    """Members, (n_members, n_samples, n_classes), moved to average to `proba`."""
    mean = member_proba.mean(axis=0)
    return member_proba * tilt(mean, proba) + _common(mean, proba)


def member_expected_loss(
    member_proba: np.ndarray, mean: np.ndarray, proba: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """Expected loss under each member, moved to average to that under `proba`."""
    common, weight = member_weights(mean, proba, loss)
    # "enc,nc->en" as one product of a matrix and a vector per sample.
    by_sample = namespace(member_proba).matmul(
        member_proba.swapaxes(0, 1), weight[:, :, None]
    )
    return common + by_sample[:, :, 0].T


def member_weights(
    mean: np.ndarray, proba: np.ndarray, loss: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the expected loss under each member is made of."""
    expected = expected_loss(proba, loss)
    # Tilted members need not sum to 1. Centred, a loss that is the same for every
    # label is the same for every member, and the members still average to g.
    deviation = loss - expected[:, None]
    expected += namespace(mean).einsum("nc,nc->n", _common(mean, proba), deviation)
    return expected, tilt(mean, proba) * deviation


def _common(mean, proba):
    """Probability of the classes that all members exclude, (n_samples, n_classes)."""
    return namespace(mean).where(mean > NEGLIGIBLE, 0.0, proba)


def check_members(members: np.ndarray | None) -> None:
    """Refuse fewer than two members."""
    if members is None or len(members) < 2:
        raise ValueError(
            "VarianceReduction compares the members of the surrogate, but it has "
            "fewer than two. Use an ensemble as surrogate or another acquisition."
        )


def covariance_with_pool_risk(member_loss: np.ndarray) -> np.ndarray:
    """Covariance over the members of the pool risk with the loss at each sample."""
    risk = member_loss.mean(axis=1)
    return (risk - risk.mean()) @ member_loss / len(risk)


def gaussian_disagreement(epistemic, noise):
    """BALD of a Gaussian belief, ``½ log(1 + s²/σ²)``, for numpy arrays."""
    return 0.5 * np.log1p(epistemic / noise)


# Beliefs about parts of a pool, joined.


def join_chunks(chunks, n_samples):
    """Fields of the belief about a pool from beliefs about its consecutive chunks."""
    joined, begin = {}, 0
    for chunk in chunks:
        end = begin + chunk.n_samples
        for field in fields(chunk):
            name, values = field.name, getattr(chunk, field.name)
            if values is None:
                joined[name] = None
            elif name == "training_worth":
                share = chunk.n_samples / n_samples
                joined[name] = values.plus(joined.get(name), share)
            elif name == "member_risk":
                share = chunk.n_samples / n_samples
                joined[name] = joined.get(name, 0.0) + share * values
            else:
                # Samples are the last axis of member_loss and the first of the others.
                axis = 1 if name == "member_loss" else 0
                if name not in joined:
                    shape = list(values.shape)
                    shape[axis] = n_samples
                    joined[name] = np.empty(shape)
                np.moveaxis(joined[name], axis, 0)[begin:end] = np.moveaxis(
                    values, axis, 0
                )
        begin = end
    return joined


# What the training rows are worth.


@dataclass(frozen=True, eq=False)
class TrainingWorth:
    """Alternatives for the number of labels that the training rows are worth.

    A belief is a mixture of calibrations. In each of them all training rows together
    count as another number of labels of the pool.

    Attributes
    ----------
    worths : ndarray of shape (n_worths,)
        Number of labels.
    shares : ndarray of shape (n_worths,)
        Probability of each, given the labels; they sum to 1.
    risk : ndarray of shape (n_worths,)
        Pool risk that each calibration expects. Their mean, weighted by the shares, is
        the risk that the belief expects.
    """

    worths: np.ndarray
    shares: np.ndarray
    risk: np.ndarray

    @property
    def n_labels(self) -> float:
        """Number of labels that the training rows are worth, on average."""
        return float(self.shares @ self.worths)

    def plus(self, other: TrainingWorth | None, share: float) -> TrainingWorth:
        """Add the risk on another part of the pool, which is `share` of the whole."""
        before = 0.0 if other is None else other.risk
        return TrainingWorth(self.worths, self.shares, before + share * self.risk)
