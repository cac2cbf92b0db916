"""Whether labels support an estimate for some rows of the pool."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._evaluation._waiting import rows_that_count

# With fewer labels among the rows the surrogate decides alone.
MIN_LABELS = 2


@dataclass(frozen=True)
class Support:
    """Labels at the rows that a question is about.

    Attributes
    ----------
    n_inside : int or None
        None if the question is about all rows.
    is_known : bool
        Whether each of these rows is labelled, or cannot be labelled.
    """

    n_inside: int | None = None
    is_known: bool = False

    @classmethod
    def of(cls, state, risk, weight):
        """Count the labels that are used at the rows that have a weight.

        Parameters
        ----------
        state : PoolState
        risk : BaseRisk
        weight : ndarray of shape (n_samples,) or None

        Returns
        -------
        support : Support
        """
        if weight is None or (weight > 0).all():
            return cls()
        inside = np.array(weight > 0)
        n_inside = int(inside[rows_that_count(state, risk)].sum())
        inside[state.indices] = False
        inside[state.picks.indices[state.picks.skipped]] = False
        return cls(n_inside, not inside.any())

    @property
    def is_alone(self):
        """Whether the surrogate decides alone."""
        is_part = self.n_inside is not None and not self.is_known
        return is_part and self.n_inside < MIN_LABELS

    @property
    def words(self):
        """That labels say too little, in words; empty if they do not."""
        if not self.is_alone:
            return ""
        word, labels = "the surrogate's word alone", "No label lies"
        if self.n_inside:
            word, labels = f"almost {word}", "Only one label lies"
        return f"{labels} in these rows: this is {word}. Label some of these rows."

    def on(self, found):
        """An estimate that says how many labels lie in its rows.

        Without enough of them it has no interval: the error that the surrogate expects
        of itself is not one that labels have shown.

        Parameters
        ----------
        found : MetricEstimate

        Returns
        -------
        estimate : MetricEstimate
        """
        found = replace(found, n_inside=self.n_inside)
        if not self.is_alone or np.isnan(found.value):  # Not defined at all.
            return found
        reason = f"No interval: {self.words[:1].lower()}{self.words[1:]}"
        return replace(found, refusal=reason, standard_error=np.nan)
