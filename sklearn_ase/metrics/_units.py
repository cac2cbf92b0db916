"""Values of variance 1 in the place of others."""

import numpy as np

from sklearn_ase.metrics._row_values import RowValues


class UnitValues(RowValues):
    """Values of variance 1 where others are uncertain, to add up what picks weigh."""

    def __init__(self, values):
        self.values = values

    @property
    def n_samples(self):
        return self.values.n_samples

    def observed(self, indices, labels):
        return np.zeros(len(indices))

    def moments(self, belief):
        least, most = self.values.limits()
        return np.zeros(len(least)), (most - least) ** 2

    def limits(self):
        return self.values.limits()
