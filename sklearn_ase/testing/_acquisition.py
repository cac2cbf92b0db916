"""The contract of acquisitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._typing import Task
from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.testing._require import TASKS, check_object, require
from sklearn_ase.testing._states import make_state


def check_acquisition(
    acquisition: BaseAcquisition, tasks: Sequence[Task] = TASKS
) -> None:
    """Check that an object can serve as acquisition.

    Scores must be one finite number >= 0 per sample. They must be the same for the same
    state. Unless `follows_labels` is True they must not depend on the labels.

    Parameters
    ----------
    acquisition : BaseAcquisition
    tasks : sequence of {"classification", "regression"}
        The tasks it is made for.

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
    check_object(acquisition, BaseAcquisition)
    for task in tasks:
        for n_samples, n_labels in ((40, 12), (40, 0), (1, 0)):
            state = make_state(task, n_samples, n_labels)
            scores = _checked_scores(acquisition, state)
            even = not acquisition.is_uniform or np.ptp(scores) == 0
            require(even, "scores must be equal where is_uniform says so")
            again = clone(acquisition).score_samples(state)
            require(np.array_equal(scores, again), "same state must give same scores")
        if not acquisition.follows_labels:
            _check_no_stale_scores(acquisition, task)


def _checked_scores(acquisition, state):
    scores = np.asarray(acquisition.score_samples(state))
    require(scores.shape == (state.n_samples,), "scores must be one per sample")
    require(np.isfinite(scores).all(), "scores must be finite")
    require((scores >= 0).all(), "scores must be non-negative")
    return scores


def _check_no_stale_scores(acquisition, task):
    # make_state draws the belief before the labels: these states share the belief, but
    # neither the rows that were picked nor their labels.
    first, second = (make_state(task, 40, n_labels) for n_labels in (12, 15))
    scores = [_checked_scores(acquisition, state) for state in (first, second)]
    free = first.free & second.free  # Scores of other rows are never used.
    require(
        np.array_equal(scores[0][free], scores[1][free]),
        "scores change with the labels, but follows_labels is False, so they would be "
        "computed once per fit of the surrogate and then be out of date: set the class "
        "attribute follows_labels = True",
    )
