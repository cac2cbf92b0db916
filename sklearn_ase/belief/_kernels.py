"""Array formulas about beliefs: numpy in, new arrays out.

Axes in the einsum strings: ``e`` members, ``n`` samples, ``c`` classes.
"""

import numpy as np

_TINY = np.finfo(np.float64).tiny
# Members that all give a class less than this agree that it is out of the question.
NEGLIGIBLE = 1e-12


def expected_loss(proba, loss):
    """Loss expected under the belief, ``g = sum_c p L``.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
    loss : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    expected_loss : ndarray of shape (n_samples,)
    """
    return np.einsum("nc,nc->n", proba, loss)


def loss_variance(proba, loss):
    """Variance of the loss under the belief, ``sum_c p (L - g)²``."""
    # Centred first: sum p L² - g² loses all digits when the losses are huge.
    deviation = loss - expected_loss(proba, loss)[:, None]
    return np.einsum("nc,nc,nc->n", proba, deviation, deviation)


def xlogx(x):
    """``x log x`` with ``0 log 0 = 0``, by numpy's fast log."""
    result = np.maximum(x, _TINY)
    np.log(result, out=result)
    result *= x
    return result


def disagreement(member_proba):
    """How far the members are apart on each class, ``mean_e(p_e log p_e) - p log p``.

    Parameters
    ----------
    member_proba : ndarray of shape (n_members, n_samples, n_classes)

    Returns
    -------
    disagreement : ndarray of shape (n_samples, n_classes)
        Non-negative; its sum over the classes is BALD.
    """
    members = np.asarray(member_proba, dtype=np.float64)
    gap = xlogx(members).mean(axis=0) - xlogx(members.mean(axis=0))
    # x log x is convex, so each term is >= 0 but for rounding.
    return np.maximum(gap, 0.0)


def tilt(mean, proba):
    """Factor that moves members with this mean so that they average to `proba`.

    In the joint distribution of label and member, the member given the label stays
    as it is and the label changes. Each term of the disagreement is multiplied by
    the factor.

    Parameters
    ----------
    mean : ndarray of shape (n_samples, n_classes)
        Mean of the members.
    proba : ndarray of shape (n_samples, n_classes)
        The belief they should average to.

    Returns
    -------
    factor : ndarray of shape (n_samples, n_classes)
        Zero where the members agree that the class is out of the question; what
        `proba` gives it there is common to all of them.
    """
    return np.divide(proba, mean, out=np.zeros_like(proba), where=mean > NEGLIGIBLE)


def tilted_members(member_proba, proba):
    """Members, (n_members, n_samples, n_classes), moved to average to `proba`."""
    mean = member_proba.mean(axis=0)
    common = np.where(mean > NEGLIGIBLE, 0.0, proba)
    return member_proba * tilt(mean, proba) + common


def member_expected_loss(member_proba, mean, proba, loss):
    """Expected loss under each member, moved to average to that under `proba`.

    Parameters
    ----------
    member_proba : ndarray of shape (n_members, n_samples, n_classes)
    mean : ndarray of shape (n_samples, n_classes)
        Mean of the members.
    proba : ndarray of shape (n_samples, n_classes)
        The belief they should average to.
    loss : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    member_loss : ndarray of shape (n_members, n_samples)
    """
    expected = expected_loss(proba, loss)
    # Tilted members need not sum to 1. Centred, a loss that is the same for every
    # label is the same for every member, and the members still average to g.
    deviation = loss - expected[:, None]
    common = np.where(mean > NEGLIGIBLE, 0.0, proba)
    expected += np.einsum("nc,nc->n", common, deviation)
    weight = tilt(mean, proba) * deviation
    return expected + np.einsum("enc,nc->en", member_proba, weight, optimize=True)


def covariance_with_pool_risk(member_loss):
    """Covariance over the members of the pool risk with the loss at each sample.

    Parameters
    ----------
    member_loss : ndarray of shape (n_members, n_samples)

    Returns
    -------
    covariance : ndarray of shape (n_samples,)
    """
    risk = member_loss.mean(axis=1)
    return (risk - risk.mean()) @ member_loss / len(risk)


def gaussian_disagreement(epistemic, noise):
    """BALD of a Gaussian belief, ``½ log(1 + s²/σ²)``."""
    return 0.5 * np.log1p(epistemic / noise)
