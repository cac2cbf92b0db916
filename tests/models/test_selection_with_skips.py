"""A choice between models where some rows cannot be labelled, or all are."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_ase import ActiveModelSelector


def _run_until(n_queries, predictions, y, cannot, look=None, **params):
    run = ActiveModelSelector(random_state=0, **params).start(
        None, predictions=predictions
    )
    for place in range(n_queries):
        query = run.ask()
        if cannot[query.indices[0]]:
            run.skip(query.indices)
        else:
            run.tell(query, y[query.indices])
        if look is not None and run.state.n_labels:
            look(place, run.compare())
    return run


def _noisy(n_samples=60, shares=(0.05, 0.2, 0.3, 0.4), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_samples)
    return y, {
        f"m{k}": np.where(
            rng.random(n_samples) < share, rng.integers(3, size=n_samples), y
        )
        for k, share in enumerate(shares)
    }


def test_a_difference_is_over_the_rows_that_can_be_labelled():
    # Ten of 80 rows that can be labelled tell the models apart, none of the others.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    poor = np.where(np.arange(200) < 10, 1 - y, y)
    cannot = (np.arange(200) >= 60) & (np.arange(200) < 180)

    def look(place, comparison):
        if place < 20:  # Before the first skip nobody knows of such rows.
            return
        low, high = comparison._answers.pairs.bounds(0.9, "anytime")
        assert low[0, 1] <= 10 / 80 <= high[0, 1]

    run = _run_until(100, {"good": y, "poor": poor}, y, cannot, look)
    difference = run.compare().difference("good", "poor")
    assert float(difference) == pytest.approx(10 / 80, abs=0.01)
    low, high = difference.interval()
    assert low < float(difference) < high


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "recall_macro"])
@pytest.mark.parametrize("n_skipped", [0, 15])
def test_nothing_is_uncertain_when_every_row_was_asked_for(metric, n_skipped):
    y, predictions = _noisy()
    cannot = np.arange(60) < n_skipped
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        comparison = _run_until(60, predictions, y, cannot, metric=metric).compare()
        for method in ("fixed", "anytime"):
            assert comparison.candidates(method=method) == ["m0"]
            assert comparison.regret(method=method) == 0.0
            for gap in comparison.differences:
                assert_allclose(gap.interval(method=method), float(gap), atol=1e-12)
    assert comparison.probabilities()[0] == 1.0
    if metric == "accuracy":
        truth = [(each == y)[~cannot].mean() for each in predictions.values()]
        behind = [float(each) for each in comparison.differences]
        assert_allclose(behind, max(truth) - np.array(truth), atol=1e-12)


def test_proved_limits_after_skips_hold_every_possible_outcome():
    # By enumeration: each open row is unlabelled for ever, or has either label.
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    predictions = {"a": y, "b": np.array([1, 1, 0, 0, 1, 1, 0, 1])}
    run = _run_until(4, predictions, y, np.arange(8) % 4 == 3)
    low, high = run.compare()._answers.pairs._limits
    open_rows = np.flatnonzero(run.state.free)
    gain = np.equal(predictions["a"], y) * 1.0 - np.equal(predictions["b"], y)
    apart = predictions["a"] != predictions["b"]
    found = []
    for code in np.ndindex(*(3,) * len(open_rows)):
        total, n_rows = gain[run.state.indices].sum(), run.state.n_labels
        for row, outcome in zip(open_rows, code, strict=True):
            n_rows += outcome > 0
            total += apart[row] * (0, 1, -1)[outcome]
        found.append(total / n_rows)
    assert_allclose([low[0, 1], high[0, 1]], [min(found), max(found)])
