"""The contract of surrogates."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._typing import Estimator, Task
from sklearn_ase.losses import LogLoss, SquaredError
from sklearn_ase.surrogate import as_surrogate
from sklearn_ase.testing._require import require, unchanged

_N_ROWS, _N_SAMPLES = 30, 50
_CLASSES = np.array(["ant", "bee", "cat"])  # No labelled row is a cat.


def check_surrogate(surrogate: Estimator, task: Task = "classification") -> None:
    """Check that an estimator or a BaseSurrogate can serve as surrogate.

    Its belief must be finite and non-negative, have a column for every class, give
    every class a positive probability, and be the same for the same seed.

    Parameters
    ----------
    surrogate : classifier, regressor or BaseSurrogate
        Unfitted.
    task : {"classification", "regression"}, default="classification"

    Raises
    ------
    AssertionError
        If the surrogate does not work; the message says why.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase.testing import check_surrogate
    >>> check_surrogate(GaussianNB())
    """
    X, y, X_pool, expert, loss = _example(task)
    surrogate = as_surrogate(surrogate, task, X)
    classes = _CLASSES if task == "classification" else None

    def fitted(n_acquired=0, expert=None):
        options = {"classes": classes, "expert": expert, "n_acquired": n_acquired}
        return clone(surrogate).fit(X, y, seed=1, **options)

    with unchanged(X, y, X_pool, expert):
        out_of_fold = np.resize(expert, (_N_ROWS, *expert.shape[1:]))
        with_expert = fitted(10, out_of_fold).belief(X_pool, loss, expert)
        _check_belief(with_expert, loss)
        belief = fitted().belief(X_pool, loss)
        again = fitted().belief(X_pool, loss)
    _check_belief(belief, loss)
    same = np.array_equal(belief.expected_loss(loss), again.expected_loss(loss))
    require(same, "same seed must give the same belief")
    if surrogate.gives_members:
        kept = fitted().belief(X_pool, loss, keep_member_loss=True).member_loss
        require(
            kept is not None and kept.shape[1:] == (_N_SAMPLES,),
            "gives_members is True, so keep_member_loss=True must give member_loss",
        )


def _example(task):
    """Labelled rows, a pool, the model's predictions for it, and their loss."""
    rng = np.random.default_rng(0)
    X, X_pool = rng.normal(size=(_N_ROWS, 3)), rng.normal(size=(_N_SAMPLES, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=_N_ROWS)
    if task == "regression":
        expert = X_pool[:, 0].copy()
        return X, y, X_pool, expert, SquaredError().build(expert)
    expert = np.tile([0.5, 0.5, 0.0], (_N_SAMPLES, 1))
    labels = np.where(y > 0, "bee", "ant")
    return X, labels, X_pool, expert, LogLoss().build(expert, _CLASSES)


def _check_belief(belief, loss):
    for array in (
        belief.expected_loss(loss),
        belief.loss_variance(loss),
        belief.disagreement(),
        belief.weighted_disagreement(loss),
    ):
        require(array.shape == (_N_SAMPLES,), "beliefs must have one entry per sample")
        require(np.isfinite(array).all(), "beliefs must be finite")
        require((array >= 0).all(), "beliefs must be non-negative")
    if hasattr(belief, "proba"):
        shape = (_N_SAMPLES, len(_CLASSES))
        require(belief.proba.shape == shape, "every class must have a column")
        require(np.allclose(belief.proba.sum(axis=1), 1), "rows must sum to 1")
        possible = (belief.proba[:, 2] > 0).all()
        require(possible, "a class without a row must have a positive probability")
