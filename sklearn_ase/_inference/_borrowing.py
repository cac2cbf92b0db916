"""What several groups of rows say together about the error of the surrogate.

Each group has two estimates: A, the surrogate's, and C, corrected by the labels. One
group alone says little about the error of A, but many groups together say much. So all
groups share two unknowns: how accurate the surrogate is, and whether it errs by the
same amount everywhere. Bayes' rule weighs them by the distances A - C of all groups.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._evidence import hypotheses

# An accurate surrogate is worth this many times the usual number of labels. Its error
# in a group may be far smaller than that on the whole pool can show.
_WORTHS = (1.0, 10.0, np.inf)
# Probability that it errs by no common amount, or by that on the whole pool.
_CENTRES = (0.8, 0.2)


def errors_of_groups(gaps, variances, common, one_label, worth, is_calibrated):
    """Expected error of the surrogate's estimate of each group.

    Parameters
    ----------
    gaps : ndarray of shape (n_groups,)
        The surrogate's estimate of each group minus the corrected one.
    variances : ndarray of shape (n_groups,)
        Of the corrected estimates, > 0.
    common : float
        Expected error of the surrogate's estimate for the whole pool.
    one_label : float
        Variance from one label of an infinite pool, relative to `variances`.
    worth : float
        Labels that the estimate of an accurate surrogate is worth.
    is_calibrated : bool

    Returns
    -------
    errors : ndarray of shape (n_groups,)
    """
    shares, prior = hypotheses(is_calibrated)
    gaps, variances = gaps[:, None], variances[:, None]
    log_weights, found = [], []
    for centre, chance in zip((0.0, common), _CENTRES, strict=True):
        for factor in _WORTHS:
            worths = worth * np.array(shares)
            worths[0] *= factor
            spread = variances * one_label / worths
            expected = np.array([centre, *np.zeros(len(shares) - 1)])
            density = np.log(prior) + _kernels.gap_log_density(
                gaps, variances, expected, spread
            )
            error = expected + spread / (variances + spread) * (gaps - expected)
            log_weights.append(np.log(chance) + logsumexp(density, axis=1).sum())
            found.append(np.sum(softmax(density, axis=1) * error, axis=1))
    return softmax(log_weights) @ np.array(found)
