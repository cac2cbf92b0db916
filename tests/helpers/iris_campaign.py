"""Labelling campaigns on iris, with a surrogate that is fast to fit."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from helpers.crashing_campaign import MODEL, X, Y
from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import LURE, CorrectedASE, GuardedASE
from sklearn_ase.surrogate import ClassifierSurrogate

__all__ = [
    "MODEL",
    "SURROGATE",
    "TRAINING",
    "WEIGHTED",
    "X",
    "Y",
    "brier_losses",
    "make_evaluator",
    "scores_of",
    "start_evaluation",
    "tell",
]

TRAINING = {"X_train": X[::5], "y_train": Y[::5]}
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
WEIGHTED = [LURE(), CorrectedASE(), GuardedASE(worth=0)]


def make_evaluator(**parameters):
    """Evaluator of naive Bayes by its Brier score, unless `parameters` differ."""
    given = {"surrogate": SURROGATE, "loss": "brier", "random_state": 0}
    return ActiveRiskEstimator(MODEL, **given | parameters)


def start_evaluation(
    X=X, training=TRAINING, known_labels=None, cost=None, **parameters
):
    """Start an evaluation.

    Parameters
    ----------
    X : ndarray, default: all rows of iris
        The pool.
    training : dict, default: every fifth row of iris
        ``X_train`` and ``y_train``, or nothing.
    known_labels, cost : see `ActiveRiskEstimator.start`
    **parameters : parameters of the evaluator

    Returns
    -------
    evaluation : Evaluation
    """
    return make_evaluator(**parameters).start(
        X, known_labels=known_labels, cost=cost, **training
    )


def tell(evaluation, rows, y=Y):
    """Answer these rows with the labels that `y` has for them."""
    rows = np.asarray(rows)
    evaluation.tell(rows, y[rows])


def brier_losses(rows, labels):
    """Brier score of the model at each of these rows if they had these labels."""
    return ((MODEL.predict_proba(X[rows]) - np.eye(3)[labels]) ** 2).sum(axis=1)


def scores_of(evaluation):
    """Scores of the acquisition for every row of the pool, as things stand."""
    return evaluation.plan.acquisition.score_samples(evaluation.state)
