"""Calibration of classes: surrogate and model under test, blended log-linearly."""

# Arrays have the same names in all functions of this file.
#
#   n, c, k     number of rows, of classes that the model knows, of exponents
#   proba       (n, n_classes) probabilities by the surrogate, all classes
#   expert      (n, n_classes) probabilities by the model under test, NaN if unknown
#   codes       (n,) column of each label; places, the same among the known classes
#   shift       (n,) how much more common such rows are in the pool, a logarithm
#   logs        (k, c, n) what the exponents multiply: log p_surrogate, log p_model, and
#               z m of the shift. Rows are last: sums along a few classes are slow.
#   at          (..., d) parameters: k exponents and, of few classes, c offsets

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from sklearn_ase._utils._checks import check_flag, check_number
from sklearn_ase._utils._typing import Floats
from sklearn_ase.surrogate._estimator import take_columns
from sklearn_ase.surrogate._power_prior import (
    ParameterPrior,
    check_expert,
    maximise,
    training_hypotheses,
    weigh_hypotheses,
)

# Exponents of surrogate and model that are likely before any row was seen. With
# training rows these decide; without them the surrogate knows nothing at first.
_EXPONENTS = {True: (0.5, 0.5), False: (0.2, 0.6)}
# Precision of the prior of the shift's coefficient and of the offset of a class.
_SHIFT_PRECISION = 30.0
_OFFSET_PRECISION = 2.0


class ClassLikelihood:
    """Log-likelihood of exponents and offsets, with gradient and curvature."""

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


def blend_prior(
    has_training: bool, uses_model: bool, *, n_shifts: int, n_offsets: int, ridge: float
) -> ParameterPrior:
    """Prior of exponents, the coefficient of the shift, and offsets."""
    exponents = _EXPONENTS[has_training] if uses_model else (1.0,)
    centre = np.array([*exponents, *np.zeros(n_shifts + n_offsets)])
    precisions = [0.0] * len(exponents) + [_SHIFT_PRECISION] * n_shifts
    kept = np.array(precisions + [_OFFSET_PRECISION] * n_offsets)
    return ParameterPrior(centre, np.where(kept > 0, 0.0, 2.0 * ridge + 1e-9), kept)


def is_certain(proba):
    """Whether all probabilities that are given are 0 or 1."""
    return np.isin(proba[np.isfinite(proba)], (0, 1)).all()


# Classes that the model under test does not know.


# Precision of the prior of slope and offset of the odds.
_PRECISION = np.array([3.0, 1.0])


def fit_unknown(
    proba: np.ndarray, codes: np.ndarray, weight: np.ndarray, is_known: np.ndarray
) -> np.ndarray:
    """Fit the odds of these classes, see :func:`with_unknown`."""
    odds = logit(proba[:, ~is_known].sum(axis=1))
    unknown = ~is_known[codes]
    # The surrogate has met these classes as often as its rows have them. In the
    # pool a class that was met is expected to be as common as any other.
    n_met = max(len(np.unique(codes[unknown])), 0.5)
    ratio = n_met / is_known.sum()
    n_unknown, n_known = np.sum(unknown), np.sum(~unknown)
    centre = np.log(ratio * max(n_known, 0.5) / max(n_unknown, 0.5))
    return fit_odds(odds, unknown, weight, centre)


def with_unknown(
    of_known: np.ndarray,
    proba: np.ndarray,
    is_known: np.ndarray,
    parameters: np.ndarray,
) -> np.ndarray:
    """Probabilities of all classes, from those of the known ones."""
    rest = proba[:, ~is_known]
    mass, (slope, offset) = rest.sum(axis=1), parameters
    unknown = expit(slope * logit(mass) + offset)
    result = np.empty((len(of_known), *proba.shape))
    result[..., is_known] = of_known * (1.0 - unknown)[:, None]
    result[..., ~is_known] = rest * (unknown / mass)[:, None]
    return result


def fit_odds(
    odds: np.ndarray, unknown: np.ndarray, weight: np.ndarray, centre
) -> np.ndarray:
    """Fit slope and offset of a logistic regression of `unknown` on `odds`."""
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


# The calibration.


# The model's probabilities are smoothed by this share of what the surrogate's are. They
# rest on all its training rows, the surrogate's on the few that reach a leaf.
_MODEL_SHARE = 0.1
# With more classes there are no offsets: too few rows tell about each.
_MOST_OFFSETS = 30


class LogLinearStack(BaseEstimator):
    """Calibration that blends the surrogate and the model under test log-linearly.

    For the classes that the model knows, the probabilities are, eq. T7,
    ``π(c) ∝ exp(a₁ log p_surrogate(c) + a₂ log p_model(c) + u z m(c) + b(c))``, where
    ``m`` is the mean of the two logarithms and ``z`` says how much more common such
    rows are in the pool than among the training rows. The exponents ``a ≥ 0``, the
    coefficient ``u`` and the offsets ``b`` of the classes are fitted by likelihood on
    held-out predictions. With a surrogate alone, and neither ``z`` nor ``b``, this is
    temperature scaling with ``1 / T = a₁``.

    Training rows may come from another population than the pool, or have wrong labels.
    So all of them together count as 2, 10, 50, 250 labels of the pool, or in full, or
    in full except for labels that look wrong. The acquired labels decide how probable
    each of these is, and the result is the mean over them.

    The classes that the model does not know get their total probability from the
    surrogate, corrected by a slope and an offset on the log-odds, which are fitted as
    well.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test is blended in.
    ridge : float, default=5.0
        Strength of the penalty that pulls the exponents towards usual values, in units
        of log-likelihood.
    smoothing : float, default=0.01
        Probabilities ``p`` are replaced by ``(1 - s) p + s / n_classes``. Those of the
        model under test are smoothed by a tenth of it, unless it predicts labels only.

    Attributes
    ----------
    weights_ : ndarray of shape (n_hypotheses, n_experts)
        Exponents of the surrogate and, if it is used, of the model, for each hypothesis
        about the training rows.
    parameters_ : ndarray of shape (n_hypotheses, n_parameters)
        Exponents, coefficient of the shift (if there is any) and offsets.
    worths_ : ndarray of shape (n_hypotheses,)
        Number of labels that the training rows are worth.
    shares_ : ndarray of shape (n_hypotheses,)
        Probability of each hypothesis, given the acquired labels.
    unknown_ : ndarray of shape (2,)
        Slope and offset on the log-odds of the classes that the model does not know.
    uses_model_ : bool
        Whether the model under test took part in the fit.
    model_classes_ : ndarray of shape (n_classes,), dtype bool
        Classes that the model knows; all if it did not take part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import LogLinearStack
    >>> overconfident = np.tile([[0.99, 0.01]], (100, 1))
    >>> codes = np.repeat([0, 1], [70, 30])
    >>> stack = LogLinearStack(ridge=0.1).fit(overconfident, None, codes)
    >>> stack.predict_proba(overconfident[:1]).round(2)
    array([[0.7, 0.3]])
    """

    def __init__(
        self, use_estimator: bool = True, ridge: float = 5.0, smoothing: float = 0.01
    ) -> None:
        self.use_estimator = use_estimator
        self.ridge = ridge
        self.smoothing = smoothing

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""
        check_flag(self.use_estimator, "use_estimator")
        check_number(self.ridge, "ridge", 0)
        check_number(self.smoothing, "smoothing", 0, 1)

    def fit(
        self,
        proba: Floats,
        expert: Floats | None,
        codes: np.ndarray,
        weight: np.ndarray | None = None,
        model_classes: np.ndarray | None = None,
        is_acquired: np.ndarray | None = None,
        shift: np.ndarray | None = None,
        by_evidence: bool = True,
    ) -> Self:
        """Fit the calibration to training rows and acquired rows.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Held-out probabilities of the surrogate.
        expert : ndarray of shape (n_samples, n_classes) or None
            Probabilities of the model under test for rows it did not learn from. Rows
            without such a prediction are NaN.
        codes : ndarray of shape (n_samples,)
            Column of the label of each row.
        weight : ndarray of shape (n_samples,), default=None
            Weight of each row for the classes that the model does not know.
        model_classes : ndarray of shape (n_classes,), dtype bool, default=None
            Classes that the model knows. None means all.
        is_acquired : ndarray of shape (n_samples,), dtype bool, default=None
            Rows of the pool; the others are training rows. None means all.
        shift : ndarray of shape (n_samples,), default=None
            How much more common such rows are in the pool than among the training
            rows, as the logarithm of a ratio.
        by_evidence : bool, default=True
            Whether the acquired labels decide how much the training rows count. If
            False, all rows count alike. This suits labels that were not drawn.

        Returns
        -------
        self : object
        """
        if not 0 < self.smoothing < 1:
            raise ValueError(f"smoothing={self.smoothing} must lie between 0 and 1.")
        n_samples, n_classes = proba.shape
        self.uses_model_ = self.use_estimator and expert is not None
        self.model_classes_ = np.ones(n_classes, dtype=bool)
        if self.uses_model_ and model_classes is not None:
            self.model_classes_ = model_classes
        if is_acquired is None:
            is_acquired = np.ones(n_samples, dtype=bool)
        self._has_shift = shift is not None
        self._starts: Any = None
        self._model_smoothing = self.smoothing
        if self.uses_model_ and not is_certain(expert):
            self._model_smoothing *= _MODEL_SHARE
        columns = {
            "proba": proba,
            "expert": expert,
            "codes": codes,
            "weight": np.ones(n_samples) if weight is None else weight,
            "shift": shift,
        }
        self._training = take_columns(columns, ~is_acquired)
        self._learn_training(by_evidence)
        return self.fit_acquired(**take_columns(columns, is_acquired))

    def _learn_training(self, by_evidence: bool) -> None:
        """Turn the training rows into hypotheses about the parameters."""
        rows = self._rows(**self._training)
        prior = blend_prior(
            rows.n_rows > 0,
            self.uses_model_,
            n_shifts=int(self._has_shift),
            n_offsets=self._n_offsets,
            ridge=self.ridge,
        )
        self._bounds = np.where(prior.discounted > 0, 0.0, -np.inf), np.inf
        self._hypotheses = training_hypotheses(
            rows, rows.n_rows, prior, self._bounds, by_evidence
        )

    def fit_acquired(
        self,
        proba: Floats,
        expert: Floats | None,
        codes: np.ndarray,
        weight: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> Self:
        """Fit the calibration again to other acquired rows and the same training rows.

        Parameters
        ----------
        proba : ndarray of shape (n_acquired, n_classes)
            Held-out probabilities of the surrogate at all acquired rows.
        expert : ndarray of shape (n_acquired, n_classes) or None
        codes : ndarray of shape (n_acquired,)
        weight : ndarray of shape (n_acquired,), default=None
        shift : ndarray of shape (n_acquired,), default=None
            See :meth:`fit`.

        Returns
        -------
        self : object
        """
        weight = np.ones(len(codes)) if weight is None else weight
        rows = self._rows(proba, expert, codes, shift)
        weighed = weigh_hypotheses(self._hypotheses, rows, self._bounds, self._starts)
        if self._starts is None:  # Later fits begin where the first one ended.
            self._hypotheses, self._starts = weighed.hypotheses, weighed.parameters
        self.parameters_, self.shares_ = weighed.parameters, weighed.shares
        self.weights_ = weighed.parameters[:, : 1 + self.uses_model_]
        self.worths_ = weighed.worths
        self.unknown_ = np.array([1.0, 0.0])
        if not self.model_classes_.all():
            self.unknown_ = self._fit_unknown(proba, codes, weight)
        return self

    def predict_proba(
        self,
        proba: Floats,
        expert: Floats | None = None,
        shift: np.ndarray | None = None,
    ) -> Floats:
        """Return calibrated probabilities.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Mean of the members.
        expert : ndarray of shape (n_samples, n_classes), default=None
            Probabilities of the model under test.
        shift : ndarray of shape (n_samples,), default=None
            See :meth:`fit`; None means 0.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        parts = self.predict_proba_each(proba, expert, shift)
        return np.einsum("k,knc->nc", self.shares_, parts)

    def predict_proba_each(
        self,
        proba: Floats,
        expert: Floats | None = None,
        shift: np.ndarray | None = None,
    ) -> Floats:
        """Return calibrated probabilities for each hypothesis about training rows.

        Returns
        -------
        proba : ndarray of shape (n_hypotheses, n_samples, n_classes)
        """
        check_expert(self.uses_model_, expert)
        # Samples are the last axis: sums along a few classes are slow.
        logs = self._logs(proba, expert, shift)
        exponents, offsets = np.split(self.parameters_, [len(logs)], axis=1)
        scores = (exponents @ logs.reshape(len(logs), -1)).reshape(-1, *logs.shape[1:])
        if offsets.size:
            scores += offsets[:, :, None]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        of_known = scores.swapaxes(1, 2)
        if self.model_classes_.all():
            return of_known
        return with_unknown(
            of_known, self._smooth(proba), self.model_classes_, self.unknown_
        )

    @property
    def _n_offsets(self):
        n_classes = int(self.model_classes_.sum())
        return n_classes if n_classes <= _MOST_OFFSETS else 0

    def _rows(self, proba, expert, codes, shift, weight=None):
        """Likelihood of those rows that have a known class and a model's prediction."""
        used = self.model_classes_[codes]
        if self.uses_model_:
            used &= np.isfinite(expert).all(axis=1)
            expert = expert[used]
        shift = None if shift is None else shift[used]
        places = np.cumsum(self.model_classes_)[codes[used]] - 1
        logs = self._logs(proba[used], expert, shift)
        return ClassLikelihood(logs, places, self._n_offsets > 0)

    def _fit_unknown(self, proba, codes, weight):
        """Fit the odds of the classes that the model does not know."""
        training = self._training
        return fit_unknown(
            self._smooth(np.concatenate([training["proba"], proba])),
            np.concatenate([training["codes"], codes]),
            np.concatenate([training["weight"], weight]),
            self.model_classes_,
        )

    def _smooth(self, proba):
        return (1.0 - self.smoothing) * proba + self.smoothing / proba.shape[1]

    def _logs(self, proba, expert, shift):
        """What the exponents and the shift's coefficient multiply, samples last."""
        n, known = 1 + self.uses_model_, self.model_classes_
        logs = np.empty((n + self._has_shift, known.sum(), len(proba)))
        said = [proba, expert][:n]
        shares = [self.smoothing, self._model_smoothing][:n]
        for log, values, share in zip(logs[:n], said, shares, strict=True):
            log[...] = (1.0 - share) * values.T[known] + share / len(known)
        np.log(logs[:n], out=logs[:n])
        if self._has_shift:
            logs[n] = logs[:n].mean(axis=0) * (0.0 if shift is None else shift)
        return logs
