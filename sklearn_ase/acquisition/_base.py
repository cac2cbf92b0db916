"""The one verb of an acquisition."""

from abc import ABCMeta, abstractmethod

from sklearn.base import BaseEstimator


class BaseAcquisition(BaseEstimator, metaclass=ABCMeta):
    """Base class of the acquisitions.

    Attributes
    ----------
    is_uniform : bool
        Whether all samples always score the same. Monte Carlo needs that.
    needs_member_loss : bool
        Whether ``state.belief.member_loss`` must be kept, O(n_members · n_samples).
    follows_labels : bool
        Whether scores change with every label, and not only when the surrogate is
        fitted again.
    """

    is_uniform = False
    needs_member_loss = False
    follows_labels = False

    @abstractmethod
    def score_samples(self, state):
        """Score every sample of the pool.

        Parameters
        ----------
        state : PoolState
            With a belief; before the first fit of the surrogate picks are uniform.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Greater means more worth a label. Finite and non-negative. They are used
            until the surrogate is fitted again, or until the next label if
            `follows_labels`.
        """
