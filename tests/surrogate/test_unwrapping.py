"""Estimators inside pipelines and wrappers, and columns in any order."""

import numpy as np
import pytest
from helpers.flowers import FLOWERS, NAMES, AllColumns, X, Y, as_is
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from sklearn_ase._utils._estimators import last_step, unfrozen, unwrap
from sklearn_ase.surrogate import ClassifierSurrogate


def test_estimators_are_found_inside_pipelines_and_frozen_wrappers():
    forest = RandomForestClassifier()
    inner = make_pipeline(StandardScaler(), forest)
    outer = make_pipeline(StandardScaler(), FrozenEstimator(inner))
    for wrapped in (forest, FrozenEstimator(forest), inner, FrozenEstimator(outer)):
        assert last_step(wrapped) is forest
    assert unfrozen(FrozenEstimator(FrozenEstimator(inner))) is inner
    assert unwrap(outer).is_frozen
    assert unwrap(make_pipeline(inner)).prefix == "pipeline__randomforestclassifier__"


def test_rows_pass_all_pipelines_on_the_way_to_the_last_step():
    inner = make_pipeline(StandardScaler(), GaussianNB())
    outer = make_pipeline(StandardScaler(), inner).fit(3.0 * X + 7.0, Y)
    unwrapped = unwrap(FrozenEstimator(outer))
    found = unwrapped.last.predict_proba(unwrapped.transform(3.0 * X + 7.0))
    np.testing.assert_allclose(found, outer.predict_proba(3.0 * X + 7.0))
    alone = make_pipeline(GaussianNB())
    assert unwrap(alone).transform(X) is X


class UnsortedBootstrap(ClassifierMixin, BaseEstimator):
    """A bootstrap ensemble by others of two members, classes in odd order."""

    bootstrap = True

    def fit(self, X, y):
        self.classes_ = np.array(["virginica", "setosa", "versicolor"])
        half = len(y) // 2
        self.estimators_samples_ = [np.arange(half), np.arange(half, len(y))]
        return self

    def predict_proba_members(self, X):
        return np.tile([0.7, 0.2, 0.1], (2, len(X), 1))


def test_out_of_bag_probabilities_of_unsorted_classes_are_aligned_by_class():
    surrogate = as_is(UnsortedBootstrap()).fit(X, FLOWERS, classes=NAMES)
    np.testing.assert_allclose(surrogate.held_out_, np.tile([0.2, 0.1, 0.7], (150, 1)))


def test_a_surrogate_with_a_class_that_cannot_be_is_refused():
    surrogate = ClassifierSurrogate(AllColumns())
    with pytest.raises(ValueError, match=r"classes \[3\], which are not among"):
        surrogate.fit(X, Y, classes=np.arange(3))


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), RandomForestClassifier(), LogisticRegression()],
    ids=repr,
)
def test_a_surrogate_takes_the_input_that_its_estimator_takes(estimator):
    surrogate = ClassifierSurrogate(estimator)
    assert get_tags(surrogate).input_tags == get_tags(estimator).input_tags


def test_a_surrogate_without_an_estimator_takes_what_trees_take():
    trees = get_tags(ExtraTreesClassifier()).input_tags
    assert get_tags(ClassifierSurrogate()).input_tags == trees
