"""Likelihood of class labels under a log-linear blend of experts."""

import numpy as np

# Exponents of surrogate and model that are likely before any row was seen. With
# training rows these decide; without them the surrogate knows nothing at first.
_EXPONENTS = {True: (0.5, 0.5), False: (0.2, 0.6)}
# Precision of the prior of the shift's coefficient and of the offset of a class.
_SHIFT_PRECISION = 30.0
_OFFSET_PRECISION = 2.0


class ClassLikelihood:
    """Log-likelihood of exponents and offsets, with gradient and curvature.

    Parameters
    ----------
    logs : ndarray of shape (n_exponents, n_classes, n_rows)
        What the exponents multiply.
    places : ndarray of shape (n_rows,)
        Column of each label.
    has_offsets : bool
        Whether the exponents are followed by an offset for each class.
    """

    def __init__(self, logs, places, has_offsets):
        self.logs, self.has_offsets = logs, has_offsets
        self.flat = logs.reshape(len(logs), -1)
        n_classes, self.n_rows = logs.shape[1:]
        self.label = places, np.arange(self.n_rows)
        self.chosen = logs[:, *self.label]
        self.is_label = np.zeros((n_classes, self.n_rows))
        self.is_label[self.label] = 1.0
        frequency = (self.is_label.sum(axis=1) + 1.0) / (self.n_rows + n_classes)
        self.log_outlier = np.log(frequency)[places]

    def log_proba(self, at):
        """Log-probabilities of the classes, of shape (..., n_classes, n_rows)."""
        n_exponents = len(self.logs)
        scores = at[..., :n_exponents] @ self.flat
        scores = scores.reshape(*at.shape[:-1], *self.is_label.shape)
        if self.has_offsets:
            scores += at[..., n_exponents:, None]
        # By hand: this is called at every step of every fit, on few rows.
        scores -= scores.max(axis=-2, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=-2, keepdims=True))
        return scores

    def log_density(self, at):
        """Log-probability of each label, of shape (..., n_rows)."""
        return self.log_proba(at)[..., *self.label]

    def __call__(self, at, row_weight=None):
        weight = np.ones(self.n_rows) if row_weight is None else row_weight
        log_proba = self.log_proba(at)
        proba = np.exp(log_proba)
        share = weight * proba
        parts = self.logs * proba[..., None, :, :]
        mean = parts.sum(axis=-2)
        parts *= weight
        value = log_proba[..., *self.label] @ weight
        gradient = (self.chosen - mean) @ weight
        curvature = parts.reshape(*mean.shape[:-1], -1) @ self.flat.T
        curvature -= (mean * weight) @ mean.swapaxes(-1, -2)
        if not self.has_offsets:
            return value, gradient, curvature
        # Each offset is the exponent of a column that is 1 for its class.
        n, expected, turned = len(self.logs), share.sum(axis=-1), share.swapaxes(-1, -2)
        mixed = parts.sum(axis=-1) - mean @ turned
        whole = np.empty((*at.shape, at.shape[-1]))
        whole[..., :n, :n], whole[..., :n, n:] = curvature, mixed
        whole[..., n:, :n] = mixed.swapaxes(-1, -2)
        whole[..., n:, n:] = (
            expected[..., None] * np.eye(len(self.is_label)) - proba @ turned
        )
        of_offsets = self.is_label @ weight - expected
        return value, np.concatenate([gradient, of_offsets], axis=-1), whole


def blend_prior(has_training, uses_model, n_shifts, n_offsets, ridge):
    """Centre of the parameters, and the two parts of the penalty's precision."""
    exponents = _EXPONENTS[has_training] if uses_model else (1.0,)
    centre = np.array([*exponents, *np.zeros(n_shifts + n_offsets)])
    precisions = [0.0] * len(exponents) + [_SHIFT_PRECISION] * n_shifts
    kept = np.array(precisions + [_OFFSET_PRECISION] * n_offsets)
    return centre, np.where(kept > 0, 0.0, 2.0 * ridge + 1e-9), kept


def is_certain(proba):
    """Whether all probabilities that are given are 0 or 1."""
    return np.isin(proba[np.isfinite(proba)], (0, 1)).all()
