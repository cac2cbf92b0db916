"""Calibration of class probabilities, with the model under test as one more expert."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.base import BaseEstimator


class LogLinearStack(BaseEstimator):
    """Log-linear stack of the surrogate and the model under test.

    Among the classes the model knows,
    ``π ∝ exp(a₁ log p_surrogate + a₂ log p_model)`` with ``a ≥ 0`` fitted by
    weighted likelihood on held-out predictions. Without the model this is
    temperature scaling with ``1 / T = a₁``. The mass of the classes the model does
    not know is the surrogate's, with a slope and an offset fitted on the log-odds.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test is an expert.
    ridge : float, default=5.0
        Strength of the pull towards equal weights that sum to 1, in units of
        log-likelihood.
    smoothing : float, default=0.01
        Probabilities enter as ``(1 - s) p + s / n_classes``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Exponents of the surrogate and, if it takes part, of the model.
    unknown_ : ndarray of shape (2,)
        Slope and offset on the log-odds of the classes the model does not know.

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

    def __init__(self, use_estimator=True, ridge=5.0, smoothing=0.01):
        self.use_estimator = use_estimator
        self.ridge = ridge
        self.smoothing = smoothing

    def fit(self, proba, expert, codes, sample_weight=None, known=None):
        """Fit the weights of the experts.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Held-out probabilities of the surrogate.
        expert : ndarray of shape (n_samples, n_classes) or None
            Probabilities of the model under test on rows it did not learn from;
            rows of NaN where there are none.
        codes : ndarray of shape (n_samples,)
            Column of each label.
        sample_weight : ndarray of shape (n_samples,), default=None
        known : ndarray of shape (n_classes,), dtype bool, default=None
            Classes the model knows; None means all.

        Returns
        -------
        self : object
        """
        n_classes = proba.shape[1]
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        self.blends_ = self.use_estimator and expert is not None
        self.known_ = np.ones(n_classes, dtype=bool)
        if self.blends_ and known is not None:
            self.known_ = known
        rows = self.known_[codes]
        if self.blends_:
            rows &= np.isfinite(expert).all(axis=1)
        logs = self._logs(proba[rows], expert[rows] if self.blends_ else None)
        places = np.cumsum(self.known_)[codes[rows]] - 1
        # Relative to the lightest row that takes part: where only acquired rows have
        # the model's word, each is one row against the ridge and not many.
        row_weight = weight[rows] / weight[rows].min() if rows.any() else weight[rows]
        self.weights_ = _fit_exponents(logs, places, row_weight, self.ridge)
        self.unknown_ = np.array([1.0, 0.0])
        if not self.known_.all():
            odds = logit(self._smooth(proba)[:, ~self.known_].sum(axis=1))
            self.unknown_ = _fit_odds(odds, ~self.known_[codes], weight, self.ridge)
        return self

    def predict_proba(self, proba, expert=None):
        """Calibrated probabilities.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Mean of the members.
        expert : ndarray of shape (n_samples, n_classes), default=None
            Probabilities of the model under test.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        check_expert(self.blends_, expert)
        logs = self._logs(proba, expert if self.blends_ else None)
        result = np.zeros_like(proba, dtype=np.float64)
        result[:, self.known_] = softmax(
            np.einsum("k,knc->nc", self.weights_, logs), axis=1
        )
        if self.known_.all():
            return result
        rest = self._smooth(proba)[:, ~self.known_]
        mass = rest.sum(axis=1)
        slope, offset = self.unknown_
        unknown = expit(slope * logit(mass) + offset)
        result[:, self.known_] *= (1.0 - unknown)[:, None]
        result[:, ~self.known_] = rest * (unknown / mass)[:, None]
        return result

    def _smooth(self, proba):
        return (1.0 - self.smoothing) * proba + self.smoothing / proba.shape[1]

    def _logs(self, proba, expert):
        experts = [proba] if expert is None else [proba, expert]
        return np.stack([np.log(self._smooth(p)[:, self.known_]) for p in experts])


def _fit_exponents(logs, places, weight, ridge):
    n_experts = len(logs)
    centre = 1.0 / n_experts
    chosen = np.take_along_axis(logs, places[None, :, None], axis=2)[:, :, 0]

    def objective(a):
        score = np.einsum("k,knc->nc", a, logs)
        log_proba = log_softmax(score, axis=1)
        own = np.take_along_axis(log_proba, places[:, None], axis=1)[:, 0]
        mean = np.einsum("nc,knc->kn", np.exp(log_proba), logs)
        value = -weight @ own + ridge * np.sum((a - centre) ** 2)
        slope = (mean - chosen) @ weight + 2.0 * ridge * (a - centre)
        return value, slope

    start = np.full(n_experts, centre)
    bounds = [(0.0, None)] * n_experts
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x


def _fit_odds(odds, unknown, weight, ridge):
    def objective(parameters):
        slope, offset = parameters
        z = slope * odds + offset
        error = weight * (expit(z) - unknown)
        value = weight @ (np.logaddexp(0.0, z) - unknown * z)
        value += ridge * ((slope - 1.0) ** 2 + offset**2 / 10.0)
        gradient = [
            error @ odds + 2.0 * ridge * (slope - 1.0),
            error.sum() + 0.2 * ridge * offset,
        ]
        return value, np.array(gradient)

    bounds = [(0.0, None), (None, None)]
    return minimize(objective, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x


def check_expert(blends, expert):
    """Refuse to predict without the model if it took part in the fit."""
    if blends and expert is None:
        raise ValueError(
            "The calibration was fitted with the predictions of the model under test "
            "and needs them to predict. Pass expert=..."
        )
