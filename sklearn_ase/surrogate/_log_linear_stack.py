"""Calibration of class probabilities that can use the model under test."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.base import BaseEstimator

from sklearn_ase.surrogate._power_prior import fit_discounted


class LogLinearStack(BaseEstimator):
    """Calibration that blends the surrogate and the model under test log-linearly.

    For the classes that the model knows, the probabilities are
    ``π ∝ exp(a₁ log p_surrogate + a₂ log p_model)``. The exponents ``a ≥ 0`` are fitted
    by likelihood on held-out predictions. Without the model this is temperature
    scaling with ``1 / T = a₁``. Training rows may come from another population than the
    pool, so all of them together count as 2, 10, 50, 250 labels of the pool or in full;
    the acquired labels decide how probable each of these is, and the result is the mean
    over them. The classes that the model does not know
    get their total probability from the surrogate, corrected by a slope and an offset
    on the log-odds, which are fitted as well.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test is blended in.
    ridge : float, default=5.0
        Strength of the penalty that pulls the exponents towards equal values that sum
        to 1, in units of log-likelihood.
    smoothing : float, default=0.01
        Probabilities ``p`` are replaced by ``(1 - s) p + s / n_classes``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_worths, n_experts)
        Exponents of the surrogate and, if it is used, of the model, for each number of
        labels that the training rows may be worth.
    worths_ : ndarray of shape (n_worths,)
        These numbers of labels.
    shares_ : ndarray of shape (n_worths,)
        Their probabilities, given the acquired labels.
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

    def __init__(self, use_estimator=True, ridge=5.0, smoothing=0.01):
        self.use_estimator = use_estimator
        self.ridge = ridge
        self.smoothing = smoothing

    def fit(
        self,
        proba,
        expert,
        codes,
        sample_weight=None,
        model_classes=None,
        is_acquired=None,
    ):
        """Fit the exponents.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Held-out probabilities of the surrogate.
        expert : ndarray of shape (n_samples, n_classes) or None
            Probabilities of the model under test for rows it did not learn from. Rows
            without such a prediction are NaN.
        codes : ndarray of shape (n_samples,)
            Column of the label of each row.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weight of each row for the classes that the model does not know.
        model_classes : ndarray of shape (n_classes,), dtype bool, default=None
            Classes that the model knows. None means all.
        is_acquired : ndarray of shape (n_samples,), dtype bool, default=None
            Rows of the pool; the others are training rows. None means all.

        Returns
        -------
        self : object
        """
        n_classes = proba.shape[1]
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        self.uses_model_ = self.use_estimator and expert is not None
        self.model_classes_ = np.ones(n_classes, dtype=bool)
        if self.uses_model_ and model_classes is not None:
            self.model_classes_ = model_classes
        rows = self.model_classes_[codes]
        if self.uses_model_:
            rows &= np.isfinite(expert).all(axis=1)
        logs = self._logs(proba[rows], expert[rows] if self.uses_model_ else None)
        places = np.cumsum(self.model_classes_)[codes[rows]] - 1
        if is_acquired is None:
            is_acquired = np.ones(len(codes), dtype=bool)
        centre = np.full(len(logs), 1.0 / len(logs))
        acquired = is_acquired[rows]
        found = fit_discounted(
            _Likelihood(logs[:, ~acquired], places[~acquired], self.ridge, centre),
            _Likelihood(logs[:, acquired], places[acquired], 0.0, centre),
            int((~acquired).sum()),
            centre,
            (0.0, np.inf),
        )
        self.weights_, self.shares_ = found.parameters, found.shares
        self.worths_ = found.worths
        self.unknown_ = np.array([1.0, 0.0])
        if not self.model_classes_.all():
            odds = logit(self._smooth(proba)[:, ~self.model_classes_].sum(axis=1))
            self.unknown_ = _fit_odds(
                odds, ~self.model_classes_[codes], weight, self.ridge
            )
        return self

    def predict_proba(self, proba, expert=None):
        """Return calibrated probabilities.

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
        parts = self.predict_proba_each(proba, expert)
        return np.einsum("k,knc->nc", self.shares_, parts)

    def predict_proba_each(self, proba, expert=None):
        """Return calibrated probabilities for each worth of the training rows.

        Returns
        -------
        proba : ndarray of shape (n_worths, n_samples, n_classes)
        """
        check_expert(self.uses_model_, expert)
        logs = self._logs(proba, expert if self.uses_model_ else None)
        result = np.zeros((len(self.shares_), *proba.shape))
        result[..., self.model_classes_] = softmax(
            np.einsum("wk,knc->wnc", self.weights_, logs), axis=2
        )
        if self.model_classes_.all():
            return result
        rest = self._smooth(proba)[:, ~self.model_classes_]
        mass = rest.sum(axis=1)
        slope, offset = self.unknown_
        unknown = expit(slope * logit(mass) + offset)
        result[..., self.model_classes_] *= (1.0 - unknown)[:, None]
        result[..., ~self.model_classes_] = rest * (unknown / mass)[:, None]
        return result

    def _smooth(self, proba):
        return (1.0 - self.smoothing) * proba + self.smoothing / proba.shape[1]

    def _logs(self, proba, expert):
        experts = [proba] if expert is None else [proba, expert]
        return np.stack(
            [np.log(self._smooth(p)[:, self.model_classes_]) for p in experts]
        )


class _Likelihood:
    """Penalised log-likelihood of the exponents, with gradient and curvature.

    Parameters
    ----------
    logs : ndarray of shape (n_experts, n_rows, n_classes)
        Logarithms of the experts' probabilities.
    places : ndarray of shape (n_rows,)
        Column of each label.
    ridge : float
    centre : ndarray of shape (n_experts,)
        Where the ridge pulls the exponents.
    """

    def __init__(self, logs, places, ridge, centre):
        self.logs = logs
        self.places = places[:, None]
        self.ridge = ridge
        self.centre = centre
        self.chosen = np.take_along_axis(logs, places[None, :, None], axis=2)[..., 0]

    def __call__(self, exponents):
        log_proba = log_softmax(np.einsum("k,knc->nc", exponents, self.logs), axis=1)
        weighted = np.exp(log_proba) * self.logs
        mean = weighted.sum(axis=2)
        pull = exponents - self.centre
        own = np.take_along_axis(log_proba, self.places, axis=1)
        value = own.sum() - self.ridge * pull @ pull
        gradient = (self.chosen - mean).sum(axis=1) - 2.0 * self.ridge * pull
        curvature = np.einsum("knc,lnc->kl", weighted, self.logs) - mean @ mean.T
        # The last term keeps it positive definite without a ridge and without rows.
        return (
            value,
            gradient,
            curvature + (2.0 * self.ridge + 1e-9) * np.eye(len(pull)),
        )


def _fit_odds(odds, unknown, weight, ridge):
    """Fit slope and offset of a logistic regression of `unknown` on `odds`.

    Parameters
    ----------
    odds : ndarray of shape (n_rows,)
        Log-odds of the classes that the model does not know.
    unknown : ndarray of shape (n_rows,), dtype bool
        Whether the label is one of them.
    weight : ndarray of shape (n_rows,)
    ridge : float

    Returns
    -------
    parameters : ndarray of shape (2,)
        Slope and offset.
    """

    def objective(parameters):
        slope, offset = parameters
        z = slope * odds + offset
        error = weight * (expit(z) - unknown)
        value = weight @ (np.logaddexp(0.0, z) - unknown * z)
        # The penalty pulls towards slope 1 and offset 0: the surrogate as it is.
        value += ridge * ((slope - 1.0) ** 2 + offset**2 / 10.0)
        gradient = [
            error @ odds + 2.0 * ridge * (slope - 1.0),
            error.sum() + 0.2 * ridge * offset,
        ]
        return value, np.array(gradient)

    bounds = [(0.0, None), (None, None)]
    return minimize(objective, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x


def check_expert(uses_model, expert):
    """Refuse to predict without the model if it took part in the fit."""
    if uses_model and expert is None:
        raise ValueError(
            "The calibration was fitted with the predictions of the model under test "
            "and needs them to predict. Pass expert=..."
        )
