"""Sums of weights, each where the label is a target of its own."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_ase.metrics._row_values import RowValues, TableValues


@dataclass(frozen=True, eq=False)
class ClassSums(RowValues):
    """A sum of :class:`ClassValues`, each with a coefficient.

    Attributes
    ----------
    parts : tuple of ClassValues
    coefficients : ndarray of shape (n_parts,)
    fixed : ndarray of shape (n_samples,) or float, default=0.0
        Added whatever the label.
    """

    parts: tuple
    coefficients: np.ndarray
    fixed: np.ndarray | float = 0.0

    @property
    def n_samples(self):
        return self.parts[0].n_samples

    @property
    def classes(self):
        """Sorted labels."""
        return self.parts[0].classes

    @cached_property
    def values(self):
        """The values of all classes, of shape (n_samples, n_classes)."""
        total = np.zeros((self.n_samples, len(self.classes)))
        rows = np.arange(self.n_samples)
        for part, coefficient in zip(self.parts, self.coefficients, strict=True):
            total[rows, part.target] += coefficient * part.weight
        return total + np.reshape(self.fixed, (-1, 1))

    def observed(self, indices, labels):
        pairs = zip(self.parts, self.coefficients, strict=True)
        found = sum(k * part.observed(indices, labels) for part, k in pairs)
        return found + np.broadcast_to(self.fixed, self.n_samples)[indices]

    def moments(self, belief):
        if getattr(belief, "proba", None) is not None:
            return TableValues(self.values, self.classes).moments(belief)
        slots, is_rest = self._slots
        proba = [is_own * belief.proba_of(target) for target, _, is_own in slots]
        # Without a target the label adds nothing.
        rest = np.where(is_rest, np.maximum(1.0 - sum(proba), 0.0), 0.0)
        mean = sum(p * slot[1] for p, slot in zip(proba, slots, strict=True))
        variance = rest * mean**2
        for p, (_, value, _) in zip(proba, slots, strict=True):
            variance += p * (value - mean) ** 2
        return self.fixed + mean, variance

    def weighted_disagreement(self, belief, centre):
        """Disagreement on each class, weighed by the distance of its value to a centre.

        Parameters
        ----------
        belief : CategoricalBelief or ReadBelief
        centre : float

        Returns
        -------
        score : ndarray of shape (n_samples,)
        """
        table = getattr(belief, "class_disagreement", None)
        if table is not None:
            return np.einsum("nc,nc->n", table, np.abs(self.values - centre))
        score, rest = np.zeros(self.n_samples), np.array(belief.disagreement())
        slots, is_rest = self._slots
        for target, value, is_own in slots:
            part = is_own * belief.disagreement_of(target)
            score += part * np.abs(self.fixed + value - centre)
            rest -= part
        distance = np.abs(np.broadcast_to(self.fixed, self.n_samples) - centre)
        return score + np.where(is_rest, np.maximum(rest, 0.0), 0.0) * distance

    def limits(self):
        slots, is_rest = self._slots
        # A class without a target adds nothing, if there is one.
        least = np.where(is_rest, 0.0, np.inf)
        most = np.where(is_rest, 0.0, -np.inf)
        for _, value, is_own in slots:
            least = np.where(is_own, np.minimum(least, value), least)
            most = np.where(is_own, np.maximum(most, value), most)
        return self.fixed + least, self.fixed + most

    @cached_property
    def _slots(self):
        """Targets that differ at each row, and whether there are other classes.

        Each slot has targets, the value at them, and a mask of the rows where no slot
        before has the same target.
        """
        slots = []
        for part, coefficient in zip(self.parts, self.coefficients, strict=True):
            value, is_own = coefficient * part.weight, np.ones(self.n_samples, bool)
            for target, total, was_own in slots:
                is_same = is_own & was_own & (target == part.target)
                total[is_same] += value[is_same]
                is_own &= ~is_same
            if is_own.any():
                slots.append((part.target, np.where(is_own, value, 0.0), is_own))
        count = sum(is_own.astype(int) for *_, is_own in slots)
        return slots, count < len(self.classes)
