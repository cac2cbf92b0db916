"""How far annotators agree, from the rows that have several answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._display._blocks import Facts
from sklearn_ase._display._html import notebook
from sklearn_ase._display._text import text
from sklearn_ase._inference._bounds import fixed_quantiles, reach_with_unseen
from sklearn_ase._inference._steps import label_shares
from sklearn_ase._utils._checks import check_level

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState

_NONE = (np.nan, np.nan)


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree, made by ``evaluation.agreement()``.

    All figures are means over the rows that have several answers. Each row is weighted
    by its pick, so that they describe the pool. If only some of the labelled rows have
    several answers, these rows must have been chosen without looking at them.

    Attributes
    ----------
    n_rows, n_answers : int
        Rows with several answers, and all answers there.
    agreement : float
        Probability that two annotators give the same answer for a row
        (classification). NaN for regression.
    alpha : float
        Krippendorff's alpha: 1 if all agree, 0 if they agree as by chance; nominal for
        classes, interval for numbers. NaN if all answers of all rows are the same.
    noise_floor : float
        How much annotators differ from each other. For regression this is the variance
        between the answers for a row, the mean squared error that a perfect model would
        have. For classification it is the probability that two answers for a row
        differ, the zero-one loss of a model that answers like one more annotator. A
        model that always gives the most common answer may be lower, but never below
        half of it.
    agreement_interval, alpha_interval, noise_floor_interval : tuple of two float
        Ends of the intervals, from leaving out one row at a time. NaN with fewer than
        two rows.
    level : float
        Of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> from sklearn_ase.metrics import LabelShare
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(300) < 0.5
    >>> slips = rng.random((300, 3)) < 0.1  # Each of three people errs in 10 %.
    >>> answers = np.where(truth[:, None] ^ slips, "good", "bad")
    >>> evaluator = ActiveRiskEstimator(
    ...     metric=LabelShare("good"), n_labels=100, random_state=0
    ... ).fit(rng.normal(size=(300, 2)), answers)
    >>> found = evaluator.evaluation_.agreement()
    >>> found.n_rows, found.n_answers
    (100, 300)
    >>> low, high = found.noise_floor_interval
    >>> low < 0.18 < high  # 2 · 0.1 · 0.9
    True
    """

    n_rows: int
    n_answers: int
    agreement: float
    alpha: float
    noise_floor: float
    agreement_interval: tuple[float, float]
    alpha_interval: tuple[float, float]
    noise_floor_interval: tuple[float, float]
    level: float

    def describe(self) -> dict[str, str]:
        """The figures in words, as a dict.

        Returns
        -------
        words : dict of str to str
        """
        is_number = np.isnan(self.agreement)
        floor = "noise floor (squared error)" if is_number else "noise floor (zero-one)"
        entries = {
            "agreement of two annotators": (self.agreement, self.agreement_interval),
            "Krippendorff's alpha": (self.alpha, self.alpha_interval),
            floor: (self.noise_floor, self.noise_floor_interval),
        }
        words = {
            name: f"{value:.3g}"
            + ("" if np.isnan(ends[0]) else " ({:.3g} to {:.3g})".format(*ends))
            for name, (value, ends) in entries.items()
            if not np.isnan(value)
        }
        rows = f"{self.n_answers} for {self.n_rows} rows"
        return words | {"answers": rows, "intervals": f"{100 * self.level:g} %"}

    def __str__(self):
        return text(Facts(self.describe()))

    def _repr_html_(self):
        return notebook("Agreement", Facts(self.describe()))


def agreement(
    state: PoolState,
    more_labels: dict[int, list],
    classes: np.ndarray | None,
    level: float = 0.9,
) -> Agreement:
    """Compare several answers for the same rows; see :meth:`Evaluation.agreement`."""
    check_level(level)
    rows, weights = _weighted_rows(state, more_labels)
    if not len(rows):
        raise ValueError(
            "agreement() needs rows with two or more answers, but no row has them "
            "(rows after the first open query do not count). Give several answers with "
            'tell(query, [["a", "b"], ...]) or correct(row, ["a", "b"]).'
        )
    first = dict(zip(state.indices.tolist(), state.labels.tolist(), strict=True))
    answers = [np.array([first[row], *more_labels[row]]) for row in rows.tolist()]
    parts = weights, *_moments(answers, classes)
    found = _figures(*parts)
    floor, ratio, chance = found
    ends = [_NONE, _NONE]
    if len(rows) > 1:
        kept = ~np.eye(len(rows), dtype=bool)
        others = [_figures(*(part[keep] for part in parts)) for keep in kept]
        n_effective = weights.sum() ** 2 / np.sum(weights**2)
        most = (np.inf, np.inf) if classes is None else (1.0, 1.0 / chance)
        ends = [
            _ends(
                found[place],
                np.array(others)[:, place],
                most[place],
                n_effective,
                level,
            )
            for place in range(2)
        ]
    is_class = classes is not None
    return Agreement(
        n_rows=len(rows),
        n_answers=sum(map(len, answers)),
        agreement=1.0 - floor if is_class else np.nan,
        alpha=1.0 - ratio,
        noise_floor=floor,
        agreement_interval=_turned(ends[0]) if is_class else _NONE,
        alpha_interval=_turned(ends[1]),
        noise_floor_interval=ends[0],
        level=level,
    )


def _weighted_rows(state, more_labels):
    """Rows with several answers, and how much of the pool each stands for."""
    picks, weights = state.labelled, np.ones(state.n_labels)
    if state.settled.has_query_proba and state.settled.n_labels:
        picks, weights = state.settled, label_shares(state)
    has_several = np.array(
        [bool(more_labels.get(row)) for row in picks.indices.tolist()]
    )
    is_used = has_several.astype(bool) & picks.answered & (weights > 0)
    return picks.indices[is_used], weights[is_used]


def _moments(answers, classes):
    """Number, sum, square and variance of the answers for each row.

    Classes are vectors with a single 1, so that the variance of the answers for a row
    is the probability that two of them differ.
    """
    if classes is None:
        middle = np.mean([each.mean() for each in answers])
        vectors = [(each - middle)[:, None] for each in answers]
    else:
        vectors = [(each[:, None] == classes).astype(float) for each in answers]
    return (
        np.array([len(each) for each in vectors]),
        np.array([each.sum(axis=0) for each in vectors]),
        np.array([np.sum(each**2) for each in vectors]),
        np.array([each.var(axis=0, ddof=1).sum() for each in vectors]),
    )


def _figures(weights, counts, sums, squares, within):
    """Variance within rows, the same relative to chance, and the variance by chance.

    With equal weights 1 minus the second is Krippendorff's alpha.
    """
    floor = weights @ within / weights.sum()
    weights = weights * (len(weights) / weights.sum())
    total = weights @ counts
    observed = weights @ (counts * within) / total
    spread = total * (weights @ squares) - np.sum((weights @ sums) ** 2)
    chance = spread / (total * (total - 1.0))
    if not chance > 1e-12 * (weights @ squares) / total:
        return floor, np.nan, np.nan
    return floor, observed / chance, chance


def _ends(value, left_out, greatest, n_rows, level):
    """Ends of a jackknife interval; `left_out` has the values without each row."""
    n = len(left_out)
    variance = (n - 1) / n * np.sum((left_out - left_out.mean()) ** 2)
    if np.isnan(variance):
        return _NONE
    quantile, normal = fixed_quantiles(level, n - 1)
    if np.isinf(greatest):  # A variance, so the scale is logarithmic.
        factor = np.exp(min(quantile * variance**0.5 / value, 5.0)) if value else 1.0
        return float(value / factor), float(value * factor)
    # Few rows may show no disagreement at all, or nothing else.
    reach = [
        reach_with_unseen(variance, 1.0 / n_rows, room, quantile, normal)
        for room in (2.0 * value - greatest, greatest - 2.0 * value)
    ]
    return float(max(value - reach[0], 0.0)), float(min(value + reach[1], greatest))


def _turned(ends):
    return 1.0 - ends[1], 1.0 - ends[0]
