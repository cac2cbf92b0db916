"""Checks of strategies: acquisitions, risks, selections, stops and surrogates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_ase._state import PoolState
from sklearn_ase._utils._typing import Estimator, Floats, Ints, Task
from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.acquisition._base import checked_scores
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.losses import LogLoss, SquaredError
from sklearn_ase.risk import BaseRisk, Estimate
from sklearn_ase.selection import BaseSelection
from sklearn_ase.stopping import BaseStop
from sklearn_ase.surrogate import as_surrogate
from sklearn_ase.testing._states import (
    TASKS,
    check_object,
    check_tasks,
    checked,
    make_state,
    refusals_count,
    require,
    require_close,
    unchanged,
    works_for,
)

# Acquisitions.


def check_acquisition(
    acquisition: BaseAcquisition, tasks: Task | Sequence[Task] = TASKS
) -> None:
    """Check that an object can serve as acquisition.

    Scores must be one finite number >= 0 per sample. They must be the same for the same
    state.

    Parameters
    ----------
    acquisition : BaseAcquisition
    tasks : {"classification", "regression"}, or a sequence of them
        The tasks it is made for; both if it is left out.

    Raises
    ------
    AssertionError
        If the acquisition does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED
    >>> from sklearn_ase.testing import check_acquisition
    >>> check_acquisition(XWED())
    """
    tasks = check_tasks(tasks)
    check_object(acquisition, BaseAcquisition)
    for task in tasks:
        with works_for(acquisition, task, "check_acquisition"), refusals_count():
            _check_scores(acquisition, task)


def _check_scores(acquisition: BaseAcquisition, task: Task) -> None:
    """Check the scores of one task."""
    for n_samples, n_labels in ((40, 12), (40, 0), (1, 0)):
        state = make_state(task, n_samples, n_labels)
        scores = checked_scores(acquisition, state)
        even = not acquisition.is_uniform or np.ptp(scores) == 0
        require(even, "scores must be equal where is_uniform says so")
        again = clone(acquisition).score_samples(state)
        require(np.array_equal(scores, again), "same state must give same scores")


# Risk estimators.


def check_risk(risk: BaseRisk, tasks: Task | Sequence[Task] = TASKS) -> None:
    """Check that an object can serve as risk estimator.

    The estimate must be finite, lie in its interval, and be the same for the same
    state.

    Parameters
    ----------
    risk : BaseRisk
    tasks : {"classification", "regression"}, or a sequence of them
        The tasks it is made for; both if it is left out.

    Raises
    ------
    AssertionError
        If the risk estimator does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.risk import LURE
    >>> from sklearn_ase.testing import check_risk
    >>> check_risk(LURE())
    """
    tasks = check_tasks(tasks)
    check_object(risk, BaseRisk)
    for task in tasks:
        with works_for(risk, task, "check_risk"):
            for n_samples, n_labels in ((40, 12), (40, 1), (8, 8)):
                _check_estimate(risk, make_state(task, n_samples, n_labels))
            _check_estimate(risk, _with_open(make_state(task, 40, 12), 7))


def _check_estimate(risk: BaseRisk, state: PoolState) -> None:
    """Check the estimate of one state."""
    found = risk.estimate(state)
    require(isinstance(found, Estimate), "estimate must be an Estimate")
    require(np.isfinite(float(found)), "the value must be finite")
    fits = found.n_labels <= state.n_labels
    require(fits, "n_labels must not exceed the number of labels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntervalWarning)
        low, high = found.interval(0.9)
    require(low <= float(found) <= high, "the interval must contain the value")
    again = clone(risk).estimate(state)
    require(float(found) == float(again), "same state must give same estimate")


def _with_open(state: PoolState, place: int) -> PoolState:
    """The state with a query that is open: weighted estimates stop in front of it."""
    answered = state.picks.answered.copy()
    answered[place] = False
    losses = np.where(answered, state.picks.losses, 0.0)
    picks = replace(state.picks, answered=answered, losses=losses)
    return replace(state, picks=picks, labels=np.delete(state.labels, place))


# Selections.


_N_CANDIDATES = 12


def check_selection(selection: BaseSelection) -> None:
    """Check that an object can serve as selection.

    The distribution must sum to 1 for any scores, also for ties, zeros and a single
    candidate. Picks must be distinct candidates that come with their probability given
    the picks before. If `has_query_proba` is True, every candidate with a positive
    score must have a positive probability.

    Parameters
    ----------
    selection : BaseSelection

    Raises
    ------
    AssertionError
        If the selection does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.selection import Proportional
    >>> from sklearn_ase.testing import check_selection
    >>> check_selection(Proportional())
    """
    check_object(selection, BaseSelection)
    rng = np.random.default_rng(0)
    candidates = rng.permutation(_N_CANDIDATES)[:7]
    for name, scores in _example_scores(rng).items():
        _check_distribution(selection, scores, name)
        for n_queries in (1, len(candidates)):
            _check_picks(selection, scores, candidates, n_queries, name)
        _check_picks(selection, scores, candidates[:1], 1, "one candidate")


def _example_scores(rng: np.random.Generator) -> dict[str, Floats]:
    """Scores of candidates, by what is special about them."""
    scores = rng.gamma(1.0, size=_N_CANDIDATES)
    return {
        "positive scores": scores,
        "scores that are all 0": np.zeros(_N_CANDIDATES),
        "small scores": 1e-9 * scores,
        "great scores": 1e9 * scores,
        "scores of which some are 0": np.where(scores > 0.5, scores, 0.0),
        "scores with ties": scores.round(),
        "equal scores": np.ones(_N_CANDIDATES),
    }


def _check_distribution(selection: BaseSelection, scores: Floats, name: str) -> None:
    """Check the probabilities of candidates with these scores."""
    with unchanged(scores):
        proba = _checked_distribution(selection, scores, name)
        again = clone(selection).distribution(scores)
    require(np.array_equal(proba, again), "same scores must give same probabilities")
    if selection.has_query_proba:
        possible = (proba[scores > 0] > 0).all()
        require(
            possible,
            "has_query_proba is True, so each candidate with a positive score needs a "
            f"positive probability, but some have 0 ({name})",
        )
    _checked_distribution(selection, scores[:1], "one candidate")


def _checked_distribution(
    selection: BaseSelection, scores: Floats, name: str
) -> Floats:
    """Probabilities of the right shape that sum to 1."""
    where, what = f" ({name})", "one per candidate, shape"
    proba = selection.distribution(scores)
    proba = checked(proba, scores.shape, "probabilities", what=what, where=where)
    require_close(proba.sum(), 1.0, f"probabilities must sum to 1{where}", rtol=0.0)
    return proba


def _check_picks(
    selection: BaseSelection,
    scores: Floats,
    candidates: Ints,
    n_queries: int,
    name: str,
) -> None:
    """Check the picks among candidates, and their probabilities."""
    with unchanged(scores, candidates):
        queries = [
            copy.pick(scores, candidates, n_queries, np.random.default_rng(1))
            for copy in (selection, clone(selection))
        ]
    query, again = queries
    require(
        np.array_equal(query.indices, again.indices),
        "the same random generator must give the same picks: draw from rng only",
    )
    left = candidates.tolist()
    require(len(query.indices) == n_queries, "pick must return n_queries rows")
    for index, proba in zip(query.indices.tolist(), query.proba, strict=True):
        require(index in left, "picks must be distinct candidates")
        distribution = _checked_distribution(selection, scores[left], name)
        expected = distribution[left.index(index)]
        require(expected > 0, f"picks must have a positive probability ({name})")
        _check_probability(selection, proba, expected, name)
        left.remove(index)


def _check_probability(
    selection: BaseSelection, proba: float, expected: float, name: str
) -> None:
    """Check the probability that came with a pick."""
    if not selection.has_query_proba:
        require(np.isnan(proba), "without has_query_proba probabilities must be NaN")
        return
    message = "the probability of a pick must be that of the distribution given the "
    require_close(proba, expected, f"{message}picks before ({name})", atol=0.0)


# Stopping rules.


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


def _example_estimates() -> dict[str, list]:
    """Estimates after each label, by what is special about them."""
    rng = np.random.default_rng(0)
    counts = np.arange(1, _N_LABELS + 1)
    values = 0.4 + 0.2 * rng.normal(size=_N_LABELS) / np.sqrt(counts)

    def after(counts: Ints, refusal: str = "", spread: float = 0.5) -> list:
        return [
            replace(
                Estimate.of_mean(
                    value=values[n - 1],
                    standard_error=spread / np.sqrt(n),
                    n_labels=int(n),
                    degrees_of_freedom=max(n - 1.0, 1.0),
                ),
                refusal=refusal,
            )
            for n in counts
        ]

    return {
        "with intervals": after(counts),
        "with intervals of width 0": after(counts, spread=0.0),
        "with labels in batches of 7": after(7 * ((counts - 1) // 7) + 1),
        "without a standard error": after(counts, spread=np.nan),
        "without intervals": after(counts, "No interval.", np.nan),
        "without intervals at first": after(counts[:25], "Too few labels.")
        + after(counts[25:]),
    }


def _check_reason(stop: BaseStop, estimates: list, name: str) -> None:
    """Check what a rule says of some estimates."""
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


# Surrogates.


_N_ROWS, _N_SAMPLES = 30, 50  # With labels, and in the pool.
_CLASSES = np.array(["ant", "bee", "cat"])  # No labelled row is a cat.


def check_surrogate(surrogate: Estimator, task: Task = "classification") -> None:
    """Check that an estimator or a BaseSurrogate can serve as surrogate.

    Its belief must be finite and non-negative, have a column for every class, give
    every class a positive probability, and be the same for the same seed.

    Parameters
    ----------
    surrogate : classifier, regressor or BaseSurrogate
        Unfitted.
    task : {"classification", "regression"}, default="classification"

    Raises
    ------
    AssertionError
        If the surrogate does not work; the message says why.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase.testing import check_surrogate
    >>> check_surrogate(GaussianNB())
    """
    X, y, X_pool, expert, loss = _example(task)
    surrogate = as_surrogate(surrogate, task, X)
    classes = _CLASSES if task == "classification" else None

    def fitted(n_acquired=0, expert=None):
        options = {"classes": classes, "expert": expert, "n_acquired": n_acquired}
        return clone(surrogate).fit(X, y, seed=1, **options)

    with unchanged(X, y, X_pool, expert):
        out_of_fold = np.resize(expert, (_N_ROWS, *expert.shape[1:]))
        with_expert = fitted(10, out_of_fold).belief(X_pool, loss, expert)
        _check_belief(with_expert, loss)
        belief = fitted().belief(X_pool, loss)
        again = fitted().belief(X_pool, loss)
    _check_belief(belief, loss)
    same = np.array_equal(belief.expected_loss(loss), again.expected_loss(loss))
    require(same, "same seed must give the same belief")
    if surrogate.gives_members:
        kept = fitted().belief(X_pool, loss, keep_member_loss=True).member_loss
        require(
            kept is not None and kept.shape[1:] == (_N_SAMPLES,),
            "gives_members is True, so keep_member_loss=True must give member_loss",
        )


def _example(task: Task) -> tuple[Any, ...]:
    """Labelled rows, a pool, the model's predictions for it, and their loss."""
    rng = np.random.default_rng(0)
    X, X_pool = rng.normal(size=(_N_ROWS, 3)), rng.normal(size=(_N_SAMPLES, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=_N_ROWS)
    if task == "regression":
        expert = X_pool[:, 0].copy()
        return X, y, X_pool, expert, SquaredError().build(expert)
    expert = np.tile([0.5, 0.5, 0.0], (_N_SAMPLES, 1))
    labels = np.where(y > 0, "bee", "ant")
    return X, labels, X_pool, expert, LogLoss().build(expert, _CLASSES)


def _check_belief(belief: Any, loss: Any) -> None:
    """Check what a surrogate says of each row."""
    for array in (
        belief.expected_loss(loss),
        belief.loss_variance(loss),
        belief.disagreement(),
        belief.weighted_disagreement(loss),
    ):
        checked(array, (_N_SAMPLES,), "beliefs", what="one number per sample, shape")
    if hasattr(belief, "proba"):
        shape = (_N_SAMPLES, len(_CLASSES))
        require(belief.proba.shape == shape, "every class must have a column")
        require(np.allclose(belief.proba.sum(axis=1), 1), "rows must sum to 1")
        possible = (belief.proba[:, 2] > 0).all()
        require(possible, "a class without a row must have a positive probability")
