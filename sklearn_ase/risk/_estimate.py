"""The number that is reported, with how sure it is."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True, repr=False)
class RiskEstimate:
    """Estimate of the mean loss on the pool.

    Attributes
    ----------
    value : float
    standard_error : float
        NaN where the labels do not tell.
    n_labels : int
        Labels known when it was made.
    degrees_of_freedom : float
        Of the t distribution that :meth:`interval` uses; infinite for a normal one.
    spread_of : str
        What the standard error measures: ``"labels"``, the chance of the draw, so
        that the interval is a confidence interval; or ``"members"``, the spread of
        the surrogate's members, which knows nothing of errors they share.

    Examples
    --------
    >>> from sklearn_ase.risk import RiskEstimate
    >>> risk = RiskEstimate(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    >>> risk
    RiskEstimate(value=0.4, standard_error=0.1, n_labels=50)
    >>> float(risk)
    0.4
    >>> low, high = risk.interval(0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.232 to 0.568
    """

    value: float
    standard_error: float
    n_labels: int
    degrees_of_freedom: float = np.inf
    spread_of: str = "labels"

    def __repr__(self):
        members = ", spread_of='members'" if self.spread_of == "members" else ""
        return (
            f"RiskEstimate(value={self.value:.4g}, "
            f"standard_error={self.standard_error:.3g}, n_labels={self.n_labels}"
            f"{members})"
        )

    def __float__(self):
        return float(self.value)

    def __format__(self, spec):
        return format(self.value, spec) if spec else str(self)

    def interval(self, level=0.9):
        """Interval around the value.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.

        Returns
        -------
        low, high : float
            Infinite where there is no standard error.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level} must lie strictly between 0 and 1.")
        if not np.isfinite(self.standard_error):
            return -np.inf, np.inf
        quantile = stats.t.ppf((1 + level) / 2, self.degrees_of_freedom)
        reach = float(quantile * self.standard_error)
        return self.value - reach, self.value + reach
