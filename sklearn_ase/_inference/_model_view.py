"""What an acquisition sees of several models that are compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ase.metrics._combine import combine


@dataclass(frozen=True, eq=False)
class ModelsView:
    """Several models at one moment: which leads, and where the others differ from it.

    Attributes
    ----------
    leader : int
        The model that is chosen now.
    best_proba : ndarray of shape (n_models,)
        Probability of each model to be the best, as believed.
    belief : CategoricalBelief or GaussianBelief
        About the labels.
    influence : callable
        ``model -> RowValues``: what a label of each row adds to its metric.
    apart : ndarray of shape (n_samples,), dtype bool
        Rows on which not all models are alike, whatever the label.
    gain : callable
        ``rows -> ndarray``: what a label of these rows is expected to tell about which
        model is the best.
    """

    leader: int
    best_proba: np.ndarray
    belief: Any
    influence: Any
    apart: np.ndarray
    gain: Any

    def challengers(self, n_challengers):
        """The models most likely to be the best, without the leader.

        Parameters
        ----------
        n_challengers : int

        Returns
        -------
        models : ndarray of int
        """
        order = np.argsort(-self.best_proba, kind="stable")
        order = order[order != self.leader][:n_challengers]
        # Models that are alike come in or stay out together.
        least = self.best_proba[order[-1]] if len(order) else 0.0
        is_in = (self.best_proba >= least) & (self.best_proba > 0)
        is_in[self.leader] = False
        return np.flatnonzero(is_in)

    def difference_spread(self, n_challengers):
        """Root mean square spread of the differences to the leader, (n_samples,).

        Parameters
        ----------
        n_challengers : int

        Returns
        -------
        spread : ndarray of shape (n_samples,)
        """
        total = np.zeros(len(self.apart))
        leader = self.influence(self.leader)
        for model in self.challengers(n_challengers):
            gap = combine((self.influence(model), leader), np.array([1.0, -1.0]))
            total += self.best_proba[model] * gap.moments(self.belief)[1]
        return np.sqrt(np.maximum(total, 0.0)) * self.apart
