"""One evaluation: ask for labels, tell them, estimate. The paper's Algorithm 1."""

from dataclasses import replace
from numbers import Integral

import numpy as np

from sklearn_ase._annotation._export import export_rows
from sklearn_ase._annotation._import import import_answers
from sklearn_ase._data._rows import check_index, check_indices, label_array, n_rows
from sklearn_ase._evaluation._diagnosis import diagnose
from sklearn_ase._evaluation._forecast import labels_needed
from sklearn_ase._evaluation._history import (
    history,
    last_risk,
    note_estimate,
    past_estimates,
    past_intervals,
)
from sklearn_ase._evaluation._learning import Learner
from sklearn_ase._evaluation._picking import Picker
from sklearn_ase._evaluation._plan import check_embedding, check_risk, check_stop
from sklearn_ase._evaluation._schedule import next_refit
from sklearn_ase._evaluation._snapshot import pool_state
from sklearn_ase._inference._evidence import can_judge, design_of
from sklearn_ase._state import Query
from sklearn_ase._utils._html import html_table
from sklearn_ase._utils._progress import progress
from sklearn_ase.risk import GuardedASE


class Evaluation:
    """Evaluation of one model on one pool, label by label.

    Made by :meth:`ActiveRiskEstimator.start`; ``fit`` is a loop over its methods.

    Attributes
    ----------
    task : Task
        The data and the model's predictions.
    ledger : LabelLedger
        Every query and label; a :class:`Journal` if it is kept in a file.
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
        self, task, surrogate, acquisition, selection, risk, refit, seed, ledger
    ):
        self.task = task
        self.acquisition = acquisition
        self.selection = selection
        self.risk = risk
        self.refit_schedule = refit
        self.seed = seed
        self.ledger = ledger
        self._learner = Learner(task, surrogate, acquisition.needs_member_loss, seed)
        self._refitted_at = 0
        self._picker = Picker(acquisition, selection, self._learner, task.cost, seed)
        self._n_planned = None
        self._replay()

    def ask(self, n_queries=1, *, embedding=None):
        """Pick samples to label next.

        Rows whose label was known beforehand may be picked too. They are answered at
        once and left out of what is returned, so there may be fewer rows in it. (To
        pick others in their place would make known labels rarer than the weights say.)

        Parameters
        ----------
        n_queries : int, default=1
            Picked one after the other, without replacement.
        embedding : array-like of shape (n_samples, n_dimensions), default=None
            Keep the rows of this batch apart in that space, from each other and from
            rows that are open. Only with a selection without probabilities
            (``ArgMax``); the others draw their batches with exact probabilities as
            they are.

        Returns
        -------
        query : Query
        """
        n_free = int(self._free().sum())
        if not isinstance(n_queries, Integral):
            raise ValueError(f"ask({n_queries!r}) is not possible: give an integer.")
        if not 1 <= n_queries <= n_free:
            raise ValueError(
                f"ask({n_queries}) is not possible: {n_free} of the "
                f"{self.n_samples} rows of the pool are free, the rest were asked for."
            )
        if embedding is not None:
            embedding = check_embedding(embedding, self.n_samples, self.selection)
        query, prospects = self._picker.pick(
            self.state, n_queries, embedding, self.ledger.pending
        )
        self.ledger.ask(query.indices, query.proba, *prospects)
        self._tell_known()
        is_open = ~np.isin(query.indices, list(self.ledger.known))
        return Query(query.indices[is_open], query.proba[is_open])

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
        indices = check_indices(query)
        if len(indices) or np.size(labels):
            self._tell(indices, labels)

    def _tell(self, indices, labels):
        labels, more_labels = self._check_answers(indices, labels)
        self.task.warn_of_new(self.classes_, labels, more_labels)
        self.ledger.tell(indices, labels, more_labels)
        self._take_up()

    def correct(self, index, label):
        """Replace the label of a row; what was recorded of its pick stays.

        Weighted estimates stay unbiased for the labels as they are now: how a row was
        picked was settled before its label, right or wrong, was seen.

        Parameters
        ----------
        index : int
            A row that has a label.
        label : label or array-like of shape (n_answers,)
        """
        index = check_index(index)
        answers = np.atleast_1d(label_array(label))[None]
        labels, more_labels = self._check_answers([index], answers)
        self.task.warn_of_new(self.classes_, labels, more_labels)
        relearn = self.ledger.correct(index, *labels, *more_labels)
        self._take_up(relearn=relearn)

    def withdraw(self, index):
        """Take back the label of a row, or that it was skipped; it is open again.

        Weighted estimates use the labels before the first open row, until it is
        answered.

        Parameters
        ----------
        index : int
        """
        self._take_up(relearn=self.ledger.withdraw(check_index(index)))

    def skip(self, query):
        """Record that nobody can tell the labels of some rows.

        They are not asked for again. Weighted estimates are then of the mean loss
        over the rows that can be labelled; they are no longer exactly unbiased. ASE
        keeps to the whole pool.

        Parameters
        ----------
        query : Query or array-like of int
            Open rows.
        """
        indices = check_indices(query)
        if len(indices):
            self.ledger.skip(indices)
            self._take_up()

    def export(self, query, path, *, predictions=None, overwrite=False):
        """Write rows to a file for those who label them.

        Parameters
        ----------
        query : Query or array-like of int
        path : str or path
            ``.csv`` for a table with an empty column ``label``, ``.json`` for tasks
            of Label Studio.
        predictions : array-like of shape (n_samples,), default=None
            Shown beside each row; they may sway those who see them.
        overwrite : bool, default=False
            Whether to replace a file of that name, and the answers in it.
        """
        rows = check_indices(query)
        export_rows(self.task.X, rows, path, predictions, overwrite)

    def import_answers(self, path, *, correct=False, skip=None):
        """Read answers from a file that :meth:`export` wrote and somebody filled in.

        Rows may be in any order, other columns are ignored and empty cells wait. What
        is known already is passed over, so a file may be read again and again.

        Parameters
        ----------
        path : str or path
            ``.csv``, or ``.json`` as Label Studio exports annotations.
        correct : bool, default=False
            Whether labels that differ from known ones replace them. They are an error
            otherwise.
        skip : str, default=None
            Answer that stands for "cannot tell".

        Returns
        -------
        n_labels : int
            Number of new labels.
        """
        return import_answers(self, path, correct, skip)

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
        if not _allows(risk, state):
            raise ValueError(
                f"{type(risk).__name__} weighs labels by their picks, but "
                f"{len(self.ledger.skipped)} rows were picked and skipped, and it does "
                "not say that it can do without (allows_skips). Use GuardedASE(), "
                "CorrectedASE() or LURE()."
            )
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
                "selection=Proportional() or UniformMixed(...)."
            )
        counts = None
        if self.classes_ is not None:
            known = np.array(self.ledger.answers())
            if self.task.y_train is not None:
                known = np.concatenate([self.task.y_train, known])
            counts = np.array([np.sum(known == label) for label in self.classes_])
        return diagnose(state, counts)

    def labels_needed(self, width, level=0.9, method="fixed"):
        """Forecast how many more labels an interval of some width takes.

        Parameters
        ----------
        width : float
            Of the interval, from end to end.
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`RiskEstimate.interval`.

        Returns
        -------
        forecast : LabelForecast
            ``int(forecast)`` more labels; ``forecast.basis`` says what it rests on.
        """
        if not self.risk.needs_query_proba:
            raise ValueError(
                f"{type(self.risk).__name__} has no interval that more labels would "
                "narrow. Use risk=GuardedASE() or CorrectedASE()."
            )
        return labels_needed(self.state, self.estimate(), width, level, method)

    def stop_reason(self, stop):
        """Say why no more labels are needed, if a stopping rule finds so.

        Parameters
        ----------
        stop : stopping rule
            Of :mod:`sklearn_ase.stopping`.

        Returns
        -------
        reason : str
            Empty to go on.
        """
        check_stop(stop, self.risk)
        return stop.reason(past_estimates(self.ledger))

    def refit(self):
        """Fit the surrogate to all labels so far, if they are enough for a fit."""
        if self._refitted_at < len(self.ledger) and self._fit_surrogate():
            self._note(refit=True)

    def run(
        self,
        oracle,
        n_labels,
        batch_size=1,
        verbose=0,
        *,
        stop=None,
        budget=np.inf,
        watch=None,
    ):
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
        stop : stopping rule, default=None
            Of :mod:`sklearn_ase.stopping`; asked after every batch.
        budget : float, default=inf
            Cost of all labels; the label that reaches it is the last.
        watch : object with ``begin()`` and ``end()``, default=None
            Called around every batch; what ``end`` returns, if anything, is a reason
            to stop.

        Returns
        -------
        reason : str
            Why it ended.
        """
        self._n_planned = n_labels
        reason = self._reason_to_stop(n_labels, stop, budget)
        with progress(n_labels, "labels", verbose) as show:

            def answers(indices):
                labels = oracle(indices)
                if self._is_due(len(indices)):
                    show(len(self.ledger), "refitting the surrogate")
                return labels

            while not reason:
                reason = self._buy(answers, n_labels, batch_size, budget, watch)
                reason = reason or self._reason_to_stop(n_labels, stop, budget)
                show(len(self.ledger), f"risk {last_risk(self.ledger):.4g}")
            show(len(self.ledger), "refitting the surrogate")
            self.refit()
            show(len(self.ledger), f"risk {last_risk(self.ledger):.4g}")
        return reason

    def _buy(self, oracle, n_labels, batch_size, budget, watch):
        """Buy one batch of labels; returns a reason to stop, if `watch` has one."""
        if watch is not None:
            watch.begin()
        missing = n_labels - len(self.ledger)
        indices = self.pending.indices[:missing]
        if not len(indices):
            n_free = int(self._free().sum())
            indices = self.ask(min(batch_size, missing, n_free)).indices
        # Rows are paid for as long as the ones before leave something of the budget.
        cost_before = np.cumsum([0.0, *self.task.cost_of(indices)])[:-1]
        indices = indices[self.spent + cost_before < budget]
        if len(indices):
            self.tell(indices, oracle(indices))
        return watch.end() if watch is not None else ""

    def close(self):
        """Let go of the journal, so that it can be opened elsewhere."""
        if hasattr(self.ledger, "close"):
            self.ledger.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def n_samples(self):
        """Size of the pool."""
        return n_rows(self.task.X)

    @property
    def is_fitted(self):
        """Whether the surrogate has been fitted."""
        return self._learner.belief is not None

    @property
    def surrogate(self):
        """The surrogate, as of its last refit."""
        return self._learner.surrogate

    @property
    def classes_(self):
        """Labels known so far, sorted; None for regression."""
        return self._learner.classes

    @property
    def loss_(self):
        """Loss of the model at each sample of the pool, for each label."""
        return self._learner.loss

    @property
    def can_diagnose(self):
        """Whether there are labels that can judge the surrogate."""
        return can_judge(self.state)

    @property
    def pending(self):
        """Query of the samples that were asked for and have no label yet."""
        proba = dict(zip(self.ledger.indices, self.ledger.query_proba, strict=True))
        indices = self.ledger.pending
        return Query(
            np.array(indices, dtype=int), np.array([proba[index] for index in indices])
        )

    @property
    def spent(self):
        """Cost of the rows that were answered or skipped; known labels are free."""
        rows = [*self.ledger.labels, *self.ledger.skipped]
        paid = [index for index in rows if index not in self.ledger.known]
        return float(self.task.cost_of(paid).sum())

    @property
    def history(self):
        """Dict of arrays with one entry a label, in the order they were told."""
        return history(self.ledger, self.state)

    def __repr__(self):
        n_open, risk = len(self.ledger.pending), last_risk(self.ledger)
        parts = [self._how_far()]
        parts += [f"{n_open} open"] * (n_open > 0)
        parts += [f"risk {risk:.4g}"] * bool(np.isfinite(risk))
        return f"<Evaluation: {', '.join(parts)}>"

    def _repr_html_(self):
        name, estimate = type(self.risk).__name__, self._estimate_if_possible()
        if estimate is None and self.is_fitted and not len(self.ledger):
            name = "zero-shot, by the surrogate alone"
            estimate = GuardedASE().estimate(self.state)
        rows = {"estimate": name} | estimate.describe() if estimate is not None else {}
        rows["labels"] = self._how_far()
        if self.can_diagnose:
            diagnosis = self.diagnose()
            rows["verdict"] = f"{diagnosis.verdict}. {diagnosis.advice}"
        rows["open queries"] = len(self.ledger.pending) or ""
        last = [f"row {row}: {self._answer(row)}" for row in self.ledger.indices[-5:]]
        rows["last queries"] = ", ".join(last)
        return html_table("Evaluation", rows.items())

    def _how_far(self):
        n_labels = len(self.ledger)
        if self._n_planned is not None and n_labels <= self._n_planned:
            return f"{n_labels} of {self._n_planned} labels"
        return f"{n_labels} labels of a pool of {self.n_samples}"

    def _answer(self, row):
        """What became of a query, in a word."""
        if row in self.ledger.skipped:
            return "skipped"
        return self.ledger.labels.get(row, "open")

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
        return past_intervals(self.ledger, level, method)

    @property
    def state(self):
        """All that is known about the pool now, as a :class:`PoolState`."""
        return pool_state(self.ledger, self._learner, self.n_samples)

    def _check_answers(self, indices, labels):
        """Answers that can be recorded: of the right kind, and with a finite loss."""
        labels, more_labels = self.task.check_answers(labels, indices)
        rows = {*self.ledger.indices, *self.ledger.known}
        is_asked = rows.issuperset(np.asarray(indices).tolist())
        if is_asked and len(indices) == len(labels):  # Else the ledger says what it is.
            answers = [labels, *np.transpose(more_labels)]
            self._learner.check_losses(indices, answers, self.ledger.answers())
        return labels, more_labels

    def _take_up(self, relearn=False):
        """Renew what depends on the labels, after some of them changed."""
        changed = self._learner.update_classes(self.ledger.answers())
        if changed or self.acquisition.follows_labels:
            self._picker.forget()
        refit = False
        try:
            if changed or relearn or self._is_due():
                refit = self._fit_surrogate()
        finally:  # A surrogate that fails loses no entry of the history.
            self._note(refit)

    def _note(self, refit=False):
        """Keep the estimate after the labels that came, or after the last one."""
        if len(self.ledger):
            note_estimate(self.ledger, self._estimate_if_possible(), refit)

    def _reason_to_stop(self, n_labels, stop, budget):
        if len(self.ledger) >= n_labels:
            return f"n_labels={n_labels} were bought."
        if self.spent >= budget:
            return f"The budget of {budget:g} is spent."
        if not self.ledger.pending and not self._free().any():
            return "Every row of the pool was asked for."
        return "" if stop is None else self.stop_reason(stop)

    def _fit_surrogate(self, n_labels=None):
        """Fit the surrogate to the first labels; returns whether it changed."""
        labels = dict(list(self.ledger.labels.items())[:n_labels])
        self._picker.forget()
        changed = self._learner.fit(self.ledger.known | labels)
        self._refitted_at = len(labels)
        if labels:
            self.ledger.refit(self._refitted_at)
        return changed

    def _replay(self):
        """Stand where the evaluation that wrote the ledger stood."""
        ledger, learner = self.ledger, self._learner
        self.task.check_labels(ledger.answers())
        learner.update_classes(ledger.answers())
        n_learned = ledger.refits[-1] if ledger.refits else 0
        changed = self._fit_surrogate(n_learned)
        learned = self.task.classes_with(ledger.answers(n_learned))
        # A live evaluation is fitted again as soon as there is another class.
        if self._is_due() or not np.array_equal(learned, self.classes_):
            changed = self._fit_surrogate()
        if ledger.unnoted is not None:
            self._note(bool(ledger.unnoted and changed))
        elif past_estimates(ledger)[-1:] == [None] and self._estimate_if_possible():
            self._note()
        self._tell_known()

    def _tell_known(self):
        """Answer open rows whose label was known beforehand."""
        known = self.ledger.known
        rows = [index for index in self.ledger.pending if index in known]
        if rows:
            self._tell(rows, [known[index] for index in rows])

    def _is_due(self, n_coming=0):
        due = next_refit(self.refit_schedule, self._refitted_at)
        return due is not None and len(self.ledger) + n_coming >= due

    def _estimate_if_possible(self):
        state, risk = self.state, self.risk
        if risk.needs_belief and state.belief is None:
            return None
        if risk.needs_query_proba and state.n_in_order == 0:
            return None
        if risk.needs_query_proba and not design_of(state).has_query_proba:
            return None  # Picked under other settings.
        return risk.estimate(state) if _allows(risk, state) else None

    def _free(self):
        free = np.ones(self.n_samples, dtype=bool)
        free[self.ledger.indices] = False
        return free


def _allows(risk, state):
    """Whether a risk can be had although nobody could label some picks."""
    if state.skips is None or not risk.needs_query_proba:
        return True
    return getattr(risk, "allows_skips", False)
