"""Temperature scaling: one number that makes probabilities as sure as is right."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

# Standard deviation of log T before any row is seen. Without it a few rows that all are
# right would make every prediction certain.
PRIOR_STD = 0.5
# The greatest correction in either direction.
MAX_TEMPERATURE = 20.0


def fit_temperature(member_logits, codes):
    """Temperature with the least log loss of the members' mean probability.

    The logarithm of the temperature has a normal prior around 0, worth little beside
    a hundred rows.

    Parameters
    ----------
    member_logits : ndarray of shape (n_members, n_samples, n_classes)
    codes : ndarray of shape (n_samples,)

    Returns
    -------
    temperature : float
        Logits are divided by it.
    """
    logits = np.asarray(member_logits, dtype=np.float64)

    def penalised_log_loss(log_temperature):
        scaled = logits / np.exp(log_temperature)
        log_proba = scaled[:, np.arange(len(codes)), codes] - logsumexp(scaled, axis=2)
        log_loss = np.log(len(logits)) - logsumexp(log_proba, axis=0)
        return log_loss.sum() + 0.5 * (log_temperature / PRIOR_STD) ** 2

    bound = np.log(MAX_TEMPERATURE)
    found = minimize_scalar(
        penalised_log_loss, bounds=(-bound, bound), method="bounded"
    )
    return float(np.exp(found.x))
