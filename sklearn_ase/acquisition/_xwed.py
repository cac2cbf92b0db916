"""Expected weighted disagreement: disagree where it would cost the model."""

from sklearn_ase.acquisition._base import BaseAcquisition


class XWED(BaseAcquisition):
    """Expected weighted disagreement of the surrogate's members.

    The disagreement of :class:`BALD`, each label's share weighed by the loss the
    model would incur. The paper's "XWED" is this with :class:`ArgMax`, its "~XWED"
    this with :class:`Proportional`.

    See Also
    --------
    BALD : The same with a loss of 1 everywhere.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 6.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED
    >>> XWED()
    XWED()
    """

    def score_samples(self, state):
        return state.belief.weighted_disagreement(state.loss)
