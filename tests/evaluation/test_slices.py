"""Estimates for groups of rows, from labels that were bought for the whole pool."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.questions import (
    GROUPS,
    MODEL,
    SLICE,
    WEIGHT,
    N,
    X,
    Y,
    binary_pool,
    buy,
    start,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator, SliceTable
from sklearn_ase._evaluation._slices import _verdict
from sklearn_ase.metrics import LabelShare, as_metric
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE

COLUMNS = ["group", "n_samples", "n_labels", "effective_labels"]
COLUMNS += ["estimate", "low", "high", "verdict"]


@pytest.fixture(scope="module")
def evaluation():
    return buy(start(loss="zero_one"), 35)


def test_the_table_is_a_frame_with_one_line_per_group(evaluation):
    frame = pd.DataFrame(evaluation.estimate_by(GROUPS))
    assert list(frame) == COLUMNS
    assert frame["group"].tolist() == ["high", "low", "middle"]
    assert frame["n_samples"].sum() == N
    assert frame["n_labels"].sum() == 35


METRICS = [None, "accuracy", "f1", "roc_auc", LabelShare(1)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("risk", [LURE(), CorrectedASE(), GuardedASE(worth=0)], ids=str)
def test_a_line_says_what_the_question_alone_would(evaluation, metric, risk):
    table = evaluation.estimate_by(GROUPS, metric=metric, risk=risk)
    for place, group in enumerate(table["group"]):
        found = evaluation.estimate(risk, metric=metric, where=group == GROUPS)
        assert table["estimate"][place] == float(found)
        assert (table["low"][place], table["high"][place]) == found.interval()


@pytest.mark.parametrize("metric", METRICS)
def test_guarded_lines_hear_of_each_other_and_keep_their_intervals(evaluation, metric):
    table = evaluation.estimate_by(GROUPS, metric=metric)
    moved = []
    for place, group in enumerate(table["group"]):
        found = evaluation.estimate(metric=metric, where=group == GROUPS)
        own = evaluation.estimate(CorrectedASE(), metric=metric, where=group == GROUPS)
        low, high = own.interval()
        value = table["estimate"][place]
        assert table["low"][place] == min(value, low)
        assert table["high"][place] == max(value, high)
        moved.append(value != float(found))
    assert any(moved)


def test_a_single_group_has_the_estimate_of_the_pool(evaluation):
    table = evaluation.estimate_by(np.zeros(N), metric="f1")
    whole = evaluation.estimate(metric="f1")
    assert table["estimate"][0] == float(whole)
    assert (table["low"][0], table["high"][0]) == whole.interval()


def test_a_group_with_every_label_has_the_true_value(evaluation):
    groups = np.zeros(N)
    groups[evaluation.state.indices] = 1
    table = evaluation.estimate_by(groups, metric="accuracy")
    rows = groups == 1
    truth = np.mean(MODEL.predict(X)[rows] == Y[rows])
    assert table["estimate"][1] == pytest.approx(truth)


@pytest.mark.parametrize("risk", [LURE(), CorrectedASE()])
def test_means_of_groups_add_up_to_that_of_the_pool(evaluation, risk):
    table = evaluation.estimate_by(GROUPS, risk=risk)
    share = table["n_samples"] / N
    whole = float(evaluation.estimate(risk))
    assert share @ table["estimate"] == pytest.approx(whole)


def test_weighted_groups_add_up_too(evaluation):
    about = {"metric": "accuracy", "risk": CorrectedASE(), "sample_weight": WEIGHT}
    table = evaluation.estimate_by(GROUPS, **about)
    share = [WEIGHT[group == GROUPS].sum() / WEIGHT.sum() for group in table["group"]]
    assert share @ table["estimate"] == pytest.approx(
        float(evaluation.estimate(**about))
    )


LEVELS = ["low", "middle", "high"]


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (SLICE, [False, True]),
        (SLICE.astype(int), [0, 1]),
        (np.where(SLICE, 1.5, np.nan), [1.5, np.nan]),
        (np.where(SLICE, None, "a"), ["a", None]),
        (np.where(SLICE, 1, np.array("1", object)), [1, "1"]),
        (pd.Series(GROUPS), ["high", "low", "middle"]),
        (pd.Series(GROUPS, dtype="category"), ["high", "low", "middle"]),
        (pd.Series(pd.Categorical(GROUPS, LEVELS, ordered=True)), LEVELS),
        (pl.Series(GROUPS), ["high", "low", "middle"]),
        (GROUPS.tolist(), ["high", "low", "middle"]),
        ((9 + SLICE).tolist(), [9, 10]),
        (np.where(SLICE, np.datetime64("2026-01-01"), np.datetime64("2025")), None),
    ],
    ids=str,
)
def test_groups_may_be_named_by_anything(evaluation, groups, names):
    table = evaluation.estimate_by(groups)
    if names is not None:
        assert list(map(str, table["group"])) == list(map(str, names))
    assert sum(table["n_samples"]) == N


def test_simultaneous_intervals_are_wider(evaluation):
    each, all_ = (
        evaluation.estimate_by(GROUPS, metric="f1", simultaneous=flag)
        for flag in (False, True)
    )
    assert (all_["low"] <= each["low"]).all()
    assert (all_["high"] >= each["high"]).all()
    assert np.sum(all_["high"] - all_["low"]) > np.sum(each["high"] - each["low"])
    assert all_["estimate"].tolist() == each["estimate"].tolist()


def test_a_group_without_labels_has_the_surrogates_word_alone(evaluation):
    free = evaluation.state.free
    table = evaluation.estimate_by(free)
    assert table["n_labels"].tolist() == [35, 0]
    assert table["verdict"][1] == "too few labels (none): only from the surrogate"
    assert np.isnan(
        [table[name][1] for name in ("low", "high", "effective_labels")]
    ).all()


def test_more_labels_than_a_few_support_an_estimate(evaluation):
    rows = evaluation.state.indices
    groups = np.zeros(N)
    groups[rows[:5]] = 1
    verdicts = evaluation.estimate_by(groups)["verdict"]
    assert verdicts[0] == "supported by labels"
    assert verdicts[1].startswith("few labels")


def test_an_undefined_metric_of_a_group_has_its_reason(evaluation):
    predicted = MODEL.predict(X)
    table = evaluation.estimate_by(predicted, metric="precision")
    assert np.isnan(table["estimate"][0])
    assert "not defined" in table["verdict"][0]


def test_effective_labels_are_all_rows_if_all_are_labelled():
    evaluation = buy(start(loss="zero_one", refit=[10]), N, batch_size=10)
    table = evaluation.estimate_by(GROUPS, metric="accuracy")
    assert table["effective_labels"] == pytest.approx(table["n_samples"])


def test_the_table_is_shown_as_text_and_html(evaluation):
    hostile = np.where(SLICE, "<script>alert(1)</script>", "a & b")
    table = evaluation.estimate_by(hostile, metric="f1")
    assert isinstance(table, SliceTable)
    assert "<script>" in str(table)
    html = table._repr_html_()
    assert "<script>" not in html
    assert "a &amp; b" in html
    assert len(str(table).splitlines()) == 3


@pytest.mark.parametrize(
    ("refusal", "verdict"),
    [
        (
            "No interval: the losses have a heavy tail (shape 0.90; from 0.5).",
            "no interval: the losses have a heavy tail (shape 0.90; from 0.5).",
        ),
        (
            "No interval from 20 labels: fewer than 25 tell too little about F1.",
            "no interval from 20 labels: fewer than 25 tell too little about F1.",
        ),
        (
            "ASE has no interval: its error is the surrogate's.",
            "no interval: ASE has no interval: its error is the surrogate's.",
        ),
    ],
)
def test_a_verdict_says_once_that_there_is_no_interval(refusal, verdict):
    assert _verdict(SimpleNamespace(refusal=refusal), 20) == verdict


def test_the_printed_table_has_the_reason_for_no_interval_below_it(evaluation):
    table = evaluation.estimate_by(GROUPS, risk=ASE())
    *rows, reason = str(table).splitlines()
    assert all(row.endswith("no interval") for row in rows[1:])
    assert reason.endswith(table["verdict"][0])
    assert reason in table._repr_html_().replace("&#x27;", "'")


def test_a_table_without_intervals_is_narrow():
    table = buy(start(loss="log_loss"), 20).estimate_by(GROUPS)
    assert any("the loss has no greatest value" in each for each in table["verdict"])
    *lines, reason = str(table).splitlines()
    assert "fewer than 25 labels" in reason
    assert max(map(len, lines)) < 120


def test_few_labels_are_as_good_as_nothing_that_could_be_said(evaluation):
    groups = np.zeros(N)
    groups[evaluation.state.indices[:9]] = 1
    table = evaluation.estimate_by(groups)
    assert table["n_labels"].tolist() == [26, 9]
    assert np.isfinite(table["low"]).all()
    assert np.isnan(table["effective_labels"]).tolist() == [False, True]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_rows_without_a_group_are_shown_as_missing(evaluation, missing):
    groups = np.array(["a", missing], dtype=object)[SLICE.astype(int)]
    assert "(missing)" in str(evaluation.estimate_by(groups))
    assert "(missing)" in evaluation.compare_groups(groups).names


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_name_of_a_column_is_not_the_column(make):
    columns = {"region": X[:, 0], "age": X[:, 1]}
    evaluation = ActiveRiskEstimator(
        metric=LabelShare(1), surrogate=GaussianNB(), refit=[5], random_state=0
    ).start(make(columns))
    evaluation.run(Y.astype(int), 10)
    match = r"Give the column: X_pool\['region'\], not its name"
    for ask in (
        evaluation.estimate_by,
        evaluation.compare_groups,
        lambda groups: evaluation.estimate(groups=groups),
    ):
        with pytest.raises(ValueError, match=match):
            ask("region")
    with pytest.raises(ValueError, match=r"one entry per row .*is 'regoin'"):
        evaluation.estimate_by("regoin")


def test_the_surrogate_alone_gives_a_table_without_intervals(evaluation):
    table = evaluation.estimate_by(GROUPS, metric="f1", risk=ASE())
    assert np.isnan(table["low"]).all()
    assert all("no interval" in verdict for verdict in table["verdict"])


@pytest.mark.parametrize(
    ("groups", "message"),
    [(GROUPS[:5], r"shape \(60,\)"), (np.zeros((N, 2)), r"shape \(60,\)")],
)
def test_groups_must_be_one_per_row(evaluation, groups, message):
    with pytest.raises(ValueError, match=message):
        evaluation.estimate_by(groups)


def test_groups_of_a_metric_widen_the_interval_for_the_population():
    X, y = binary_pool(200, 7)
    evaluation = buy(start(X, loss="zero_one", refit=[20]), 60, y, batch_size=20)
    groups = np.repeat(np.arange(10), 20)
    for metric in ("accuracy", "f1", "roc_auc"):
        plain, grouped = (
            evaluation.estimate(metric=metric, groups=by) for by in (None, groups)
        )
        assert plain.interval() == grouped.interval()
        assert np.ptp(grouped.interval(target="population")) > np.ptp(plain.interval())


def test_skipped_rows_do_not_count_in_a_slice():
    """In the slice every second row is skipped; the model is right at the others."""
    right = np.flatnonzero(SLICE & (MODEL.predict(X) == Y))
    evaluation = start(loss="zero_one", refit=[10**6])
    rows = evaluation.ask(N).indices
    known = np.isin(rows, right) | ~SLICE[rows]
    evaluation.tell(rows[known], Y[rows[known]])
    evaluation.skip(rows[~known])
    for risk in (LURE(), CorrectedASE(), None):
        for metric in ("accuracy", "precision", "recall", "f1_macro", "roc_auc"):
            asked = evaluation.estimate(risk, metric=metric, where=SLICE)
            predicted = MODEL.predict_proba(X[right]) if "auc" in metric else Y[right]
            expected = as_metric(metric)(Y[right], predicted)
            assert float(asked) == pytest.approx(expected)
        assert float(evaluation.estimate(risk, where=SLICE)) == pytest.approx(0.0)


def test_a_slice_that_nobody_could_label_is_refused():
    evaluation = start(loss="zero_one", refit=[10**6])
    rows = evaluation.ask(N).indices
    evaluation.tell(rows[~SLICE[rows]], Y[rows[~SLICE[rows]]])
    evaluation.skip(rows[SLICE[rows]])
    found = evaluation.estimate(metric="accuracy", where=SLICE)
    assert np.isnan(float(found))
    assert "could be labelled" in found.refusal


@pytest.mark.parametrize(
    "asked", [{"where": SLICE}, {"sample_weight": WEIGHT}], ids=["slice", "weights"]
)
@pytest.mark.parametrize("n_labels", [5, 30])
def test_hits_are_as_uncertain_as_errors(asked, n_labels):
    """A miss that no label has shown widens both intervals."""
    evaluation = buy(start(loss="zero_one"), n_labels)
    for pair in (("accuracy", "zero_one"), (LabelShare(0), LabelShare(1))):
        hits, errors = (
            evaluation.estimate(CorrectedASE(), metric=metric, **asked)
            for metric in pair
        )
        assert float(hits) == pytest.approx(1.0 - float(errors))
        for method in ("fixed", "anytime"):
            low, high = hits.interval(method=method)
            assert (1.0 - high, 1.0 - low) == pytest.approx(
                errors.interval(method=method), abs=1e-6
            )
