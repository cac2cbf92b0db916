"""Pools of images: rows with several axes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.surrogate import PoolEncoder

DIGITS = load_digits(n_class=4)
FLAT, Y = DIGITS.data[:200], DIGITS.target[:200]
IMAGES = FLAT.reshape(-1, 1, 8, 8)
MODEL = GaussianNB(var_smoothing=0.01).fit(FLAT[:80], Y[:80])


def flat(X):
    return X.reshape(len(X), -1)


def model(X):
    return MODEL.predict_proba(flat(X))


def make(surrogate=None):
    return ActiveRiskEstimator(
        model, surrogate=surrogate, n_labels=8, classes=range(4), random_state=0
    )


def no_label(rows):
    pytest.fail("A label was read.")


def test_the_default_surrogate_flattens_images():
    risks = [
        make().fit(X[80:], Y[80:], X_train=X[:80], y_train=Y[:80]).risk_.value
        for X in (FLAT, IMAGES)
    ]
    assert risks[0] == risks[1]


def test_another_pool_of_images_can_be_predicted():
    evaluator = make().fit(IMAGES, Y)
    assert evaluator.predict(IMAGES[:5]).shape == (5,)


def test_large_images_become_components():
    large = np.kron(IMAGES, np.ones((1, 3, 5, 5)))  # 3 channels, 40 x 40 pixels.
    encoder = PoolEncoder().fit(large, X_train=large[:7])
    encoded = encoder.transform(large)
    assert encoded.shape == (200, 50)
    np.testing.assert_array_equal(encoder.transform(encoded), encoded)
    components = PCA(50).fit(FLAT)
    expected = components.transform(FLAT)
    # The same image, only larger: distances grow by the root of 75.
    distance = np.linalg.norm(encoded[0] - encoded[1:20], axis=1)
    small = np.linalg.norm(expected[0] - expected[1:20], axis=1)
    np.testing.assert_allclose(distance, small * 75**0.5, rtol=1e-2)


@pytest.mark.parametrize(
    "surrogate", [GaussianNB(), make_pipeline(GaussianNB()), FrozenEstimator(MODEL)]
)
def test_a_surrogate_for_tables_is_refused_before_a_label(surrogate):
    message = r"surrogate=GaussianNB reads tables.*\(1, 8, 8\).*PoolEncoder"
    with pytest.raises(ValueError, match=message):
        make(surrogate).fit(IMAGES, no_label)


@pytest.mark.parametrize("first", [PoolEncoder(), FunctionTransformer(flat)])
def test_a_pipeline_that_flattens_is_a_surrogate(first):
    assert make(make_pipeline(first, GaussianNB())).fit(IMAGES, Y).risk_.n_labels == 8
