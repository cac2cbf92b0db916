"""An estimate of losses that all differ by a constant."""

from dataclasses import replace


def shifted(estimate, by):
    """Estimate of a mean loss, as if every loss were greater by a constant.

    Parameters
    ----------
    estimate : RiskEstimate
    by : float

    Returns
    -------
    estimate : RiskEstimate
    """
    names = "value", "centre", "min_loss", "max_loss", "largest", "least", "most"
    found = {name: getattr(estimate, name) for name in names}
    found = {name: None if x is None else x + by for name, x in found.items()}
    anytime = [(level, low + by, high + by) for level, low, high in estimate.anytime]
    return replace(estimate, **found, anytime=tuple(anytime))
