"""Split the error of ASE by its causes, as in section 5 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._rows import n_rows
from sklearn_ase._data._validation import check_rows
from sklearn_ase._evaluation._other_pool import expected_and_observed
from sklearn_ase._utils._typing import Rows
from sklearn_ase.risk import ASE
from sklearn_ase.simulation._scenario import (
    check_evaluator,
    check_scenario,
    ignore_new_classes,
    training_rows,
    with_model,
)

if TYPE_CHECKING:
    from sklearn_ase._active_risk import ActiveRiskEstimator
    from sklearn_ase.simulation._scenario import Scenario


@dataclass(frozen=True)
class ErrorDecomposition:
    """Parts of the error of ASE; they are signed and add up to `total`.

    Attributes
    ----------
    finite_pool : float
        Part (I): mean expected loss on the pool minus that on the population.
    training : float
        Part (IIB): mean expected loss on the population according to the surrogate,
        minus that according to the best surrogate of its kind.
    expressiveness : float
        Part (IIA): mean expected loss on the population according to the best
        surrogate, minus the true risk.
    total : float
        ASE minus the true risk.
    """

    finite_pool: float
    training: float
    expressiveness: float
    total: float


def error_decomposition(
    evaluator: ActiveRiskEstimator,
    scenario: Scenario,
    X_population: Rows,
    y_population: ArrayLike,
) -> ErrorDecomposition:
    """Split the error of ASE into pool, training and expressiveness.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator
        It buys `n_labels` labels.
    scenario : Scenario
        Its model must be able to predict other rows.
    X_population : array, sparse matrix, frame or list of shape (n_rows, n_features)
        Many rows of the population of the pool, none of them in the pool.
    y_population : array-like of shape (n_rows,)
        Their labels.

    Returns
    -------
    decomposition : ErrorDecomposition
        The surrogate that was fitted on every label of the pool stands for the best
        surrogate of its kind.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, section 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> from sklearn_ase.simulation import Scenario, error_decomposition
    >>> X, y = load_iris(return_X_y=True)
    >>> scenario = Scenario(
    ...     X[1::3], y[1::3], GaussianNB().fit(X[::9], y[::9]), X[::9], y[::9])
    >>> evaluator = ActiveRiskEstimator(n_labels=10, random_state=0)
    >>> parts = error_decomposition(evaluator, scenario, X[2::3], y[2::3])
    >>> total = parts.finite_pool + parts.training + parts.expressiveness
    >>> bool(abs(total - parts.total) < 1e-12)
    True
    """
    check_evaluator(evaluator)
    check_scenario(scenario)
    if evaluator.metric is not None:
        raise ValueError(
            "error_decomposition splits the error of a mean loss, but the evaluator "
            f"has metric={evaluator.metric!r}. Give it metric=None."
        )
    if scenario.label_proba is not None:
        raise ValueError(
            "error_decomposition needs the label of every row of the pool, but "
            "label_proba leaves them to be drawn. Give a Scenario with y alone."
        )
    evaluator = with_model(clone(evaluator), scenario)
    training = training_rows(scenario)
    n_samples = n_rows(scenario.X)
    best = clone(evaluator).set_params(
        n_labels=n_samples,
        budget=None,
        stop=None,
        batch_size=n_samples,
        refit=[n_samples],
    )
    means = []
    for each in (evaluator, best):
        with ignore_new_classes():
            each.fit(scenario.X, scenario.y, **training)
        RowOrder.of(X_population=X_population).check(y_population=y_population)
        rows = check_rows(each, X_population, reset=False, name="X_population")
        expected, observed = expected_and_observed(
            each.evaluation_, each.estimator, rows, y_population, "y_population"
        )
        means.append(expected.mean())
    pool, truth = float(evaluator.evaluation_.estimate(ASE())), observed.mean()
    return ErrorDecomposition(
        finite_pool=float(pool - means[0]),
        training=float(means[0] - means[1]),
        expressiveness=float(means[1] - truth),
        total=float(pool - truth),
    )
