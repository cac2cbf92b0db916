"""The score of `VarianceReduction`."""

from types import SimpleNamespace

import numpy as np
from helpers import paper_formulas as paper
from helpers.random_pools import random_proba
from numpy.testing import assert_allclose

from sklearn_ase.acquisition import VarianceReduction
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import LossTable


def test_variance_reduction_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    loss = LossTable(rng.exponential(size=(9, 3)), np.arange(3))
    belief = CategoricalBelief.from_members(random_proba(rng, 5, 9, 3), loss)
    variance = belief.loss_variance(loss)
    state = SimpleNamespace(belief=belief, is_question=False, loss_variance=variance)
    scores = VarianceReduction().score_samples(state)
    slow = paper.variance_reduction(belief.member_loss, variance)
    assert_allclose(scores, slow, rtol=1e-11)
