"""Temperature scaling: one number that makes probabilities as sure as is right."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

# The greatest correction, in either direction, of what the networks say.
MAX_TEMPERATURE = 20.0


def fit_temperature(member_logits, codes):
    """Temperature with the least log loss of the members' mean probability.

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

    def log_loss(log_temperature):
        scaled = logits / np.exp(log_temperature)
        log_proba = scaled[:, np.arange(len(codes)), codes] - logsumexp(scaled, axis=2)
        return -(logsumexp(log_proba, axis=0) - np.log(len(logits))).mean()

    bound = np.log(MAX_TEMPERATURE)
    found = minimize_scalar(log_loss, bounds=(-bound, bound), method="bounded")
    return float(np.exp(found.x))
