"""Evaluations with experts on the label, with and without a model under test."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import JournalError
from sklearn_ase.metrics import LabelMean, LabelShare
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.surrogate import ClassifierSurrogate


def answers(n_rows=400, seed=0, strength=5.0, offset=1.0):
    """Answers that people accept or not, and scores of a judge who is too strict."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.6, 0.6, size=n_rows)
    is_right = rng.uniform(size=n_rows) < expit(strength * (score - 0.5) + offset)
    return np.where(is_right, "right", "wrong"), score


def share(**parameters):
    return ActiveRiskEstimator(
        metric=LabelShare("right"), **{"random_state": 0} | parameters
    )


@pytest.mark.parametrize("has_features", [False, True])
def test_a_share_is_exact_once_every_row_has_a_label(has_features):
    y, score = answers(40)
    X = np.random.default_rng(0).normal(size=(40, 2)) if has_features else None
    estimate = share(n_labels=40).fit(X, y, experts=score).estimate_
    assert float(estimate) == pytest.approx(np.mean(y == "right"), abs=1e-12)
    assert estimate.interval() == pytest.approx([np.mean(y == "right")] * 2, abs=1e-12)


def test_before_the_first_label_the_judge_is_asked():
    y, score = answers()
    before = share().start(None, experts=score).estimate()
    assert before.refusal
    assert 0.2 < float(before) < 0.8
    better = share().start(None, experts=np.where(y == "right", 1.0, 0.0)).estimate()
    assert float(better) == pytest.approx(np.mean(y == "right"), abs=0.15)


@pytest.mark.slow
def test_intervals_cover_and_errors_are_below_those_of_a_plain_sample():
    error, plain, covered, width, wilson = [], [], [], [], []
    for seed in range(14):
        y, score = answers(seed=seed)
        found = share(n_labels=60, random_state=seed).fit(None, y, experts=score)
        truth, (low, high) = np.mean(y == "right"), found.estimate_.interval(0.9)
        error.append(float(found.estimate_) - truth)
        covered.append(low <= truth <= high)
        width.append(high - low)
        sample = np.random.default_rng(seed).choice(y, 60, replace=False) == "right"
        plain.append(sample.mean() - truth)
        wilson.append(2 * 1.645 * np.sqrt(sample.mean() * (1 - sample.mean()) / 60))
    assert np.mean(np.square(error)) < 0.8 * np.mean(np.square(plain))
    assert np.mean(covered) > 0.8
    assert np.median(width) < 0.95 * np.median(wilson)


@pytest.mark.slow
def test_a_permuted_judge_does_no_harm():
    error, plain, covered = [], [], []
    for seed in range(16):
        y, score = answers(seed=seed)
        rng = np.random.default_rng(seed)
        score = rng.permutation(score)
        found = share(n_labels=60, random_state=seed).fit(None, y, experts=score)
        truth, (low, high) = np.mean(y == "right"), found.estimate_.interval(0.9)
        error.append(float(found.estimate_) - truth)
        covered.append(low <= truth <= high)
        samples = rng.choice(y, (100, 60)) == "right"
        plain.append(np.mean((samples.mean(axis=1) - truth) ** 2) * (1 - 60 / 400))
    assert np.mean(np.square(error)) < 1.6 * np.mean(plain)
    assert np.mean(covered) > 0.8


@pytest.mark.parametrize(
    "experts",
    [
        lambda y, score: score,
        lambda y, score: score.tolist(),
        lambda y, score: {"judge": pd.Series(score)},
        lambda y, score: [score, 1 - score],
        lambda y, score: np.where(score > 0.5, "right", "wrong"),
        lambda y, score: np.where(score > 0.5, "right", None),
        lambda y, score: score > 0.5,
        lambda y, score: pd.DataFrame({"right": score, "wrong": 1 - score}),
        lambda y, score: np.where(score > 0.9, np.nan, score),
    ],
    ids=[
        "score",
        "list",
        "series",
        "two",
        "labels",
        "gaps",
        "mask",
        "frame",
        "missing",
    ],
)
def test_experts_may_be_given_in_many_ways(experts):
    y, score = answers()
    fitted = share(n_labels=40).fit(None, y, experts=experts(y, score))
    assert abs(float(fitted.estimate_) - np.mean(y == "right")) < 0.2


def test_the_judge_says_nothing_where_an_array_is_masked():
    y, score = answers()
    is_silent = score > 0.9
    masked = np.ma.masked_array(score, is_silent)
    gaps = np.where(is_silent, np.nan, score)
    found = [
        float(share(n_labels=20).fit(None, y, experts=experts).estimate_)
        for experts in (masked, gaps)
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert masked.mask.sum() == is_silent.sum()  # The caller's array is as it was.


def test_columns_of_probabilities_need_the_names_of_their_classes():
    _, score = answers()
    proba = np.column_stack([score, 1 - score])
    with pytest.raises(ValueError, match=r"experts\['expert'\] has 2 columns"):
        share().start(None, experts=proba)
    named = share(classes=["right", "wrong"]).start(None, experts=proba)
    alone = share(classes=["wrong", "right"]).start(None, experts=score)
    assert float(named.estimate()) == pytest.approx(float(alone.estimate()))


def test_a_judge_who_writes_labels_in_another_way_is_refused():
    _, score = answers()
    with pytest.raises(ValueError, match="none of which is known"):
        share().start(None, experts=np.where(score > 0.5, "Right", "Wrong"))


def test_the_first_other_label_is_no_surprise(recwarn):
    y, score = answers()
    fitted = share(n_labels=30).fit(None, y, experts=score)
    assert fitted.classes_.tolist() == ["right", "wrong"]
    assert not recwarn.list


def test_a_win_rate_counts_ties_as_half():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "tie", "b"], p=[0.5, 0.2, 0.3], size=120)
    judge = np.where(rng.uniform(size=120) < 0.7, y, rng.permutation(y))
    metric = LabelShare("a", half="tie")
    evaluator = ActiveRiskEstimator(metric=metric, n_labels=120, random_state=0)
    truth = np.mean(y == "a") + 0.5 * np.mean(y == "tie")
    assert float(evaluator.fit(None, y, experts=judge).estimate_) == pytest.approx(
        truth
    )
    few = evaluator.set_params(n_labels=50).fit(None, y, experts=judge).estimate_
    low, high = few.interval(0.9)
    assert low < truth < high


@pytest.mark.parametrize("scale", [1.0, 100.0, -3.0])
def test_a_mean_rating_may_have_a_judge_on_another_scale(scale):
    rng = np.random.default_rng(0)
    y = rng.normal(3, 1, size=400)
    judge = scale * (y + rng.normal(0, 0.5, size=400)) + 7
    judge[:40] = np.nan
    evaluator = ActiveRiskEstimator(metric=LabelMean(), n_labels=60, random_state=0)
    alone = evaluator.fit(rng.normal(size=(400, 1)), y).estimate_
    found = evaluator.fit(None, y, experts={"judge": judge}).estimate_
    assert found.standard_error < 0.75 * alone.standard_error
    low, high = found.interval(0.95)
    assert low < y.mean() < high


def test_a_share_needs_neither_a_model_nor_experts():
    y, score = answers()
    fitted = share(n_labels=60).fit(score[:, None], y)
    low, high = fitted.estimate_.interval(0.95)
    assert low < np.mean(y == "right") < high


def test_experts_help_to_evaluate_a_model():
    X, y = load_digits(return_X_y=True)
    model = FrozenEstimator(GaussianNB().fit(X[:300], y[:300]))
    rng = np.random.default_rng(0)
    X, y = X[300:900], y[300:900]
    cheap = np.where(rng.uniform(size=600) < 0.9, y, rng.integers(10, size=600))
    evaluator = ActiveRiskEstimator(
        model, metric="accuracy", n_labels=40, random_state=0
    )
    found = evaluator.fit(X, y, experts={"crowd": cheap}).estimate_
    alone = evaluator.fit(X, y).estimate_
    assert found.standard_error < alone.standard_error
    assert abs(float(found) - model.score(X, y)) < 0.05


def test_a_classifier_as_surrogate_learns_from_features_beside_the_experts():
    y, score = answers()
    X = np.column_stack([score, score**2])
    useless = np.random.default_rng(0).uniform(size=400)
    evaluator = share(surrogate=LogisticRegression(), n_labels=60)
    surrogate = evaluator.fit(X, y, experts=useless).evaluation_.surrogate
    assert isinstance(surrogate.estimator_, LogisticRegression)
    assert surrogate.shares_["experts"] < 0.2


@pytest.mark.parametrize("has_features", [False, True])
def test_a_campaign_with_experts_resumes_exactly(tmp_path, has_features):
    y, score = answers()
    X = score[:, None] ** 2 if has_features else None
    path = tmp_path / "labels.jsonl"
    with share().start(X, experts={"judge": score}, journal=path) as evaluation:
        for _ in range(23):
            query = evaluation.ask()
            evaluation.tell(query, y[query.indices])
        before = [evaluation.estimate(risk) for risk in (None, CorrectedASE())]
    with share().start(X, experts={"judge": score}, journal=path) as evaluation:
        after = [evaluation.estimate(risk) for risk in (None, CorrectedASE())]
    assert [*map(float, before)] == [*map(float, after)]
    assert before[0].interval() == after[0].interval()
    for others in ({"judge": score[::-1]}, {"another": score}):
        with pytest.raises(JournalError, match="experts"):
            share().start(X, experts=others, journal=path)


def test_other_pools_need_the_same_experts():
    y, score = answers()
    fitted = share(n_labels=60).fit(None, y, experts={"judge": score})
    other, other_score = answers(200, seed=1)
    expected = fitted.predict(None, experts={"judge": other_score})
    assert expected.shape == (200,)
    assert abs(1 - expected.mean() - np.mean(other == "right")) < 0.15
    error = fitted.score(None, other, experts={"judge": other_score})
    assert error == pytest.approx(-abs(1 - expected.mean() - np.mean(other == "right")))
    with pytest.raises(ValueError, match="experts must have the names"):
        fitted.predict(None, experts={"another": other_score})
    with pytest.raises(ValueError, match="Give what they say about these rows"):
        fitted.predict(np.zeros((200, 1)))


def test_a_look_at_another_pool_changes_nothing():
    y, score = answers()
    evaluation = share().start(None, experts=score)
    for _ in range(12):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
    fitted = share(n_labels=12).fit(None, y, experts=score)
    fitted.predict(None, experts=score[:50])
    query = fitted.evaluation_.ask()
    assert query.indices.tolist() == evaluation.ask().indices.tolist()
    fitted.evaluation_.tell(query, y[query.indices])
    evaluation.tell(query, y[query.indices])
    evaluation.refit()
    fitted.evaluation_.refit()
    assert float(fitted.estimate_) == float(evaluation.estimate())


def test_surrogates_that_cannot_use_experts_are_refused():
    _, score = answers()
    with pytest.raises(TypeError, match="cannot use experts"):
        share(surrogate=ClassifierSurrogate()).start(None, experts=score)


def test_bets_of_the_anytime_interval_know_no_later_label():
    y, score = answers()
    evaluation = share(n_labels=40).fit(None, y, experts=score).evaluation_
    guarded, corrected = evaluation.estimate(), evaluation.estimate(CorrectedASE())
    # CorrectedASE expects of each pick what was believed before its label.
    own, other = (found.uncertainty.mean.bets for found in (guarded, corrected))
    assert own.ends == other.ends
    assert guarded.interval() != corrected.interval()


def test_a_sparse_table_may_have_a_single_column():
    y, score = answers(60)
    dense = np.random.default_rng(0).normal(size=(60, 1))
    for X in (csr_array(dense), csr_matrix(dense)):
        found = share(n_labels=60).fit(X, y, experts=score).estimate_
        assert float(found) == pytest.approx(np.mean(y == "right"), abs=1e-12)


def test_accuracy_is_estimated_as_with_equal_weights():
    y, score = answers()
    given = {"predictions": np.where(score > 0.5, "right", "wrong"), "experts": score}
    evaluator = ActiveRiskEstimator(metric="accuracy", n_labels=60, random_state=0)
    plain = evaluator.fit(None, y, **given).estimate_
    weight = np.where(np.arange(len(y)) == 0, 1.0 + 1e-9, 1.0)
    weighted = evaluator.fit(None, y, **given, sample_weight=weight).estimate_
    assert plain.interval() == pytest.approx(weighted.interval(), abs=1e-6)
    assert float(plain) == pytest.approx(float(weighted), abs=1e-6)


def test_a_group_with_one_kind_of_labels_has_no_interval_of_wilson():
    rng = np.random.default_rng(2)
    group = np.arange(1000) < 100
    is_right = rng.uniform(size=1000) < np.where(group, 0.85, 0.2)
    score = 0.1 + 0.3 * rng.uniform(size=1000)
    y = np.where(is_right, "right", "wrong")
    found = share(n_labels=100, random_state=2).fit(None, y, experts=score)
    evaluation = found.evaluation_
    labels = y[[row for row in evaluation.state.indices if group[row]]]
    assert len(labels) >= 5
    assert np.sum(labels == "wrong") < 5  # Labels outside of the group are no events.
    assert not evaluation.estimate(where=group).uncertainty.mean.is_wilson
    assert found.estimate_.uncertainty.mean.is_wilson


def test_errors_name_what_the_user_gave():
    numbers = np.repeat([1, 2], 20)
    evaluator = ActiveRiskEstimator(metric=LabelShare(2))
    with pytest.raises(ValueError, match=r"labels among \[2\], or scores.*from 1 to 2"):
        evaluator.start(None, experts=numbers)
    with pytest.raises(ValueError, match=r"none of which is known: \['right'\]"):
        share().start(None, experts=np.full(40, "RIGHT"))
    with pytest.raises(ValueError, match=r"finite numbers.*but holds inf"):
        ActiveRiskEstimator(metric=LabelMean()).start(
            None, experts=np.where(numbers == 2, np.inf, 0.5)
        )


@pytest.mark.parametrize("n_each", [1, 8])
def test_a_weighted_mean_does_not_depend_on_where_the_scale_begins(n_each):
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=200), rng.uniform(0.1, 1.0, size=200)
    judge = y + rng.normal(size=200)
    found = []
    for start in (0.0, 1000.0):
        evaluation = ActiveRiskEstimator(metric=LabelMean(), random_state=0).start(
            None, experts=judge, sample_weight=weight
        )
        for _ in range(32 // n_each):
            query = evaluation.ask(n_each)
            evaluation.tell(query, start + y[query.indices])
        found.append(np.array(evaluation.estimate().interval()) - start)
    # The first picks come before the first fit; they must not count from 0.
    assert found[0] == pytest.approx(found[1], abs=0.01)
