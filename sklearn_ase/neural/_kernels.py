"""The array formulas of ``sklearn_ase._kernels`` in torch, for members on a device.

Shapes and meaning are the same, the numbers too but for float32.
"""

import torch

from sklearn_ase.belief._kernels import NEGLIGIBLE


def expected_loss(proba, loss):
    """Loss expected under the belief, of shape (n_samples,)."""
    return torch.einsum("nc,nc->n", proba, loss)


def disagreement(member_proba):
    """How far the members are apart on each class, (n_samples, n_classes)."""
    # The two terms nearly cancel where members agree, so sums are made in double.
    mean = member_proba.mean(dim=0, dtype=torch.float64)
    terms = torch.xlogy(member_proba, member_proba)
    gap = terms.mean(dim=0, dtype=torch.float64) - torch.xlogy(mean, mean)
    return gap.clamp_min(0.0)


def tilt(mean, proba):
    """Factor that moves members with this mean so that they average to `proba`."""
    return torch.where(mean > NEGLIGIBLE, proba / mean, 0.0)


def member_expected_loss(member_proba, mean, proba, loss):
    """Expected loss under each member, (n_members, n_samples)."""
    expected = expected_loss(proba, loss)
    deviation = loss - expected[:, None]
    common = torch.where(mean > NEGLIGIBLE, 0.0, proba)
    expected = expected + torch.einsum("nc,nc->n", common, deviation)
    weight = tilt(mean, proba) * deviation
    return expected + torch.einsum("enc,nc->en", member_proba, weight)
