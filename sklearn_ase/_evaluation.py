"""One evaluation: ask for labels, tell them, estimate. The paper's Algorithm 1."""

from dataclasses import replace
from itertools import chain

import numpy as np

from sklearn_ase import _kernels
from sklearn_ase._diagnosis import diagnose
from sklearn_ase._evidence import has_evidence
from sklearn_ase._history import History
from sklearn_ase._html import html_table
from sklearn_ase._ledger import LabelLedger
from sklearn_ase._plan import check_risk, check_scores
from sklearn_ase._progress import progress
from sklearn_ase._rows import n_rows
from sklearn_ase._schedule import next_refit
from sklearn_ase._state import PoolState, Query
from sklearn_ase.selection import Proportional


class Evaluation:
    """Evaluation of one model on one pool, label by label.

    Made by :meth:`ActiveRiskEstimator.start`; ``fit`` is a loop over its methods.

    Attributes
    ----------
    task : Task
        The data and the model's predictions.
    ledger : LabelLedger
        Every query and label.
    surrogate : BaseSurrogate
        As of its last refit.
    classes_ : ndarray of shape (n_classes,) or None
        Labels known so far, sorted; None for regression.
    loss_ : LossTable or PointLoss
        Loss of the model at each sample of the pool, for each label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X[::5], y[::5]))
    >>> evaluation = ActiveRiskEstimator(model, random_state=0).start(
    ...     X, X_train=X[::5], y_train=y[::5])
    >>> query = evaluation.ask(3)
    >>> evaluation.tell(query, y[query.indices])
    >>> evaluation.estimate().n_labels
    3
    """

    def __init__(
        self, task, surrogate, acquisition, selection, risk, refit, seed, ledger=None
    ):
        self.task = task
        self.surrogate = surrogate
        self.acquisition = acquisition
        self.selection = selection
        self.risk = risk
        self.refit_schedule = refit
        self.seed = seed
        self.ledger = LabelLedger() if ledger is None else ledger.copy()
        self.classes_ = None
        self.loss_ = None
        self._history = History()
        self._refitted_at = 0
        self._belief = self._scores = None
        self._expected_loss = self._loss_variance = None
        self._replay()

    def ask(self, n_queries=1):
        """Pick samples to label next.

        Parameters
        ----------
        n_queries : int, default=1
            Picked one after the other, without replacement.

        Returns
        -------
        query : Query
        """
        candidates = np.flatnonzero(self._free())
        if not 1 <= n_queries <= len(candidates):
            raise ValueError(
                f"ask({n_queries}) is not possible: {len(candidates)} of the "
                f"{self.n_samples} rows of the pool are free, the rest were asked for."
            )
        selection, scores = self.selection, self._current_scores()
        expected = self._expected_loss
        if scores is None:  # Before the first fit: a plain random sample.
            selection, scores = Proportional(), np.ones(self.n_samples)
            expected = np.zeros(self.n_samples)
        # Each query has its own stream, so a replayed evaluation picks the same rows.
        rng = np.random.default_rng([self.seed, len(self.ledger.indices)])
        query = selection.pick(scores, candidates, n_queries, rng)
        picked = expected[query.indices]
        picked_before = np.cumsum(picked) - picked
        free_expected = expected[candidates].sum() - picked_before
        moments = self._believed_moments(query, candidates, selection, scores)
        self.ledger.ask(query.indices, query.proba, picked, free_expected, *moments)
        return query

    def tell(self, query, labels):
        """Record the labels of samples that were asked for.

        Parameters
        ----------
        query : Query or array-like of int
            What :meth:`ask` returned, or some of its indices in any order.
        labels : array-like of shape (n_queries,) or (n_queries, n_answers)
            One label for each of them, or several where labels are noisy: the loss
            of a row is then the mean over its answers, and the surrogate learns
            from the first. None is recorded unless all can be.
        """
        indices = query.indices if isinstance(query, Query) else np.atleast_1d(query)
        self.ledger.tell(indices, *self.task.check_answers(labels))
        grown = self._update_classes()
        if self.acquisition.follows_labels:
            self._scores = None
        self._history.append(self.state, indices)
        refit = (grown or self._is_due()) and self._fit_surrogate()
        self._history.update(len(indices), self._estimate_if_possible(), refit)

    def estimate(self, risk=None):
        """Estimate the risk from the labels so far.

        Parameters
        ----------
        risk : risk, default=None
            Another estimate from the same labels; None means the configured one.

        Returns
        -------
        risk : RiskEstimate
        """
        if risk is None:
            risk = self.risk
        check_risk(risk)
        state = self.state
        found = risk.estimate(state)
        n_waiting = state.n_labels - state.n_in_order
        if risk.needs_query_proba and found.refusal and n_waiting:
            waiting = (
                f" {n_waiting} labels wait behind the open query of row "
                f"{self.ledger.pending[0]}."
            )
            found = replace(found, refusal=found.refusal + waiting)
        return found

    def expected_loss(self, X, predictions):
        """Loss the surrogate expects on another pool, ``g(x)``.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_rows, n_features)
        predictions : Predictions
            Of the model under test on these rows.

        Returns
        -------
        expected_loss : ndarray of shape (n_rows,)
        """
        if not self.is_fitted:
            raise ValueError(
                "The surrogate has not been fitted: there are too few labels. Label "
                "more rows or give X_train and y_train."
            )
        response = predictions.response_for(self.classes_)
        loss = self.task.loss.build(response, self.classes_)
        expert = predictions.expert_for(self.classes_)
        return self.surrogate.belief(X, loss, expert).expected_loss(loss)

    def diagnose(self):
        """Say whether the labels agree with the surrogate.

        Returns
        -------
        diagnosis : Diagnosis
            Print it, or look at its ``verdict``.
        """
        state = self.state
        if not self.can_diagnose:
            raise ValueError(
                "There is nothing to diagnose: that takes a fitted surrogate and a "
                "label for the first row that was asked for, all of them picked with a "
                f"probability ({state.n_labels} labels so far, selection="
                f"{type(self.selection).__name__}()). Answer the open queries, or use "
                "selection=Proportional() or Audited(...)."
            )
        counts = None
        if self.classes_ is not None:
            known = np.array(self._known_labels())
            if self.task.y_train is not None:
                known = np.concatenate([self.task.y_train, known])
            counts = np.array([np.sum(known == label) for label in self.classes_])
        return diagnose(state, counts)

    def refit(self):
        """Fit the surrogate to all labels so far, if they are enough for a fit."""
        if self._refitted_at < len(self.ledger) and self._fit_surrogate():
            self._history.update(1, self._estimate_if_possible(), refit=True)

    def run(self, oracle, n_labels, batch_size=1, verbose=0):
        """Ask and tell until there are enough labels, then refit the surrogate.

        Open queries are answered first, so that a run that was interrupted goes on.

        Parameters
        ----------
        oracle : callable
            ``oracle(indices)`` returns their labels.
        n_labels : int
            Labels in all, those there are already included.
        batch_size : int, default=1
        verbose : int, default=0
            Whether to show a progress bar with the running estimate.

        Returns
        -------
        self : object
        """
        with progress(n_labels, "labels", verbose) as show:
            while len(self.ledger) < n_labels:
                missing = n_labels - len(self.ledger)
                indices = self.pending.indices[:missing]
                if not len(indices):
                    indices = self.ask(min(batch_size, missing)).indices
                self.tell(indices, oracle(indices))
                show(len(self.ledger), f"risk {self._history.last_risk:.4g}")
            self.refit()
            show(len(self.ledger), f"risk {self._history.last_risk:.4g}")
        return self

    @property
    def n_samples(self):
        """Size of the pool."""
        return n_rows(self.task.X)

    @property
    def is_fitted(self):
        """Whether the surrogate has been fitted."""
        return self._belief is not None

    @property
    def can_diagnose(self):
        """Whether there are labels that can judge the surrogate."""
        return has_evidence(self.state)

    @property
    def pending(self):
        """Query of the samples that were asked for and have no label yet."""
        proba = dict(zip(self.ledger.indices, self.ledger.query_proba, strict=True))
        indices = self.ledger.pending
        return Query(
            np.array(indices, dtype=int), np.array([proba[index] for index in indices])
        )

    @property
    def history(self):
        """Dict of arrays with one entry a label, in the order they were told."""
        return self._history.as_arrays()

    def _repr_html_(self):
        rows = {
            "labels": f"{len(self.ledger)} of a pool of {self.n_samples}",
            "open queries": len(self.ledger.pending),
        }
        estimate = self._estimate_if_possible()
        if estimate is not None:
            rows = {"estimate": type(self.risk).__name__} | estimate.describe() | rows
        if self.can_diagnose:
            diagnosis = self.diagnose()
            rows["verdict"] = f"{diagnosis.verdict}. {diagnosis.advice}"
        last = list(self.ledger.labels.items())[-5:]
        rows["last labels"] = ", ".join(f"row {i}: {label}" for i, label in last)
        return html_table("Evaluation", rows.items())

    def intervals(self, level=0.9, method="fixed"):
        """Interval of the estimate after each label.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`RiskEstimate.interval`.

        Returns
        -------
        low, high : ndarrays of shape (n_labels,)
            Infinite where none could be given.
        """
        return self._history.intervals(level, method)

    @property
    def state(self):
        """All that is known about the pool now, as a :class:`PoolState`."""
        ledger = self.ledger
        places = [m for m, index in enumerate(ledger.indices) if index in ledger.labels]
        indices = np.array(ledger.indices, dtype=int)[places]
        labels = np.array([ledger.labels[index] for index in indices.tolist()])
        return PoolState(
            loss=self.loss_,
            belief=self._belief,
            expected_loss=self._expected_loss,
            free=self._free(),
            indices=indices,
            labels=labels,
            losses=self._observed_losses(indices, labels) if places else np.empty(0),
            query_proba=np.array(ledger.query_proba)[places],
            query_expected_loss=np.array(ledger.expected_loss)[places],
            free_expected_loss=np.array(ledger.free_expected_loss)[places],
            residual_moment=np.array(ledger.residual_moment)[places],
            loss_moment=np.array(ledger.loss_moment)[places],
            n_in_order=int(np.sum(np.array(places) == np.arange(len(places)))),
        )

    def _observed_losses(self, indices, labels):
        """Loss at each labelled row, the mean over its answers."""
        losses = np.array(self.loss_.observed(indices, labels))
        for place, index in enumerate(indices.tolist()):
            more = self.ledger.more_labels.get(index)
            if more:
                rows = np.full(len(more), index)
                others = self.loss_.observed(rows, np.array(more))
                losses[place] = (losses[place] + others.sum()) / (len(more) + 1)
        return losses

    def _fit_surrogate(self, n_labels=None):
        """Fit the surrogate to the first labels and renew the belief about the pool.

        Returns whether it was fitted: a frozen one is not, nor one without rows.
        """
        indices = list(self.ledger.labels)[:n_labels]
        self._refitted_at = len(indices)
        if indices and self._refitted_at not in self.ledger.refits:
            self.ledger.refits.append(self._refitted_at)
        task, surrogate = self.task, self.surrogate
        if surrogate.is_constant:
            if self.is_fitted:
                return False
            indices = []  # It learns nothing during the evaluation.
        if not surrogate.can_fit(task.n_training + len(indices)):
            return False
        labels = [self.ledger.labels[index] for index in indices]
        X, y, expert = task.labelled_rows(indices, labels, self.classes_)
        surrogate.fit(
            X,
            y,
            classes=self.classes_,
            expert=expert,
            known=task.predictions.known(self.classes_),
            n_acquired=len(indices),
            seed=int(
                np.random.default_rng([self.seed, len(indices), 1]).integers(2**31)
            ),
        )
        self._belief = surrogate.belief(
            task.X,
            self.loss_,
            task.predictions.expert_for(self.classes_),
            keep_member_loss=self.acquisition.needs_member_loss,
        )
        self._expected_loss = self._belief.expected_loss(self.loss_)
        self._loss_variance = self._belief.loss_variance(self.loss_)
        self._scores = None
        return not surrogate.is_constant

    def _update_classes(self):
        """Take up labels not met before; the belief does not know their columns."""
        classes = self.task.classes_with(self._known_labels())
        if self.loss_ is not None and np.array_equal(classes, self.classes_):
            return False
        self.classes_ = classes
        self.loss_ = self.task.loss_for(classes)
        self._belief = self._scores = None
        self._expected_loss = self._loss_variance = None
        return True

    def _known_labels(self):
        """Every answer so far."""
        ledger = self.ledger
        return [*ledger.labels.values(), *chain(*ledger.more_labels.values())]

    def _replay(self):
        """Stand where the evaluation that wrote the ledger stood."""
        self.task.check_labels(self._known_labels())
        self._update_classes()
        self._fit_surrogate(self.ledger.refits[-1] if self.ledger.refits else 0)
        if self._is_due():
            self._fit_surrogate()
        # Past estimates are not known any more, but for the one after the last label.
        self._history.append(self.state, self.ledger.labels)
        self._history.update(1, self._estimate_if_possible(), refit=self.is_fitted)

    def _is_due(self):
        due = next_refit(self.refit_schedule, self._refitted_at)
        return due is not None and len(self.ledger) >= due

    def _estimate_if_possible(self):
        state, risk = self.state, self.risk
        if risk.needs_belief and state.belief is None:
            return None
        if risk.needs_query_proba and state.n_in_order == 0:
            return None
        return risk.estimate(state)

    def _current_scores(self):
        """Scores of the pool; kept as long as nothing changes that they depend on."""
        if self.is_fitted and self._scores is None:
            scores = self.acquisition.score_samples(self.state)
            self._scores = check_scores(scores, self.n_samples, self.acquisition)
        return self._scores

    def _believed_moments(self, query, candidates, selection, scores):
        """What each pick and label was expected to show; see the kernel."""
        moments = np.full((2, len(query)), np.nan)
        if selection.has_query_proba and self.is_fitted:
            expected, variance = self._expected_loss, self._loss_variance
            for k, index in enumerate(query.indices):
                proba = selection.distribution(scores[candidates])
                moments[:, k] = _kernels.believed_moments(
                    proba, expected[candidates], variance[candidates]
                )
                candidates = candidates[candidates != index]
        return moments

    def _free(self):
        free = np.ones(self.n_samples, dtype=bool)
        free[self.ledger.indices] = False
        return free
