"""Learn from labels: fit the surrogate and ask it about the pool."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._epochs import BeliefColumns
from sklearn_ase._pool._kept import KeptBelief
from sklearn_ase._pool._reduction import moments_of
from sklearn_ase.losses import BaseLoss

# Fewer rows say nothing about the surrogate.
_LEAST_ROWS = 25


@dataclass(frozen=True, eq=False)
class Learned:
    """What has been learned about the pool from the labels so far.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    loss : LossTable or PointLoss
    belief : CategoricalBelief, GaussianBelief or None
        None as long as the surrogate has too few rows.
    expected_loss, loss_variance : ndarray of shape (n_samples,) or None
        Mean and variance of the loss at each sample, as believed.
    is_calibrated : bool
        Whether the surrogate was calibrated on at least 25 rows for which the model
        has predictions.
    training_gap, training_tail : float
        See :class:`PoolState`.
    fitted_belief : CategoricalBelief, GaussianBelief or None
        The belief right after the last fit of the surrogate.
    fit : object
        Another one for each fit.
    n_compared : int
        Number of rows of that fit for which the model has predictions.
    met : frozenset
        Labels of that fit, and classes that the model knows (classification).
    rows : tuple of int
        Rows of the pool in that fit.
    left_out : BeliefColumns or None
        What is believed now, at each labelled row as if it had no label. None if the
        surrogate does not say.
    """

    classes: np.ndarray | None
    loss: object
    belief: object = None
    expected_loss: np.ndarray | None = None
    loss_variance: np.ndarray | None = None
    is_calibrated: bool = False
    training_gap: float = np.nan
    training_tail: float = np.nan
    fitted_belief: object = None
    fit: object = None
    n_compared: int = 0
    met: frozenset = frozenset()
    rows: tuple = ()
    left_out: object = None

    def forgotten(self):
        """The same without the belief, whose memory a pass over the pool needs."""
        of_belief = ("belief", "fitted_belief", "expected_loss", "loss_variance")
        return replace(self, left_out=None, **dict.fromkeys(of_belief))


def not_yet_learned(problem, labels):
    """Return classes and loss for these labels, without a belief.

    Parameters
    ----------
    problem : Problem
    labels : sequence of label

    Returns
    -------
    learned : Learned
    """
    classes = problem.classes_with(labels)
    return Learned(classes, problem.loss_for(classes))


def learn(problem, plan, before, labels, seed):
    """Fit the surrogate to labelled rows and ask it about the pool.

    Parameters
    ----------
    problem : Problem
    plan : Plan
        Whose surrogate is fitted in place.
    before : Learned
        Its classes and loss are used.
    labels : dict of int to label
    seed : int

    Returns
    -------
    learned : Learned
        Without a belief if there are too few rows.
    """
    surrogate, classes, loss = plan.surrogate, before.classes, before.loss
    if surrogate.is_constant:
        labels = {}  # A frozen surrogate learns nothing during the evaluation.
    if not surrogate.can_fit(problem.n_training + len(labels)):
        return Learned(classes, loss)
    X, y, expert = problem.labelled_rows(list(labels), list(labels.values()), classes)
    rng = np.random.default_rng([seed, len(labels), 1])
    surrogate.fit(
        X,
        y,
        classes=classes,
        expert=expert,
        model_classes=problem.model_classes(classes),
        n_acquired=len(labels),
        seed=int(rng.integers(2**31)),
        **problem.experts_for(surrogate, classes, list(labels)),
    )
    belief = _belief(problem, plan, loss, classes)
    has_expert = np.ones(len(y), dtype=bool)
    if expert is not None:
        has_expert = np.isfinite(expert)
        has_expert = has_expert if has_expert.ndim == 1 else has_expert.all(axis=1)
    n_compared = int(has_expert.sum()) if surrogate.uses_estimator else len(y)
    met = frozenset()
    if classes is not None:
        known = classes[problem.model_classes(classes)]
        met = frozenset(np.concatenate([known, y]).tolist())
    learned = Learned(
        classes,
        loss,
        training_gap=_training_gap(problem, surrogate, classes, has_expert),
        training_tail=_training_tail(surrogate, loss),
        fitted_belief=belief,
        fit=object(),
        n_compared=n_compared,
        met=met,
        rows=tuple(labels),
    )
    return _with_belief(learned, belief, surrogate, n_compared, learned.rows)


def learn_more(problem, plan, learned, labels):
    """Tell the surrogate labels that came after its last fit.

    Parameters
    ----------
    problem : Problem
    plan : Plan
        Whose surrogate is updated in place.
    learned : Learned
        With a belief.
    labels : dict of int to label
        All labels that the last fit did not have.

    Returns
    -------
    learned : Learned
    """
    surrogate, classes = plan.surrogate, learned.classes
    y = np.array(list(labels.values()))
    if classes is not None:
        y = y.astype(classes.dtype)  # After a withdrawal there may be no label.
    new = np.array(list(labels), dtype=int)
    if problem.pool is not None:
        told = learned.loss, new, y, classes, plan.acquisition
        belief = problem.pool.updated(surrogate, problem.features, *told)
    else:
        belief = surrogate.update(
            learned.fitted_belief,
            learned.loss,
            new,
            y,
            problem.predictions.expert_for(classes),
            **problem.experts_for(surrogate, classes),
        )
    n_compared, rows = learned.n_compared + len(labels), (*learned.rows, *labels)
    return _with_belief(learned, belief, surrogate, n_compared, rows)


def _belief(problem, plan, loss, classes):
    """Ask the surrogate about the pool."""
    surrogate = plan.surrogate
    if problem.pool is not None:
        return problem.pool.belief(surrogate, classes, plan.acquisition)
    return surrogate.belief(
        problem.features,
        loss,
        problem.predictions.expert_for(classes),
        keep_member_loss=plan.acquisition.needs_member_loss,
        **problem.experts_for(surrogate, classes),
    )


def _with_belief(learned, belief, surrogate, n_compared, rows):
    if isinstance(belief, KeptBelief):  # It was checked chunk by chunk.
        moments = belief.expected_loss(), belief.loss_variance()
    else:
        moments = moments_of(belief, learned.loss, type(surrogate).__name__)
    return replace(
        learned,
        belief=belief,
        expected_loss=moments[0],
        loss_variance=moments[1],
        is_calibrated=surrogate.is_calibrated and n_compared >= _LEAST_ROWS,
        left_out=_left_out(learned, belief, surrogate, rows),
    )


def _left_out(learned, belief, surrogate, rows):
    """The belief with labelled rows as if each had no label, or None."""
    found = surrogate.left_out()
    if found is None:
        return None
    return BeliefColumns.of(belief, learned.classes).at(np.array(rows, int), *found)


def _training_gap(problem, surrogate, classes, has_expert):
    if surrogate.is_calibrated or problem.train_predictions is None:
        return np.nan
    # Training rows for which the model has out-of-fold predictions.
    rows = np.flatnonzero(has_expert[: problem.n_training])
    try:
        loss = problem.training_loss(rows, classes)
        expected = surrogate.held_out_loss(rows, loss)
        observed = loss.observed(np.arange(len(rows)), problem.y_train[rows])
    except ValueError:  # The user's loss has no value there.
        return np.nan
    if expected is None:
        return np.nan
    gap = (expected - observed)[np.isfinite(expected)]
    return _kernels.clear_mean(gap) if len(gap) >= _LEAST_ROWS else np.nan


def _training_tail(surrogate, loss):
    if loss.is_bounded or not isinstance(getattr(loss, "loss", None), BaseLoss):
        return np.nan
    try:
        return float(surrogate.training_tail(loss.loss))
    except ValueError:  # The user's loss has no value there.
        return np.nan
