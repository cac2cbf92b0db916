"""Earlier beliefs, for questions that are asked later.

For each pick, the corrected estimate of a quantity needs the belief of a surrogate that
had not seen the label of this pick or a later one. So beliefs are kept during the
evaluation: at each fit of the surrogate, and when the number of labels has grown by a
fifth. If the evaluation was resumed, they are computed again.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from sklearn_ase._evaluation._learning import learn, learn_more, not_yet_learned
from sklearn_ase._evaluation._scoring import score_pool
from sklearn_ase._inference._epochs import BeliefColumns, Epoch
from sklearn_ase._pool._kept import KeptBelief

# Between fits of the surrogate a belief is kept when the labels have grown by this
# factor, and by one.
_GROWTH = 1.2
# Bytes that all kept beliefs may take. After that the last one is used for all picks.
_MOST_BYTES = 2**28


class EpochKeeper:
    """Keeps beliefs while rows are picked.

    Attributes
    ----------
    epochs : list of Epoch
    begins_at : int
        Number of picks for which nothing was kept.
    is_full : bool
        Whether the next belief would take too much memory.
    """

    def __init__(self, begins_at=0):
        self.epochs = []
        self.begins_at = begins_at
        self.is_full = False
        self._fit = self._belief = None
        self._n_labels = 0

    def is_due(self, learned, n_labels):
        """Whether the belief is to be kept before the next pick."""
        if learned.belief is None or learned.belief is self._belief:
            return False
        if learned.fit is not self._fit or not self.epochs:
            return True
        return self.has_grown(n_labels)

    def has_grown(self, n_labels):
        """Whether there are many more labels than for the last belief."""
        return n_labels >= _GROWTH * self._n_labels + 1

    def keep(self, learned, n_picks, n_labels, query_proba):
        """Keep the belief for the next picks.

        Parameters
        ----------
        learned : Learned
        n_picks, n_labels : int
            Picks and labels so far.
        query_proba : ndarray of shape (n_samples,)
            Probability of each row to be the next pick.
        """
        if isinstance(learned.belief, KeptBelief):
            columns = learned.belief.asked.of_epoch()
        else:
            columns = BeliefColumns.of(learned.belief, learned.classes)
        size = columns.nbytes + 4 * len(query_proba)
        self.is_full = size * (len(self.epochs) + 1) > _MOST_BYTES
        if self.epochs and self.is_full:
            return
        self._fit, self._belief = learned.fit, learned.belief
        self._n_labels = n_labels
        proba = query_proba.astype(np.float32)
        self.epochs.append(Epoch(n_picks, columns, proba))


def next_proba(plan, scores, free):
    """Probability of each row of the pool to be the next pick.

    Parameters
    ----------
    plan : Plan
        Whose selection has probabilities.
    scores : ndarray of shape (n_samples,)
    free : ndarray of shape (n_samples,), dtype bool

    Returns
    -------
    query_proba : ndarray of shape (n_samples,)
        0 for rows that are not free.
    """
    proba = np.zeros(len(scores))
    proba[free] = plan.selection.distribution(scores[free])
    return proba


def replayed_epochs(evaluation, n_picks, problem=None):
    """Make the beliefs for the first picks again, from the labels before each.

    Labels count in the order of the picks. If they came in another order, or were
    corrected, the beliefs differ from the first ones. They are equally valid, because
    each uses only labels of earlier picks.

    Parameters
    ----------
    evaluation : Evaluation
    n_picks : int
    problem : Problem, default=None
        That of the evaluation. If its pool is read in chunks, one whose passes keep
        what is asked for.

    Returns
    -------
    epochs : list of Epoch
    """
    problem = evaluation.problem if problem is None else problem
    ledger = evaluation.ledger
    # A copy, so that the surrogate of the evaluation stays as it was fitted last.
    plan = replace(evaluation.plan, surrogate=copy(evaluation.plan.surrogate))
    keeper, refits, n_fitted, learned = EpochKeeper(), set(ledger.refits), None, None
    labels = {}
    for place in range(n_picks):
        n_labels = len(labels)
        is_fit = n_fitted is None or (n_labels in refits and n_labels > n_fitted)
        if is_fit:
            known = ledger.known | labels
            learned = None  # A pass over the pool needs its memory.
            before = not_yet_learned(problem, list(known.values()))
            learned = learn(problem, plan, before, known, evaluation.seed)
            n_fitted = n_labels if learned.belief is not None else None
        elif keeper.has_grown(n_labels) and plan.can_update:
            new = dict(list(labels.items())[n_fitted:])
            new = {row: y for row, y in new.items() if row not in ledger.known}
            if new:
                if problem.pool is not None:
                    learned = learned.forgotten()
                learned = learn_more(problem, plan, learned, new)
        if keeper.is_due(learned, n_labels):
            state = _past_state(evaluation.state, learned, place)
            view = evaluation.view(state, keeper.epochs, learned.classes)
            if problem.pool is not None and plan.metric is None:
                scores = problem.pool.score_all(plan, view, problem.cost)
            else:
                scores = score_pool(plan, view, problem.cost).values
            keeper.keep(learned, place, n_labels, next_proba(plan, scores, state.free))
            if keeper.is_full:
                break
        row = ledger.indices[place]
        if row in ledger.labels:
            labels[row] = ledger.labels[row]
    return keeper.epochs


def _past_state(state, learned, n_picks):
    """The state of the pool after the first picks, with the belief of that time."""
    picks = state.picks.take(slice(n_picks))
    return replace(
        state,
        loss=learned.loss,
        belief=learned.belief,
        expected_loss=learned.expected_loss,
        picks=picks,
        labels=state.labels[: picks.n_labels],
        is_calibrated=learned.is_calibrated,
        training_gap=learned.training_gap,
    )
