"""Ends of intervals over all means that agree with the labels."""

import numpy as np

from sklearn_ase._inference._regions import ends_over_means


def ends_of_means(estimate, quantile):
    """Least and greatest value of a metric over a region of means.

    Parameters
    ----------
    estimate : MetricEstimate
        With `means`, or with an `average`.
    quantile : float
        Half-axes of the region in standard errors.

    Returns
    -------
    low, high : float
    """
    metric = estimate.metric
    if estimate.average is not None:
        return estimate.average.ends(metric._class_mean, quantile)
    known = np.array(estimate.known)

    def value(means):
        found = np.array(known)
        found[np.isnan(known)] = means
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(metric.value(found))

    return ends_over_means(
        value,
        getattr(metric, "gradient", None),
        np.array(estimate.means),
        np.array(estimate.covariance),
        quantile,
        (np.array(estimate.least), np.array(estimate.most)),
    )
