"""The diagnosis of an evaluation: what labels say of the surrogate, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._display._blocks import Facts, Verdict
from sklearn_ase._display._html import notebook
from sklearn_ase._display._text import text
from sklearn_ase._inference._bounds import MIN_LABELS
from sklearn_ase._inference._evidence import skill_of, weigh_evidence
from sklearn_ase._inference._steps import label_shares, largest_step, tuned_steps
from sklearn_ase._inference._tails import MAX_TAIL_SHAPE, loss_tail
from sklearn_ase.risk import GuardedASE

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._inference._evidence import Evidence
    from sklearn_ase._state import PoolState
    from sklearn_ase.belief._kernels import TrainingWorth
    from sklearn_ase.risk import BaseRisk

FEW_OF_A_CLASS = 5
# With less skill the surrogate does not tell rows apart.
LEAST_SKILL = 0.1
# A label with a greater share of the variance decides too much.
MOST_OF_ONE_LABEL = 0.25
# A label that is worth fewer of a plain random sample saves little.
_LITTLE_WORTH = 1.5


def verdict_of(
    evidence: Evidence,
    state: PoolState,
    *,
    scarce: float,
    name: str,
    is_less: bool,
    risk: BaseRisk,
) -> tuple[str, str]:
    """The verdict on a surrogate and the advice, in plain words."""
    # Only estimates with steps hear what the labels say of the surrogate.
    hears = risk.needs_query_proba
    n_labels, n_picks = state.settled.n_labels, len(state.settled)
    if n_picks == state.n_samples:
        which = "row" if n_labels == n_picks else "row that can be labelled"
        return "good", f"Every {which} is labelled: the {name} is known."
    n_skipped = n_picks - n_labels
    if n_skipped:
        return "unsure", (
            f"{n_skipped} row{'s' * (n_skipped > 1)} could not be labelled. The "
            "labels estimate the risk over the other rows, the surrogate that of the "
            "whole pool, so the two cannot be compared."
            + " The estimate relies on the labels here."
            * hears
        )
    if evidence.trust < 0.5:
        side = "smaller" if is_less else "greater"
        by_training_rows = evidence.distance <= 1 and abs(state.training_gap) > 0
        who = "training rows" if by_training_rows else "labels"
        cure = (
            "The estimate allows for that."
            if hears
            else f"{type(risk).__name__}() does not allow for that: use GuardedASE()."
        )
        return "bad", (
            f"The {who} contradict the surrogate: it expects a {side} {name} than they "
            f"show. {cure} Better features, more training rows or calibration (on by "
            "default) would help the surrogate and make the estimate more precise."
        )
    if n_labels < MIN_LABELS:
        labels = "1 label is" if n_labels == 1 else f"{n_labels} labels are"
        text = f"{labels} too few to judge the surrogate. "
        if state.n_labels > n_labels:
            return "unsure", f"{text}Others wait behind a row that is open: answer it."
        return "unsure", f"{text}Label at least {MIN_LABELS} rows."
    if scarce > 0.25:
        return "unsure", (
            f"{scarce:.0%} of the risk is expected from classes with fewer than "
            f"{FEW_OF_A_CLASS} known labels. Label more rows before you rely on it."
        )
    return "good", "The labels agree with the surrogate."


def of_little_skill(name: str, worth: float) -> str:
    """The advice if the labels agree with a surrogate that is of little use."""
    rows = "have losses" if name == "risk" else f"change the {name}"
    saved = ", so it saves few labels" if worth < _LITTLE_WORTH else ""
    return (
        "The labels agree with the surrogate on average. But it did not tell which "
        f"rows {rows}{saved}."
    )


def of_one_label(share):
    """The advice if a single label carries a great share of the variance."""
    return (
        f"One label carries {100 * share:.0f} % of the variance: the interval and "
        "'as good as' are uncertain. Buy more labels."
    )


# The figures of a diagnosis.


@dataclass(frozen=True)
class Diagnosis:
    """Report on an evaluation, made by ``evaluation.diagnose()``.

    Attributes
    ----------
    n_labels : int
    surrogate_risk, corrected_risk : float
        What the surrogate expects, and the centre of the interval: corrected by the
        labels, with the share of the surrogate that suits them best, as in the interval
        of GuardedASE. So it differs from the estimate of CorrectedASE.
    interval, inside : tuple of float, bool
        90 % interval around the corrected risk, infinite if there are too few labels,
        and whether the surrogate's risk lies in it.
    distance : float
        Distance between the two risks in standard errors. NaN if some rows cannot be
        labelled, because the two risks then refer to different rows.
    expected_loss, observed_loss : float
        Mean loss that the surrogate expected at the labelled rows before it saw their
        labels, and the mean observed loss, both weighted to represent the pool.
    skill : float
        Share of the variance of the losses that the surrogate predicted. Negative if it
        did worse than one number for all labels.
    trust : float
        Probability that the surrogate's risk is off by less than a standard error of
        the corrected one (of 200 labels, if there are more). NaN if some rows cannot
        be labelled.
    training_gap : float
        For an uncalibrated surrogate: mean of expected minus observed loss on training
        rows that it did not learn from, shrunk towards 0 by two standard errors. NaN if
        unavailable.
    training_labels : float
        Number of labels of the pool that all training rows together are found to be
        worth, for the calibration. 0 without training rows, NaN without a calibration.
    effective_labels : float
        Number of labels with which a plain random sample would have the standard error
        of the corrected risk.
    weight_concentration : float
        Share of the greatest weight among the labels' weights; 1 / n_labels if equal.
    largest_step : float
        Share of the observed variance that comes from a single label.
    tail_shape : float
        For a loss without a greatest value: shape of the tail of the losses, relative
        to what the surrogate expected. From 0.5 on their variance is infinite, above
        0.7 there is no interval. NaN for other losses, and with few labels.
    scarce_share : float
        Share of the surrogate's risk that comes from classes with fewer than five known
        labels, including those of the training rows; 0 for regression.
    verdict : {"good", "unsure", "bad"}
    advice : str
        The verdict in plain words, and what to do.
    name : str
        Of what is estimated: "risk", or the metric. For a metric, `expected_loss` and
        `observed_loss` are what a label adds to it.
    n_waiting : int or None
        With ``recalibrate=False``: labels since the last refit, which the surrogate has
        not learned yet. None if it learns from every label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X[::5], y[::5]))
    >>> evaluator = ActiveRiskEstimator(model, n_labels=30, random_state=0)
    >>> evaluator = evaluator.fit(X, y, X_train=X[::5], y_train=y[::5])
    >>> evaluator.evaluation_.diagnose().verdict
    'good'
    """

    n_labels: int
    surrogate_risk: float
    corrected_risk: float
    interval: tuple[float, float]
    inside: bool
    distance: float
    expected_loss: float
    observed_loss: float
    skill: float
    trust: float
    training_gap: float
    training_labels: float
    effective_labels: float
    weight_concentration: float
    largest_step: float
    tail_shape: float
    scarce_share: float
    verdict: str
    advice: str
    name: str = "risk"
    n_waiting: int | None = None

    @property
    def is_bad(self) -> bool:
        """Whether the labels contradict the surrogate."""
        return self.verdict == "bad"

    def __str__(self):
        figures, advice = self.describe(), self.advice
        if not figures:  # Every row is labelled.
            advice += f" {self.corrected_risk:.4g}"
        return text(Verdict(self.verdict, advice), Facts(figures))

    def _repr_html_(self):
        rows = {"verdict": f"{self.verdict}. {self.advice}"} | self.describe()
        return notebook("Diagnosis", Facts(rows))

    def describe(self) -> dict[str, str]:
        """The figures in words, as a dict; empty if every row is labelled.

        Returns
        -------
        words : dict of str to str
        """
        if self.trust == 0 and np.isnan(self.distance):
            return {}
        low, high = self.interval
        interval = f"90 % interval {low:.4g} to {high:.4g}"
        if np.isinf(high):
            interval = "no interval"
        beside, trust = "", "cannot be told"
        if not np.isnan(self.distance):
            where = "" if np.isinf(high) else "inside, " if self.inside else "outside, "
            beside = f" (surrogate {where}{self.distance:.1f} standard errors off)"
            trust = f"{self.trust:.2f}"
        if self.training_gap and not np.isnan(self.training_gap):
            side = "much" if self.training_gap > 0 else "little"
            trust += (
                f"; expected {abs(self.training_gap):.3g} too {side} of training rows"
            )
        training = {}
        if self.training_labels > 0:
            labels = f"{self.training_labels:.0f} labels of the pool"
            training = {"training rows": f"worth {labels}"}
        if self.n_waiting is not None:
            training["between refits"] = (
                f"nothing is learned (recalibrate=False); {self.n_waiting} labels wait "
                "for the next refit"
            )
        values = "loss at labelled rows"
        if self.name != "risk":
            values = "effect of a label on it"
        skill = "not known" if np.isnan(self.skill) else f"{self.skill:.2f}"
        step = f"{self.largest_step:.1%} of the variance"
        if not np.isnan(self.tail_shape):
            step += f", tail shape {self.tail_shape:.2f}"
            step += " (heavy)" if self.tail_shape > MAX_TAIL_SHAPE else ""
        return {
            "labels": f"{self.n_labels}, as good as {self.effective_labels:.0f} of a "
            "plain random sample, for the interval",
            f"{self.name} by the surrogate": f"{self.surrogate_risk:.4g}",
            "corrected estimate": f"{self.corrected_risk:.4g}, {interval}{beside}",
            values: f"{self.expected_loss:.4g} expected, {self.observed_loss:.4g} "
            f"observed, skill {skill}",
            "trust in the surrogate": trust,
            **training,
            "greatest weight": f"{self.weight_concentration:.1%} of all",
            "largest single label": step,
            "risk from scarce classes": f"{self.scarce_share:.1%}",
        }


def scarce_share(state: PoolState, class_counts: np.ndarray | None) -> float:
    """Share of the surrogate's risk that comes from classes with few known labels."""
    if class_counts is None:
        return 0.0
    by_class = state.belief.risk_by_class(state.loss)
    few = class_counts < FEW_OF_A_CLASS
    return float(by_class[few].sum() / max(by_class.sum(), np.finfo(float).tiny))


def diagnose(
    state: PoolState,
    scarce: float = 0.0,
    worth: TrainingWorth | None = None,
    answers: tuple | None = None,
    waiting: dict[int, Any] | None = None,
    risk: BaseRisk | None = None,
) -> Diagnosis:
    """Report on the state of an evaluation, whose estimates are those of a risk."""
    evidence = weigh_evidence(state)
    picks, share = state.settled, label_shares(state)
    # Before its first fit the surrogate expected nothing.
    fitted = ~np.isnan(picks.residual_moment)
    fitted_share = share * fitted / share[fitted].sum() if fitted.any() else np.nan
    by_labels = GuardedASE(worth=0)
    surrogate, corrected = answers or (evidence.surrogate, by_labels.estimate(state))
    distance = evidence.distance
    if answers is not None and corrected.standard_error > 0 and not np.isnan(distance):
        centre = corrected.value if corrected.centre is None else corrected.centre
        distance = abs(surrogate - centre) / corrected.standard_error
    interval = (-np.inf, np.inf)
    if not corrected.refusal:
        interval = corrected.interval(0.9)
    has_tail = answers is None and np.isinf(state.loss.max_loss)
    name = "risk" if answers is None else corrected.name
    is_less = evidence.bias < 0 if answers is None else surrogate < corrected.value
    verdict, advice = verdict_of(
        evidence,
        state,
        scarce=scarce,
        name=name,
        is_less=is_less,
        risk=risk or GuardedASE(),
    )
    skill, effective = skill_of(state), _effective_labels(corrected, state, share)
    step = largest_step(tuned_steps(state).values, state.n_samples)
    if picks.n_labels >= MIN_LABELS and len(picks) < state.n_samples:
        if verdict == "good" and skill < LEAST_SKILL:
            advice = of_little_skill(name, effective / picks.n_labels)
        if step > MOST_OF_ONE_LABEL:
            advice = f"{advice} {of_one_label(step)}"
    return Diagnosis(
        n_labels=picks.n_labels,
        surrogate_risk=surrogate,
        corrected_risk=corrected.value,
        interval=interval,
        inside=interval[0] <= surrogate <= interval[1],
        distance=distance,
        expected_loss=float(np.sum(fitted_share * picks.expected_loss)),
        observed_loss=float(np.sum(fitted_share * picks.losses)),
        skill=skill,
        trust=evidence.trust,
        training_gap=state.training_gap,
        training_labels=worth.n_labels if worth is not None else np.nan,
        effective_labels=effective,
        weight_concentration=float(share.max()),
        largest_step=step,
        tail_shape=loss_tail(state) if has_tail else np.nan,
        scarce_share=scarce,
        verdict=verdict,
        advice=advice,
        name=name,
        n_waiting=None if waiting is None else len(waiting),
    )


def _effective_labels(corrected, state, share):
    """M with ``S² (1/M - 1/N)`` equal to the squared standard error."""
    losses, n_samples = state.settled.losses, state.n_samples
    variance = share @ (losses - share @ losses) ** 2
    error = corrected.standard_error
    if variance <= 1e-12 * (share @ losses**2) or not np.isfinite(error):
        return float(corrected.n_labels)
    return float(variance / (error**2 + variance / n_samples))
