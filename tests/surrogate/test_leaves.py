"""Forests are read through their leaves: the same belief, by less work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase._data._predictions import align_columns
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import LossTable
from sklearn_ase.surrogate import ClassifierSurrogate
from sklearn_ase.surrogate._members import ForestLeaves, predict_members

X, Y = make_classification(
    400, 8, n_informative=6, n_classes=4, n_clusters_per_class=1, random_state=0
)
FORESTS = {
    "pure leaves": ExtraTreesClassifier(12, random_state=0),
    "mixed leaves": RandomForestClassifier(12, min_samples_leaf=9, random_state=0),
    "some mixed leaves": ExtraTreesClassifier(12, max_depth=6, random_state=0),
    "weighted rows": RandomForestClassifier(
        12, class_weight="balanced", max_depth=5, random_state=0
    ),
    "pipeline": make_pipeline(
        StandardScaler(), ExtraTreesClassifier(12, random_state=0)
    ),
}


def table(classes, rng):
    """A loss table for the last 300 rows."""
    return LossTable(rng.exponential(size=(300, len(classes))), np.asarray(classes))


@pytest.mark.parametrize("name", FORESTS)
def test_leaves_give_the_belief_of_the_members(name):
    rng = np.random.default_rng(0)
    forest = FORESTS[name].fit(X[:100], Y[:100])
    loss, proba = table(range(4), rng), rng.dirichlet(np.ones(4), 300)
    members = predict_members(forest, X[100:])
    expected = CategoricalBelief.from_members(members, loss, proba)
    found = ForestLeaves(forest, np.arange(4)).at(X[100:])
    assert_allclose(found.mean(), members.mean(axis=0), rtol=1e-13)
    found = found.belief(loss, proba, keep_member_loss=True)
    for field in ("proba", "class_disagreement", "member_risk", "member_loss"):
        values = getattr(expected, field)
        assert_allclose(getattr(found, field), values, rtol=1e-12, atol=1e-14)


def test_leaves_of_a_forest_that_lacks_classes_have_all_columns():
    rng, some = np.random.default_rng(0), (Y[:100] != 0) & (Y[:100] != 2)
    forest = FORESTS["some mixed leaves"].fit(X[:100][some], Y[:100][some])
    loss, proba = table(range(4), rng), rng.dirichlet(np.ones(4), 300)
    members = align_columns(predict_members(forest, X[100:]), [1, 3], range(4))
    expected = CategoricalBelief.from_members(members, loss, proba)
    found = ForestLeaves(forest, np.arange(4)).at(X[100:]).belief(loss, proba)
    assert_allclose(found.class_disagreement, expected.class_disagreement, atol=1e-14)
    assert_allclose(found.member_risk, expected.member_risk, rtol=1e-12)


def test_sparse_rows_fall_into_the_same_leaves():
    forest = FORESTS["pure leaves"].fit(X[:100], Y[:100])
    leaves = ForestLeaves(forest, np.arange(4))
    found = leaves.at(sparse.csr_array(X[100:])).mean()
    assert np.array_equal(found, leaves.at(X[100:]).mean())


def test_only_forests_of_classifiers_have_leaves():
    assert ForestLeaves.of(LogisticRegression().fit(X, Y), np.arange(4)) is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_surrogate_in_threads_believes_what_its_members_say(n_jobs, monkeypatch):
    from sklearn_ase.surrogate import _estimator as _estimator_surrogate

    monkeypatch.setattr(_estimator_surrogate, "CHUNK_NUMBERS", 2**10)  # Many chunks.
    forest = RandomForestClassifier(20, max_depth=4)
    surrogate = ClassifierSurrogate(forest, calibration=None, n_jobs=n_jobs)
    surrogate.fit(X[:100], Y[:100], classes=np.arange(4), seed=3)
    loss = table(range(4), np.random.default_rng(0))
    found = surrogate.belief(X[100:], loss)
    members = surrogate.predict_proba_members(X[100:])
    expected = CategoricalBelief.from_members(members, loss)
    assert_allclose(found.proba, expected.proba, rtol=1e-12)
    assert_allclose(found.disagreement(), expected.disagreement(), atol=1e-13)


@pytest.mark.parametrize("name", [name for name in FORESTS if name != "pipeline"])
def test_rows_out_of_bag_are_predicted_as_by_the_trees(name):
    """A tree counts for the rows that it did not learn from."""
    some = Y[:100] != 2
    rows, labels = X[:100][some], Y[:100][some]
    forest = clone(FORESTS[name]).set_params(bootstrap=True).fit(rows, labels)
    total, count = np.zeros((len(rows), 3)), np.zeros((len(rows), 1))
    for tree, sample in zip(
        forest.estimators_, forest.estimators_samples_, strict=True
    ):
        out = ~np.isin(np.arange(len(rows)), sample)
        total[out] += tree.predict_proba(rows[out])
        count[out] += 1.0
    found = ForestLeaves(forest, np.arange(4)).out_of_bag(rows)
    known = count[:, 0] > 0
    assert_allclose(found[known][:, [0, 1, 3]], total[known] / count[known], rtol=1e-13)
    assert not found[known][:, 2].any()


def test_a_forest_without_bootstrap_samples_has_no_rows_out_of_bag():
    forest = clone(FORESTS["pure leaves"]).fit(X[:100], Y[:100])
    assert ForestLeaves(forest, np.arange(4)).out_of_bag(X[:100]) is None


def test_a_row_that_every_tree_learned_from_has_no_prediction_out_of_bag():
    forest = ExtraTreesClassifier(2, bootstrap=True, random_state=0)
    forest.fit(X[:100], Y[:100])
    everywhere = np.isin(np.arange(100), forest.estimators_samples_[0])
    everywhere &= np.isin(np.arange(100), forest.estimators_samples_[1])
    found = ForestLeaves(forest, np.arange(4)).out_of_bag(X[:100])
    assert 0 < everywhere.sum() < 100
    assert np.array_equal(np.isnan(found).all(axis=1), everywhere)
