"""Where the error of ASE comes from: section 5 of the paper."""

from dataclasses import dataclass

from sklearn.base import clone

from sklearn_ase._data._rows import n_rows
from sklearn_ase.risk import ASE
from sklearn_ase.simulation._scenario import (
    known_labels,
    training_rows,
    with_model,
)


@dataclass(frozen=True)
class ErrorDecomposition:
    """Where the error of ASE comes from; the parts have signs and add up to `total`.

    Attributes
    ----------
    finite_pool : float
        (I): mean expected loss on the pool minus that on the population.
    training : float
        (IIB): mean expected loss on the population, by the surrogate minus by the
        best surrogate of its kind.
    expressiveness : float
        (IIA): mean expected loss on the population by the best surrogate, minus the
        true risk.
    total : float
        ASE minus the true risk.
    """

    finite_pool: float
    training: float
    expressiveness: float
    total: float


def error_decomposition(evaluator, scenario, X_population, y_population):
    """Split the error of ASE into pool, training and expressiveness.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator
        Buys its `n_labels` labels.
    scenario : Scenario
        With a model that can be asked about other rows.
    X_population : array, sparse matrix, frame or list of shape (n_rows, n_features)
        Many rows from where the pool comes from, none of them in the pool.
    y_population : array-like of shape (n_rows,)

    Returns
    -------
    decomposition : ErrorDecomposition
        The best surrogate of its kind is taken to be the one that has seen every
        label of the pool.

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
    if scenario.label_proba is not None:
        raise ValueError(
            "error_decomposition needs the label of every row of the pool, but "
            "label_proba leaves them to be drawn. Give a Scenario with y alone."
        )
    evaluator = with_model(clone(evaluator), scenario)
    rows = training_rows(scenario)
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
        with known_labels():
            each.fit(scenario.X, scenario.y, **rows)
        expected, observed = each._both_losses(X_population, y_population)
        means.append(expected.mean())
    pool, truth = float(evaluator.evaluation_.estimate(ASE())), observed.mean()
    return ErrorDecomposition(
        finite_pool=float(pool - means[0]),
        training=float(means[0] - means[1]),
        expressiveness=float(means[1] - truth),
        total=float(pool - truth),
    )
