"""Export: files with the rows that people are to label."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.annotations import POOL, TEXTS, read_table, write
from helpers.campaigns import campaign
from scipy import sparse

from sklearn_ase._annotation._sheet import export_rows


@pytest.mark.parametrize(
    ("X", "features"),
    [
        (POOL, {"x0": "0.4", "x1": "0.5"}),
        (pd.DataFrame(POOL, columns=["age", "label"]), {"age": "0.4"}),
        (pd.DataFrame({"town": ["Zürich"] * 12}, dtype="category"), {"town": "Zürich"}),
        (pd.DataFrame({"age": [np.nan] * 12, "at": pd.NaT}), {"age": "", "at": ""}),
        (pl.DataFrame({"town": ["東京"] * 12, "n": 5}), {"town": "東京", "n": "5"}),
        (TEXTS, {"text": TEXTS[2]}),
        (POOL.reshape(12, 2, 1), {}),
        (sparse.csr_matrix(POOL), {}),
    ],
    ids=[
        "array",
        "frame",
        "categories",
        "missing",
        "polars",
        "text",
        "image",
        "sparse",
    ],
)
def test_a_sheet_has_an_empty_label_and_what_can_be_read(tmp_path, X, features):
    export_rows(X, [2, 7], tmp_path / "batch.csv")
    first, second = read_table(tmp_path / "batch.csv")
    assert [first["row"], second["row"]] == ["2", "7"]
    assert first["label"] == second["label"] == ""
    assert first.items() >= features.items()
    assert "prediction" not in first


def test_a_feature_named_label_does_not_hide_the_label(tmp_path):
    X = pd.DataFrame(POOL, columns=["row", "label"])
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices.tolist()
    evaluation.export(rows, tmp_path / "batch.csv")
    assert list(read_table(tmp_path / "batch.csv")[0])[2:] == [
        "row (feature)",
        "label (feature)",
    ]
    assert evaluation.import_answers(tmp_path / "batch.csv") == 0


def test_predictions_are_those_of_the_whole_pool(tmp_path, asked):
    asked.export([3, 1], tmp_path / "batch.csv", predictions=np.arange(12) * 10)
    assert [line["prediction"] for line in read_table(tmp_path / "batch.csv")] == [
        "30",
        "10",
    ]
    with pytest.raises(ValueError, match=r"shape \(2,\), but the pool has 12 rows"):
        asked.export([3, 1], tmp_path / "other.csv", predictions=["cat", "dog"])


@pytest.mark.parametrize("name", ["batch.csv", "batch.json"])
def test_answers_in_a_file_are_not_overwritten_by_mistake(tmp_path, asked, name):
    path = write(tmp_path / name, "answers")
    with pytest.raises(FileExistsError, match=rf"{name} exists.*overwrite=True"):
        asked.export(asked.pending, path)
    assert path.read_text() == "answers"
    asked.export(asked.pending, path, overwrite=True)
    assert path.read_text() != "answers"


def test_tasks_of_label_studio_hold_row_features_and_prediction(tmp_path, asked):
    guess = np.array(["cat", "dog"] * 6)
    asked.export([3], tmp_path / "batch.json", predictions=guess)
    (task,) = json.loads((tmp_path / "batch.json").read_text())
    assert task["data"] == {"row": 3, "features": {"x0": 0.6, "x1": 0.7}}
    (result,) = task["predictions"][0]["result"]
    assert result == {
        "from_name": "label",
        "to_name": "item",
        "type": "choices",
        "value": {"choices": ["dog"]},
    }


def test_tasks_of_texts_and_images(tmp_path):
    campaign(["a", "b"], TEXTS).export([4], tmp_path / "batch.json")
    task = {"data": {"row": 4, "text": TEXTS[4]}}
    assert json.loads((tmp_path / "batch.json").read_text()) == [task]
    campaign(["a", "b"], POOL.reshape(12, 2, 1)).export([4], tmp_path / "image.json")
    assert json.loads((tmp_path / "image.json").read_text()) == [{"data": {"row": 4}}]


def test_a_number_is_predicted_as_a_number(tmp_path):
    evaluation = campaign(None, POOL)
    evaluation.export([3], tmp_path / "batch.json", predictions=np.full(12, 2.5))
    (task,) = json.loads((tmp_path / "batch.json").read_text())
    (result,) = task["predictions"][0]["result"]
    assert (result["type"], result["value"]) == ("number", {"number": 2.5})


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_tasks_are_valid_json_whatever_the_numbers(tmp_path, make):
    X = np.array([[np.nan, 1.0], [np.inf, 2.0], [-np.inf, 3.0]])
    guess = np.array([np.nan, np.inf, 0.5])
    export_rows(make(X), [0, 1, 2], tmp_path / "batch.json", predictions=guess)
    text = (tmp_path / "batch.json").read_text()
    tasks = json.loads(text, parse_constant=pytest.fail)
    first = [next(iter(task["data"]["features"].values())) for task in tasks]
    assert first == [None, "Infinity", "-Infinity"]
    assert ["predictions" in task for task in tasks] == [False, False, True]


def test_tasks_are_valid_json_with_numbers_in_lists(tmp_path):
    X = pd.DataFrame({"path": [[1.0, np.nan, -np.inf]] * 2, "one": np.float32("inf")})
    export_rows(X, [0], tmp_path / "batch.json")
    text = (tmp_path / "batch.json").read_text()
    (task,) = json.loads(text, parse_constant=pytest.fail)
    assert task["data"]["features"]["path"] == [1.0, None, "-Infinity"]


def test_a_file_of_another_kind_is_refused(tmp_path, asked):
    with pytest.raises(ValueError, match=r"batch.xlsx must end in .csv.*or in .json"):
        asked.export(asked.pending, tmp_path / "batch.xlsx")
    with pytest.raises(ValueError, match=r"batch.xlsx must end in .csv.*or in .json"):
        asked.import_answers(tmp_path / "batch.xlsx")


def test_a_query_is_a_frame():
    X = pd.DataFrame({"town": ["Rome", "Oslo"] * 6, "query_proba": 1})
    query = campaign(["cat", "dog"], X).ask(3)
    frame = query.to_frame(X, predictions=np.arange(12))
    names = ["row", "town", "query_proba (feature)", "prediction", "query_proba"]
    assert list(frame.columns) == names
    assert frame["row"].tolist() == frame["prediction"].tolist()
    assert frame["town"].tolist() == X["town"].iloc[query.indices].tolist()
    assert frame["query_proba"].tolist() == query.proba.tolist()
    assert list(query.to_frame(TEXTS).columns) == ["row", "text", "query_proba"]


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_annotators_see_only_the_columns_that_are_named(tmp_path, suffix):
    pool = pd.DataFrame(
        {"id": range(12), "text": list("abcdefghijkl"), "judge": 0.5, "label": "x"}
    )
    evaluation = campaign(["cat", "dog"], pool)
    path = tmp_path / f"batch.{suffix}"
    query = evaluation.ask(3)
    evaluation.export(query, path, columns=["label", "text"])
    written = path.read_text(encoding="utf-8-sig")
    assert "judge" not in written
    if suffix == "csv":
        head = written.splitlines()[0].split(",")
        assert head == ["row", "label", "label (feature)", "text"]
    with pytest.raises(ValueError, match=r"the pool has no column \['score'\]"):
        evaluation.export(query, path, columns=["score"], overwrite=True)
    with pytest.raises(TypeError, match=r"columns=\['text'\]"):
        evaluation.export(query, path, columns="text", overwrite=True)
