"""The contract of selections."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from sklearn_ase.selection import BaseSelection
from sklearn_ase.testing._require import check_object, require, unchanged

_N_SAMPLES = 12


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
    candidates = rng.permutation(_N_SAMPLES)[:7]
    for name, scores in _example_scores(rng).items():
        _check_distribution(selection, scores, name)
        for n_queries in (1, len(candidates)):
            _check_picks(selection, scores, candidates, n_queries, name)
        _check_picks(selection, scores, candidates[:1], 1, "one candidate")


def _example_scores(rng):
    scores = rng.gamma(1.0, size=_N_SAMPLES)
    return {
        "positive scores": scores,
        "scores that are all 0": np.zeros(_N_SAMPLES),
        "small scores": 1e-9 * scores,
        "great scores": 1e9 * scores,
        "scores of which some are 0": np.where(scores > 0.5, scores, 0.0),
        "scores with ties": scores.round(),
        "equal scores": np.ones(_N_SAMPLES),
    }


def _check_distribution(selection, scores, name):
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


def _checked_distribution(selection, scores, name):
    proba = np.asarray(selection.distribution(scores))
    require(
        proba.shape == scores.shape,
        f"a distribution must have one probability per candidate, shape "
        f"{scores.shape}, but has shape {proba.shape} ({name})",
    )
    valid = np.isfinite(proba).all() and (proba >= 0).all()
    require(valid, f"probabilities must be finite and non-negative ({name})")
    sums = np.isclose(proba.sum(), 1.0, rtol=0, atol=1e-9)
    require(sums, f"probabilities must sum to 1, not {proba.sum()} ({name})")
    return proba


def _check_picks(selection, scores, candidates, n_queries, name):
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


def _check_probability(selection, proba, expected, name):
    if not selection.has_query_proba:
        require(np.isnan(proba), "without has_query_proba probabilities must be NaN")
        return
    require(
        np.isclose(proba, expected, rtol=1e-9, atol=0),
        f"the probability of a pick must be that of the distribution given the picks "
        f"before, {expected:.3g}, not {proba:.3g} ({name})",
    )
