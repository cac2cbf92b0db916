"""Classes that the model under test does not know: how often they occur."""

import numpy as np
from scipy.special import expit, logit

from sklearn_ase.surrogate._power_prior import maximise

# Precision of the prior of slope and offset of the odds.
_PRECISION = np.array([3.0, 1.0])


def fit_unknown(proba, codes, weight, is_known):
    """Fit the odds of these classes, see :func:`with_unknown`.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        Of the surrogate, above 0.
    codes : ndarray of shape (n_rows,)
        Column of the label of each row.
    weight : ndarray of shape (n_rows,)
    is_known : ndarray of shape (n_classes,), dtype bool
        Whether the model knows the class.

    Returns
    -------
    parameters : ndarray of shape (2,)
        Slope and offset.
    """
    odds = logit(proba[:, ~is_known].sum(axis=1))
    unknown = ~is_known[codes]
    # The surrogate has met these classes as often as its rows have them. In the
    # pool a class that was met is expected to be as common as any other.
    n_met = max(len(np.unique(codes[unknown])), 0.5)
    ratio = n_met / is_known.sum()
    n_unknown, n_known = np.sum(unknown), np.sum(~unknown)
    centre = np.log(ratio * max(n_known, 0.5) / max(n_unknown, 0.5))
    return fit_odds(odds, unknown, weight, centre)


def with_unknown(known, proba, is_known, parameters):
    """Probabilities of all classes, from those of the known ones.

    Parameters
    ----------
    known : ndarray of shape (n_hypotheses, n_rows, n_known)
    proba : ndarray of shape (n_rows, n_classes)
        Of the surrogate, above 0.
    is_known : ndarray of shape (n_classes,), dtype bool
    parameters : ndarray of shape (2,)
        Slope and offset of the log-odds of the other classes.

    Returns
    -------
    proba : ndarray of shape (n_hypotheses, n_rows, n_classes)
    """
    rest = proba[:, ~is_known]
    mass, (slope, offset) = rest.sum(axis=1), parameters
    unknown = expit(slope * logit(mass) + offset)
    result = np.empty((len(known), *proba.shape))
    result[..., is_known] = known * (1.0 - unknown)[:, None]
    result[..., ~is_known] = rest * (unknown / mass)[:, None]
    return result


def fit_odds(odds, unknown, weight, centre):
    """Fit slope and offset of a logistic regression of `unknown` on `odds`.

    Parameters
    ----------
    odds : ndarray of shape (n_rows,)
        Log-odds of the classes that the model does not know.
    unknown : ndarray of shape (n_rows,), dtype bool
        Whether the label is one of them.
    weight : ndarray of shape (n_rows,)
    centre : float
        Offset that is likely before the rows are seen.

    Returns
    -------
    parameters : ndarray of shape (2,)
        Slope and offset.
    """
    centre = np.array([1.0, centre])
    features = np.stack([odds, np.ones_like(odds)])

    def posterior(at):
        z = at @ features
        proba = expit(z)
        pull = _PRECISION * (at - centre)
        value = weight @ (unknown * z - np.logaddexp(0.0, z)) - 0.5 * pull @ (
            at - centre
        )
        gradient = features @ (weight * (unknown - proba)) - pull
        information = (features * (weight * proba * (1.0 - proba))) @ features.T
        return value, gradient, information + np.diag(_PRECISION)

    return maximise(posterior, centre, (np.array([0.0, -np.inf]), np.inf))[0]
