"""The verbs of an evaluation that change labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._annotation._answers import (
    check_lines,
    plan_answers,
    put_together,
    read_answers,
)
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
from sklearn_ase._evaluation._comparison import Answers, Comparison
from sklearn_ase._evaluation._diagnosis import diagnose, scarce_share
from sklearn_ase._evaluation._history import (
    check_estimate,
    history,
    labels_needed,
    last_estimate,
    metric_labels_needed,
    past_intervals,
    recent_estimates,
)
from sklearn_ase._evaluation._judges import judge_table
from sklearn_ase._evaluation._learner import RecordedEvaluation, together
from sklearn_ase._evaluation._loop import Limits, run_loop
from sklearn_ase._evaluation._models import as_models, as_systems
from sklearn_ase._evaluation._other_pool import expected_on
from sklearn_ase._evaluation._picker import next_proba, pick_rows, score_pool
from sklearn_ase._evaluation._plan import (
    check_budget,
    check_n_labels,
    check_risk,
    check_stop,
    last_refit,
)
from sklearn_ase._evaluation._questions import (
    Question,
    Support,
    check_weight,
    check_where,
    influence_of,
    known_proba,
    states_for,
    weight_of,
    words_of_waiting,
)
from sklearn_ase._evaluation._report import check_target, make_report
from sklearn_ase._evaluation._slices import slice_table
from sklearn_ase._inference._bounds import check_groups, grouped_variance
from sklearn_ase._inference._differences import Pairs
from sklearn_ase._inference._evidence import judging_obstacle
from sklearn_ase._inference._models import Corrected
from sklearn_ase._state import Query
from sklearn_ase._utils._checks import check_integer, check_verbose, shown
from sklearn_ase._utils._display import Advice
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
from sklearn_ase.metrics import MeanLoss, as_metric
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
    from sklearn_ase._labels._ledger import LabelLedger
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


class Labelling(RecordedEvaluation):
    """Evaluation whose rows can be asked for and answered."""

    def __init__(
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        super().__init__(problem, plan, ledger, seed)
        # An evaluation that was interrupted may have left known labels open.
        self._tell_known()

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
            view = self.state
            if self.plan.metric is not None:
                view = self.view(self.state, self.epochs, self.classes_)
            scores = score_pool(self.plan, view, self.problem.cost)
            selection = self.plan.selection
            self._keep_belief(scores)
        picks = pick_rows(
            selection,
            scores,
            self.state,
            variance=self._learned.loss_variance,
            n_queries=n_queries,
            seed=self.seed,
        )
        picks = replace(picks, indices=self.problem.names_of(picks.indices))
        self.ledger.ask(picks)
        self._tell_known()
        is_open = ~np.isin(picks.indices, list(self.ledger.known))
        return Query(picks.indices[is_open], picks.query_proba[is_open])

    def _keep_belief(self, scores):
        """Keep the belief for the next picks, if it has changed much."""
        n_labels, learned, selection = (
            len(self.ledger),
            self._learned,
            self.plan.selection,
        )
        if not selection.has_query_proba:
            return  # Then no other quantity can be estimated.
        if self._keeper.is_due(learned, n_labels):
            proba = next_proba(selection, scores, self.state)
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

    def _refuse_respelled(self, *labels) -> None:
        """Refuse answers that are a class in another spelling."""
        problem = self.problem
        recorded = [] if problem.stand_in is None else self.ledger.answers()
        problem.refuse_respelled(self._learned.classes, recorded, *labels)

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

    def _tell_known(self) -> None:
        """Answer open rows whose label was known beforehand."""
        known = self.ledger.known
        rows = [index for index in self.ledger.pending if index in known]
        if rows:
            labels = [known[index] for index in rows]
            self._record(rows, *self._check_answers(rows, labels))


# Files of an evaluation for those who label: written, and read when they are back.


class Annotating(Labelling):
    """Evaluation that writes files for annotators, and reads them."""

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

        return import_files(self, path, shown, correct, skip, new_classes)

    def _check_by_row(self, answers):
        """Answers by row, checked; rows without an answer are left out."""
        checked = {}
        for n_answers in {len(labels) for labels in answers.values()} - {0}:
            rows = [row for row, labels in answers.items() if len(labels) == n_answers]
            given = np.array([answers[row] for row in rows])
            labels, more_labels = self._check_answers(rows, given)
            self.problem.warn_of_new(self._learned.classes, labels, more_labels)
            table = np.column_stack([labels, *np.transpose(more_labels)])
            checked |= dict(zip(rows, table.tolist(), strict=True))
        return checked

    def _record_plan(self, told, corrected, skipped):
        """Record planned answers: all of them, or none."""
        checked = self._check_by_row(told | corrected)  # Before any is recorded.
        relearn = False
        with self.ledger.together():
            for n_answers in sorted({len(labels) for labels in told.values()}):
                rows = [row for row, labels in told.items() if len(labels) == n_answers]
                labels = [checked[row][0] for row in rows]
                more_labels = [checked[row][1:] for row in rows if n_answers > 1]
                self.ledger.tell(rows, labels, more_labels)
            for row, labels in corrected.items():
                if labels:
                    label, *more_labels = checked[row]
                    relearn |= self.ledger.correct(row, label, more_labels)
                else:
                    relearn |= self.ledger.withdraw(row)
                    skipped.append(row)
            if skipped:
                self.ledger.skip(skipped)
        if told or corrected or skipped:
            self._update(relearn=relearn)


def import_files(
    evaluation, paths, shown: Callable, correct=False, skip=None, new_classes=()
) -> int:
    """Read answers from files; see :meth:`Evaluation.import_answers`."""
    paths = list(paths) if isinstance(paths, list | tuple) else [paths]
    if len({str(path) for path in paths}) < len(paths) or not paths:
        raise ValueError(
            f"path={[str(path) for path in paths]} must name a file for each person, "
            "each of them once."
        )
    asked, found = set(evaluation.ledger.indices), []
    for path in paths:
        check = partial(check_lines, columns_at=shown, asked=asked, path=path)
        found.append(read_answers(path, skip, evaluation.classes_, check))
    answers = put_together(found)
    told, corrected, skipped = plan_answers(
        evaluation, answers, correct, list(new_classes)
    )
    evaluation._record_plan(told, corrected, skipped)
    return len(told)


# The questions that an evaluation answers from its labels.


class Answering(Annotating):
    """Evaluation that answers questions about its pool."""

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
        risk, state = self.risk if risk is None else risk, self.state
        check_risk(risk)
        question = self.question(metric, where, sample_weight)
        obstacle = risk.obstacle(state)
        if obstacle:
            raise ValueError(obstacle)
        if question is None:
            found = risk.estimate(state)
        else:
            found = self._answer(risk, question, state)
        found = check_estimate(found, risk)
        if question is not None:
            found = Support.of(state, risk, question.weight).on(found)
        waiting = words_of_waiting(state, self.ledger)
        if risk.needs_query_proba and waiting:
            says = "refusal" if found.refusal else "note"
            text = f"{getattr(found, says)} {waiting}".strip()
            found = replace(found, **{says: text})
        if groups is None:
            return found
        numbers, rest = check_groups(groups, state, self.problem), 0.0
        if question is not None:
            state, rest = self._influence(question, with_labels=False)
        variance = grouped_variance(state, numbers, rest)
        degrees = float(numbers.max())
        interval = found.uncertainty.with_population(variance, degrees)
        return replace(found, uncertainty=interval)

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
        metric = self.plan.metric if metric is None else as_metric(metric)
        return expected_on(self, source, metric)

    def effective_labels(self, estimate: Estimate, question: Question) -> float:
        """Size of a plain random sample that would be as precise.

        Parameters
        ----------
        estimate : Estimate
            With a standard error.
        question : Question

        Returns
        -------
        n_labels : float
        """
        influence, rest = self._influence(question)
        weight = question.weight
        weight = np.ones(self.n_samples) if weight is None else weight
        rows = weight > 0
        belief, weight = influence.belief, weight[rows]
        mean = (belief.expected + rest)[rows] / weight
        variance = belief.variance[rows] / weight**2
        share = weight / weight.sum()
        spread = share @ (variance + (mean - share @ mean) ** 2)
        error = estimate.standard_error**2
        return float(spread / max(error + spread / rows.sum(), np.finfo(float).tiny))

    def _influence(self, question, with_labels=True):
        """What each row adds to the answer: by its label, and whatever its label."""
        more, classes = self.placed.more_labels, self.classes_
        state = self.state
        state_of = states_for(state, [], more, classes, question.weight, with_labels)
        question = replace(question, curve=None)
        proba = known_proba(state, classes, more)
        return influence_of(question, state, state_of, proba, more)

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
        metric, weight = self._metric_and_weight(metric, where, sample_weight)
        if is_reported and weight is None:
            return None
        return Question.of(self.problem, metric, self.classes_, weight)

    def _metric_and_weight(self, metric, where, sample_weight):
        """The metric that is asked for, and the weight of each row."""
        n_samples, problem = self.n_samples, self.problem
        where = problem.entries_of(where, "where")
        sample_weight = problem.entries_of(sample_weight, "sample_weight")
        problem.order.check(where=where, sample_weight=sample_weight)
        where = check_where(where, n_samples)
        weight = check_weight(sample_weight, n_samples)
        if sample_weight is None:
            weight = problem.sample_weight
        else:
            weight = problem.weight_with_draw(weight)
        if metric is None:
            metric = self.plan.metric
        metric = MeanLoss(problem.loss) if metric is None else as_metric(metric)
        return metric, weight_of(where, weight)


# Compare several models with the labels of one evaluation.


def compare_models(evaluation, models, risk, reference):
    """Compare models by estimates of each and of their differences."""
    classes = evaluation.classes_
    metrics = models.bound(classes)
    state, epochs = evaluation.state, evaluation.epochs
    if evaluation.is_cross_fitted and risk.leans_on_surrogate:
        state, epochs = evaluation.cross_fitted(state, epochs)
    more = evaluation.placed.more_labels
    proba = known_proba(state, classes, more)
    columns = models.columns(metrics, classes, proba)
    state_of = states_for(state, epochs, more, classes, models.weight, cache={})
    observed = columns.observed(state.indices, state.labels, more)
    corrected = Corrected(columns, state, state_of.epochs, observed, {}, models.weight)
    pairs = Pairs(columns, state, observed, corrected, models.agreement, [0])
    support = Support.of(state, risk, models.weight)
    known = columns.metrics, models.sign, state_of, risk, pairs
    answers = Answers(*known, support=support)
    best, gains = _best(answers, models.names)
    proba = pairs.proba_of_best(gains, 0)
    return Comparison(models.names, best, gains, proba, answers, reference, models.what)


def _best(answers, names):
    """The best model, and how much better each is than it: 0 or less.

    Differences are known better than levels. So the model with the best estimate is
    not taken if another one is better by the difference of the two.
    """
    estimates = [float(answers.estimate(place)) for place in range(len(names))]
    if np.isnan(estimates).any():
        name = names[int(np.flatnonzero(np.isnan(estimates))[0])]
        raise ValueError(f"{answers.name} is not defined for {name}. Label more rows.")
    best, left = int(np.argmax(answers.sign * np.array(estimates))), len(names)
    while True:
        found = [answers.difference(best, place) for place in range(len(names))]
        gains, left = -np.array([float(each) for each in found]), left - 1
        if not gains.max() > 0 or not left:
            return best, np.minimum(gains, 0.0)
        best = int(gains.argmax())


class Comparing(Answering):
    """Evaluation that compares models, or groups of rows."""

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
        risk = self._comparing_risk(risk)
        metric, weight = self._metric_and_weight(metric, where, sample_weight)
        models = as_models(models, self.problem, metric, weight)
        return compare_models(self, models, risk, reference)

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
        risk = self._comparing_risk(risk)
        if self.state.settled.n_skipped:
            raise ValueError(
                Advice(
                    "A comparison of groups cannot allow for rows that were skipped: "
                    f"{self.state.settled.n_skipped} were.",
                    cure="slices",
                    in_python="Use estimate_by(groups).",
                )
            )
        metric, weight = self._metric_and_weight(metric, None, sample_weight)
        systems = as_systems(groups, self.problem, metric, weight)
        return compare_models(self, systems, risk, reference)

    def _comparing_risk(self, risk):
        """The risk estimator of a comparison, checked."""
        risk, state = self.risk if risk is None else risk, self.state
        check_risk(risk)
        if not risk.needs_query_proba:
            raise ValueError(
                f"compare() needs the steps of the estimate, but {type(risk).__name__} "
                "has none. Use risk=GuardedASE() with selection=Proportional()."
            )
        risk.check(state)
        if state.belief is None or not state.settled.n_labels:
            raise ValueError(
                "A comparison needs a fitted surrogate and a label. Label some rows "
                "first."
            )
        return risk


# The reports of an evaluation: intervals, diagnosis, history.


class Reporting(Comparing):
    """Evaluation that reports what its labels say."""

    _n_planned: int | None = None  # Labels that a run is to buy.

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
        return diagnose(
            state, scarce, worth, answers, self._waiting_labels(), self.risk
        )

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

    @property
    def surrogate(self) -> BaseSurrogate:
        """The surrogate, as it was fitted last."""
        return self.plan.surrogate

    @property
    def loss_(self) -> PoolLoss:
        """Loss of the model at each sample of the pool, for each label."""
        return self._learned.loss

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


# One evaluation, label by label: the paper's Algorithm 1.


class Evaluation(Reporting):
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
        limits = Limits(n_labels, batch_size, budget, stop)
        return run_loop(self, oracle, limits, self._so_far, watch, verbose)

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

    def close(self) -> None:
        """Release the journal, so that it can be opened elsewhere."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
