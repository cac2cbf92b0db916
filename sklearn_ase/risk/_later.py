"""An estimate of a mean as it is expected to be after more labels."""

from dataclasses import replace

import numpy as np


def mean_later(mean, n_labels, n_samples, degrees, standard_error):
    """The estimate of a mean with another number of labels.

    Parameters
    ----------
    mean : RiskEstimate
    n_labels, n_samples : int
    degrees, standard_error : float
        Of the estimate then.

    Returns
    -------
    mean : RiskEstimate
    """
    growth, tail = n_labels / max(mean.n_labels, 1), mean.tail_degrees
    return replace(
        mean,
        standard_error=standard_error,
        n_labels=n_labels,
        degrees_of_freedom=degrees,
        unseen=mean.unseen / growth,
        beyond=mean.beyond / growth,
        tail_degrees=None if tail is None else min(tail * growth, degrees),
        free_share=1.0 - n_labels / n_samples,
        least=0.0,
        most=np.inf,
        anytime=(),
        refusal="",
        anytime_refusal="",
    )
