"""Bayesian active learning by disagreement."""

from sklearn_ase.acquisition._base import BaseAcquisition


class BALD(BaseAcquisition):
    """Information that the label of a sample gives about the surrogate's members.

    This is the mutual information of label and member. With a calibrated surrogate the
    mean is over the calibrated probabilities of the labels. The score is high where the
    surrogate can learn most, whether or not that matters for the risk of the model.

    See Also
    --------
    XWED : The same, weighted by the loss of the model.

    References
    ----------
    .. [1] Houlsby et al., "Bayesian Active Learning for Classification and
       Preference Learning", 2011.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BALD
    >>> BALD()
    BALD()
    """

    is_local = True
    reads = ("disagreement",)

    def score_samples(self, state):
        """Disagreement of the members at each sample."""
        return state.belief.disagreement()
