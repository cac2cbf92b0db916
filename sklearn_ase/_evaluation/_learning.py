"""The part of an evaluation that learns: classes, loss, surrogate and belief."""

from itertools import chain

import numpy as np

from sklearn_ase._inference import _kernels

# So few rows say nothing about the surrogate.
_LEAST_ROWS = 25


class Learner:
    """What has been learned about the pool from the labels so far.

    Parameters
    ----------
    task : Task
    surrogate : BaseSurrogate
        Fitted in place.
    keep_member_loss : bool
        Whether the belief keeps the losses its members expect.
    seed : int

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
    loss : LossTable, PointLoss or None
    belief : CategoricalBelief, GaussianBelief or None
        None as long as the surrogate has too few rows.
    expected_loss, loss_variance : ndarray of shape (n_samples,) or None
        Mean and variance of the loss at each sample, as believed.
    is_calibrated : bool
        Whether the surrogate was calibrated on enough rows.
    training_gap : float
        How much loss a surrogate that was not expected too much at training rows that
        it had not learned from, as far as that is clear; NaN if nothing tells.
    """

    def __init__(self, task, surrogate, keep_member_loss, seed):
        self.task = task
        self.surrogate = surrogate
        self.keep_member_loss = keep_member_loss
        self.seed = seed
        self.classes = None
        self.loss = None
        self._forget()

    def update_classes(self, labels):
        """Take up labels not met before; the belief does not know their columns.

        Returns whether anything changed.
        """
        classes = self.task.classes_with(labels)
        if self.loss is not None and np.array_equal(classes, self.classes):
            return False
        self.classes = classes
        self.loss = self.task.loss_for(classes)
        self._forget()
        return True

    def check_losses(self, indices, answers, known):
        """Refuse labels that have no finite loss.

        Parameters
        ----------
        indices : array-like of shape (n_rows,)
        answers : list of array-like of shape (n_rows,)
        known : list of label
            Known so far.
        """
        classes, loss = self.task.classes_with([*known, *chain(*answers)]), self.loss
        if not np.array_equal(classes, self.classes):
            loss = self.task.loss_for(classes)
        for labels in answers:
            loss.observed(np.asarray(indices), np.asarray(labels))

    def fit(self, labels):
        """Fit the surrogate to labelled rows and renew the belief about the pool.

        Parameters
        ----------
        labels : dict of int to label

        Returns
        -------
        changed : bool
            False for a frozen surrogate, and for one without enough rows.
        """
        task, surrogate = self.task, self.surrogate
        if surrogate.is_constant:
            if self.belief is not None:
                return False
            labels = {}  # It learns nothing during the evaluation.
        if not surrogate.can_fit(task.n_training + len(labels)):
            self._forget()
            return False
        X, y, expert_known = task.labelled_rows(
            list(labels), list(labels.values()), self.classes
        )
        rng = np.random.default_rng([self.seed, len(labels), 1])
        surrogate.fit(
            X,
            y,
            classes=self.classes,
            expert=expert_known,
            model_classes=task.model_classes(self.classes),
            n_acquired=len(labels),
            seed=int(rng.integers(2**31)),
        )
        expert = task.predictions.expert_for(self.classes)
        self.belief = surrogate.belief(
            task.X, self.loss, expert, keep_member_loss=self.keep_member_loss
        )
        self.expected_loss = self.belief.expected_loss(self.loss)
        self.loss_variance = self.belief.loss_variance(self.loss)
        heard = np.isfinite(expert_known)
        heard = heard if heard.ndim == 1 else heard.all(axis=1)
        n_heard = heard.sum() if surrogate.uses_estimator else len(y)
        self.is_calibrated = surrogate.is_calibrated and bool(n_heard >= _LEAST_ROWS)
        self.training_gap = self._training_gap(y, heard)
        return not surrogate.is_constant

    def believed_moments(self, indices, candidates, selection, scores):
        """What each pick and its label are expected to show; see the kernel.

        Parameters
        ----------
        indices : ndarray of shape (n_queries,)
            Picked one after the other.
        candidates : ndarray of shape (n_candidates,)
            Rows that could be picked.
        selection : selection
        scores : ndarray of shape (n_samples,)

        Returns
        -------
        moments : ndarray of shape (2, n_queries)
        """
        moments = np.full((2, len(indices)), np.nan)
        if selection.has_query_proba and self.belief is not None:
            for k, index in enumerate(indices):
                moments[:, k] = _kernels.believed_moments(
                    selection.distribution(scores[candidates]),
                    self.expected_loss[candidates],
                    self.loss_variance[candidates],
                )
                candidates = candidates[candidates != index]
        return moments

    def _training_gap(self, y, heard):
        if self.surrogate.is_calibrated or self.task.train_predictions is None:
            return np.nan
        # Rows on which the model was heard honestly.
        rows = np.flatnonzero(heard[: self.task.n_training])
        try:
            loss = self.task.training_loss(rows, self.classes)
            expected = self.surrogate.held_out_loss(rows, loss)
            observed = loss.observed(np.arange(len(rows)), y[rows])
        except ValueError:  # A loss of the user's that has no value there.
            return np.nan
        if expected is None:
            return np.nan
        gap = (expected - observed)[np.isfinite(expected)]
        return _kernels.clear_mean(gap) if len(gap) >= _LEAST_ROWS else np.nan

    def _forget(self):
        self.belief = self.expected_loss = self.loss_variance = None
        self.is_calibrated, self.training_gap = False, np.nan
