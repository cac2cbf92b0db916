"""A choice by F1 of a rare class says the same in all its answers."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from sklearn_ase import ActiveModelSelector
from sklearn_ase._evaluation._compare import Comparison
from sklearn_ase.metrics import FBeta


def _rare_class(seed, n_samples=800):
    """Labels, 4 % of them fraud, and predictions of two models; the first is better."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_samples) < 0.04
    found = [
        np.where(y, rng.random(n_samples) < recall, rng.random(n_samples) < false)
        for recall, false in [(0.8, 0.01), (0.6, 0.02)]
    ]
    y, *found = (np.where(each, "fraud", "ok") for each in (y, *found))
    return y, dict(zip(["good", "poor"], found, strict=True))


def _compared(seed, n_labels=40):
    y, predictions = _rare_class(seed)
    metric = FBeta(pos_label="fraud")
    selector = ActiveModelSelector(metric=metric, n_labels=60, random_state=seed)
    run = selector.start(None, predictions=predictions)
    for _ in range(n_labels // 20):
        query = run.ask(20)
        run.tell(query, y[query.indices])
    truth = [f1_score(y, each, pos_label="fraud") for each in predictions.values()]
    return run, run.compare(), truth[0] - truth[1]


@pytest.fixture(scope="module", params=range(4))
def compared(request):
    return _compared(request.param)


def test_a_model_is_out_only_if_the_interval_says_so(compared):
    comparison = compared[1]
    low, high = comparison.difference("good", "poor").interval(0.8)
    is_open = len(comparison.candidates(0.9)) == 2
    assert is_open == (low <= 0 <= high)


def test_no_model_is_certain_while_another_may_be_best(compared):
    run, comparison, _ = compared
    for name, proba in zip(comparison.names, comparison.probabilities(), strict=True):
        if len(comparison.candidates()) == 2:
            assert 0 < proba < 1
        assert run.probabilities[name] == proba


def test_the_interval_of_a_difference_of_f1_holds_the_truth(compared):
    low, high = compared[1].difference("good", "poor").interval(0.95)
    assert low <= compared[2] <= high


def test_a_difference_turned_around_has_the_interval_turned_around(compared):
    low, high = compared[1].difference("good", "poor").interval()
    ends = compared[1].difference("poor", "good").interval()
    np.testing.assert_allclose(ends, (-high, -low), atol=1e-6)


def test_a_pool_that_is_all_labelled_has_exact_differences():
    y, predictions = _rare_class(0, n_samples=60)
    y[:3] = "fraud"
    metric = FBeta(pos_label="fraud")
    selector = ActiveModelSelector(metric=metric, n_labels=60, random_state=0)
    comparison = selector.fit(None, y, predictions=predictions).selection_.compare()
    truth = [f1_score(y, each, pos_label="fraud") for each in predictions.values()]
    found = comparison.difference("good", "poor")
    np.testing.assert_allclose(float(found), truth[0] - truth[1], atol=1e-9)
    np.testing.assert_allclose(found.interval(), float(found), atol=1e-9)


def test_one_label_is_not_written_as_labels(compared, monkeypatch):
    comparison = compared[1]
    monkeypatch.setattr(Comparison, "candidates", lambda *_: comparison.names)
    monkeypatch.setattr(Comparison, "labels_needed", lambda *_: 1.0)
    assert "About 1 more label would be sufficient." in comparison.describe()
