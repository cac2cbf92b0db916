"""Questions about a pool that is read in chunks: the pool is read again for them."""

from dataclasses import replace

from sklearn_ase._evaluation._epochs import replayed_epochs
from sklearn_ase._pool._keeps import Keeps
from sklearn_ase._pool._responses import ReadResponse
from sklearn_ase._utils._progress import say


class Rereading:
    """What the pool was read again for, kept until the surrogate learns."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Let go what was read."""
        self._of = self._keeps = self._belief = self._epochs = self._labels = None
        self._n_picks = 0

    def known_for(self, evaluation, metrics, with_epochs):
        """State of the pool and epochs with what some metrics need of the belief.

        Parameters
        ----------
        evaluation : Evaluation
        metrics : sequence of PoolMetric or PoolRanking
            All of them are served by the same passes.
        with_epochs : bool
            Whether beliefs of the past are needed.

        Returns
        -------
        state : PoolState
        epochs : list of Epoch
        """
        state, keeps = evaluation.state, Keeps.of(metrics, evaluation.classes_)
        if state.belief is None:
            return state, []
        kept = state.belief.asked
        if kept is not None and kept.keeps.covers(keeps):  # As for what is reported.
            epochs = evaluation.epochs if with_epochs else []
            return replace(state, belief=kept), epochs
        # Rows were picked for what is reported: that decides how likely each was.
        keeps = keeps.plus(None if kept is None else kept.keeps)
        if self._of is not state.belief or not self._keeps.covers(keeps):
            self.forget()
            self._of, self._keeps = state.belief, keeps
        problem = _keeping(evaluation.problem, self._keeps)
        verbose = problem.pool.parts.verbose
        if self._belief is None:
            say("The pool is read again, for what is believed of it now.", verbose)
            plan = evaluation.plan
            given = plan.surrogate, evaluation.classes_, plan.acquisition
            self._belief = problem.pool.belief(*given).asked
        if with_epochs and not self._holds(evaluation):
            say(
                "The pool is read again for each fit of the surrogate so far, for what "
                "was believed of it before the labels.",
                verbose,
            )
            self._n_picks = len(evaluation.ledger.indices)
            self._epochs = replayed_epochs(evaluation, self._n_picks, problem)
            self._labels = self._labels_of(evaluation.ledger)
        return replace(state, belief=self._belief), self._epochs or []

    def _holds(self, evaluation):
        """Whether the epochs are those that would be made now, for all picks so far."""
        ledger = evaluation.ledger
        if self._epochs is None or self._labels != self._labels_of(ledger):
            return False
        # A belief that no row had been picked by is needed once one has.
        has_last_fit = self._epochs and len(self._labels) >= evaluation.n_learned
        return has_last_fit or len(ledger.indices) == self._n_picks

    def _labels_of(self, ledger):
        """Labels of the rows that were picked before the last epoch."""
        before = ledger.indices[: self._epochs[-1].start if self._epochs else 0]
        return {row: ledger.labels[row] for row in before if row in ledger.labels}


def _keeping(problem, keeps):
    """The problem with a pool whose passes keep more."""
    asking = problem.pool.predictions.asking
    responses = ReadResponse.of_pool(problem, asking, keeps.classes)
    pool = problem.pool.keeping(lambda: (keeps, responses))
    return replace(problem, pool=pool)
