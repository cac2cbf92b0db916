"""Groups without labels report what the surrogate says, as their verdict tells."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import ASE, CorrectedASE


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    evaluator = ActiveRiskEstimator(model, metric="accuracy", n_labels=30)
    evaluator.set_params(random_state=0)
    evaluator.fit(X[200:], y[200:], X_train=X[:200], y_train=y[:200])
    return evaluator.evaluation_


def test_a_group_without_labels_has_the_estimate_of_the_surrogate(evaluation):
    free = np.setdiff1d(np.arange(400), evaluation.state.indices)
    is_rare = np.isin(np.arange(400), free[:5])
    table = evaluation.estimate_by(np.where(is_rare, "rare", "usual"))
    assert table["n_labels"].tolist() == [0, 30]
    expected = float(evaluation.estimate(ASE(), where=is_rare))
    assert table["estimate"][0] == pytest.approx(expected)
    assert "only from the surrogate" in table["verdict"][0]
    assert np.isnan(table["low"][0])


def _rows(evaluation, n_labelled, n_free=200):
    """A mask of many rows, of which so many have a label."""
    labelled = evaluation.state.indices
    free = np.setdiff1d(np.arange(400), labelled)[:n_free]
    return np.isin(np.arange(400), np.append(free, labelled[:n_labelled]))


@pytest.mark.parametrize("metric", [None, "f1", "log_loss", "roc_auc"])
@pytest.mark.parametrize("risk", [None, CorrectedASE()])
@pytest.mark.parametrize("n_labelled", [0, 1])
def test_rows_that_no_label_has_tested_have_no_interval(
    evaluation, metric, risk, n_labelled
):
    found = evaluation.estimate(
        risk, metric=metric, where=_rows(evaluation, n_labelled)
    )
    for method in ("fixed", "anytime"):
        with pytest.warns(IntervalWarning, match="the surrogate's word alone"):
            assert found.interval(method=method) == (-np.inf, np.inf)
    assert np.isnan(found.standard_error)
    inside = "none" if n_labelled == 0 else "1"
    assert f"({inside} in these rows)" in repr(found)
    assert f"{inside} of them in these rows" in found.describe()["labels"]
    assert "surrogate&#x27;s word alone" in found._repr_html_()


def test_rows_with_labels_say_how_many_there_are_and_have_an_interval(evaluation):
    found = evaluation.estimate(where=_rows(evaluation, 12))
    assert "(12 in these rows)" in repr(found)
    low, high = found.interval()
    assert 0 <= low < high <= 1
    assert evaluation.estimate().n_inside is None


def test_a_row_that_is_labelled_is_known(evaluation):
    found = evaluation.estimate(where=_rows(evaluation, 1, n_free=0))
    assert found.interval() == (float(found), float(found))


def test_models_are_not_told_apart_on_rows_without_labels(evaluation):
    where = _rows(evaluation, 0)
    models = {"own": evaluation.problem.model, "none": np.zeros(400, dtype=int)}
    found = evaluation.compare(models, where=where)
    assert "No label lies in these rows" in found.describe()
    table = found.to_dict()
    assert np.isnan(table["low"]).all()
    assert np.isnan(table["behind_high"]).all()
    assert table["may_be_best"] == [True, True]
    assert "No label lies" not in evaluation.compare(models).describe()


def test_the_table_and_the_report_say_that_no_label_lies_in_a_group(evaluation):
    groups = np.where(_rows(evaluation, 0), "rare", "usual")
    table = evaluation.estimate_by(groups)
    words = "too few labels (none): only from the surrogate"
    assert table["verdict"].tolist() == [words, "supported by labels"]
    assert words in str(table)
    assert words in table._repr_html_()
    assert words in evaluation.report(by={"region": groups}).to_markdown()
