"""Bounds: ends of confidence intervals, and from how many labels on there are any.

All thresholds of small samples stand here, each under one name. The equations are those
of docs/method.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from sklearn_ase._data._labels import number_groups
from sklearn_ase._inference._steps import label_shares, limits_of_steps, row_weight
from sklearn_ase._utils._checks import check_choice, check_level
from sklearn_ase._utils._typing import Target

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState

METHODS = ("fixed", "anytime")
TARGETS = ("pool", "population")

# How many labels (or rows) it takes.
#
# With fewer labels a loss without a bound has no interval, nobody can tell whether the
# surrogate is good, and a comparison with training rows says nothing.
MIN_LABELS = 25
# With fewer labels a bounded loss has no interval, and in a group of rows the surrogate
# decides alone.
MIN_BOUNDED_LABELS = 2
# With fewer labels a group rests mostly on the surrogate, and a forecast on luck.
FEW_LABELS = 10
# Fewer labels exclude no model.
MIN_TO_EXCLUDE = 5
# At least this many surprises are needed to show the error of an estimate.
MIN_SURPRISES = 3
# Number of labels that the believed variance is worth beside the seen one.
_BELIEVED_LABELS = 10
# Number of labels that an uncorrelated pair of means counts for.
UNCORRELATED_LABELS = 10
# An event that no label has shown counts as a half.
UNSEEN_EVENTS = 0.5
# Fewer degrees of freedom than these would make an interval that says nothing.
LEAST_DEGREES = 2.0
# With fewer free rows than that, labels may have missed all rows with a loss.
_MOST_ARE_FREE = 0.9

# The anytime interval is tightest, relative to the fixed one, a few times later.
_ANYTIME_START = 5.0
# On the logarithmic scale an end is at most so far from the estimate.
_MOST_LOG = 5.0


def blended(seen: Any, believed: Any, n_labels: float) -> Any:
    """Mean of two variances (or covariances); what is believed counts as ten labels."""
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    return share * seen + (1.0 - share) * believed


def fixed_quantiles(level, degrees_of_freedom):
    """Quantiles of Student's t and of the normal distribution, for two-sided ends."""
    tail = (1 + level) / 2
    return stats.t.ppf(tail, degrees_of_freedom), stats.norm.ppf(tail)


def label_degrees(state: PoolState) -> float:
    """Degrees of freedom of what the scatter of labels tells: their number minus one.

    Only labels count that could have changed the answer. If precision is asked, these
    are the labels of rows that the model predicted as positive; for a group of rows
    they are those inside. Any label can change the mean loss.
    """
    picks = state.settled
    all_degrees = max(picks.n_labels - 1.0, 1.0)
    if not state.is_question:
        return all_degrees
    least, most = state.loss.limits()
    rows = picks.indices[picks.answered]
    degrees = np.sum(most[rows] > least[rows]) - 1.0
    return float(max(degrees, min(all_degrees, LEAST_DEGREES)))


def check_interval(level, method, target="pool"):
    """Refuse an interval that does not exist."""
    check_level(level)
    check_choice(method, "method", METHODS)
    check_choice(target, "target", TARGETS)


def anytime_quantile(level, degrees_of_freedom, n_labels):
    """Bound that a t statistic crosses at any time with probability 1 - level.

    The Bayes factor of the t statistic against an effect with a normal prior is a
    non-negative martingale of mean 1, so by Ville's inequality it ever exceeds
    ``1 / (1 - level)`` with probability ``1 - level`` at most; solved for t, this is
    eq. T6 of docs/method.md.
    """
    if np.isinf(degrees_of_freedom):
        growth = 1.0 + n_labels / _ANYTIME_START
        log_ratio = np.log(growth) - 2.0 * np.log1p(-level)
        return np.sqrt(log_ratio * growth / (growth - 1.0))
    n = degrees_of_freedom + 1.0
    growth = 1.0 + n / _ANYTIME_START
    log_ratio = (np.log(growth) - 2.0 * np.log1p(-level)) / n
    if log_ratio >= np.log(growth):
        return np.inf  # So few labels can never exclude any risk.
    excess = np.expm1(log_ratio)
    return np.sqrt(degrees_of_freedom * excess / (1.0 - (1.0 + excess) / growth))


def reach_with_unseen(
    variance: float, unseen: float, room: float, quantile: float, normal_quantile: float
) -> float:
    """Distance of an end from the estimate, with losses that no label has shown.

    If the risk is greater than the estimate by d, then losses were missed that add
    ``unseen * d * (room - d)`` to its variance. The end is where d is as many standard
    errors as the quantile says, eq. T12. Without a surrogate this is Wilson's interval.
    """
    if np.isinf(unseen):
        return np.inf  # No label could have shown a loss.
    if not (unseen > 0 and room > 0):
        return quantile * np.sqrt(variance) if variance > 0 else 0.0
    if np.isinf(quantile):
        return np.inf  # So few labels exclude nothing.
    added = normal_quantile**2 * unseen
    half = 0.5 * added * room
    total = 1.0 + added
    return (half + np.sqrt(half**2 + total * quantile**2 * variance)) / total


def missed_share(level: float, free_share: float, n_picks: int) -> float:
    """Share of the rows that all labels may have missed, if few rows are left.

    Each of k rows has no label with probability `free_share`.
    """
    if free_share > _MOST_ARE_FREE:
        return 0.0
    n_rows = np.log(0.5 * (1.0 - level)) / np.log(free_share)
    return n_rows * (1.0 - free_share) / n_picks


def wilson_ends(
    value: float, variance: float, greatest: float, quantile: float
) -> tuple[float, float]:
    """Ends of Wilson's interval, for an estimate with a known variance.

    The labels are worth as many of a plain sample as have this variance if all losses
    are 0 or the greatest one.
    """
    share = np.clip(value / greatest, 1e-9, 1.0 - 1e-9)
    product = share * (1.0 - share)
    of_one = quantile**2 * variance / greatest**2 / product
    half = np.sqrt(of_one * product + 0.25 * of_one**2)
    middle = share + 0.5 * of_one
    return (
        greatest * (middle - half) / (1.0 + of_one),
        greatest * (middle + half) / (1.0 + of_one),
    )


def log_reach(value, error, quantile):
    """Distance of the upper end from an estimate of a loss without a bound.

    The end is taken on the logarithmic scale: such losses are skew.
    """
    if not value > 0:
        return quantile * error
    return value * np.expm1(min(quantile * error / value, _MOST_LOG))


def ends_on_scale(scale: str, centre: float, error: float) -> tuple[float, float]:
    """Ends that are at the same distance from the middle on some scale."""
    if scale == "log" and centre != 0:
        factor = np.exp(error / abs(centre))
        return tuple(sorted((centre / factor, centre * factor)))
    if scale == "log_complement" and centre < 1:
        factor = np.exp(error / (1.0 - centre))
        return 1.0 - (1.0 - centre) * factor, 1.0 - (1.0 - centre) / factor
    if scale == "atanh" and abs(centre) < 1:
        reach = error / (1.0 - centre**2)
        return tuple(np.tanh(np.arctanh(centre) + np.array([-reach, reach])))
    return centre - error, centre + error


def tail_degrees(deviations: np.ndarray) -> float:
    """Degrees of freedom of a variance from the scatter of heavy-tailed values.

    ``2 (n - 1) / (kurtosis - 1)``, at most n - 1: as many as for normal values, and
    few if a few values carry the variance.
    """
    squares = deviations**2
    n, square = len(squares), np.mean(squares)
    if not square > 0:
        return float(max(n - 1, 1))
    excess = np.mean(squares**2) / square**2 - 1.0
    return float(np.clip(2.0 * (n - 1) / max(excess, 1e-9), 1.0, max(n - 1, 1)))


# What the labels prove about a mean.


def proved_limits(state: PoolState) -> tuple[float, float]:
    """Least and greatest mean of the values that the labels leave possible.

    If some rows cannot be labelled, the mean is that over the others. Then only what
    holds for every row is proved.
    """
    least, most = (np.array(side) for side in state.loss.limits())
    picks = state.labelled
    if state.settled.n_skipped:
        weight = state.weight
        weight = np.ones(len(least)) if weight is None else weight
        counts = weight > 0
        least, most = (side[counts] / weight[counts] for side in (least, most))
        return float(least.min()), float(most.max())
    least[picks.indices] = most[picks.indices] = picks.losses
    return float(least.mean()), float(most.mean())


def n_surprises(state):
    """Number of labels that are far from what was expected of them.

    They show the variance of the estimate. If the surrogate is hardly ever surprised,
    it may have missed rare losses. The same holds for labels of one kind only. Rows
    that do not count, such as those outside of a group, are no surprise.
    """
    picks = state.settled.take(state.settled.answered)
    least, most = np.full(len(picks), min_loss(state.loss)), state.loss.max_loss
    if state.is_question:
        least, most = (x[picks.indices] for x in state.loss.limits())
    half, counts = 0.5 * (most - least), most > least
    is_surprise = np.abs(picks.losses - picks.expected_loss) > half
    is_large = picks.losses > least + half
    kinds = counts & is_surprise, counts & is_large, counts & ~is_large
    return int(min(kind.sum() for kind in kinds))


def min_loss(loss):
    """Least value of a loss at any row; other values than losses may be negative."""
    return getattr(loss, "min_loss", 0.0)


# The pool as a sample.


# A correlation of 1 within groups counts as so many pairs of labels.
_PRIOR_PAIRS = 5.0


def population_variance(
    state: PoolState, values: np.ndarray | None = None, left: Any = 1.0
) -> float:
    """Variance of a pool's mean if its rows are drawn from a population.

    `values` are those at the settled picks; None means the losses. A row adds the share
    of its square that is `left` when it has been drawn.
    """
    picks = state.settled
    if not picks.n_labels:
        return np.nan
    share, counts = label_shares(state), row_weight(state)[picks.indices]
    values = picks.losses if values is None else values
    total = share @ counts
    mean = share @ values / total if total > 0 else 0.0
    left = np.broadcast_to(left, state.n_samples)[picks.indices]
    square = left * (values - mean * counts) ** 2
    return float(share @ square / state.n_samples)


def draw_variance(state: PoolState, values: np.ndarray | None = None) -> float:
    """Variance of the pool's risk as that of the source that its rows are drawn from.

    Of n rows out of N it is ``(1 - n/N) s² / n``. With unequal probabilities π the
    weights of the rows are in proportion to 1 / π, and each row adds ``1 - π`` of its
    square: two rows do not covary in priority sampling.
    """
    if state.inclusion_proba is None:
        return 0.0
    return population_variance(state, values, 1.0 - state.inclusion_proba)


def undrawn_share(state: PoolState) -> float:
    """How far the source is from having been drawn whole, ``1 - n/N``; 0 if it was."""
    if state.inclusion_proba is None:
        return 0.0
    square = row_weight(state) ** 2
    return float(1.0 - square @ state.inclusion_proba / square.sum())


@dataclass(frozen=True)
class PoolSample:
    """The pool as a sample: of a population, or of the source that it was drawn from.

    Attributes
    ----------
    free_share : float
        Share of the pool's rows that were not asked for.
    population_variance, population_degrees : float
        Variance of what is estimated on a pool whose rows, or groups, are drawn from a
        population, and its degrees of freedom. NaN if it is unknown.
    draw_variance, undrawn_share : float
        If the pool is a sample of a larger source: variance of what is estimated as
        that of the source, and share of the source that was not drawn. 0 for any other
        pool.
    """

    free_share: float = 1.0
    population_variance: float = np.nan
    population_degrees: float = np.inf
    draw_variance: float = 0.0
    undrawn_share: float = 0.0

    @classmethod
    def of(cls, state: PoolState, values: np.ndarray | None = None) -> PoolSample:
        """What the values at the settled picks say; None means the losses."""
        return cls(
            free_share=1.0 - len(state.settled) / state.n_samples,
            population_variance=population_variance(state, values),
            draw_variance=draw_variance(state, values),
            undrawn_share=undrawn_share(state),
        )

    def variance(self, target: Target) -> float:
        """What the pool as a sample adds to the variance of an estimate."""
        if target == "pool":
            return self.draw_variance
        if np.isnan(self.population_variance):
            raise ValueError(
                "target='population' needs an estimate that says how much the pool "
                "varies. Take one from evaluation.estimate()."
            )
        return self.population_variance

    def degrees(self, target: Target) -> float:
        """Degrees of freedom of :meth:`variance`."""
        return np.inf if target == "pool" else self.population_degrees

    def open_share(self, target: Target) -> float:
        """Share of the rows without a label, in the pool, its source or population."""
        if target == "population":
            return 1.0
        return self.free_share + (1.0 - self.free_share) * self.undrawn_share

    def scaled(self, factor: float) -> PoolSample:
        """The sample, for a quantity whose variances are greater by a factor."""
        return replace(
            self,
            population_variance=factor * self.population_variance,
            draw_variance=factor * self.draw_variance,
        )


def check_groups(groups: Any, state: PoolState, problem: Problem) -> np.ndarray:
    """Check the groups of the rows, and number them from 0."""
    names, numbers = number_groups(groups, problem)
    if len(names) < 2:
        raise ValueError("groups must name at least two groups, but names one.")
    if state.belief is None:
        raise ValueError(
            "groups= needs a fitted surrogate. Label more rows, or give X_train."
        )
    return numbers


def grouped_variance(state, groups, known=0.0) -> float:
    """Variance of the pool's risk, if its groups are drawn from a population.

    Rows of a group may have similar losses for two reasons: the surrogate expects so,
    or they share what it does not know. The second is a correlation, which labels of
    the same group estimate. It starts at 1, the worst, as if five pairs said so.
    """
    picks, n_samples = state.labelled, state.n_samples
    expected = np.array(state.expected_loss)
    deviation = np.sqrt(state.loss_variance)
    surprise = np.divide(
        picks.losses - expected[picks.indices],
        deviation[picks.indices],
        out=np.zeros(len(picks)),
        where=deviation[picks.indices] > 0,
    )
    correlation = _correlation(surprise, groups[picks.indices])
    expected[picks.indices], deviation[picks.indices] = picks.losses, 0.0
    expected += known
    gap = np.bincount(groups, expected - expected.mean())
    n_groups = len(gap)
    total = np.bincount(groups, deviation)
    square = np.bincount(groups, deviation**2)
    shared = correlation * total**2 + (1.0 - correlation) * square
    # As for the variance of a sample: one degree of freedom goes to the mean.
    correction = n_groups / (n_groups - 1)
    return float(correction * np.sum(gap**2 + shared) / n_samples**2)


def _correlation(surprise, groups):
    """Correlation of standardised surprises within groups, between 0 and 1."""
    sums = np.bincount(groups, surprise)
    squares = np.bincount(groups, surprise**2)
    counts = np.bincount(groups)
    products = np.sum(sums**2 - squares) / 2.0
    n_pairs = np.sum(counts * (counts - 1)) / 2.0
    found = (products + _PRIOR_PAIRS) / (n_pairs + _PRIOR_PAIRS)
    return float(np.clip(found, 0.0, 1.0))


# Anytime intervals, by betting against every possible risk.


LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
# The surrogate's forecast of mean and variance counts as so many steps.
_FORECAST_STEPS = 5.0
# Share of the capital that may be lost in one step.
_MOST_LOST = 0.9
# Possible risks: over the whole range, close to its ends, and around the estimate.
_COARSE, _FINE, _FINE_ERRORS = 31, 64, 12.0
_NEAR_THE_ENDS = np.geomspace(1e-5, 1 / 30, 16)


# What a bet is made of: an estimate from one label, its least and greatest possible
# value, the mean that was forecast, and the variance that was expected.
_OF_A_BET = ("step", "low", "high", "forecast", "predicted")


@dataclass(frozen=True, eq=False)
class Bets:
    """Bets against every possible mean, one at each label: ends of anytime intervals.

    The ends are computed when somebody asks for them.

    Attributes
    ----------
    columns : ndarray of shape (5, n_steps)
        In the order of `_OF_A_BET`.
    max_loss : float
    start, slope : float
        The ends are a straight line of the mean that was bet on.
    """

    columns: np.ndarray
    max_loss: float
    start: float = 0.0
    slope: float = 1.0

    @classmethod
    def on(cls, steps: Steps, state: PoolState) -> Bets | None:
        """Bet on the mean of a bounded loss; None if nothing can be bet."""
        low, high = limits_of_steps(state, steps.power)
        if np.isnan([low, high]).any():  # Older picks do not know their limits.
            return None
        if not state.loss.max_loss > 0:  # There is nothing to bet on.
            return None
        picks = state.settled
        before = np.cumsum(picks.losses) - picks.losses
        forecast = (before + picks.free_expected_loss) / state.n_samples
        # Before its first fit the surrogate forecast nothing. What it believes now was
        # not known then, and bets must be made before the label.
        unknown, max_loss = np.isnan(picks.residual_moment), state.loss.max_loss
        forecast = np.where(unknown, 0.5 * max_loss, forecast)
        predicted = np.where(unknown, 0.25 * max_loss**2, steps.predicted)
        columns = np.array([steps.values, low, high, forecast, predicted])
        return cls(columns, float(max_loss))

    def __repr__(self):
        return f"Bets({self.columns.shape[1]} labels)"

    @cached_property
    def ends(self) -> tuple:
        """Ends of the intervals at :data:`LEVELS`, each as (level, low, high)."""
        steps, low, high, forecast, predicted = self.columns
        found = betting_ends(steps, (low, high), forecast, predicted, self.max_loss)
        return tuple(
            (level, *sorted(self.start + self.slope * end for end in ends))
            for level, *ends in found
        )

    def at(self, level: float) -> tuple[float, float] | None:
        """Ends at the next greater level; None if there is none."""
        for known, low, high in self.ends:
            if known >= level - 1e-12:
                return low, high
        return None

    def along(self, start: float, slope: float) -> Bets:
        """These bets about ``start + slope * mean`` instead of the mean."""
        return replace(self, start=start + slope * self.start, slope=slope * self.slope)

    def n_shared(self, other: Bets | None) -> int:
        """Number of first bets that are those of others."""
        about = "max_loss", "start", "slope"
        if other is None or any(getattr(self, n) != getattr(other, n) for n in about):
            return 0
        size = min(self.columns.shape[1], other.columns.shape[1])
        is_same = (self.columns[:, :size] == other.columns[:, :size]).all(axis=0)
        return size if is_same.all() else int(np.argmin(is_same))

    def to_dict(self, since: int = 0) -> dict[str, Any]:
        """The bets from a place on, as plain values that a ledger can keep."""
        columns = self.columns[:, since:].tolist()
        about = {"max_loss": self.max_loss, "start": self.start, "slope": self.slope}
        return {"since": since, **dict(zip(_OF_A_BET, columns, strict=True)), **about}

    @classmethod
    def from_dict(cls, values: dict[str, Any], before: Bets | None) -> Bets | None:
        """Put bets behind those before; None if some between them are missing."""
        columns = np.array([values[name] for name in _OF_A_BET], dtype=float)
        since = values["since"]
        if since:
            if before is None or before.columns.shape[1] < since:
                return None
            columns = np.hstack([before.columns[:, :since], columns])
        return cls(columns, values["max_loss"], values["start"], values["slope"])


def betting_ends(
    steps: np.ndarray,
    limits: tuple[np.ndarray, ...],
    forecast: np.ndarray,
    predicted: np.ndarray,
    max_loss: float,
) -> tuple:
    """Ends of the intervals at :data:`LEVELS` that hold at all label counts at once."""
    centre, variance = _predictable(steps, forecast, predicted)
    risks = _possible_risks(centre[-1], variance[-1], len(steps), max_loss)
    gap = centre[:, None] - risks
    # The bet that makes the capital grow fastest if centre and variance are right.
    bet = gap / (variance[:, None] + gap**2 + 1e-300)
    low, high = (limit[:, None] for limit in limits)
    tiny = 1e-12 * max_loss
    up = np.clip(bet, 0.0, _MOST_LOST / np.maximum(risks - low, tiny))
    down = np.clip(-bet, 0.0, _MOST_LOST / np.maximum(high - risks, tiny))
    surprise = steps[:, None] - risks
    capital = np.logaddexp(
        np.cumsum(np.log1p(up * surprise), axis=0),
        np.cumsum(np.log1p(-down * surprise), axis=0),
    ) - np.log(2.0)
    best = capital.max(axis=0)
    return tuple((level, *_hull(risks, best, level)) for level in LEVELS)


def _predictable(steps, forecast, predicted):
    """Mean and variance of each step as they are known before it."""
    count = _FORECAST_STEPS + np.arange(len(steps))
    before = np.cumsum(steps) - steps
    centre = (_FORECAST_STEPS * forecast + before) / count
    square = (steps - centre) ** 2
    variance = (_FORECAST_STEPS * predicted + np.cumsum(square) - square) / count
    return centre, variance


def _possible_risks(centre, variance, n_steps, max_loss):
    """Grid of risks, finest around the centre."""
    reach = _FINE_ERRORS * np.sqrt(variance / n_steps)
    fine = centre + reach * np.linspace(-1.0, 1.0, _FINE)
    near = max_loss * _NEAR_THE_ENDS
    coarse = np.linspace(0.0, max_loss, _COARSE)
    grid = np.concatenate([coarse, near, max_loss - near, fine])
    return np.unique(np.clip(grid, 0.0, max_loss))


def _hull(risks, best, level):
    """Least and greatest risk against which too little was won.

    Between two points of the grid the logarithm of the capital is taken as linear.
    """
    enough = -np.log1p(-level)
    places = np.flatnonzero(best < enough)
    if not len(places):  # Every risk was refuted, which is improbable.
        places = np.array([np.argmin(best)])
    first, last = places[0], places[-1]
    return (
        _crossing(risks, best, first, first - 1, enough),
        _crossing(risks, best, last, last + 1, enough),
    )


def _crossing(risks, best, inner, outer, enough):
    """Where the capital is just enough, between a possible risk and a refuted one."""
    if not 0 <= outer < len(risks) or best[inner] >= enough:
        return float(risks[inner])
    share = (enough - best[inner]) / (best[outer] - best[inner])
    return float(risks[inner] + share * (risks[outer] - risks[inner]))
