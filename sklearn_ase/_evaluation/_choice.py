"""A choice: an evaluation that asks which of several models is the best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._evaluation._compare import Answers, Comparison
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._plan import check_risk, check_stop
from sklearn_ase._evaluation._questions import (
    Question,
    Support,
    estimate_of,
    known_proba,
    metric_and_weight,
    states_for,
    view_of,
)
from sklearn_ase._inference._differences import Pairs
from sklearn_ase._inference._models import (
    LABEL_WEIGHT,
    Corrected,
    ModelsView,
    gain_of_votes,
    information_gain,
    proba_of_best,
    some_rows,
    sum_of_covariances,
)
from sklearn_ase._inference._questions import Epoch
from sklearn_ase._inference._steps import answerable_share
from sklearn_ase._utils._checks import check_choice, same_settings
from sklearn_ase._utils._typing import ManyModels
from sklearn_ase.metrics import as_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._compare import Models
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._inference._models import Columns
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.risk._estimate import Estimate
    from sklearn_ase.stopping import BaseStop


@dataclass(frozen=True, eq=False)
class Standing:
    """Believed gain of each model, its probability to be the best, and which leads.

    Attributes
    ----------
    gains : ndarray of shape (n_models,)
        Believed metric of each model, with the sign that makes greater better.
    gradient : ndarray of shape (n_columns,)
        Derivatives of the gains by the means.
    best_proba : ndarray of shape (n_models,)
    leader : int
        The model that is chosen.
    """

    gains: np.ndarray
    gradient: np.ndarray
    best_proba: np.ndarray
    leader: int


def standing(
    columns: Columns,
    state: PoolState,
    observed: np.ndarray,
    pairs: Pairs,
    seed: Sequence[int],
    weight: np.ndarray | None = None,
) -> Standing:
    """Find out which model leads, by the belief of now."""
    expected = columns.expected(state.belief)
    expected[state.indices] = observed
    means = _over_answerable(expected, state, weight)
    gains, gradient = columns.gains(means), columns.gradient(means)
    unknown = np.array(pairs.agreement.apart)
    unknown[state.indices] = False
    unknown[state.picks.indices[state.picks.skipped]] = False
    covariance = believed_covariance(columns, state, gradient, np.flatnonzero(unknown))
    best_proba = proba_of_best(gains, covariance, seed)
    leader = _chosen(gains, pairs)
    return Standing(gains, gradient, best_proba, leader)


def _over_answerable(expected, state, weight):
    """Mean of each column over the rows that can be labelled.

    Rows that were skipped do not count. Of the rows without an answer only a share can
    be labelled, which the picks tell.
    """
    share = answerable_share(state, weight)
    if share == 1.0:
        return expected.mean(axis=0)
    weight = np.ones(state.n_samples) if weight is None else weight
    counts = np.ones(state.n_samples)
    counts[state.picks.indices[state.picks.skipped]] = 0.0
    is_open = counts > 0
    is_open[state.indices] = False
    left = share * state.n_samples - weight[state.indices].sum()
    size = weight[is_open].sum()
    counts[is_open] = np.clip(left / size, 0.0, 1.0) if size > 0 else 0.0
    total = counts @ weight
    return counts @ expected / total if total > 0 else expected.mean(axis=0)


def _chosen(gains, pairs):
    """The model with the greatest gain of those that the labels have not excluded."""
    order = np.argsort(-gains, kind="stable")
    for model in order:
        if not pairs.excludes(model):
            return int(model)
    return int(order[0])


def believed_covariance(
    columns: Columns, state: PoolState, gradient: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Covariance of the gains under the belief, but for what is common to all."""
    rows, factor = some_rows(rows, columns)
    if not len(rows):
        return np.zeros((columns.n_models, columns.n_models))
    belief, n_samples = state.belief, state.n_samples
    values, proba, slope = columns.tables(rows, belief, gradient)
    of_labels = factor * sum_of_covariances(values, proba, np.ones(len(rows)))
    values = values - np.einsum("nc,nck->nk", proba, values)[:, None]
    slopes = factor * belief.stack.slopes(rows, slope, values)
    of_weights = slopes @ belief.stack.covariance @ slopes.T
    return (of_labels + of_weights) / n_samples**2


# How the models stand, kept until something changes.


_DRAWS, _CRITICAL = 7, 11


@dataclass(frozen=True, eq=False)
class Race:
    """The standing of the models at one state of the pool, and what it is made of.

    Attributes
    ----------
    standing : Standing
    columns : Columns
        Means that decide about the models.
    corrected : Corrected or None
        None without a label.
    pairs : Pairs
    """

    standing: Standing
    columns: Columns
    corrected: Corrected | None
    pairs: Pairs


class Standings:
    """Make the race of a state, and keep it and the questions about each model.

    Parameters
    ----------
    models : Models
    seed : int
    """

    def __init__(self, models: Models, seed: int) -> None:
        self.models, self.seed = models, seed
        self._metrics: tuple = None, None, None  # Classes, metrics for them, columns.
        self._races: dict = {}
        self._cache: dict = {}
        self._questions: dict = {}

    def at(self, state: PoolState, epochs, classes, more_labels) -> Race:
        """The race at a state, made once for the state."""
        if state not in self._races:
            columns = self._columns(state, classes, more_labels)
            observed = columns.observed(state.indices, state.labels, more_labels)
            corrected, weight = None, self.models.weight
            if state.settled.n_labels:
                aligned = [self._aligned(epoch, classes) for epoch in epochs]
                corrected = Corrected(
                    columns, state, aligned, observed, self._cache, weight
                )
            agreement, seed = self.models.agreement, [self.seed, _CRITICAL]
            pairs = Pairs(columns, state, observed, corrected, agreement, seed)
            seed = [self.seed, state.n_labels, _DRAWS]
            found = standing(columns, state, observed, pairs, seed, weight)
            self._races = {state: Race(found, columns, corrected, pairs)}
        return self._races[state]

    def question(self, model: int, classes: np.ndarray | None) -> Question:
        """The metric of one model, as a question."""
        self._forget_other_classes(classes)
        if model not in self._questions:
            metric, weight = self._metrics[1][model], self.models.weight
            self._questions[model] = Question(metric, weight=weight)
        return self._questions[model]

    def _aligned(self, epoch, classes):
        """The epoch with a column for each class; one object for each epoch."""
        key = "aligned", epoch.belief
        if key not in self._cache:
            self._cache[key] = epoch.belief.aligned(classes)
        return Epoch(epoch.start, self._cache[key], epoch.query_proba)

    def _forget_other_classes(self, classes):
        if self._metrics[1] is None or not np.array_equal(self._metrics[0], classes):
            self._metrics = classes, self.models.bound(classes), None
            self._cache, self._questions = {}, {}

    def _columns(self, state, classes, more_labels):
        self._forget_other_classes(classes)
        metrics, columns = self._metrics[1:]
        if columns is None:
            proba = known_proba(state, classes, more_labels)
            columns = self.models.columns(metrics, classes, proba)
            if all(near is m for near, m in zip(columns.metrics, metrics, strict=True)):
                self._metrics = classes, metrics, columns
            else:  # Of a ranking: it is another one near each belief.
                self._cache = {}
        return columns


# What a label is expected to tell about the best model.


# Numbers of a table of rows, labels and models that is made at a time.
_NUMBERS_AT_A_TIME = 4_000_000


def expected_gain(
    rows: np.ndarray,
    state: PoolState,
    columns: Columns,
    gradient: np.ndarray,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """What labels of some rows are expected to tell about the best model."""
    observed = columns.observed(state.indices, state.labels)
    if columns.targets is not None:
        log_weights = LABEL_WEIGHT * observed.sum(axis=0)
        n_classes = len(columns.classes)
        gain = gain_of_votes(log_weights, columns.targets[rows], n_classes)
        return gain if weight is None else gain * weight[rows]
    sample, _ = some_rows(rows, columns)
    values = columns.tables(sample, state.belief, gradient)[0]
    spreads = np.ptp(values, axis=2)
    scale = np.quantile(spreads[spreads > 0], 0.95) if spreads.any() else 1.0
    rated = _ratings(columns.per_model(observed, gradient), scale)
    log_weights = LABEL_WEIGHT * rated.sum(axis=0)
    n_labels = 7 if columns.classes is None else len(columns.classes)
    size = max(1, _NUMBERS_AT_A_TIME // (n_labels * columns.n_models))
    found = []
    for start in range(0, len(rows), size):
        here = rows[start : start + size]
        values, proba, _ = columns.tables(here, state.belief, gradient)
        share = proba if columns.classes is None else None
        found.append(information_gain(log_weights, _ratings(values, scale), share))
    return np.concatenate(found)


def _ratings(values, scale):
    """How well each model does, from 0 to 1, beside the best at that row and label."""
    worse = values - values.max(axis=-1, keepdims=True)
    return np.clip(1.0 + worse / scale, 0.0, 1.0)


# The choice, label by label.


class ModelSelection(Evaluation):
    """Choice of the best of several models on one pool, label by label.

    Made by :meth:`ActiveModelSelector.start`; ``fit`` is a loop over its methods. It is
    an :class:`Evaluation` of the model that leads: ``estimate`` and the reports are
    about that one.

    Parameters
    ----------
    models : Models
    problem : Problem
        With the predictions of the first model.
    plan : Plan
    ledger : LabelLedger
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveModelSelector
    >>> y = np.arange(60) % 2
    >>> run = ActiveModelSelector(random_state=0).start(
    ...     None, predictions={"good": y, "poor": np.zeros(60, dtype=int)})
    >>> for _ in range(10):
    ...     query = run.ask()
    ...     run.tell(query, y[query.indices])
    >>> run.best_name
    'good'
    """

    def __init__(
        self,
        models: Models,
        problem: Problem,
        plan: Plan,
        ledger: LabelLedger,
        seed: int,
    ) -> None:
        self.models = models
        self._standings = Standings(models, seed)
        self._answered: tuple = None, None  # A state, and the answers for it.
        super().__init__(problem, plan, ledger, seed)

    def race(
        self,
        state: PoolState | None = None,
        epochs: list[Epoch] | None = None,
        classes: np.ndarray | None = None,
    ) -> Race:
        """How the models stand, now or at an earlier state of the pool.

        Parameters
        ----------
        state : PoolState, default=None
        epochs : list of Epoch, default=None
        classes : ndarray of shape (n_classes,), default=None

        Returns
        -------
        race : Race
        """
        state = self.state if state is None else state
        epochs = self.epochs if epochs is None else epochs
        classes = self.classes_ if classes is None else classes
        return self._standings.at(state, epochs, classes, self.placed.more_labels)

    @property
    def names(self) -> list[str]:
        """Names of the models, in their order."""
        return list(self.models.names)

    @property
    def best_index(self) -> int:
        """Place of the model that is chosen now."""
        return self.race().standing.leader

    @property
    def best_name(self) -> str:
        """Name of the model that is chosen now."""
        return self.models.names[self.best_index]

    @property
    def probabilities(self) -> dict[str, float]:
        """Probability of each model to be the best, roughly, by name."""
        found = self.compare().probabilities()
        return dict(zip(self.names, found.tolist(), strict=True))

    @property
    def candidates(self) -> list[str]:
        """Names of the models that may be the best, at 90 %; see `compare`."""
        return self.compare().candidates()

    @property
    def results(self) -> dict[str, list]:
        """Dict of columns with an entry per model; see ``compare().to_dict()``."""
        return self.compare().to_dict()

    def estimate(
        self,
        risk: BaseRisk | None = None,
        groups: ArrayLike | None = None,
        **question: Any,
    ) -> Estimate:
        """Answer a question about the chosen model; see :meth:`Evaluation.estimate`.

        Parameters
        ----------
        risk : risk estimator, default=None
        groups : array-like of shape (n_samples,), default=None
        **question
            ``metric``, ``where`` and ``sample_weight``.

        Returns
        -------
        estimate : Estimate
            Its ``note`` says what the labels were bought for.
        """
        return self._estimate_of(self.best_index, risk, groups, **question)

    def estimate_of(
        self, name: str, risk: BaseRisk | None = None, **question: Any
    ) -> Estimate:
        """Answer a question about one of the models; see :meth:`estimate`.

        Parameters
        ----------
        name : str
            Of the model.
        risk : risk estimator, default=None
        **question
            ``metric``, ``where`` and ``sample_weight`` of :meth:`estimate`.

        Returns
        -------
        estimate : Estimate
        """
        check_choice(name, "name", tuple(self.models.names))
        return self._estimate_of(self.models.names.index(name), risk, **question)

    def _estimate_of(self, model, risk=None, groups=None, **question):
        """Answer a question about one of the models, given by its place."""
        check_risk(self.risk if risk is None else risk)
        asked = self._question_of(model, **question)
        found: Any = estimate_of(self, asked, risk, groups)
        return replace(found, note=self.plan.acquisition.bought_for)

    def compare(
        self,
        models: ManyModels | None = None,
        *,
        reference: str | None = None,
        **question: Any,
    ) -> Comparison:
        """Compare models from the labels so far; see :meth:`Evaluation.compare`.

        Parameters
        ----------
        models : dict of str to model, default=None
            None means the models of this choice.
        reference : str, default=None
            Name of a model to which all others are compared, too.
        **question
            ``metric``, ``where``, ``sample_weight`` and ``risk``.

        Returns
        -------
        comparison : Comparison
            Without other models and without another question it is about this choice:
            its best model is `best_name`, and its candidates are `candidates`.
        """
        if "metric" in question and self._is_own(question["metric"]):
            del question["metric"]
        if models is not None or any(each is not None for each in question.values()):
            own: Any = self.models if models is None else models
            return super().compare(own, reference=reference, **question)
        stand = self.race().standing
        answers, proba = self._answers(), stand.best_proba
        if answers.pairs.n_labels:  # With the errors of the shown differences.
            proba = answers.proba_of_best(stand.leader)
        return Comparison(
            self.names, stand.leader, stand.gains, proba, answers, reference
        )

    def _is_own(self, metric):
        """Whether a metric is the one that the models are chosen by."""
        return metric is not None and same_settings(as_metric(metric), self.plan.metric)

    def _answers(self):
        """Estimates of models and differences, kept until something changes."""
        state, race, weight = self.state, self.race(), self.models.weight
        if self._answered[0] is not state:
            more, classes = self.placed.more_labels, self.classes_
            answers = Answers(
                race.columns.metrics,
                race.columns.sign,
                states_for(state, self.epochs, more, classes, weight, cache={}),
                self.risk,
                race.pairs,
                self.plan.acquisition.bought_for,
                Support.of(state, self.risk, weight),
                race.standing.gains,
            )
            self._answered = state, answers
        return self._answered[1]

    def question(
        self,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Question | None:
        """The metric that is asked for, applied to the predictions of the leader."""
        return self._question_of(self.best_index, metric, where, sample_weight)

    def _question_of(self, model, metric=None, where=None, sample_weight=None):
        """The metric that is asked for, applied to the predictions of a model."""
        if metric is None and where is None and sample_weight is None:
            return self._standings.question(model, self.classes_)
        metric, weight = metric_and_weight(self, metric, where, sample_weight)
        problem = self.models.problems[model]
        found = Question.of(problem, metric, self.classes_, weight)
        # The ledger has what was expected of the first model only.
        return replace(found, curve=None)

    def _reported(self, classes, state):
        """The metric of the model that leads."""
        leader = self.race(state, self.epochs, classes).standing.leader
        return self._standings.question(leader, classes)

    def _estimate_if_possible(self):
        # A surrogate that failed leaves no belief, and its error is to be seen.
        return super()._estimate_if_possible() if self.is_fitted else None

    def view(
        self, state: PoolState, epochs: list[Epoch], classes: np.ndarray | None
    ) -> PoolState:
        """The state as the acquisition sees it: that of the leader, with the others."""
        race = self.race(state, epochs, classes)
        stand, columns = race.standing, race.columns
        question, more = (
            self._standings.question(stand.leader, classes),
            self.placed.more_labels,
        )
        # What was expected of earlier picks is of no use to it.
        seen = view_of(question, state, [], classes=classes, more_labels=more)
        models = ModelsView(
            leader=stand.leader,
            best_proba=stand.best_proba,
            belief=state.belief,
            influence=lambda model: columns.influence(model, stand.gradient),
            apart=self.models.agreement.apart,
            gain=lambda rows: expected_gain(
                rows, state, columns, stand.gradient, self.models.weight
            ),
        )
        return replace(seen, models=models)

    def _check_stop(self, stop):
        check_stop(stop, self.risk, has_models=True)

    def stop_reason(self, stop: BaseStop) -> str:
        """Ask a stopping rule whether more labels are needed; see `Evaluation`."""
        self._check_stop(stop)
        if stop.needs_models:
            return stop.reason_to_choose(self) if self.state.settled.n_labels else ""
        return super().stop_reason(stop)

    def _leader(self):
        return {"best model": self.best_name}

    def __repr__(self):
        parts = f"{len(self.models.names)} models", self._progress()
        return f"<ModelSelection: {', '.join(parts)}, best {self.best_name!r}>"
