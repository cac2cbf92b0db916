"""Comparisons of models, or of groups of rows, from the labels of one evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

from sklearn_ase._data._labels import group_name, number_groups
from sklearn_ase._data._predictions import predict_pool, response_of
from sklearn_ase._display._blocks import Table, Words, counted, percent, roughly
from sklearn_ase._display._html import notebook
from sklearn_ase._display._text import text
from sklearn_ase._evaluation._plan import check_risk
from sklearn_ase._evaluation._questions import (
    Support,
    known_proba,
    pool_metric,
    states_for,
    training_labels,
    weight_of,
)
from sklearn_ase._inference._bounds import LEAST_DEGREES, PoolSample
from sklearn_ase._inference._differences import Pairs
from sklearn_ase._inference._models import Columns, Corrected, SamePredictions
from sklearn_ase._inference._questions import cross_fitted_epochs
from sklearn_ase._utils._checks import check_choice
from sklearn_ase._utils._typing import Floats, Method
from sklearn_ase.losses import SquaredError, ZeroOne
from sklearn_ase.metrics._counts import with_positive
from sklearn_ase.metrics._pool_metric import difference
from sklearn_ase.metrics._ranking import BaseRanking, ranking_scores
from sklearn_ase.risk import Estimate, MeanInterval
from sklearn_ase.risk._intervals import (
    FunctionInterval,
    RegionInterval,
    TangentInterval,
)
from sklearn_ase.risk._question import estimate_metric

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase.risk._base import BaseRisk

# Names that a sentence lists.
_MOST_NAMES = 6
# A belief is trusted within the interval of this level.
_TRUSTED_LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Answers:
    """Estimates of several models and of their differences.

    Attributes
    ----------
    metrics : list of PoolMetric
        The metric of each model.
    sign : {1.0, -1.0}
        1 if a greater metric is better.
    state_of : StateOf
        ``RowValues -> PoolState``.
    risk : BaseRisk
    pairs : Pairs
    note : str
        About estimates of a single model.
    support : Support
        Labels at the rows that the models are compared on.
    believed : ndarray of shape (n_models,) or None
        How good each model is by a belief that is made to compare them, greater is
        better. Differences are then those of the belief, within their 90 % intervals.
    """

    metrics: list
    sign: float
    state_of: object
    risk: object
    pairs: Pairs
    note: str = ""
    support: Support = field(default_factory=Support)
    believed: np.ndarray | None = None
    _kept: dict = field(default_factory=dict)

    @property
    def name(self):
        """Name of the metric."""
        return self.metrics[0].metric.name

    def estimate(self, place):
        """Metric of one model, an Estimate."""
        if place not in self._kept:
            worth = training_labels(self.state_of.state)
            asked = self.risk, self.metrics[place], self.state_of
            found = estimate_metric(*asked, worth)
            self._kept[place] = self.support.on(replace(found, note=self.note))
        return self._kept[place]

    def estimate_behind(self, best, place):
        """Metric of one model, moved to its estimated distance from the best model.

        Differences are known better than levels, and together they make one table.
        """
        found = self.estimate(place)
        gap = self.sign * float(self.difference(best, place))
        value = float(self.estimate(best)) - gap
        if place == best or not np.isfinite([value, found.value]).all():
            return found
        return replace(found, value=float(np.clip(value, *_possible(found))))

    def difference(self, first, second):
        """How much better the first is than the second, an Estimate."""
        key = first, second
        if key not in self._kept:
            self._kept[key] = self.support.on(self._difference(*key))
        return self._kept[key]

    def _difference(self, first, second):
        if self.pairs.agreement.are_alike(first, second):
            name = f"difference of {self.name}"
            known = MeanInterval(
                0.0,
                0.0,
                self.pairs.n_labels,
                sample=PoolSample(population_variance=0.0),
            )
            return Estimate.of_interval(known, name=name, bounds=(0.0, 0.0))
        two = [self.metrics[first], self.metrics[second]]
        gap = difference(
            *(two if self.sign > 0 else two[::-1]),
            lambda part: self.state_of.expected(part).mean(),
        )
        found = estimate_metric(self.risk, gap, self.state_of)
        # Only labels at which the two differ say which is better.
        degrees = max(self.pairs.n_apart[first, second] - 1.0, LEAST_DEGREES)
        degrees = np.inf if self.pairs.is_known else degrees
        if self.pairs.curved is not None:
            found = self._with_region(found, first, second, degrees)
        elif isinstance(found.uncertainty, TangentInterval):
            found = replace(found, uncertainty=found.uncertainty.with_degrees(degrees))
        if self.believed is None and self.pairs.curved is None:
            return found
        value = found.value
        if self.believed is not None:
            value = self.believed[first] - self.believed[second]
        if not found.refusal:
            ends = replace(found, value=found.centre).interval(_TRUSTED_LEVEL)
            value = np.clip(value, *ends)
        return replace(found, value=float(value))

    def difference_beside(self, best, first, second):
        """How much better one model is, by how far both are behind the best model."""
        found = self.difference(first, second)
        if best in (first, second) or found.refusal or not np.isfinite(found.value):
            return found
        behind = [float(self.difference(best, each)) for each in (second, first)]
        ends = replace(found, value=found.centre).interval(_TRUSTED_LEVEL)
        return replace(found, value=float(np.clip(behind[0] - behind[1], *ends)))

    def proba_of_best(self, best):
        """Probability of each model to be the best, by the differences as shown."""
        n_models = len(self.metrics)
        gains = [-float(self.difference(best, k)) for k in range(n_models)]
        return self.pairs.proba_of_best(np.array(gains), 0)

    def _with_region(self, found, first, second, degrees):
        """The difference with the interval of all means that the labels allow for.

        That of its tangent is too narrow where the means are little known.
        """
        gap, region = self.pairs.curved.region(first, second)
        pair = np.array([first]), np.array([second])
        one_error = self.pairs.curved.ends(*pair, np.ones(1))
        means, covariance = region["means"][0], region["covariance"][0]
        least, most = (side[0] for side in region["limits"])
        low, high = self.metrics[first].metric.bounds
        error = 0.5 * float(np.diff(one_error, axis=0)[0, 0])
        region = RegionInterval(
            centre=gap.value(means),
            standard_error=error,
            n_labels=found.n_labels,
            degrees_of_freedom=degrees,
            sample=found.uncertainty.sample,
            metric=gap,
            means=tuple(means.tolist()),
            known=(np.nan,) * len(means),
            covariance=tuple(map(tuple, covariance.tolist())),
            least=tuple(least.tolist()),
            most=tuple(most.tolist()),
        )
        return replace(
            found,
            standard_error=error,
            bounds=(low - high, high - low),
            uncertainty=region,
        )


def _possible(found):
    """Least and greatest value of a metric that its labels leave possible."""
    low, high = found.bounds
    if isinstance(found.uncertainty, FunctionInterval):
        ends = found.uncertainty.proved_ends()
        low, high = max(low, ends[0]), min(high, ends[1])
    return min(low, found.value), max(high, found.value)


# The comparison, as the user gets it.


class Comparison:
    """Several models on one pool: how good each is, and which may be the best.

    ``evaluation.compare(models)`` returns it, and ``run.compare()`` of a choice between
    models. How much better a model is than another is above 0 if it is better, also if
    the metric is a loss.

    Attributes
    ----------
    names : list of str
    best_index : int
        The model that is better than each other by the estimated difference.
    reference : str or None

    See Also
    --------
    ComparisonDisplay : The same as a figure.
    """

    def __init__(
        self,
        names: Iterable[str],
        best_index: int,
        gains: np.ndarray,
        proba: np.ndarray,
        answers: Answers,
        reference: str | None = None,
        what: str = "model",
    ) -> None:
        self.names = list(names)
        self.what = what  # "group", if groups of rows are compared.
        self.best_index = best_index
        self.reference = reference
        self._gains = gains  # One per model; the best was chosen by them.
        self._proba = proba
        self._answers = answers
        if reference is not None:
            check_choice(reference, "reference", tuple(self.names))

    @property
    def best_name(self) -> str:
        """Name of the best model."""
        return self.names[self.best_index]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self._answers.pairs.n_labels

    @property
    def metric_name(self) -> str:
        """Name of the metric."""
        return self._answers.name

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Estimate of the metric of each model, a list of Estimate.

        That of the best model, and what `differences` say the others are behind it:
        differences are better known than the estimate of each model by itself.
        """
        found = self._answers.estimate_behind
        return [found(self.best_index, place) for place in range(len(self.names))]

    @cached_property
    def differences(self) -> list[Estimate]:
        """How much better the best model is than each; a list of Estimate."""
        return [self.difference(self.best_name, name) for name in self.names]

    @cached_property
    def to_reference(self) -> list[Estimate] | None:
        """How much better each is than the reference; None without a reference."""
        if self.reference is None:
            return None
        return [self.difference(name, self.reference) for name in self.names]

    def difference(self, first: str, second: str) -> Estimate:
        """Estimate how much better one model is than another.

        Parameters
        ----------
        first, second : str
            Names of the models.

        Returns
        -------
        difference : Estimate
            Above 0 if the first is better. ``interval(method="anytime")`` holds at all
            label counts at once.
        """
        places = []
        for name in (first, second):
            if name not in self.names:
                raise ValueError(
                    f"No model is named {name!r}. The models are {self.names}."
                )
            places.append(self.names.index(name))
        return self._answers.difference_beside(self.best_index, *places)

    def candidates(self, level: float = 0.9, method: Method = "fixed") -> list[str]:
        """Return the models that may be the best.

        The best model is among them with probability `level`: all comparisons with it
        count together (Hsu's multiple comparisons with the best). The chosen model is
        always among them.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            ``"fixed"`` is for one look, at a number of labels that was fixed before.
            ``"anytime"`` may be looked at after every label, and keeps more models.

        Returns
        -------
        names : list of str
        """
        pairs = self._answers.pairs
        stays = pairs.may_be_best(self.best_index, level, method)
        return [name for name, stay in zip(self.names, stays, strict=True) if stay]

    def same_as_best(self) -> list[str]:
        """Return the best model and those that predict the same at all rows.

        No label tells these apart.

        Returns
        -------
        names : list of str
        """
        are_alike = self._answers.pairs.agreement.are_alike
        places = range(len(self.names))
        return [self.names[k] for k in places if are_alike(self.best_index, k)]

    def regret(self, level: float = 0.9, method: Method = "fixed") -> float:
        """Return how much better than the chosen model the best one is at most.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`candidates`.

        Returns
        -------
        regret : float
        """
        return self._answers.pairs.regret(self.best_index, level, method)

    def probabilities(self) -> Floats:
        """Return the probability of each model to be the best, roughly.

        They agree with `candidates`: a candidate has more than 0, and all others
        together have at most 0.1.

        Returns
        -------
        probabilities : ndarray of shape (n_models,)
        """
        return self._agreeing(0.9, "fixed")

    def _agreeing(self, level, method):
        """Probabilities that agree with a set of candidates."""
        pairs = self._answers.pairs
        return pairs.agreeing(self._proba, self.best_index, level, method)

    def labels_needed(self, level: float = 0.9) -> float:
        """Forecast how many more labels would leave the best model alone, roughly.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        n_more : float
            0 if no other model may be the best, but for those that predict the same as
            it at all rows. Infinite if nothing can be said, for instance because two
            models are estimated to be equally good.
        """
        pairs = self._answers.pairs
        return pairs.labels_needed(self.best_index, self._gains, level)

    def describe(self, level: float = 0.9, method: Method = "fixed") -> str:
        """Say in words which models may be the best.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime"}, default="fixed"
            See :meth:`candidates`.

        Returns
        -------
        text : str
        """
        names = self.candidates(level, method)
        labels = counted(self.n_labels, "label")
        twins = self.same_as_best()
        alike = ""
        if len(twins) > 1:
            twins_are = f"{self._listed(twins)} predict the same"
            alike = f" {twins_are}, so no label tells them apart."
        if len(twins) == len(self.names):
            return alike.strip()
        if set(names) <= set(twins):
            sure = f"{percent(level)}{'' if method == 'fixed' else ', anytime'}"
            return (
                f"{self.best_name} is the best of {len(self.names)} {self.what}s "
                f"({sure}, {labels}).{alike}"
            )
        words = f"{self._listed(names)} cannot be told apart with {labels}."
        more = self.labels_needed(level)
        if np.isfinite(more) and more > 0:
            words += f" About {counted(round(more), 'more label')} would be sufficient."
        else:
            words += " It is not known yet how many more labels are needed."
        proba = self._agreeing(level, method)[self.best_index]
        words += f" Best so far: {self.best_name}, with probability {roughly(proba)}."
        return f"{words}{alike} {self._answers.support.words}".rstrip()

    def to_dict(self, level: float = 0.9, method: Method = "fixed") -> dict[str, list]:
        """Return the comparison as columns, which ``pandas.DataFrame`` takes.

        Parameters
        ----------
        level : float, default=0.9
            Of the intervals and of the set of candidates.
        method : {"fixed", "anytime"}, default="fixed"

        Returns
        -------
        columns : dict of str to list
            ``low`` and ``high`` are the ends of the interval of ``estimate``;
            ``behind_best`` is how much better the best model is.
        """
        candidates = self.candidates(level, method)
        columns: dict[str, list] = {"model": list(self.names)}
        for name, found, prefix in (
            ("estimate", self.estimates, ""),
            ("behind_best", self.differences, "behind_"),
        ):
            columns[name] = [float(each) for each in found]
            ends = [_ends(each, level, method) for each in found]
            low, high = zip(*ends, strict=True)
            columns[f"{prefix}low"], columns[f"{prefix}high"] = list(low), list(high)
        columns["may_be_best"] = [name in candidates for name in self.names]
        columns["probability"] = self._agreeing(level, method).tolist()
        return columns

    def _listed(self, names: list[str]) -> str:
        """Names in a sentence."""
        if len(names) <= _MOST_NAMES:
            return f"{', '.join(names[:-1])} and {names[-1]}"
        rest = len(names) - _MOST_NAMES
        return f"{', '.join(names[:_MOST_NAMES])} and {rest} more {self.what}s"

    def _table(self) -> Table:
        """The comparison as a table."""
        table = self.to_dict()
        table["probability"] = [roughly(each) for each in table["probability"]]
        rows = [list(row) for row in zip(*table.values(), strict=True)]
        return Table([name.replace("_", " ") for name in table], rows)

    def __str__(self):
        return text(self._table(), Words(self.describe()))

    __repr__ = __str__

    def _repr_html_(self):
        return notebook("Comparison", self._table(), Words(self.describe()))


def _ends(estimate, level, method):
    is_refused = bool(estimate.refusal_of(method))
    return (np.nan, np.nan) if is_refused else estimate.interval(level, method)


# Models as competitors.


@dataclass(frozen=True, eq=False)
class Models:
    """Models whose predictions for the pool are known.

    Attributes
    ----------
    names : list of str
    problems : list of Problem
        The same pool with the predictions of each model.
    estimators : list
        Each a fitted estimator, a function, or None if only predictions are known.
    metric : BaseMetric
    weight : ndarray of shape (n_samples,) or None
        How much each row counts, with mean 1; 0 outside the rows that are asked about.
    """

    names: list
    problems: list
    estimators: list
    metric: object
    weight: np.ndarray | None = None
    what = "model"

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @cached_property
    def agreement(self):
        """Which models predict the same at which rows, for this metric."""
        classes = self.problems[0].classes
        found = [response_of(each, self.metric, classes) for each in self.problems]
        if isinstance(self.metric, BaseRanking):
            metric = with_positive(self.metric, self.problems[0].classes, classes)
            found = ranking_scores(metric, found, classes)
        return SamePredictions.of(found, self.weight)

    def bound(self, classes):
        """The metric applied to the predictions of each model, as a list."""
        return [
            pool_metric(problem, self.metric, classes, self.weight)
            for problem in self.problems
        ]

    def columns(self, metrics, classes, proba):
        """Means that decide about the models, near a belief."""
        near = [metric.at(proba) for metric in metrics]
        return Columns(near, classes, self.sign)


def check_depends_on_model(metric):
    """Refuse a metric of the labels alone."""
    if metric.response_method is None:
        raise ValueError(
            f"metric={metric!r} does not depend on a model, so it cannot tell models "
            "apart. Use another metric."
        )


def as_models(models, problem: Problem, metric, weight: np.ndarray | None):
    """Ask models about the pool of an evaluation."""
    check_depends_on_model(metric)
    if isinstance(models, Models):
        return replace(models, metric=metric, weight=weight)
    pairs = list(models.items()) if hasattr(models, "items") else models
    is_list = isinstance(pairs, (list, tuple))
    # A pipeline of two steps would unpack, too.
    if not is_list or not all(isinstance(e, tuple) and len(e) == 2 for e in pairs):
        raise TypeError(
            f"models must have names, but a {type(models).__name__} without names was "
            "given. Give a dict: compare({'a': model_a, 'b': model_b})."
        )
    pairs = [(str(name), model) for name, model in pairs]
    names = [name for name, _ in pairs]
    if len(pairs) < 2 or len(set(names)) < len(names):
        raise ValueError(
            f"models must be at least two models with different names, got {names}."
        )
    problems = [_with_model(problem, *pair) for pair in pairs]
    return Models(names, problems, [model for _, model in pairs], metric, weight)


def _with_model(problem, name, model):
    loss = SquaredError() if problem.task == "regression" else ZeroOne()
    is_model = hasattr(model, "predict") or hasattr(model, "predict_proba")
    is_function = callable(model) and not is_model
    given = None if is_model or is_function else model
    estimator = model if given is None else None
    classes = problem.given_classes if given is None else problem.classes
    given = problem.entries_of(given, f"models[{name!r}]")
    problem.order.check(**{f"models[{name!r}]": given})
    try:
        predictions = predict_pool(
            estimator, problem.X, loss, problem.task, classes, given
        )
    except NotFittedError as error:
        raise NotFittedError(
            f"The model {name!r}, {type(model).__name__}, is not fitted. Fit each "
            f"model before: compare({{{name!r}: model.fit(X_train, y_train), ...}})."
        ) from error
    except (TypeError, ValueError) as error:
        error.add_note(f"This is about the model {name!r}.")
        raise
    model = model if is_model else None
    return replace(problem, predictions=predictions, model=model)


# Groups of rows as competitors, such as the answers of several systems.


@dataclass(frozen=True, eq=False)
class Systems:
    """Groups of rows that are compared as models are.

    Attributes
    ----------
    names : list of str
    numbers : ndarray of int of shape (n_samples,)
        Group of each row.
    problem : Problem
    metric : BaseMetric
    row_weight : ndarray of shape (n_samples,) or None
        How much each row counts.
    """

    names: list
    numbers: np.ndarray
    problem: object
    metric: object
    row_weight: np.ndarray | None = None
    weight = None  # Each group has weights of its own.
    what = "group"

    @property
    def sign(self):
        """1 if a greater metric is better, else -1."""
        return 1.0 if self.metric.greater_is_better else -1.0

    @property
    def agreement(self):
        """Which rows belong to neither of two groups, so that they say nothing."""
        places = np.arange(len(self.names))
        is_own = self.numbers[:, None] == places
        return SamePredictions(np.where(is_own, places + 1, 0))

    def bound(self, classes):
        """The metric of each group, as a list."""
        return [
            pool_metric(
                self.problem,
                self.metric,
                classes,
                weight_of(self.numbers == place, self.row_weight),
            )
            for place in range(len(self.names))
        ]

    def columns(self, metrics, classes, proba):
        """Means that decide about the groups, near a belief."""
        near = [metric.at(proba) for metric in metrics]
        return Columns(near, classes, self.sign)


def as_systems(
    groups: Any, problem: Problem, metric, weight: np.ndarray | None
) -> Systems:
    """Make competitors of groups of rows."""
    names, numbers = number_groups(groups, problem)
    if len(names) < 2:
        raise ValueError(
            f"groups must name at least two groups to compare, but only {names} is "
            "there."
        )
    return Systems(list(map(group_name, names)), numbers, problem, metric, weight)


# How a comparison is made.


def compare_models(
    evaluation: Evaluation, models: Models | Systems, risk: BaseRisk, reference: Any
) -> Comparison:
    """Compare models by estimates of each and of their differences."""
    classes = evaluation.classes_
    metrics = models.bound(classes)
    state, epochs = evaluation.state, evaluation.epochs
    if evaluation.is_cross_fitted and risk.leans_on_surrogate:
        epochs = cross_fitted_epochs(epochs, evaluation.beliefs.now.left_out)
        state = replace(state, is_cross_fitted=True)
    more = evaluation.placed.more_labels
    proba = known_proba(state, classes, more)
    columns = models.columns(metrics, classes, proba)
    state_of = states_for(state, epochs, more, classes, models.weight, cache={})
    observed = columns.observed(state.indices, state.labels, more)
    corrected = Corrected(columns, state, state_of.epochs, observed, {}, models.weight)
    pairs = Pairs(columns, state, observed, corrected, models.agreement, [0])
    support = Support.of(state, risk, models.weight)
    answers = Answers(
        columns.metrics, models.sign, state_of, risk, pairs, support=support
    )
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


def comparing_risk(evaluation: Evaluation, risk: BaseRisk | None) -> BaseRisk:
    """The risk estimator of a comparison, checked."""
    risk = evaluation.risk if risk is None else risk
    state = evaluation.state
    check_risk(risk)
    if not risk.needs_query_proba:
        raise ValueError(
            f"compare() needs the steps of the estimate, but {type(risk).__name__} "
            "has none. Use risk=GuardedASE() with selection=Proportional()."
        )
    risk.check(state)
    if state.belief is None or not state.settled.n_labels:
        raise ValueError(
            "A comparison needs a fitted surrogate and a label. Label some rows first."
        )
    return risk
