"""The plan of an evaluation: its strategies, when to refit, and how many labels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._checks import (
    check_flag,
    check_folds,
    check_integer,
    check_number,
    check_strategy,
    check_verbose,
    is_number,
    shown,
)
from sklearn_ase.acquisition import BaseAcquisition, LossSpread, TrustWeighted
from sklearn_ase.metrics import BaseMetric, as_metric
from sklearn_ase.metrics._lookup import METRICS
from sklearn_ase.risk import ASE, BaseRisk, GuardedASE
from sklearn_ase.selection import BaseSelection, Proportional
from sklearn_ase.stopping import BaseStop
from sklearn_ase.surrogate import as_expert_surrogate, as_surrogate

# A surrogate that takes labels between refits waits for at least this many of them, and
# for this share of the rows of its last fit: fewer rows hardly change it.
_LEAST_STEP, _LEAST_SHARE = 5, 0.02
# After the last label it is fitted again if this part of the step was reached.
_LAST_PART = 0.5


def check_refit(refit):
    """Check a schedule: a factor, a number of labels, or a list of label counts."""
    is_list = isinstance(refit, Sequence | np.ndarray) and not isinstance(refit, str)
    counts = list(refit) if is_list and np.ndim(refit) == 1 else [refit]
    if is_factor(refit) and not is_list:
        valid = is_number(refit) and 1 < refit < math.inf
    else:
        are_ints = [is_number(c) and isinstance(c, numbers.Integral) for c in counts]
        valid = all(are_ints) and min(counts, default=1) >= 1
    if not valid:
        raise ValueError(
            f"refit={shown(refit)} must be a factor > 1 (a float), a number of labels "
            ">= 1 (an int) or a list of label counts >= 1."
        )
    return sorted(map(int, counts)) if is_list else refit


def is_factor(refit):
    """Whether the schedule is a factor by which the number of labels grows."""
    return isinstance(refit, numbers.Real) and not isinstance(refit, numbers.Integral)


def next_refit(
    refit: float | int | list[int], n_labels: int, n_fitted: int | None = None
) -> int | None:
    """Label count of the first refit after one at `n_labels`."""
    if isinstance(refit, list):
        return next((count for count in refit if count > n_labels), None)
    if isinstance(refit, numbers.Integral):
        return n_labels + refit
    return max(n_labels + _step(n_fitted), math.ceil(n_labels * refit))


def last_refit(refit, n_labels, n_fitted=None):
    """Label count from which to refit after the last label; see `next_refit`."""
    step = _step(n_fitted) if is_factor(refit) else 1
    return n_labels + max(1, math.ceil(_LAST_PART * step))


def _step(n_fitted):
    """Least number of labels between two refits."""
    if n_fitted is None:
        return 1
    return max(_LEAST_STEP, math.ceil(_LEAST_SHARE * n_fitted))


# The plan, resolved and checked before a label is spent.


# Base class and verbs of each kind of strategy.
_KINDS = {
    "acquisition": (BaseAcquisition, ("score_samples",)),
    "selection": (BaseSelection, ("pick", "distribution")),
    "risk": (BaseRisk, ("estimate", "obstacle")),
    "stop": (BaseStop, ("reason",)),
}
# Share of uniform picks beside experts.
_BESIDE_EXPERTS = 0.2


@dataclass(frozen=True, eq=False)
class Plan:
    """How an evaluation picks rows, learns from labels and estimates.

    Attributes
    ----------
    surrogate : BaseSurrogate
        Unfitted; it is fitted in place during the evaluation.
    acquisition : BaseAcquisition
    selection : BaseSelection
    risk : BaseRisk
    refit : float, int or list of int
        When the surrogate is fitted again.
    cv : int
        Folds of the model's out-of-fold predictions.
    metric : BaseMetric or None
        What is reported. None means the mean of the loss.
    recalibrate : bool
        Whether the calibration learns from labels between two fits.
    random_state : int, RandomState instance or None
        As it was given.
    """

    surrogate: Any
    acquisition: Any
    selection: Any
    risk: Any
    refit: Any
    cv: int
    metric: Any = None
    recalibrate: bool = True
    random_state: Any = None

    @classmethod
    def of(cls, evaluator, task, X, leans_on_experts=False, has_features=True):
        """Resolve the defaults of an evaluator and check its parameters.

        `leans_on_experts` says that there are experts, or no model, or no features: the
        default surrogate is then made of what experts say.
        """
        scores, picks = TrustWeighted, Proportional
        if leans_on_experts:  # Stacks of experts have no members to disagree.
            scores, picks = LossSpread, partial(Proportional, _BESIDE_EXPERTS)
        acquisition = _chosen(evaluator.acquisition, scores, "acquisition")
        selection = _chosen(evaluator.selection, picks, "selection")
        # ASE is the only estimate that needs no probabilities of the picks.
        default = GuardedASE if selection.has_query_proba else ASE
        risk = _chosen(evaluator.risk, default, "risk")
        metric = None if evaluator.metric is None else as_metric(evaluator.metric)
        make = as_expert_surrogate if leans_on_experts else as_surrogate
        surrogate = clone(make(evaluator.surrogate, task, X if has_features else None))
        _check_fit_together(risk, acquisition, selection, surrogate)
        check_verbose(evaluator.verbose)
        check_folds(evaluator.cv, "to never fit the model")
        check_flag(evaluator.recalibrate, "recalibrate")
        if evaluator.budget is not None:
            check_budget(evaluator.budget)
        if evaluator.stop is not None:
            check_stop(evaluator.stop, risk)
        return cls(
            surrogate=surrogate,
            acquisition=acquisition,
            selection=selection,
            risk=risk,
            refit=check_refit(evaluator.refit),
            cv=evaluator.cv,
            metric=metric,
            recalibrate=bool(evaluator.recalibrate),
            random_state=evaluator.random_state,
        )

    @property
    def can_update(self):
        """Whether the surrogate, as it was fitted, takes labels between two fits."""
        return self.recalibrate and self.surrogate.can_update

    @property
    def learns_at_refits_only(self):
        """Whether labels between fits wait, though the surrogate could take them."""
        return not self.recalibrate and self.surrogate.can_update

    def settings(self):
        """Return the parameters by name, for the header of a journal."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        del settings["random_state"]  # A journal has the seed.
        if self.metric is None:
            del settings["metric"]
        if self.recalibrate:  # As in journals of older versions.
            del settings["recalibrate"]
        return settings


def _chosen(strategy, default, kind):
    """A copy of the given strategy, or the default one."""
    if strategy is None:
        return default()
    return clone(check_strategy(strategy, *_KINDS[kind], kind))


def check_risk(risk):
    """Check a risk estimator."""
    if isinstance(risk, str) and risk in METRICS:
        raise TypeError(
            f"risk={risk!r} is the name of a metric. Give it as metric={risk!r}."
        )
    if isinstance(risk, BaseMetric):
        raise TypeError(f"risk={risk!r} is a metric. Give it as metric={risk!r}.")
    if isinstance(risk, list) or hasattr(risk, "shape"):
        raise TypeError("risk is an array. Give a mask of rows as where=...")
    check_strategy(risk, *_KINDS["risk"], "risk")


def check_stop(stop, risk, has_models=False):
    """Check a stopping rule, and that the risk has the intervals it needs."""
    if is_number(stop):
        rule = "RegretBelow" if has_models else "TargetWidth"
        raise TypeError(
            f"stop={stop} must be a rule, not a number. Give {rule}({stop}) of "
            "sklearn_ase.stopping."
        )
    check_strategy(stop, *_KINDS["stop"], "stop")
    if getattr(stop, "needs_models", False) and not has_models:
        raise ValueError(
            f"{type(stop).__name__} is about the choice of one of several models. Use "
            "it with ActiveModelSelector, and another rule here."
        )
    if stop.needs_interval and not risk.needs_query_proba:
        raise ValueError(
            f"{type(stop).__name__} waits for a narrow interval, but "
            f"{type(risk).__name__} has none. Use risk=GuardedASE() or CorrectedASE() "
            "with selection=Proportional() or UniformMixed(...)."
        )


def check_n_labels(n_labels, batch_size, n_samples):
    """Check how many labels are to be bought."""
    check_integer(n_labels, "n_labels")
    check_integer(batch_size, "batch_size", 1)
    if n_labels > n_samples:
        raise ValueError(
            f"n_labels={n_labels} is more than the pool holds: n_samples = "
            f"{n_samples}. Ask for at most that many."
        )


def _check_fit_together(risk, acquisition, selection, surrogate):
    """Refuse plans whose labels could not give the estimate that is asked for."""
    if acquisition.needs_member_loss and not surrogate.gives_members:
        estimator = getattr(surrogate, "estimator", surrogate)
        raise ValueError(
            f"{type(acquisition).__name__} compares the members of the surrogate, but "
            f"{type(estimator).__name__} has none. Use an ensemble as surrogate or "
            "another acquisition."
        )
    name = type(risk).__name__
    if risk.needs_query_proba and not selection.has_query_proba:
        raise ValueError(
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {type(selection).__name__}() picks without one. Use "
            "selection=Proportional() or UniformMixed(...)."
        )
    if risk.needs_uniform and not acquisition.is_uniform:
        raise ValueError(
            f"{name} needs a plain random sample, but "
            f"acquisition={type(acquisition).__name__}() prefers some rows. Use "
            "acquisition=Uniform(), or risk=LURE() or CorrectedASE()."
        )


def check_budget(budget):
    """Check what all labels may cost."""
    check_number(budget, "budget", 0, ends="(]", infinite=True, note=", or None")
