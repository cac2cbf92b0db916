"""Parts of one-step estimates that are continued from pick to pick."""

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._utils._growing import GrowingArray


class RunningSteps:
    """One-step estimates of an evaluation, for all picks so far.

    A step is known before the next pick, so it never changes. An evaluation keeps one
    such object until a label is corrected.

    Parameters
    ----------
    n_samples : int
    n_trusted : float
        See :func:`predictable_power`.
    """

    def __init__(self, n_samples, n_trusted):
        self._n_samples, self._n_trusted = n_samples, n_trusted
        self._parts = [GrowingArray(np.empty(0)) for _ in range(3)]
        # Of losses, steps, controls, squared controls, and products of the last two.
        self._sums = [0.0] * 5

    def up_to(self, picks):
        """Steps without g, what g takes from each, and how much of it to use.

        Parameters
        ----------
        picks : Picks
            The first settled picks of the evaluation.

        Returns
        -------
        plain, control, power : ndarray of shape (n_picks,)
        """
        n_known = len(self._parts[0])
        if len(picks) > n_known:
            self._go_on(picks.take(slice(n_known, None)))
        return tuple(part.values[: len(picks)] for part in self._parts)

    def _go_on(self, picks):
        # Each sum goes on where it was, so all numbers are as if computed at once.
        n_known = len(self._parts[0])
        plain, control = parts_of_steps(picks, self._n_samples, self._sums[0])
        columns = picks.losses, plain, control, control**2, plain * control
        pairs = zip(self._sums, columns, strict=True)
        sums = [_cumulated(start, column) for start, column in pairs]
        before = (total[:-1] for total in sums[1:])
        count = n_known + np.arange(len(plain))
        power = _kernels.power_after(count, *before, self._n_trusted)
        self._sums = [total[-1] for total in sums]
        for part, values in zip(self._parts, (plain, control, power), strict=True):
            part.extend(values)


def parts_of_steps(picks, n_samples, before=0.0):
    """One-step estimates without g, and what g takes from each; its mean is 0.

    Parameters
    ----------
    picks : Picks
        Settled ones.
    n_samples : int
    before : float, default=0.0
        Sum of the losses of picks before these.

    Returns
    -------
    plain, control : ndarray of shape (n_picks,)
    """
    losses, proba = picks.losses, picks.query_proba
    past = _cumulated(before, losses)[1:] - losses
    control = picks.expected_loss / proba - picks.free_expected_loss
    return (past + losses / proba) / n_samples, control / n_samples


def _cumulated(start, values):
    """Sums of the first values, beginning with `start`."""
    return np.cumsum(np.concatenate([[start], values]))
