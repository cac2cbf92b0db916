"""The verbs of an evaluation that change labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._arrays import read_array
from sklearn_ase._data._label_checks import refuse_one_hot
from sklearn_ase._data._row_order import answers_for
from sklearn_ase._data._rows import check_index, check_indices
from sklearn_ase._evaluation._epochs import next_proba
from sklearn_ase._evaluation._picking import check_embedding
from sklearn_ase._evaluation._recorded import RecordedEvaluation, together
from sklearn_ase._evaluation._schedule import last_refit
from sklearn_ase._evaluation._scoring import score_pool
from sklearn_ase._pool._kept import KeptBelief, tables_needed
from sklearn_ase._state import Query
from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._typing import Label

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._labels._ledger import LabelLedger


class Labelling(RecordedEvaluation):
    """Evaluation whose rows can be asked for and answered."""

    def __init__(
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        super().__init__(problem, plan, ledger, seed)
        # An evaluation that was interrupted may have left known labels open.
        self._tell_known()

    def ask(self, n_queries: int = 1, *, embedding: ArrayLike | None = None) -> Query:
        """Pick samples to label next.

        Rows whose label was known beforehand may be picked, too. They are answered at
        once and left out of the returned query, which may then have fewer rows.
        (Picking others instead would make known labels rarer than the weights say.)

        Parameters
        ----------
        n_queries : int, default=1
            Picked one after the other, without replacement.
        embedding : array-like of shape (n_samples, n_dimensions), default=None
            Keep the rows of this batch apart in that space, from each other and from
            rows that are open. Only with a selection without probabilities
            (``ArgMax``); the others draw their batches with exact probabilities.

        Returns
        -------
        query : Query
        """
        n_free = self.state.n_free
        check_integer(n_queries, "n_queries", 1)
        if not 1 <= n_queries <= n_free:
            raise ValueError(
                f"ask({n_queries}) is not possible: n_queries must be between 1 and "
                f"{n_free}, the number of rows that have not been asked for, of "
                f"{self.n_samples} in the pool."
            )
        if embedding is not None:
            if self.problem.pool is not None:
                raise tables_needed("ask(embedding=...)")
            given = embedding, self.problem, self.plan.selection
            embedding = check_embedding(*given)
        if self._scores is None and self.is_fitted:
            view = self.state
            if self.plan.metric is not None:
                view = self.view(self.state, self.epochs, self.classes_)
            self._scores = self._score(view)
        # Rows that are picked for a metric are scored here, and not in parts.
        if self.problem.pool is not None and self.plan.metric is None:
            picks = self.problem.pool.pick(
                self.plan, self.state, self._scores, n_queries, self.seed
            )
        else:
            picks = self._picker.pick(
                self.plan,
                self.state,
                self._learned,
                self._scores,
                n_queries,
                self.seed,
                embedding,
            )
            self._keep_belief()
        self.ledger.ask(picks)
        self._tell_known()
        is_open = ~np.isin(picks.indices, list(self.ledger.known))
        return Query(picks.indices[is_open], picks.query_proba[is_open])

    def _score(self, state):
        """Score every row of the pool."""
        if self.problem.pool is not None and self.plan.metric is None:
            return self.problem.pool.scores(self.plan, state, self.problem.cost)
        given = self.plan, state, self.problem.cost, self._last_scores
        self._last_scores = score_pool(*given)
        return self._last_scores

    def _keep_belief(self):
        """Keep the belief for the next picks, if it has changed much."""
        n_labels, learned = len(self.ledger), self._learned
        if not self.plan.selection.has_query_proba:
            return  # Then no other quantity can be estimated.
        if isinstance(learned.belief, KeptBelief) and learned.belief.asked is None:
            return
        if self._keeper.is_due(learned, n_labels):
            proba = next_proba(self.plan, self._scores.values, self.state.free)
            self._keeper.keep(learned, len(self.ledger.indices), n_labels, proba)

    def tell(self, query: Query | ArrayLike, labels: ArrayLike) -> None:
        """Record the labels of samples that were asked for.

        Parameters
        ----------
        query : Query or array-like of int
            What :meth:`ask` returned, or some of its indices in any order.
        labels : array-like of shape (n_queries,) or (n_queries, n_answers)
            One label for each of them, or several answers where labels are noisy, in
            random order. The value of a row is then the mean over its answers. What is
            estimated is the mean over the pool of the expected answer (of its loss, or
            of its row values), and noise that several answers average out makes the
            interval narrower. Decide how many answers a row gets before you see any of
            them; :meth:`agreement` compares them. The surrogate learns
            from the first. None is recorded unless all can be. A label that is a known
            class but for case, or blanks around it, is refused.
        """
        indices, labels = check_indices(query), answers_for(query, labels)
        if not len(indices) and not np.size(labels):
            return
        labels, more_labels = self._check_answers(indices, labels)
        self._refuse_respelled(labels, more_labels)
        if len(more_labels):
            more = self.ledger.more_labels
            told = self.ledger.labels
            earlier = [[told[row], *more[row]] for row in more if row in told]
            answers = np.column_stack([labels, more_labels])
            refuse_one_hot(answers, self._learned.classes, earlier)
        self._record(indices, labels, more_labels)

    def _refuse_respelled(self, *labels):
        """Refuse answers that are a class in another spelling."""
        recorded = self.ledger.answers()
        self.problem.refuse_respelled(self._learned.classes, recorded, *labels)

    def _record(self, indices, labels, more_labels):
        """Record answers that were checked."""
        self.problem.warn_of_new(self._learned.classes, labels, more_labels)
        self.ledger.tell(indices, labels, more_labels)
        self._update(told=together(labels, more_labels))

    def correct(
        self, index: int | np.integer | ArrayLike, label: Label | ArrayLike
    ) -> None:
        """Replace the label of a row; what was recorded of its pick stays.

        Weighted estimates stay unbiased for the labels as they are now: the row was
        picked before its label, right or wrong, was seen.

        Parameters
        ----------
        index : int or array-like of int of shape (n_rows,)
            A row that has a label, or several of them.
        label : label or array-like of shape (n_answers,)
            For several rows as in :meth:`tell`: one label for each of them, or several
            answers. All of them are replaced, or none if one cannot be.
        """
        indices = check_indices(index, "index")
        if len(indices) == 1:
            answers = np.atleast_1d(read_array(label, "label"))[None]
        else:
            answers = answers_for(index, label)
        labels, more_labels = self._check_answers(indices, answers)
        rows = indices.tolist()
        if len(labels) != len(rows) or not 0 < len(rows) == len({*rows}):
            raise ValueError(
                f"index={shown(rows)} and {len(labels)} labels do not fit. Give rows "
                "that have a label, each once, and one label for each of them."
            )
        self._refuse_respelled(labels, more_labels)
        self.problem.warn_of_new(self._learned.classes, labels, more_labels)
        if len(rows) == 1:
            relearn = self.ledger.correct(*rows, *labels, *more_labels)
        else:
            more = more_labels if len(more_labels) else [()] * len(rows)
            with self.ledger.together():
                each = zip(rows, labels, more, strict=True)
                learned = [self.ledger.correct(*one) for one in each]
            relearn = any(learned)
        self._update(relearn=relearn)

    def withdraw(self, index: int | np.integer) -> None:
        """Take back the label of a row, or that it was skipped; it is open again.

        Weighted estimates use the labels before the first open row, until it is
        answered.

        Parameters
        ----------
        index : int
        """
        self._update(relearn=self.ledger.withdraw(check_index(index)))

    def skip(self, query: Query | ArrayLike) -> None:
        """Record that nobody can tell the labels of some rows.

        They are not asked for again. Weighted estimates then refer to the mean loss
        over the rows that can be labelled; they are no longer exactly unbiased. ASE
        still refers to the whole pool.

        Parameters
        ----------
        query : Query or array-like of int
            Open rows.
        """
        indices = check_indices(query)
        if len(indices):
            self.ledger.skip(indices)
            self._update()

    def refit(self) -> None:
        """Fit the surrogate to all labels so far, if they suffice for a fit."""
        if self._is_lost or self._n_learned < len(self.ledger):
            self._renew(learns_anew=True)

    def finish(self) -> None:
        """Refit after the last label, if sufficient labels came since the last fit."""
        if self.is_due(due_at=last_refit):
            self.refit()

    def _tell_known(self):
        """Answer open rows whose label was known beforehand."""
        known = self.ledger.known
        rows = [index for index in self.ledger.pending if index in known]
        if rows:
            labels = [known[index] for index in rows]
            self._record(rows, *self._check_answers(rows, labels))
