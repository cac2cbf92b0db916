"""Bayesian active learning by disagreement."""

from sklearn_ase.acquisition._base import BaseAcquisition


class BALD(BaseAcquisition):
    """What a sample's label is expected to tell about the surrogate's member.

    The mutual information of label and member for members as they are; with a
    calibrated surrogate the expectation is over the calibrated labels.

    Looks where the surrogate has most to learn, whether or not that matters to the
    risk of the model.

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

    def score_samples(self, state):
        return state.belief.disagreement()
