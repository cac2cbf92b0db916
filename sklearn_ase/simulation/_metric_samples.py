"""A metric on plain random samples, for comparison."""

import numpy as np

from sklearn_ase._evaluation._questions import pool_metric, value_with_labels
from sklearn_ase._evaluation._weights import weight_of
from sklearn_ase.metrics import as_metric
from sklearn_ase.simulation._run_file import PLAIN

# Samples of each size, from which the error of a plain sample is found.
_N_SAMPLES = 100


def metric_on_samples(evaluation, y, counts, rng, metric=None):
    """Return the true value of a metric, and what plain random samples say of it.

    Parameters
    ----------
    evaluation : Evaluation
    y : ndarray of shape (n_samples,)
        Labels of the pool.
    counts : list of int
    rng : numpy Generator
    metric : str or BaseMetric, default=None
        None means what the evaluation reports.

    Returns
    -------
    truth : float
    plain : list of dict
        One sample of each size; some columns of a row.
    variance : dict of int to float
        Mean squared error of samples of each size, of those that have a value.
    """
    problem, n_samples = evaluation.problem, len(y)
    classes = problem.classes_with(y)
    metric = evaluation.plan.metric if metric is None else as_metric(metric)

    def value(where):
        weight = weight_of(where, problem.sample_weight)
        return value_with_labels(
            pool_metric(problem, metric, classes, weight), y, classes
        )

    truth = value(np.ones(n_samples, dtype=bool))
    plain, variance = [], {}
    orders = [rng.permutation(n_samples) for _ in range(_N_SAMPLES)]
    for count in counts:
        values = np.array(
            [_of_some(value, order[:count], n_samples) for order in orders]
        )
        known = values[np.isfinite(values)]
        variance[count] = np.mean((known - truth) ** 2) if len(known) else np.nan
        row = {"risk": PLAIN, "n_labels": count, "value": values[0]}
        ends = {"low": -np.inf, "high": np.inf}
        plain.append({**row, **ends, "anytime": np.nan, "flagged": np.nan})
    return truth, plain, variance


def _of_some(value, rows, n_samples):
    where = np.zeros(n_samples, dtype=bool)
    where[rows] = True
    return value(where)
