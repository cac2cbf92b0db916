"""The reports of an evaluation: intervals, diagnosis, history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._evaluation._agreement import agreement
from sklearn_ase._evaluation._comparing import Comparing
from sklearn_ase._evaluation._diagnosis import diagnose, scarce_share
from sklearn_ase._evaluation._forecast import labels_needed, metric_labels_needed
from sklearn_ase._evaluation._history import (
    history,
    last_estimate,
    past_intervals,
    recent_estimates,
)
from sklearn_ase._evaluation._judges import judge_table
from sklearn_ase._evaluation._plan import check_stop
from sklearn_ase._inference._evidence import judging_obstacle
from sklearn_ase._state import Query
from sklearn_ase._utils._html import html_table
from sklearn_ase._utils._typing import Method
from sklearn_ase.risk import ASE, GuardedASE, MetricEstimate

if TYPE_CHECKING:
    from sklearn_ase._evaluation._agreement import Agreement
    from sklearn_ase._evaluation._diagnosis import Diagnosis
    from sklearn_ase._evaluation._forecast import LabelForecast
    from sklearn_ase._evaluation._judges import JudgeTable
    from sklearn_ase.losses._pool_loss import PoolLoss
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.stopping import BaseStop
    from sklearn_ase.surrogate._base import BaseSurrogate


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
        return diagnose(state, scarce, worth, answers, self._waiting_labels())

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
        return agreement(self.state, self.ledger.more_labels, self.classes_, level)

    def labels_needed(
        self, width: float, level: float = 0.9, method: Method = "fixed"
    ) -> LabelForecast:
        """Forecast how many more labels an interval of some width takes.

        Parameters
        ----------
        width : float
            Width of the interval, from end to end.
        level : float, default=0.9
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            See :meth:`RiskEstimate.interval`.

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
        if isinstance(estimate, MetricEstimate):
            n_known = state.n_labels
            return metric_labels_needed(
                estimate, self.n_samples, n_known, width, level, method
            )
        return labels_needed(state, estimate, width, level, method)

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
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            See :meth:`RiskEstimate.interval`.

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
        proba = dict(zip(self.ledger.indices, self.ledger.query_proba, strict=True))
        indices = self.ledger.pending
        return Query(
            np.array(indices, dtype=int), np.array([proba[index] for index in indices])
        )

    @property
    def spent(self) -> float:
        """Cost of the rows that were answered or skipped; known labels are free."""
        rows = [*self.ledger.labels, *self.ledger.skipped]
        paid = [index for index in rows if index not in self.ledger.known]
        return float(self.problem.cost_of(paid).sum())

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Dict of arrays with one entry per label, in the order they arrived."""
        return history(self.ledger, self._last_state(), self.plan.metric)

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
        return html_table(type(self).__name__, rows.items())

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
