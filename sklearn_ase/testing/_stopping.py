"""The contract of stopping rules."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone

from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import RiskEstimate
from sklearn_ase.stopping import BaseStop
from sklearn_ase.testing._require import check_object, require

_N_LABELS = 60


def check_stopping(stop: BaseStop) -> None:
    """Check that an object can serve as stopping rule.

    `validate` must accept the parameters. `reason` must return a text for any number of
    estimates from 1 on, with intervals and without.

    Parameters
    ----------
    stop : BaseStop

    Raises
    ------
    AssertionError
        If the rule does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.stopping import Plateau
    >>> from sklearn_ase.testing import check_stopping
    >>> check_stopping(Plateau(tolerance=0.01))
    """
    check_object(stop, BaseStop)
    require(hasattr(stop, "validate"), "a rule needs validate: derive it from BaseStop")
    stop.validate()
    for name, estimates in _example_estimates().items():
        for n_labels in range(1, _N_LABELS + 1):
            _check_reason(stop, estimates[:n_labels], name)


def _example_estimates():
    rng = np.random.default_rng(0)
    counts = np.arange(1, _N_LABELS + 1)
    values = 0.4 + 0.2 * rng.normal(size=_N_LABELS) / np.sqrt(counts)

    def estimates(refusal="", spread=0.5, counts=counts):
        return [
            RiskEstimate(
                value=values[n - 1],
                standard_error=spread / np.sqrt(n),
                n_labels=int(n),
                degrees_of_freedom=max(n - 1.0, 1.0),
                refusal=refusal,
            )
            for n in counts
        ]

    return {
        "with intervals": estimates(),
        "with intervals of width 0": estimates(spread=0.0),
        "with labels in batches of 7": estimates(counts=7 * ((counts - 1) // 7) + 1),
        "without a standard error": estimates(spread=np.nan),
        "without intervals": estimates("No interval.", np.nan),
        "without intervals at first": estimates("Too few labels.")[:25]
        + estimates()[25:],
    }


def _check_reason(stop, estimates, name):
    given = list(estimates)
    with warnings.catch_warnings():
        # Rules that look at an interval that was refused are warned, not wrong.
        warnings.simplefilter("ignore", IntervalWarning)
        try:
            reasons = stop.reason(given), clone(stop).reason(given)
        except Exception as error:
            raise AssertionError(
                f"reason must work for {len(given)} estimates {name}, but failed: "
                f"{error!r}"
            ) from error
    require(
        all(isinstance(reason, str) for reason in reasons),
        f"reason must return a str, empty to continue, but returned {reasons[0]!r}",
    )
    require(reasons[0] == reasons[1], "same estimates must give the same reason")
    same = [a is b for a, b in zip(given, estimates, strict=True)]
    require(all(same), "the list of estimates must not change")
