"""One evaluation, label by label (Algorithm 1 of the paper): ask, tell, estimate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._annotation._answers import import_files
from sklearn_ase._annotation._sheet import export_rows
from sklearn_ase._data._labels import check_oracle, refuse_one_hot
from sklearn_ase._data._rows import (
    answers_for,
    check_index,
    check_indices,
    columns_of,
    read_array,
)
from sklearn_ase._display._blocks import Facts
from sklearn_ase._display._html import notebook
from sklearn_ase._evaluation._agreement import agreement
from sklearn_ase._evaluation._beliefs import (
    FAILED,
    REPLACED,
    Beliefs,
    Status,
    replayed_epochs,
)
from sklearn_ase._evaluation._compare import (
    Comparison,
    as_models,
    as_systems,
    compare_models,
    comparing_risk,
)
from sklearn_ase._evaluation._diagnosis import diagnose, scarce_share
from sklearn_ase._evaluation._history import (
    NotedBets,
    check_estimate,
    history,
    labels_needed,
    lacks_last_estimate,
    last_estimate,
    metric_labels_needed,
    note_estimate,
    past_intervals,
    recent_estimates,
)
from sklearn_ase._evaluation._judges import judge_table
from sklearn_ase._evaluation._loop import run_loop
from sklearn_ase._evaluation._other_pool import expected_on
from sklearn_ase._evaluation._picker import pick_rows, score_pool
from sklearn_ase._evaluation._plan import (
    check_budget,
    check_n_labels,
    check_risk,
    check_stop,
    last_refit,
)
from sklearn_ase._evaluation._questions import (
    Question,
    answer_question,
    check_defined,
    estimate_of,
    metric_and_weight,
    view_of,
    weight_of,
)
from sklearn_ase._evaluation._report import check_target, make_report
from sklearn_ase._evaluation._slices import slice_table
from sklearn_ase._evaluation._states import pool_state
from sklearn_ase._inference._evidence import judging_obstacle
from sklearn_ase._state import Query
from sklearn_ase._utils._checks import check_integer, check_verbose, shown
from sklearn_ase._utils._display import Advice, warn_caller
from sklearn_ase._utils._limits import Limits
from sklearn_ase._utils._typing import (
    ByName,
    Floats,
    Label,
    ManyModels,
    Method,
    Oracle,
    Rows,
    StrPath,
)
from sklearn_ase.exceptions import SurrogateWarning
from sklearn_ase.metrics import as_metric
from sklearn_ase.risk import ASE, GuardedASE
from sklearn_ase.selection import BaseSelection, Proportional

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._agreement import Agreement
    from sklearn_ase._evaluation._diagnosis import Diagnosis
    from sklearn_ase._evaluation._history import LabelForecast
    from sklearn_ase._evaluation._judges import JudgeTable
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._evaluation._report import Report
    from sklearn_ase._evaluation._slices import SliceTable
    from sklearn_ase._inference._questions import Epoch
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState
    from sklearn_ase.losses._base import PoolLoss
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.risk._estimate import Estimate
    from sklearn_ase.stopping import BaseStop
    from sklearn_ase.surrogate._base import BaseSurrogate

# A forecast for a sample of a larger source.
_ALL_OF_THE_SAMPLE = (
    "Labels of all rows of the sample may not suffice, because the interval allows for "
    "the draw, too. Draw more rows: sample_pool(source, n_rows=...)."
)


class Evaluation:
    """Evaluation of one model on one pool, label by label.

    Made by :meth:`ActiveRiskEstimator.start`; ``fit`` is a loop over its methods.

    Parameters
    ----------
    problem : Problem
        The data and the model's predictions.
    plan : Plan
        How rows are picked, learned from and used.
    ledger : LabelLedger
        Every query and label; kept in a file if it is a journal.
    seed : int

    Attributes
    ----------
    risk : BaseRisk
        The risk estimator that is reported.
    surrogate : BaseSurrogate
        As it was fitted last.
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
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        self.problem, self.plan, self.ledger, self.seed = problem, plan, ledger, seed
        problem.check_labels(ledger.answers())
        self.beliefs = Beliefs(problem, plan, ledger, seed)
        self._noted = NotedBets(ledger, plan.metric)
        self._state: tuple = None, None  # Its key, and the state.
        self._asked: tuple = None, None  # Classes, and the reported metric for them.
        self._n_planned: int | None = None  # Labels that a run is to buy.
        self._restore()
        if plan.metric is not None:  # A metric that does not fit costs no label.
            check_defined(self._reported(self.classes_, self._last_state()).metric)
        # An evaluation that was interrupted may have left known labels open.
        self._tell_known()

    # What is known: the data, the labels, and what is believed.

    @property
    def n_samples(self) -> int:
        """Size of the pool."""
        return self.problem.n_samples

    @property
    def is_fitted(self) -> bool:
        """Whether the surrogate has been fitted."""
        return self.beliefs.is_fitted

    @property
    def n_learned(self) -> int:
        """Number of labels that the last fit of the surrogate had."""
        return self.beliefs.n_learned

    @property
    def classes_(self) -> np.ndarray | None:
        """Labels known so far, sorted; None for regression."""
        return self.beliefs.now.classes

    @property
    def loss_(self) -> PoolLoss:
        """Loss of the model at each sample of the pool, for each label."""
        return self.beliefs.now.loss

    @property
    def surrogate(self) -> BaseSurrogate:
        """The surrogate, as it was fitted last."""
        return self.plan.surrogate

    @property
    def risk(self) -> BaseRisk:
        """The risk estimator that is reported."""
        return self.plan.risk

    @property
    def placed(self) -> LabelLedger:
        """The ledger with rows named by their places in the pool."""
        return self.beliefs.placed

    @property
    def is_cross_fitted(self) -> bool:
        """Whether the surrogate says what it would expect without a row's label."""
        return self.beliefs.now.left_out is not None

    @property
    def epochs(self) -> list[Epoch]:
        """Beliefs of the past, each in force for a run of picks."""
        state = self._last_state()
        return self.beliefs.epochs(lambda n: replayed_epochs(self, state, n))

    @property
    def state(self) -> PoolState:
        """Everything that is known about the pool now, as a :class:`PoolState`.

        If the surrogate failed, it is fitted again.
        """
        if self.beliefs.status is not Status.LEARNED:
            self._renew(self.beliefs.learn)
        return self._last_state()

    def _last_state(self) -> PoolState:
        """The state with the last belief, also if the surrogate has failed since."""
        key = self.ledger.n_changes, self.beliefs.now
        if self._state[0] != key:
            state = pool_state(self.placed, self.beliefs.now)
            sample = self.problem.sample
            if sample is not None:
                state = replace(state, inclusion_proba=sample.inclusion_proba)
            self._state = key, state
        return self._state[1]

    def view(self, state: PoolState, epochs: list[Epoch], classes: Any) -> PoolState:
        """The state as acquisitions see it: for the linearised metric, if there is one.

        Parameters
        ----------
        state : PoolState
            With a belief.
        epochs : list of Epoch
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        state : PoolState
        """
        if self.plan.metric is None:
            return state
        question = self._reported(classes, state)
        more = self.placed.more_labels
        return view_of(question, state, epochs, classes=classes, more_labels=more)

    # Rows are asked for, and answered.

    def ask(self, n_queries: int = 1) -> Query:
        """Pick samples to label next.

        Rows whose label was known beforehand may be picked, too. They are answered at
        once and left out of the returned query, which may then have fewer rows.
        (Picking others instead would make known labels rarer than the weights say.)

        Parameters
        ----------
        n_queries : int, default=1
            Picked one after the other, without replacement.

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
        # Without a belief the first rows are a plain random sample.
        scores: Floats = np.ones(self.n_samples)
        selection: BaseSelection = Proportional()
        if self.is_fitted:
            epochs = self.epochs if self.plan.metric is not None else []
            view = self.view(self.state, epochs, self.classes_)
            scores = score_pool(self.plan, view, self.problem.cost)
            selection = self.plan.selection
            self.beliefs.keep(scores, self.state)
        picks = pick_rows(
            selection,
            scores,
            self.state,
            variance=self.beliefs.now.loss_variance,
            n_queries=n_queries,
            seed=self.seed,
        )
        picks = replace(picks, indices=self.problem.names_of(picks.indices))
        self.ledger.ask(picks)
        self._tell_known()
        is_open = ~np.isin(picks.indices, list(self.ledger.known))
        return Query(picks.indices[is_open], picks.query_proba[is_open])

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
        labels, more_labels = self.check_answers(indices, labels)
        self._refuse_respelled(labels, more_labels)
        if len(more_labels):
            more = self.ledger.more_labels
            told = self.ledger.labels
            earlier = [[told[row], *more[row]] for row in more if row in told]
            answers = np.column_stack([labels, more_labels])
            refuse_one_hot(answers, self.classes_, earlier)
        self._record(indices, labels, more_labels)

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
        labels, more_labels = self.check_answers(indices, answers)
        rows = indices.tolist()
        if len(labels) != len(rows) or not 0 < len(rows) == len({*rows}):
            raise ValueError(
                f"index={shown(rows)} and {len(labels)} labels do not fit. Give rows "
                "that have a label, each once, and one label for each of them."
            )
        self._refuse_respelled(labels, more_labels)
        self.problem.warn_of_new(self.classes_, labels, more_labels)
        if len(rows) == 1:
            relearn = self.ledger.correct(*rows, *labels, *more_labels)
        else:
            more = more_labels if len(more_labels) else [()] * len(rows)
            with self.ledger.together():
                each = zip(rows, labels, more, strict=True)
                learned = [self.ledger.correct(*one) for one in each]
            relearn = any(learned)
        self.renew(relearn=relearn)

    def withdraw(self, index: int | np.integer) -> None:
        """Take back the label of a row, or that it was skipped; it is open again.

        Weighted estimates use the labels before the first open row, until it is
        answered.

        Parameters
        ----------
        index : int
        """
        self.renew(relearn=self.ledger.withdraw(check_index(index)))

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
            self.renew()

    def refit(self) -> None:
        """Fit the surrogate to all labels so far, if they suffice for a fit."""
        is_learned = self.beliefs.status is Status.LEARNED
        if not is_learned or self.n_learned < len(self.ledger):
            self._renew(self.beliefs.learn)

    def finish(self) -> None:
        """Refit after the last label, if sufficient labels came since the last fit."""
        if self.beliefs.is_due(due_at=last_refit):
            self.refit()

    def run(
        self,
        oracle: ArrayLike | Oracle,
        n_labels: int,
        batch_size: int = 1,
        verbose: int = 0,
        *,
        stop: BaseStop | None = None,
        budget: float = np.inf,
        watch: Any = None,
    ) -> str:
        """Ask and tell until there are sufficient labels, then refit the surrogate.

        Open queries are answered first, so a run that was interrupted resumes.

        Parameters
        ----------
        oracle : callable or array-like of shape (n_samples,)
            ``oracle(indices)`` returns their labels.
        n_labels : int
            Labels in all, including those there are already.
        batch_size : int, default=1
        verbose : int, default=0
            Whether to show a progress bar with the running estimate and its interval.
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
        oracle = check_oracle(oracle, self.problem, "oracle")
        check_n_labels(n_labels, batch_size, self.n_samples)
        check_budget(budget)
        check_verbose(verbose)
        if stop is not None:
            self._check_stop(stop)
        self._n_planned = n_labels
        stops = () if stop is None else (stop,)
        limits = Limits(n_labels, batch_size, budget, stops)
        return run_loop(self, oracle, limits, self._so_far, watch, verbose)

    def stop_reason(self, stop: BaseStop) -> str:
        """Ask a stopping rule whether more labels are needed.

        Parameters
        ----------
        stop : stopping rule
            Of :mod:`sklearn_ase.stopping`.

        Returns
        -------
        reason : str
            Why no more are needed; empty to continue.
        """
        self._check_stop(stop)
        estimates = recent_estimates(self.ledger, self.plan.metric)
        reason = stop.reason(estimates) if estimates else ""
        if not isinstance(reason, str):
            raise TypeError(
                f"{type(stop).__name__}.reason must return a str (empty to continue), "
                f"but returned {reason!r}."
            )
        return reason

    def _check_stop(self, stop):
        check_stop(stop, self.risk)

    # Files for those who label.

    def export(
        self,
        query: Query | ArrayLike,
        path: StrPath,
        *,
        columns: Sequence[str] | None = None,
        predictions: ArrayLike | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write rows to a file for those who label them.

        Parameters
        ----------
        query : Query or array-like of int
        path : str or path
            ``.csv`` for a table with an empty column ``label``, ``.json`` for tasks
            of Label Studio.
        columns : list of str, default=None
            Columns of the pool that annotators see. None means all. Leave out what they
            should not see, such as the score of a judge.
        predictions : array-like of shape (n_samples,), default=None
            Shown beside each row. They may influence those who see them.
        overwrite : bool, default=False
            Whether to replace a file of that name, and the answers in it.
        """
        problem = self.problem
        n_named = self.n_samples
        if problem.sample is not None:
            n_named = problem.sample.n_source_rows
        rows = check_indices(query, n_samples=n_named)
        export_rows(
            problem.X,
            problem.places_of(rows),
            path,
            problem.entries_of(predictions, "predictions"),
            overwrite,
            columns,
            row_names=rows,
        )

    def import_answers(
        self,
        path: StrPath | Sequence[StrPath],
        *,
        correct: bool = False,
        skip: str | None = None,
        new_classes: Iterable[Label] = (),
    ) -> int:
        """Read answers from a file that :meth:`export` wrote and somebody filled in.

        Rows may be in any order, columns that were added are ignored, and rows with an
        empty cell stay open. Known labels are skipped, so a file may be read again. All
        answers are recorded, or none of them if one cannot be. A sheet whose texts do
        not belong to the numbers of its rows is refused.

        Parameters
        ----------
        path : str, path, or list of them
            ``.csv``, or ``.json`` as Label Studio exports annotations. A list has a
            file for each person: answers for the same row become several answers.
        correct : bool, default=False
            Whether labels that differ from known ones replace them. They are an error
            otherwise.
        skip : str, default=None
            Answer that stands for "cannot tell".
        new_classes : list of label, default=()
            Labels that are new classes. Without it a label that is almost a known one,
            or a number that is none, is refused as a slip.

        Returns
        -------
        n_labels : int
            Number of rows that had no label before.
        """
        problem = self.problem

        def shown(rows):
            return columns_of(problem.X, problem.places_of(rows))

        return import_files(
            self, path, shown, correct=correct, skip=skip, new_classes=new_classes
        )

    # Questions about the pool, answered from the labels.

    def estimate(
        self,
        risk: BaseRisk | None = None,
        groups: ArrayLike | None = None,
        *,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Estimate:
        """Answer a question from the labels so far.

        Parameters
        ----------
        risk : risk estimator, default=None
            Another estimate from the same labels; None means the configured one.
        groups : array-like of shape (n_samples,), default=None
            Group of each row of the pool, such as its patient or conversation.
            ``interval(target="population")`` then allows for groups whose rows have
            similar losses. The interval for the pool itself does not change.
        metric : str or BaseMetric, default=None
            What to estimate: a name such as ``"f1"`` or ``"roc_auc"``, or an object of
            :mod:`sklearn_ase.metrics`. None means what the evaluation reports.
        where : array-like of bool of shape (n_samples,), default=None
            The rows of the pool that the question is about. None means all.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row of the pool counts. None means the weights that the
            evaluation was started with.

        Returns
        -------
        estimate : Estimate
        """
        check_risk(self.risk if risk is None else risk)
        question = self.question(metric, where, sample_weight)
        return estimate_of(self, question, risk, groups)

    def estimate_by(
        self,
        groups: ArrayLike,
        *,
        metric: str | BaseMetric | None = None,
        risk: BaseRisk | None = None,
        sample_weight: ArrayLike | None = None,
        level: float = 0.9,
        simultaneous: bool = False,
    ) -> SliceTable:
        """Answer the same question for each of several groups of rows.

        With the default `risk` the labels of all groups decide how much the surrogate
        is trusted in each. So an estimate differs a little from that of
        ``estimate(where=...)``, which uses one group only. The intervals are those of
        each group alone.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row of the pool, such as its region.
        metric : str or BaseMetric, default=None
            See :meth:`estimate`.
        risk : risk estimator, default=None
        sample_weight : array-like of shape (n_samples,), default=None
        level : float, default=0.9
            Of the intervals.
        simultaneous : bool, default=False
            Whether all intervals together hold with probability `level`. Otherwise
            each of them does. Use it to find the worst group.

        Returns
        -------
        table : SliceTable
            A dict of columns with one entry per group; ``pandas.DataFrame(table)``
            makes a frame of it.
        """
        return slice_table(
            self,
            groups,
            level,
            simultaneous,
            metric=metric,
            risk=risk,
            sample_weight=sample_weight,
        )

    def question(
        self,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Question | None:
        """The metric that is asked for, applied to the predictions.

        None if the mean of the loss over all rows is asked for.
        """
        is_reported = metric is None and self.plan.metric is None
        metric, weight = metric_and_weight(self, metric, where, sample_weight)
        if is_reported and weight is None:
            return None
        return Question.of(self.problem, metric, self.classes_, weight)

    def compare(
        self,
        models: ManyModels,
        *,
        metric: str | BaseMetric | None = None,
        reference: str | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        risk: BaseRisk | None = None,
    ) -> Comparison:
        """Compare several models from the labels so far.

        Differences are far better known than levels if models predict much alike: only
        rows on which two models differ say which is better.

        Parameters
        ----------
        models : dict of str to model, or list of (str, model)
            Fitted estimators, functions of X, or arrays of predictions for the pool:
            labels suffice for metrics of labels. The model of the evaluation is not
            among them unless you name it.
        metric : str or BaseMetric, default=None
            None means what the evaluation reports.
        reference : str, default=None
            Name of a model to which all others are compared, too.
        where : array-like of bool of shape (n_samples,), default=None
            The rows of the pool to compare on. None means all.
        sample_weight : array-like of shape (n_samples,), default=None
        risk : risk estimator, default=None

        Returns
        -------
        comparison : Comparison
        """
        risk = comparing_risk(self, risk)
        metric, weight = metric_and_weight(self, metric, where, sample_weight)
        found = as_models(models, self.problem, metric, weight)
        return compare_models(self, found, risk, reference)

    def compare_groups(
        self,
        groups: ArrayLike,
        *,
        metric: str | BaseMetric | None = None,
        reference: str | None = None,
        sample_weight: ArrayLike | None = None,
        risk: BaseRisk | None = None,
    ) -> Comparison:
        """Compare groups of rows, such as the answers of several systems.

        The pool holds the rows of all groups, for instance the answers of two systems
        to the same questions, and each row has a label of its own.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row, such as the system that gave the answer.
        metric : str or BaseMetric, default=None
            None means what the evaluation reports.
        reference : str, default=None
            Name of a group to which all others are compared, too.
        sample_weight : array-like of shape (n_samples,), default=None
        risk : risk estimator, default=None

        Returns
        -------
        comparison : Comparison
            ``comparison.difference("a", "b").interval()`` is the interval of a
            difference.
        """
        risk = comparing_risk(self, risk)
        if self.state.settled.n_skipped:
            raise ValueError(
                Advice(
                    "A comparison of groups cannot allow for rows that were skipped: "
                    f"{self.state.settled.n_skipped} were.",
                    cure="slices",
                    in_python="Use estimate_by(groups).",
                )
            )
        metric, weight = metric_and_weight(self, metric, None, sample_weight)
        systems = as_systems(groups, self.problem, metric, weight)
        return compare_models(self, systems, risk, reference)

    def judges(
        self, *, metric: str | BaseMetric | None = None, level: float = 0.9
    ) -> JudgeTable:
        """Report what each of the experts on the label is worth.

        Every figure is estimated from the labels of this evaluation. It is about all
        rows of the pool about which the expert says something, not only the labelled
        ones. Each figure has an interval, which holds on its own at `level`.

        Parameters
        ----------
        metric : str or BaseMetric, default=None
            The metric that bias and correlation are about. It must be a mean over the
            rows, such as ``LabelShare(label)``, ``LabelMean()`` or ``"accuracy"``. None
            means what the evaluation reports; if that is not a mean, it is the share of
            the positive label, or the mean label for regression.
        level : float, default=0.9
            Of the intervals.

        Returns
        -------
        table : JudgeTable
            A dict of columns with one entry per expert; ``pandas.DataFrame(table)``
            makes a frame of it. :class:`JudgeTable` explains the columns.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_ase import ActiveRiskEstimator
        >>> from sklearn_ase.metrics import LabelShare
        >>> rng = np.random.default_rng(0)
        >>> labels = np.where(rng.random(500) < 0.6, "correct", "wrong")
        >>> other = np.where(labels == "wrong", "correct", "wrong")
        >>> experts = {
        ...     "good": np.where(rng.random(500) < 0.9, labels, other),
        ...     "useless": rng.random(500),
        ... }
        >>> evaluator = ActiveRiskEstimator(
        ...     metric=LabelShare("correct"), n_labels=80, random_state=0
        ... ).fit(None, labels, experts=experts)
        >>> table = evaluator.evaluation_.judges()
        >>> for judge, verdict in zip(table["judge"], table["verdict"]):
        ...     print(f"{judge}: {verdict}")
        good: worth ... labels each
        useless: useless so far: its correlation may be 0
        """
        return judge_table(self, metric, level)

    def agreement(self, *, level: float = 0.9) -> Agreement:
        """Report how far annotators agree, if rows have several answers.

        Parameters
        ----------
        level : float, default=0.9
            Of the intervals.

        Returns
        -------
        agreement : Agreement
            Print it, or look at its ``alpha`` and ``noise_floor``.
        """
        return agreement(self.state, self.placed.more_labels, self.classes_, level)

    def expected_on(
        self, source: Rows, *, metric: str | BaseMetric | None = None
    ) -> float:
        """Return what the surrogate expects over all rows of a source, in one pass.

        For a pool that was sampled this is the active surrogate estimate over each row
        of it. Its error is that of the surrogate, which no label measures, so it has no
        interval. Model and surrogate are asked about some rows at a time; those of a
        collection of dask on the workers of its cluster.

        Parameters
        ----------
        source : path, dataset, frame, array or list
            See :func:`sample_pool`.
        metric : str or BaseMetric, default=None
            None means what the evaluation reports.

        Returns
        -------
        expected : float
        """
        asked = self.plan.metric if metric is None else as_metric(metric)
        return expected_on(self, source, asked)

    def labels_needed(
        self, width: float, level: float = 0.9, method: Method = "fixed"
    ) -> LabelForecast:
        """Forecast how many more labels an interval of some width takes.

        Parameters
        ----------
        width : float
            Width of the interval, from end to end.
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`Estimate.interval`.

        Returns
        -------
        forecast : LabelForecast
            ``int(forecast)`` is the number of labels; ``forecast.basis`` says how it
            was found.
        """
        if not self.risk.needs_query_proba:
            raise ValueError(
                f"{type(self.risk).__name__} has no interval that more labels would "
                "narrow. Use risk=GuardedASE() or CorrectedASE()."
            )
        state, estimate = self.state, self.estimate()
        if self.question() is not None:
            n_known = state.n_labels
            forecast = metric_labels_needed(
                estimate, self.n_samples, n_known, width, level, method
            )
        else:
            forecast = labels_needed(state, estimate, width, level, method)
        is_all = forecast.n_labels + state.picks.n_skipped >= self.n_samples
        if self.problem.sample is not None and is_all:
            return replace(forecast, basis=_ALL_OF_THE_SAMPLE)
        return forecast

    def intervals(
        self, level: float = 0.9, method: Method = "fixed"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the interval of the estimate after each label.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`Estimate.interval`.

        Returns
        -------
        low, high : ndarrays of shape (n_labels,)
            Infinite where none could be given.
        """
        return past_intervals(self.ledger, level, method, self.plan.metric)

    def diagnose(self) -> Diagnosis:
        """Report whether the labels agree with the surrogate.

        Returns
        -------
        diagnosis : Diagnosis
            Print it, or look at its ``verdict``.
        """
        obstacle = judging_obstacle(self.state)
        if obstacle:
            raise ValueError(
                "diagnose() needs a fitted surrogate, a label for the first query, and "
                f"a selection with probabilities. {obstacle}"
            )
        counts = None
        if self.classes_ is not None:
            labels = np.array(self.ledger.answers())
            if self.problem.y_train is not None:
                labels = np.concatenate([self.problem.y_train, labels])
            counts = np.array([np.sum(labels == label) for label in self.classes_])
        state, answers = self.state, None
        scarce, worth = scarce_share(state, counts), state.belief.training_worth
        if self.plan.metric is not None:
            surrogate = float(self.estimate(ASE()))
            answers = surrogate, self.estimate(GuardedASE(worth=0))
            state = self.view(state, self.epochs, self.classes_)
        waiting = None
        if self.plan.learns_at_refits_only:  # Else each label is learned at once.
            waiting = self.beliefs.labels_since_fit()
        return diagnose(state, scarce, worth, answers, waiting, self.risk)

    def report(
        self,
        path: StrPath | None = None,
        *,
        level: float = 0.9,
        by: ByName | None = None,
        metrics: str | BaseMetric | Sequence[str | BaseMetric] = (),
        compare: ManyModels | None = None,
        columns: ByName | None = None,
        title: str | None = None,
    ) -> Report:
        """Make a report that can be sent to others, and write it to a file.

        It shows the estimate with its intervals, how it ran, what was labelled, the
        judges, the diagnosis, how the number was made, and what it does not say. A
        section that is not possible gives the reason; the others are still there.

        Parameters
        ----------
        path : str or path, default=None
            File to write: ``.html`` for a page that loads nothing from the network,
            ``.md`` for Markdown. A report of this name is replaced, any other file is
            left as it is. None writes no file.
        level : float, default=0.9
            Of all intervals.
        by : array-like of shape (n_samples,), frame or dict of str to array-like, \
                default=None
            Groups of rows, such as their region, each with an estimate of its own.
        metrics : str, BaseMetric or list of these, default=()
            Other metrics to estimate from the same labels.
        compare : dict of str to model, default=None
            Models to compare; see :meth:`compare`. A choice between models compares
            its own.
        columns : frame or dict of str to array-like, default=None
            What to show of single rows, such as their text: one value per row of the
            pool. By default a report shows only the numbers of rows, because it may
            be sent to others.
        title : str, default=None
            None means the name of the metric.

        Returns
        -------
        report : Report
            A notebook shows it. ``to_html()`` and ``to_markdown()`` return it as text.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_ase import ActiveRiskEstimator
        >>> from sklearn_ase.metrics import LabelShare
        >>> rng = np.random.default_rng(0)
        >>> labels = np.where(rng.random(200) < 0.7, "correct", "wrong")
        >>> score = np.where(labels == "correct", 0.8, 0.3) + rng.normal(0, 0.1, 200)
        >>> evaluator = ActiveRiskEstimator(
        ...     metric=LabelShare("correct"), n_labels=40, random_state=0
        ... ).fit(None, labels, experts={"judge": score.clip(0, 1)})
        >>> report = evaluator.evaluation_.report(title="Answers in May")
        >>> print(report.to_markdown()[:16])
        # Answers in May
        """
        if path is not None:
            check_target(path)
        report = make_report(
            self,
            level=level,
            by=by,
            metrics=metrics,
            compare=compare,
            columns=columns,
            title=title,
        )
        if path is not None:
            report.save(path)
        return report

    # What has happened so far.

    @property
    def can_diagnose(self) -> bool:
        """Whether :meth:`diagnose` has labels to judge the surrogate by."""
        return not judging_obstacle(self.state)

    @property
    def pending(self) -> Query:
        """Query of the samples that were asked for and have no label yet."""
        picks = self.ledger.picks
        is_open = np.isin(picks.indices, self.ledger.pending)
        return Query(picks.indices[is_open], picks.query_proba[is_open])

    @property
    def spent(self) -> float:
        """Cost of the rows that were answered or skipped; known labels are free."""
        rows = [*self.ledger.labels, *self.ledger.skipped]
        paid = [index for index in rows if index not in self.ledger.known]
        return float(self.problem.cost_of(paid).sum())

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Dict of arrays with one entry per label, in the order they arrived."""
        found = history(self.placed, self._last_state(), self.plan.metric)
        return found | {"index": self.problem.names_of(found["index"])}

    def __repr__(self):
        parts, n_open = [self._progress()], len(self.ledger.pending)
        parts += [f"{n_open} open"] * (n_open > 0)
        found = last_estimate(self.ledger, self.plan.metric)
        parts += [] if found is None else [f"{self._name} {found.value:.4g}"]
        parts += ["learns at refits only"] * self.plan.learns_at_refits_only
        return f"<Evaluation: {', '.join(parts)}>"

    def _repr_html_(self):
        rows = self._leader()
        if not self.risk.obstacle(self.state):
            name = type(self.risk).__name__
            if not self.state.settled.n_labels and self.risk.needs_query_proba:
                name += ", zero-shot: by the surrogate alone"
            rows |= {"estimate": name} | self.estimate().describe()
        rows["labels"] = self._progress()
        if self.can_diagnose:
            diagnosis = self.diagnose()
            rows["verdict"] = f"{diagnosis.verdict}. {diagnosis.advice}"
        rows["open queries"] = len(self.ledger.pending) or ""
        last = [f"row {row}: {self._outcome(row)}" for row in self.ledger.indices[-5:]]
        rows["last queries"] = ", ".join(last)
        return notebook(type(self).__name__, Facts(rows))

    def _so_far(self):
        """The estimate after the last label and its 90 % interval, in a line."""
        found = last_estimate(self.ledger, self.plan.metric)
        if found is None:
            return "no estimate yet"
        parts = [f"{name} {text}" for name, text in self._leader().items()]
        parts.append(f"{self._name} {found.value:.4g}")
        if not found.refusal_of() and np.isfinite(found.standard_error):
            low, high = found.interval(0.9)
            parts.append(f"90 % interval {low:.4g} to {high:.4g}")
        return ", ".join(parts)

    def _leader(self):
        """The model that is chosen, in words, if there is a choice."""
        return {}

    @property
    def _name(self):
        return "risk" if self.plan.metric is None else self.plan.metric.name

    def _progress(self):
        n_labels = len(self.ledger)
        if self._n_planned is not None and n_labels <= self._n_planned:
            return f"{n_labels} of {self._n_planned} labels"
        return f"{n_labels} labels of a pool of {self.n_samples}"

    def _outcome(self, row):
        """What became of a query, in a word."""
        if row in self.ledger.skipped:
            return "skipped"
        return self.ledger.labels.get(row, "open")

    def close(self) -> None:
        """Release the journal, so that it can be opened elsewhere."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # How labels are checked, learned and noted.

    def check_answers(self, indices: Any, labels: Any) -> tuple[Any, Any]:
        """Answers that can be recorded: of the right kind, and with a finite loss."""
        labels, more_labels = self.problem.check_answers(labels, indices)
        is_asked = self.ledger.may_answer(np.asarray(indices).tolist())
        if is_asked and len(indices) == len(labels):  # Else the ledger reports it.
            loss, given = self.loss_, together(labels, more_labels)
            if not self.beliefs.has_classes(given):
                met = [*self.ledger.answers(), *given.tolist()]
                loss = self.problem.loss_for(self.problem.classes_with(met))
            for answers in (labels, *np.transpose(more_labels)):
                loss.observed(self.problem.places_of(indices), answers)
        return labels, more_labels

    def _refuse_respelled(self, *labels) -> None:
        """Refuse answers that are a class in another spelling."""
        problem = self.problem
        recorded = [] if problem.stand_in is None else self.ledger.answers()
        problem.refuse_respelled(self.classes_, recorded, *labels)

    def _record(self, indices, labels, more_labels):
        """Record answers that were checked."""
        self.problem.warn_of_new(self.classes_, labels, more_labels)
        self.ledger.tell(indices, labels, more_labels)
        self.renew(told=together(labels, more_labels))

    def _tell_known(self) -> None:
        """Answer open rows whose label was known beforehand."""
        known = self.ledger.known
        rows = [index for index in self.ledger.pending if index in known]
        if rows:
            labels = [known[index] for index in rows]
            self._record(rows, *self.check_answers(rows, labels))

    def renew(self, relearn: bool = False, told: np.ndarray | None = None) -> None:
        """Learn from labels, after some were told or all may differ."""
        is_met = told is not None and self.beliefs.has_classes(told)
        changed = not is_met and self.beliefs.add_classes()
        self._renew(partial(self.beliefs.update, changed or relearn))

    def _renew(self, learn: Callable[[], bool]) -> None:
        """Learn from the labels, and keep the estimate, also if the surrogate fails."""
        refit = False
        try:
            refit = learn()
        except Exception as error:
            error.add_note(FAILED)
            raise
        finally:
            self._note(refit)

    def _restore(self) -> None:
        """Restore the evaluation that wrote the ledger."""
        ledger, beliefs = self.ledger, self.beliefs
        try:
            changed = beliefs.restore()
            if ledger.unnoted is not None:
                self._note(bool(ledger.unnoted and changed))
            elif lacks_last_estimate(ledger) and self._estimate_if_possible():
                self._note()
        except Exception as error:
            if not ledger.answers():
                raise
            # If training rows alone make it fail, too, then no label is to blame.
            beliefs.learn_without_labels()
            failed = Advice(
                f"Learning from the recorded labels failed ({error!r}), so the "
                "surrogate has learned from none of them. All labels are recorded.",
                cure="replace",
                in_python=REPLACED,
            )
            warn_caller(failed, SurrogateWarning)

    def _note(self, refit: bool = False) -> None:
        """Keep the estimate after the labels that came, or after the last one."""
        if len(self.ledger):
            estimate, metric = self._estimate_if_possible(), self.plan.metric
            note_estimate(self.ledger, estimate, refit, metric, self._noted)

    def _estimate_if_possible(self) -> Estimate | None:
        state, risk = self._last_state(), self.risk
        # A weighted estimate is noted once a label counts in it.
        waits = risk.needs_query_proba and not state.settled.n_labels
        if waits or risk.obstacle(state):
            return None
        if self.plan.metric is None:
            return check_estimate(risk.estimate(state), risk)
        question = self._reported(self.classes_, state)
        return check_estimate(self.answer(risk, question, state), risk)

    def answer(self, risk: BaseRisk, question: Question, state: PoolState) -> Any:
        """Answer a question about the pool."""
        is_plain = question.is_recorded or not risk.needs_query_proba
        return answer_question(
            question,
            risk,
            state=state,
            epochs=[] if is_plain else self.epochs,
            classes=self.classes_,
            more_labels=self.placed.more_labels,
            left_out=self.beliefs.now.left_out,
        )

    def _reported(self, classes: Any, state: PoolState) -> Question:
        """The metric that is reported, applied to the predictions."""
        if self._asked[0] is not classes or self._asked[1] is None:
            weight = weight_of(None, self.problem.sample_weight)
            found = Question.of(self.problem, self.plan.metric, classes, weight)
            self._asked = classes, found
        return self._asked[1]


def together(labels: Any, more_labels: Any) -> np.ndarray:
    """All answers in one array."""
    return np.concatenate([labels, *np.transpose(more_labels)])
