"""Questions about a pool that is read in chunks: the pool is read again for them."""

from dataclasses import replace

from sklearn_ase._evaluation._epochs import replayed_epochs
from sklearn_ase._pool._keeps import Keeps
from sklearn_ase._pool._responses import ReadResponse
from sklearn_ase._utils._progress import say


class Rereading:
    """What the pool was read again for, kept until the labels change."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Let go what was read."""
        self._moment = self._keeps = self._belief = self._epochs = None

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
        if self._moment is not state or not self._keeps.covers(keeps):
            self.forget()
            self._moment, self._keeps = state, keeps
        problem = _keeping(evaluation.problem, self._keeps)
        verbose = problem.pool.parts.verbose
        if self._belief is None:
            say("The pool is read again, for what is believed of it now.", verbose)
            plan = evaluation.plan
            given = plan.surrogate, evaluation.classes_, plan.acquisition
            self._belief = problem.pool.belief(*given).asked
        if with_epochs and self._epochs is None:
            say(
                "The pool is read again for each fit of the surrogate so far, for what "
                "was believed of it before the labels.",
                verbose,
            )
            n_picks = len(evaluation.ledger.indices)
            self._epochs = replayed_epochs(evaluation, n_picks, problem)
        return replace(state, belief=self._belief), self._epochs or []


def _keeping(problem, keeps):
    """The problem with a pool whose passes keep more."""
    asking = problem.pool.predictions.asking
    responses = ReadResponse.of_pool(problem, asking, keeps.classes)
    pool = problem.pool.keeping(lambda: (keeps, responses))
    return replace(problem, pool=pool)
