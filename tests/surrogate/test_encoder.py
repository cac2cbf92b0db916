"""Frames and images as numbers: what each kind of column becomes."""

import datetime
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from sklearn_ase.surrogate import PoolEncoder
from sklearn_ase.surrogate._encoder import PlainColumns

N_ROWS = 60
DAYS = pd.date_range("2025-12-20", periods=N_ROWS, freq="31h")
WORDS = ["the", "cat", "sat", "while", "dogs", "bark", "and", "rain", "fell", "hills"]


def free_texts():
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(N_ROWS)]


def columns_of_all_kinds():
    rng = np.random.default_rng(1)
    return {
        "number": rng.normal(size=N_ROWS).tolist(),
        "count": [1, None, 3] * 20,
        "flag": [True, None, False] * 20,
        "kind": ["a", "b", None] * 20,
        "text": free_texts(),
        "day": [day.date() for day in DAYS],
        "time": [day.to_pydatetime() for day in DAYS],
        "duration": [datetime.timedelta(hours=k) for k in range(N_ROWS)],
        "empty": [None] * N_ROWS,
    }


NUMBERS_AND_CATEGORIES = ["number", "count", "flag", "kind", "empty"]
LEFT_OUT = ["text", "day", "time", "duration"]


@pytest.fixture
def without_skrub(monkeypatch):
    monkeypatch.setitem(sys.modules, "skrub", None)  # An import of None fails.


def test_every_kind_of_column_becomes_numbers():
    frame = pd.DataFrame(columns_of_all_kinds())
    for name in frame.columns:
        encoded = PoolEncoder().fit_transform(frame[[name]])
        assert encoded.shape[0] == N_ROWS
        assert np.isfinite(encoded).any()
        assert len(np.unique(encoded, axis=0)) > 1 or name == "empty"


def test_numbers_stay_and_missing_ones_are_nan():
    frame = pd.DataFrame({"size": [1.5, None, 3.0], "kind": ["b", "a", None]})
    encoded = PoolEncoder().fit_transform(frame)
    assert_array_equal(encoded, [[1.5, 1], [np.nan, 0], [3, np.nan]])


@pytest.mark.parametrize("skrub", [True, False])
def test_a_polars_frame_encodes_as_the_same_pandas_frame(skrub, monkeypatch):
    columns = columns_of_all_kinds()
    for name in ("duration", "day"):  # Objects, which old versions of skrub take so.
        del columns[name]
    if not skrub:
        monkeypatch.setitem(sys.modules, "skrub", None)
        columns = {name: columns[name] for name in NUMBERS_AND_CATEGORIES}
    found = [
        PoolEncoder().fit_transform(library.DataFrame(columns)) for library in (pd, pl)
    ]
    assert found[0].shape[1] >= len(columns) - 1
    assert_array_equal(*found)


@pytest.mark.parametrize("skrub", [True, False])
def test_other_rows_are_encoded_as_the_pool_was(skrub, monkeypatch):
    if not skrub:
        monkeypatch.setitem(sys.modules, "skrub", None)
    frame = pd.DataFrame({"size": [1.0, 2.0] * 5, "kind": ["a", "b"] * 5})
    encoder = PoolEncoder().fit(frame)
    other = pd.DataFrame({"size": [3.0, None], "kind": ["b", "new"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(encoder.transform(other), [[3, 1], [np.nan, -1]])


@pytest.mark.parametrize("library", [pd, pl])
def test_without_skrub_a_warning_names_the_columns_left_out(library, without_skrub):
    frame = library.DataFrame(columns_of_all_kinds())
    with pytest.warns(UserWarning, match=r"text.*sklearn-ase\[tables\]") as caught:
        encoder = PoolEncoder().fit(frame)
    assert all(name in str(caught[0].message) for name in LEFT_OUT)
    assert encoder.transformer_.numbers_ == ["number", "count", "flag", "empty"]
    assert encoder.transformer_.categories_ == ["kind"]
    assert encoder.transform(frame).shape == (N_ROWS, 5)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype=object),
        pd.Series([1.0, np.nan, 3.0]),
    ],
)
def test_numbers_are_read_however_they_are_stored(values, without_skrub):
    encoded = PoolEncoder().fit_transform(pd.DataFrame({"x": values}))
    assert_array_equal(encoded[:, 0], [1, np.nan, 3])


def test_ordered_and_plain_categories_are_codes(without_skrub):
    frame = pd.DataFrame({"x": pd.Categorical(["small", "large", None])})
    assert_array_equal(PoolEncoder().fit_transform(frame), [[1], [0], [np.nan]])


def test_a_frame_with_nothing_to_encode_becomes_zeros(without_skrub):
    frame = pd.DataFrame({"day": DAYS})
    with pytest.warns(UserWarning, match="day"):
        encoder = PoolEncoder().fit(frame)
    assert_array_equal(encoder.transform(frame), np.zeros((N_ROWS, 1)))


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("n_rows", [2, 5])
def test_tiny_frames_can_be_encoded(library, n_rows):
    columns = columns_of_all_kinds()
    tiny = library.DataFrame({name: v[:n_rows] for name, v in columns.items()})
    encoder = PoolEncoder().fit(tiny)
    n_encoded = encoder.transform(tiny).shape[1]
    assert encoder.transform(library.DataFrame(columns)).shape == (N_ROWS, n_encoded)


def test_a_forest_takes_what_comes_out():
    frame = pd.DataFrame(columns_of_all_kinds())
    frame["huge"] = [np.inf, -np.inf, 1e300] * 20
    encoded = PoolEncoder().fit_transform(frame)
    trees = ExtraTreesClassifier(3).fit(encoded, np.arange(N_ROWS) % 2)
    assert np.isfinite(trees.predict_proba(encoded)).all()


def test_a_transformer_of_ones_own_is_fitted_to_the_pool():
    frame = pd.DataFrame({"size": [1.0, 2.0], "day": DAYS[:2]})
    with pytest.warns(UserWarning, match="day"):
        encoder = PoolEncoder(PlainColumns()).fit(frame)
    assert_array_equal(encoder.transform(frame), [[1.0], [2.0]])


def test_encoded_rows_pass_and_other_tables_are_refused():
    encoder = PoolEncoder().fit(pd.DataFrame({"x": [1, 2]}))
    encoded = np.ones((3, 1))
    assert encoder.transform(encoded) is encoded
    with pytest.raises(TypeError, match="encodes frames of pandas or polars"):
        PoolEncoder().fit(np.ones((3, 1)))


def test_the_encoder_is_deterministic_and_leaves_the_frame_alone():
    frame = pd.DataFrame(columns_of_all_kinds())
    before = pickle.dumps(frame)
    encoder = PoolEncoder().fit(frame)
    encoded = encoder.transform(frame)
    assert pickle.dumps(frame) == before
    again = clone(encoder).fit(frame)
    assert_array_equal(again.transform(frame), encoded)
    assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(frame), encoded)
