"""Uniform: every sample has the same score."""

import numpy as np

from sklearn_ase.acquisition._base import BaseAcquisition


class Uniform(BaseAcquisition):
    """The same score for every sample, which gives a plain random sample.

    Examples
    --------
    >>> from sklearn_ase.acquisition import Uniform
    >>> Uniform()
    Uniform()
    """

    is_uniform = True
    is_local = True
    reads = ()

    def score_samples(self, state):
        """Ones."""
        return np.ones(state.n_samples)
