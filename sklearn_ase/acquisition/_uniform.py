"""Uniform: every sample is worth the same."""

import numpy as np

from sklearn_ase.acquisition._base import BaseAcquisition


class Uniform(BaseAcquisition):
    """The same score everywhere: a plain random sample.

    Examples
    --------
    >>> from sklearn_ase.acquisition import Uniform
    >>> Uniform()
    Uniform()
    """

    is_uniform = True

    def score_samples(self, state):
        return np.ones(state.n_samples)
