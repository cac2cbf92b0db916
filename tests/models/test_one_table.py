"""All columns of a table of models say the same."""

import re
from functools import cache

import numpy as np
import pytest

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator
from sklearn_ase.metrics import as_metric

SHARES_WRONG = {"good": 0.1, "like it": 0.12, "fair": 0.2, "poor": 0.35}
CASES = [
    (metric, seed) for metric in ("accuracy", "f1", "squared_error") for seed in (0, 1)
]


def _pool(metric, seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if metric == "squared_error":
        y = X[:, 0] + rng.normal(size=n)
        noise = {name: rng.normal(size=n) for name in SHARES_WRONG}
        said = {name: y + SHARES_WRONG[name] * noise[name] for name in SHARES_WRONG}
        return X, y, said
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.7).astype(int)
    wrong = {name: rng.random(n) < share for name, share in SHARES_WRONG.items()}
    return X, y, {name: np.where(wrong[name], 1 - y, y) for name in SHARES_WRONG}


@cache
def _chosen(metric, seed, n_labels=25, n=300):
    X, y, models = _pool(metric, seed, n)
    selector = ActiveModelSelector(metric=metric, n_labels=n_labels, random_state=seed)
    selector.fit(X, y, predictions=models)
    return selector.selection_.compare()


@cache
def _compared(metric, seed):
    X, y, models = _pool(metric, seed)
    evaluator = ActiveRiskEstimator(
        loss="squared_error" if metric == "squared_error" else "zero_one",
        n_labels=25,
        random_state=seed,
    )
    evaluator.fit(X, y, predictions=models["fair"])
    return evaluator.evaluation_.compare(models, metric=metric)


makers = pytest.mark.parametrize("make", [_chosen, _compared], ids=["of", "beside"])


@makers
@pytest.mark.parametrize(("metric", "seed"), CASES)
def test_a_model_is_as_far_behind_the_best_as_its_estimate_is(make, metric, seed):
    found = make(metric, seed)
    table = found.to_dict()
    values, sign = np.array(table["estimate"]), 1.0
    if not as_metric(metric).greater_is_better:
        sign = -1.0
    behind = sign * (values[found.best_index] - values)
    np.testing.assert_allclose(table["behind_best"], behind, atol=1e-12)
    assert (behind >= -1e-12).all()
    for value, low, high in zip(values, table["low"], table["high"], strict=True):
        assert not low > value
        assert not high < value


@makers
@pytest.mark.parametrize(("metric", "seed"), CASES)
def test_a_difference_of_two_others_is_that_of_their_estimates(make, metric, seed):
    found = make(metric, seed)
    sign = 1.0 if as_metric(metric).greater_is_better else -1.0
    values = dict(zip(found.names, map(float, found.estimates), strict=True))
    for first in found.names:
        for second in found.names:
            gap = found.difference(first, second)
            shown = sign * (values[first] - values[second])
            low, high = gap.interval()
            assert float(gap) == pytest.approx(np.clip(shown, low, high), abs=1e-12)


@makers
@pytest.mark.parametrize(("metric", "seed"), CASES)
def test_probabilities_agree_with_the_candidates(make, metric, seed):
    found = make(metric, seed)
    for level, method in ((0.9, "fixed"), (0.9, "anytime"), (0.99, "fixed")):
        table = found.to_dict(level, method)
        proba, may = np.array(table["probability"]), np.array(table["may_be_best"])
        assert proba.sum() == pytest.approx(1.0)
        assert (proba[may] > 0).all()
        assert proba[~may].sum() <= 1.0 - level + 1e-12
    np.testing.assert_array_equal(found.probabilities(), found.to_dict()["probability"])


@pytest.mark.parametrize(("metric", "seed"), CASES)
def test_no_candidate_is_printed_with_the_probability_0(metric, seed):
    found = _chosen(metric, seed, n_labels=6)
    lines = [line for line in str(found).splitlines() if re.search(r"\byes\b", line)]
    assert len(lines) == len(found.candidates())
    assert not any(re.search(r"yes +0(\.0+)?$", line) for line in lines)


def test_with_all_labels_the_best_model_has_all_probability():
    found = _chosen("accuracy", 0, n_labels=100, n=100)
    assert found.probabilities().max() == 1.0
