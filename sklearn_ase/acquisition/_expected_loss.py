"""Expected loss: label where the model is believed to be bad."""

from sklearn_ase.acquisition._base import BaseAcquisition


class ExpectedLoss(BaseAcquisition):
    """The loss the surrogate expects, ``g(x)``.

    With :class:`Proportional` this is the proposal of active testing, best for
    :class:`LURE` where losses are known exactly.

    References
    ----------
    .. [1] Kossen et al., "Active Testing: Sample-Efficient Model Evaluation",
       ICML 2021.

    Examples
    --------
    >>> from sklearn_ase.acquisition import ExpectedLoss
    >>> ExpectedLoss()
    ExpectedLoss()
    """

    def score_samples(self, state):
        return state.expected_loss
