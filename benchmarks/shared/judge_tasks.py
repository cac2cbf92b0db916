"""Tasks without training rows, on answers that people and a cheap judge have judged.

The pool is 1,000 answers of one system of EVOUNA; the label says whether people accept
the answer. The features are what the judge says: whether the right answer is in the
text word for word, and how many words are shared.

* accepted: the "model" says that every answer is right. Its zero-one loss is the share
  of answers that people do not accept.
* judge: the "model" is the judge. Its zero-one loss is how often it and people differ.
"""

import numpy as np
from frame_tasks import read_evouna
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ase.simulation import Scenario

N_POOL = 1000
SYSTEMS = (("NQ", "gpt4"), ("NQ", "newbing"), ("TQ", "chatgpt"))
FEATURES = ["lexical_match", "token_f1"]


class Verdict(ClassifierMixin, BaseEstimator):
    """A verdict on every answer: that of the judge, or that it is right.

    Parameters
    ----------
    column : int, default=None
        Column of the judge's verdict, 0 or 1. None means 1 for every answer.
    """

    def __init__(self, column=None):
        self.column = column

    def fit(self, X=None, y=None):
        """Name the classes; there is nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        """Return the verdicts."""
        if self.column is None:
            return np.ones(len(X), dtype=int)
        return np.asarray(X)[:, self.column].astype(int)


def _judged(name, column):
    """A task for each system."""
    return {
        f"evouna {collection} {system} {name} zero_one": (
            _sampler(collection, system, column),
            "zero_one",
        )
        for collection, system in SYSTEMS
    }


def _sampler(collection, system, column):
    """A function of data directory and seed that draws a pool of one system."""

    def sample(data_dir, seed):
        frame = read_evouna(data_dir)
        frame = frame[(frame["set"] == collection) & (frame["model"] == system)]
        rows = np.random.default_rng(seed).permutation(len(frame))[:N_POOL]
        X = frame[FEATURES].to_numpy(dtype=float)[rows]
        y = frame["human"].to_numpy(dtype=int)[rows]
        return Scenario(X, y, Verdict(column).fit())

    return sample


JUDGE_TASKS = _judged("accepted", None) | _judged("judge", 0)
