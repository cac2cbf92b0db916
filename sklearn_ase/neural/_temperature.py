"""Temperature scaling: one number that corrects how confident a classifier is."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

# Standard deviation of the prior of log T. Without a prior, a few rows that are all
# classified correctly would make every prediction certain.
PRIOR_STD = 0.5
# T is between 1 / MAX_TEMPERATURE and MAX_TEMPERATURE.
MAX_TEMPERATURE = 20.0


def fit_temperature(member_logits, codes):
    """Temperature for the smallest log loss of the members' mean probability.

    The logarithm of the temperature has a normal prior with mean 0. It matters little
    with a hundred rows or more.

    Parameters
    ----------
    member_logits : ndarray of shape (n_members, n_samples, n_classes)
    codes : ndarray of shape (n_samples,)
        Class code of each row.

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


def scaled_softmax(logits, temperature):
    """Probabilities from logits that are divided by a temperature.

    Parameters
    ----------
    logits : ndarray of shape (n_members, n_samples, n_classes)
    temperature : float

    Returns
    -------
    proba : ndarray of shape (n_members, n_samples, n_classes)
    """
    proba = logits / temperature
    proba -= proba.max(axis=2, keepdims=True)  # Against overflow.
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=2, keepdims=True)
    return proba
