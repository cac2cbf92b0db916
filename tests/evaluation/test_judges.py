"""What the experts on the label are worth, from the labels of an evaluation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import cohen_kappa_score, recall_score
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelMean, LabelShare

N = 120


def _answers(n=N, seed=0):
    """Labels of answers, and four judges: hard, score with gaps, inverted, useless."""
    rng = np.random.default_rng(seed)
    proba = rng.beta(1.0, 1.0, n)
    y = np.where(rng.random(n) < proba, "right", "wrong")
    flipped = np.where(y == "right", "wrong", "right")
    score = np.clip(proba + 0.1 + 0.1 * rng.normal(size=n), 0.0, 1.0)
    score[: n // 10] = np.nan
    experts = {
        "hard": np.where(rng.random(n) < 0.85, y, flipped),
        "score": score,
        "inverted": 1.0 - proba,
        "useless": rng.random(n),
    }
    return y, experts


def _fitted(y, experts, metric, n_labels, seed=0, X=None, **parameters):
    evaluator = ActiveRiskEstimator(
        metric=metric, n_labels=n_labels, random_state=seed, **parameters
    )
    return evaluator.fit(X, y, experts=experts).evaluation_


def _assert_exact(table, judge, truth):
    place = list(table["judge"]).index(judge)
    for entry, value in truth.items():
        for end in ("", "_low", "_high"):
            found = table[entry + end][place]
            np.testing.assert_allclose(found, value, atol=1e-9, err_msg=entry + end)


def _truth(y, score, label="right"):
    """Entries for a score of the label, by scikit-learn."""
    rows = ~np.isnan(score)
    is_true, score = y[rows] == label, score[rows]
    says = score >= 0.5
    correlation = np.corrcoef(score, is_true)[0, 1]
    return {
        "bias": score.mean() - is_true.mean(),
        "tpr": recall_score(is_true, says),
        "tnr": recall_score(~is_true, ~says),
        "agreement": np.mean(is_true == says),
        "kappa": cohen_kappa_score(is_true, says),
        "correlation": correlation,
        "effective_labels": rows.sum() / (1.0 - correlation**2),
    }


def test_the_table_is_exact_once_every_row_has_a_label():
    y, experts = _answers()
    table = _fitted(y, experts, LabelShare("right"), N).judges()
    _assert_exact(table, "hard", _truth(y, (experts["hard"] == "right").astype(float)))
    for judge in ("score", "inverted", "useless"):
        _assert_exact(table, judge, _truth(y, experts[judge]))
    np.testing.assert_array_equal(table["n_samples"], [N, N - N // 10, N, N])
    np.testing.assert_array_equal(table["n_labels"], table["n_samples"])
    np.testing.assert_allclose(table["threshold"], 1 / np.sqrt(table["n_labels"] - 2))


def test_wins_with_ties_are_exact_once_every_row_has_a_label():
    rng = np.random.default_rng(1)
    names = np.array(["A", "B", "tie"])
    y = rng.choice(names, size=N)
    hard = np.where(rng.random(N) < 0.6, y, rng.choice(names, size=N))
    score = np.where(y == "A", 0.9, 0.6) * rng.random(N)
    metric = LabelShare("A", half="tie")
    experts = {"hard": hard, "score": score}
    table = _fitted(y, experts, metric, N, classes=names).judges()
    z, said = metric.row_values(y)[:, 0], metric.row_values(hard)[:, 0]
    truth = {
        "bias": said.mean() - z.mean(),
        "tpr": np.mean(hard[y == "A"] == "A"),
        "tnr": np.mean(hard[y != "A"] != "A"),
        "agreement": np.mean(hard == y),
        "kappa": cohen_kappa_score(y, hard),
        "correlation": np.corrcoef(said, z)[0, 1],
    }
    _assert_exact(table, "hard", truth)
    # A score is about the metric itself: a tie may have the score 0.5.
    says, is_true = score >= 0.5, y == "A"
    truth = {
        "bias": score.mean() - z.mean(),
        "tpr": recall_score(is_true, says),
        "agreement": np.mean(says == is_true),
        "kappa": cohen_kappa_score(is_true, says),
        "correlation": np.corrcoef(score, z)[0, 1],
    }
    _assert_exact(table, "score", truth)


def test_judges_of_numbers_are_exact_once_every_row_has_a_label():
    rng = np.random.default_rng(2)
    y = 1e5 + rng.normal(size=N)
    said = y + rng.normal(size=N) + 0.5
    said[:10] = np.nan
    table = _fitted(y, {"other": said}, LabelMean(), N).judges()
    gap = (said - y)[10:]
    correlation = np.corrcoef(said[10:], y[10:])[0, 1]
    truth = {"rmse": np.sqrt(np.mean(gap**2)), "correlation": correlation}
    _assert_exact(table, "other", truth)
    np.testing.assert_allclose(table["bias"], gap.mean(), atol=1e-6)
    assert "tpr" not in table


def test_the_share_of_the_other_label_turns_the_score_around():
    y, experts = _answers()
    score = experts["inverted"]
    evaluation = _fitted(y, {"inverted": score}, LabelShare("right"), N)
    table = evaluation.judges(metric=LabelShare("wrong"))
    truth = _truth(y, score)
    turned = {"tpr": truth["tnr"], "tnr": truth["tpr"], "bias": -truth["bias"]}
    for entry in ("correlation", "agreement", "kappa"):
        turned[entry] = truth[entry]
    _assert_exact(table, "inverted", turned)


def test_rows_count_by_their_weight():
    y, experts = _answers()
    weight = np.random.default_rng(3).integers(1, 4, N)
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("right"), n_labels=N, random_state=0
    )
    score = experts["inverted"]
    evaluator.fit(None, y, experts={"inverted": score}, sample_weight=weight)
    table = evaluator.evaluation_.judges()
    repeated = np.repeat(np.arange(N), weight)
    truth = _truth(y[repeated], score[repeated])
    del truth["effective_labels"]  # A row of weight 2 is still one label.
    _assert_exact(table, "inverted", truth)


def test_of_a_model_the_judge_is_compared_with_its_accuracy():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    model = GaussianNB().fit(X[::5, :1], y[::5])
    judge = np.where(rng.random(len(y)) < 0.8, y, rng.integers(3, size=len(y)))
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), metric="accuracy", n_labels=len(y), random_state=0
    ).fit(X[:, :1], y, experts={"judge": judge})
    table = evaluator.evaluation_.judges()
    said = model.predict(X[:, :1])
    truth = {
        "bias": np.mean(said == judge) - np.mean(said == y),
        "agreement": np.mean(judge == y),
        "kappa": cohen_kappa_score(judge, y),
        "correlation": np.corrcoef(said == judge, said == y)[0, 1],
    }
    _assert_exact(table, "judge", truth)
    assert np.isnan(table["tpr"]).all()  # Three classes, none of them positive.


def test_verdicts_say_what_can_be_made_of_a_judge():
    y, experts = _answers(600, seed=4)
    experts["constant"] = np.full(600, 0.7)
    table = _fitted(y, experts, LabelShare("right"), 120).judges()
    verdicts = dict(zip(table["judge"], table["verdict"], strict=True))
    assert verdicts["hard"].startswith("worth ")
    assert verdicts["inverted"].startswith("says the opposite")
    assert verdicts["useless"].startswith(("useless so far", "too weak"))
    assert verdicts["constant"] == "useless: it says the same of every row"


def test_few_labels_give_values_and_no_interval_of_the_correlation():
    y, experts = _answers()
    table = _fitted(y, experts, LabelShare("right"), 12).judges()
    assert np.isfinite(table["correlation"]).all()
    assert np.isnan(table["correlation_low"]).all()
    assert all("not known" in verdict for verdict in table["verdict"])


def test_a_table_prints_and_pandas_takes_it():
    y, experts = _answers()
    table = _fitted(y, experts, LabelShare("right"), 60).judges(level=0.8)
    frame = pd.DataFrame(table)
    assert list(frame["judge"]) == list(experts)
    assert (frame["tpr_low"] <= frame["tpr_high"]).all()
    text = str(table)
    assert len(text.splitlines()) == 1 + len(experts)
    assert "TPR" in text
    assert " to " in text
    assert "80 % intervals" in table._repr_html_()


def test_a_higher_level_gives_wider_intervals():
    y, experts = _answers()
    evaluation = _fitted(y, experts, LabelShare("right"), 60)
    narrow, wide = evaluation.judges(level=0.5), evaluation.judges(level=0.95)
    for entry in ("bias", "agreement", "kappa", "correlation"):
        width = [t[f"{entry}_high"] - t[f"{entry}_low"] for t in (narrow, wide)]
        assert (width[0] < width[1]).all(), entry


def test_without_experts_the_error_says_how_to_give_them():
    y, _ = _answers()
    X = np.random.default_rng(0).normal(size=(N, 2))
    evaluation = _fitted(y, None, LabelShare("right"), 10, X=X)
    with pytest.raises(ValueError, match="experts="):
        evaluation.judges()


def test_before_the_first_label_the_error_says_what_is_needed():
    _, experts = _answers()
    evaluator = ActiveRiskEstimator(metric=LabelShare("right"), random_state=0)
    with pytest.raises(ValueError, match="needs labels"):
        evaluator.start(None, experts=experts).judges()


def test_rows_that_nobody_can_label_are_left_out():
    y, experts = _answers()
    score = experts["inverted"]
    evaluator = ActiveRiskEstimator(metric=LabelShare("right"), random_state=0)
    evaluation = evaluator.start(None, experts={"inverted": score})
    query = evaluation.ask(N)
    evaluation.skip(query.indices[::4])
    told = np.setdiff1d(query.indices, query.indices[::4])
    evaluation.tell(told, y[told])
    truth = _truth(y[told], score[told])
    del truth["effective_labels"]
    _assert_exact(evaluation.judges(), "inverted", truth)


def test_a_metric_that_is_no_mean_is_refused():
    y, experts = _answers()
    evaluation = _fitted(y, experts, LabelShare("right"), 30)
    with pytest.raises(ValueError, match="LabelShare"):
        evaluation.judges(metric="f1_macro")


@pytest.mark.slow
def test_intervals_cover_at_half_of_the_pool():
    """A small version of benchmarks/judges/judge_table.py."""
    n_covered, n_runs = {}, 12
    for seed in range(n_runs):
        y, experts = _answers(100, seed=100 + seed)
        experts = {"hard": experts["hard"]}
        table = _fitted(y, experts, LabelShare("right"), 50, seed).judges()
        truth = _truth(y, (experts["hard"] == "right").astype(float))
        for entry in ("bias", "tpr", "tnr", "agreement", "kappa", "correlation"):
            low, high = table[f"{entry}_low"][0], table[f"{entry}_high"][0]
            covers = low <= truth[entry] <= high
            n_covered[entry] = n_covered.get(entry, 0) + covers
    # With 90 % coverage fewer than 7 of 12 have a probability of 0.0005.
    assert min(n_covered.values()) >= 7, n_covered
