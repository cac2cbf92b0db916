"""A report holds the numbers of the evaluation's own methods."""

import numpy as np
import pytest
from helpers.reports import (
    REGION,
    blocks_of,
    chosen,
    classified,
    complete,
    judged,
    models,
    regressed,
    section_of,
)

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._evaluation._sections import range_of
from sklearn_ase._utils._estimators import unfrozen
from sklearn_ase.metrics import LabelShare
from sklearn_ase.risk import ASE


def _triple(cell):
    return cell.value, cell.low, cell.high


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("make", [judged, classified], ids=lambda make: make.__name__)
def test_the_headline_is_the_estimate_with_its_two_intervals(make, level):
    evaluation = make()
    (headline,) = blocks_of(evaluation.report(level=level), "Estimate", "Headline")
    expected = evaluation.estimate()
    assert _triple(headline.found) == (float(expected), *expected.interval(level))
    ends = expected.interval(level, method="anytime")
    assert (headline.anytime.low, headline.anytime.high) == ends


def test_the_curve_has_a_point_for_each_batch():
    evaluation = classified()
    (curve,) = blocks_of(evaluation.report(), "Running estimate", "Curve")
    assert curve.columns["n_labels"].tolist() == [20, 40, 60]
    places = curve.columns["n_labels"] - 1
    np.testing.assert_array_equal(
        curve.columns["estimate"], evaluation.history["risk"][places]
    )
    for prefix, method in (("", "fixed"), ("anytime_", "anytime")):
        low, high = evaluation.intervals(0.9, method)
        np.testing.assert_array_equal(curve.columns[f"{prefix}low"], low[places])
        np.testing.assert_array_equal(curve.columns[f"{prefix}high"], high[places])


def test_a_single_estimate_is_no_curve():
    report = regressed(10).report()
    assert not blocks_of(report, "Running estimate", "Curve")
    assert "one estimate so far, after 10 labels" in report.to_markdown()


def test_slices_are_those_of_estimate_by():
    evaluation = judged()
    report = evaluation.report(by={"region": REGION}, level=0.8)
    (table,) = blocks_of(report, "By region", "Table")
    expected = evaluation.estimate_by(REGION, level=0.8)
    assert [row[0] for row in table.rows] == expected["group"].tolist()
    found = np.array([_triple(row[1]) for row in table.rows]).T
    for name, column in zip(("estimate", "low", "high"), found, strict=True):
        np.testing.assert_array_equal(column, expected[name])
    assert table.mark == float(evaluation.estimate())


def test_judges_are_those_of_the_table():
    evaluation = judged()
    (table,) = blocks_of(evaluation.report(level=0.8), "Judges", "Table")
    expected = evaluation.judges(level=0.8)
    rows = {row[0]: row[1:] for row in table.rows}
    assert table.head[1:] == expected["judge"].tolist()
    for name, title in (("bias", "bias"), ("tpr", "TPR"), ("kappa", "kappa")):
        ends = [expected[name + end] for end in ("", "_low", "_high")]
        assert [_triple(cell) for cell in rows[title]] == list(zip(*ends, strict=True))
    assert rows["verdict"] == expected["verdict"].tolist()


def test_models_are_compared_as_by_compare():
    evaluation, given = classified(), models()
    report = evaluation.report(compare=given)
    expected = evaluation.compare(given)
    blocks = section_of(report, "Comparison of models").blocks
    assert blocks[0].text == expected.describe()
    columns = expected.to_dict()
    found = [_triple(row[1]) for row in blocks[1].rows]
    ends = (columns[name] for name in ("estimate", "low", "high"))
    assert found == list(zip(*ends, strict=True))


def test_the_model_under_test_has_one_number_to_quote():
    evaluation = classified(metric="f1")
    own = evaluation.problem.model
    given = {"own": unfrozen(own), "said": own.predict(evaluation.problem.X)}
    given |= models()
    blocks = section_of(evaluation.report(compare=given), "Comparison of models").blocks
    quoted = str(range_of(evaluation.estimate(), 0.9))
    assert str(blocks[1].rows[0][1]) != quoted
    text = f"By itself the model under test (own, said) has the F1 {quoted}. Quote that"
    assert text in blocks[-1].text
    without = section_of(evaluation.report(compare=models()), "Comparison of models")
    assert "By itself" not in without.blocks[-1].text


def test_a_choice_between_models_compares_them_and_names_the_best():
    run = chosen()
    report = run.report()
    (table,) = blocks_of(report, "Comparison of models", "Table")
    assert [row[0] for row in table.rows] == run.names
    assert [row[3] for row in table.rows] == [n in run.candidates for n in run.names]
    assert f"The model is {run.best_name}" in report.to_markdown()


def test_the_diagnosis_is_that_of_diagnose():
    evaluation = judged()
    verdict, _, facts = section_of(evaluation.report(), "Diagnosis").blocks
    expected = evaluation.diagnose()
    assert (verdict.verdict, verdict.advice) == (expected.verdict, expected.advice)
    assert facts.values == expected.describe()
    assert all(text in str(expected) for text in facts.values.values())


def test_labels_are_counted_and_their_shares_estimated():
    evaluation = judged()
    table = blocks_of(evaluation.report(), "What was labelled", "Table")[0]
    given = list(evaluation.ledger.labels.values())
    for label, count, share in table.rows:
        assert count == given.count(label)
        expected = evaluation.estimate(metric=LabelShare(label))
        assert _triple(share) == (float(expected), *expected.interval(0.9))


def test_the_labels_that_were_expected_least_come_with_their_columns():
    evaluation = judged()
    columns = {"text": [f"row {row}" for row in range(200)]}
    report = evaluation.report(columns=columns)
    table = blocks_of(report, "What was labelled", "Table")[1]
    history = evaluation.history
    surprise = np.abs(history["loss"] - history["expected_loss"])
    row = int(history["index"][surprise.argmax()])
    assert table.rows[0][:2] == [row, f"row {row}"]
    assert "row 1" not in evaluation.report().to_markdown()


def test_other_metrics_are_estimated_and_one_that_fails_says_why():
    evaluation = classified()
    metrics = ["f1", "roc_auc", "r2"]
    (table,) = blocks_of(evaluation.report(metrics=metrics), "Other metrics", "Table")
    for metric, row in zip(metrics[:2], table.rows[:2], strict=True):
        expected = evaluation.estimate(metric=metric)
        assert _triple(row[1]) == (float(expected), *expected.interval(0.9))
    assert "regression" in table.rows[2][2]


@pytest.mark.parametrize("metric", ["roc_auc", "f1"])
def test_a_metric_that_is_not_a_mean_is_reported(metric):
    evaluation = classified(metric)
    report = evaluation.report()
    (headline,) = blocks_of(report, "Estimate", "Headline")
    expected = evaluation.estimate()
    assert _triple(headline.found) == (float(expected), *expected.interval(0.9))
    assert "normally distributed" in report.to_markdown()


def test_weights_are_mentioned():
    evaluation = classified(weighted=True)
    report = evaluation.report()
    assert "(weighted)" in report.to_markdown()
    (headline,) = blocks_of(report, "Estimate", "Headline")
    assert headline.found.value == float(evaluation.estimate())


def test_few_labels_have_no_interval_and_the_report_says_why():
    evaluation = regressed(3)
    report = evaluation.report()
    (headline,) = blocks_of(report, "Estimate", "Headline")
    assert headline.found.value == float(evaluation.estimate())
    assert not headline.found.has_ends
    assert "There is no interval. No interval from 3 labels" in report.to_markdown()
    assert "no interval" in report.to_html()


def test_without_a_label_what_can_be_said_is_said():
    text = regressed(0).report().to_markdown()
    assert "it is what the surrogate expects" in text
    assert "Not available. No label has an estimate yet." in text
    assert "Not available. diagnose() needs" in text
    assert "fingerprint of the pool" in text


def test_a_regression_shows_its_labels_as_numbers():
    report = regressed(40).report(metrics="r2")
    facts = blocks_of(report, "What was labelled", "Facts")[1].values
    assert "mean label of the pool (90 % interval)" in facts
    (headline,) = blocks_of(report, "Estimate", "Headline")
    assert headline.found.has_ends


def test_skipped_known_and_paid_rows_are_counted():
    evaluation = complete()
    report = evaluation.report()
    facts = blocks_of(report, "What was labelled", "Facts")[0].values
    assert facts == {
        "labels": "29 of 30 rows",
        "known beforehand": "1 label",
        "could not be labelled": "1 row",
        "cost of the labels": f"{evaluation.spent:g}",
    }
    (headline,) = blocks_of(report, "Estimate", "Headline")
    assert headline.found.value == float(evaluation.estimate())
    text = report.to_markdown()
    assert "can be labelled: 1 row could not" in text
    assert "It is known" in text
    assert "for one look" not in text.partition("## Judges")[0]


def test_a_section_that_fails_leaves_the_others(monkeypatch):
    evaluation = judged()

    def fail(*_, **__):
        raise RuntimeError("out of order")

    for name in ("judges", "diagnose", "intervals"):
        monkeypatch.setattr(evaluation, name, fail)
    report = evaluation.report(by=REGION[:5])
    text = report.to_markdown()
    assert text.count("Not available. RuntimeError: out of order") == 3
    (missing,) = blocks_of(report, "By group", "Words")
    assert "200" in missing.text
    assert blocks_of(report, "Estimate", "Headline")


def test_too_many_groups_are_refused_in_the_section():
    report = judged().report(by=[f"g{row}" for row in range(200)])
    assert "200 groups" in section_of(report, "By group").blocks[0].text


def test_a_risk_without_intervals_is_reported():
    evaluation = regressed(30, risk=ASE())
    text = evaluation.report().to_markdown()
    assert "There is no interval." in text
    assert f"{float(evaluation.estimate()):.4g}" in text


def test_the_origin_names_method_seed_versions_and_fingerprint():
    evaluation = classified()
    (facts,) = blocks_of(evaluation.report(), "How the number was made", "Facts")
    assert facts.values["random_state"] == "0"
    assert "seed" not in facts.values
    assert facts.values["how it is estimated"] == "GuardedASE()"
    assert facts.values["model under test"] == "LogisticRegression"
    assert "scikit-learn" in facts.values["versions"]
    assert len(facts.values["fingerprint of the pool"]) == 32


def test_a_seed_that_was_drawn_is_called_so(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)

    def seed_of(random_state, **more):
        evaluator = ActiveRiskEstimator(loss="zero_one", random_state=random_state)
        with evaluator.start(X, predictions=y, **more) as evaluation:
            (facts,) = blocks_of(
                evaluation.report(), "How the number was made", "Facts"
            )
            return facts.values, evaluation.seed

    for random_state in (None, np.random.RandomState(3)):
        values, seed = seed_of(random_state)
        assert values["seed"] == f"{seed}, drawn by the evaluation"
    journal = {"journal": tmp_path / "labels.jsonl"}
    assert seed_of(7, **journal)[0]["random_state"] == "7"
    values, seed = seed_of(8, **journal)  # The journal goes on with its own.
    assert "random_state" not in values
    assert str(seed) in values["seed"]


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_only_a_report_is_replaced(name, tmp_path):
    evaluation, path = classified(), tmp_path / name
    evaluation.report(path, title="first")
    evaluation.report(path, title="second")
    assert "second" in path.read_text()
    path.write_text("My notes about sklearn_ase.")
    for write in (evaluation.report, evaluation.report().save):
        with pytest.raises(FileExistsError, match="is not a report"):
            write(path)
    assert path.read_text() == "My notes about sklearn_ase."
    path.write_text("")
    evaluation.report(path)
    assert path.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level"),
        ({"columns": {"text": ["a"]}}, "one value per row"),
        ({"columns": ["a"]}, "columns must be a frame"),
        ({"path": "report.txt"}, "must end in .html or in .md"),
        ({"path": "nowhere/report.md"}, "does not exist"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        judged().report(**options)
