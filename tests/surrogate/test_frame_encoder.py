"""Frames as numbers: what each kind of column becomes, whatever library made it."""

import datetime
import hashlib
import pickle
import random
import string
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from sklearn_ase.surrogate import FrameEncoder

N_ROWS = 60
DAYS = pd.date_range("2025-12-20", periods=N_ROWS, freq="31h")
WORDS = ["the", "cat", "sat", "on", "mat", "while", "dogs", "bark", "at", "night"]
WORDS += ["and", "rain", "fell", "over", "green", "hills"]


def _free_texts(n_texts=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(n_texts)]


def _encoded(values):
    return FrameEncoder().fit_transform(pd.DataFrame({"x": values}))


def _kind(values):
    return FrameEncoder().fit(pd.DataFrame({"x": values})).kinds_["x"]


def test_texts_dates_and_missing_values_become_numbers():
    frame = pd.DataFrame(
        {
            "kind": pd.Series(["b", "a", None], dtype="string"),
            "count": pd.Series([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "day": pd.to_datetime(["2026-01-01", "2026-01-02", None]),
            "group": pd.Categorical(["x", "y", "x"]),
        }
    )
    encoded = FrameEncoder().fit_transform(frame)
    assert_array_equal(encoded[:, 0], [1, 0, np.nan])
    assert_array_equal(encoded[:, 1], [1, np.nan, 3])
    assert_array_equal(encoded[:, 2], [1, 0, 1])
    assert_array_equal(encoded[:, 3], [0, 1, np.nan])
    assert_array_equal(encoded[:, 4], [3, 4, np.nan])  # A Thursday and a Friday.
    assert_array_equal(encoded[:, 5], [0, 1, 0])


@pytest.mark.parametrize(
    "values",
    [
        DAYS.tz_localize("UTC"),
        DAYS.tz_localize("America/New_York"),
        DAYS.as_unit("s"),
        pd.PeriodIndex(DAYS, freq="h"),
        pd.Series(list(DAYS), dtype=object),
        pd.Series([day.to_pydatetime() for day in DAYS], dtype=object),
        pd.Series(list(DAYS.tz_localize("Asia/Tokyo")), dtype=object),
        pd.Series([day.to_datetime64() for day in DAYS], dtype=object),
        DAYS.strftime("%Y-%m-%d %H:%M"),
        pd.Series(DAYS.tz_localize("UTC")).astype("timestamp[us, tz=UTC][pyarrow]"),
    ],
    ids=[
        "utc",
        "zone",
        "seconds",
        "period",
        "timestamps",
        "datetimes",
        "objects with zone",
        "numpy",
        "text",
        "arrow",
    ],
)
def test_dates_encode_alike_however_they_are_stored(values):
    expected = np.column_stack(
        [(DAYS - DAYS[0]) / pd.Timedelta("1D"), DAYS.month, DAYS.day_of_week, DAYS.hour]
    )
    assert_array_equal(_encoded(DAYS), expected)
    assert_array_equal(_encoded(values), expected)


def test_date_objects_encode_as_naive_dates_do():
    days = [day.date() for day in DAYS]
    assert _encoded(days).shape == (N_ROWS, 3)  # No hour.
    assert_array_equal(_encoded(days), _encoded(pd.to_datetime(days)))
    arrow = pd.Series(days).astype("date32[pyarrow]")
    assert_array_equal(_encoded(arrow), _encoded(days))


def test_parts_of_a_date_that_do_not_vary_are_left_out():
    days = pd.date_range("2026-03-01", periods=4, freq="D")
    assert_array_equal(_encoded(days), [[0, 6], [1, 0], [2, 1], [3, 2]])


def test_durations_and_times_of_day_are_seconds():
    hours = pd.to_timedelta([1, 2, None], unit="h")
    assert_array_equal(_encoded(hours), [[3600], [7200], [np.nan]])
    assert_array_equal(_encoded(pd.Series(hours, dtype=object)), _encoded(hours))
    times = [datetime.time(1), datetime.time(2), None]
    assert_array_equal(_encoded(times), _encoded(hours))


DRAW = random.Random(0)
IDS = {
    "uuid": lambda k: str(uuid.UUID(int=DRAW.getrandbits(128))),
    "hash": lambda k: hashlib.sha1(str(k).encode()).hexdigest(),
    "running number": lambda k: f"{k:06d}",
    "name and number": lambda k: f"user_{k}",
    "file": lambda k: f"/data/images/img_{k}.png",
    "letters": lambda k: "".join(DRAW.choices(string.ascii_letters, k=22)),
    "object": lambda k: object(),
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("n_rows", [30, 3000])
def test_ids_are_dropped(name, n_rows):
    assert _kind([IDS[name](k) for k in range(n_rows)]) == "dropped"


@pytest.mark.parametrize(
    "values",
    [
        [3] * 4,
        ["same"] * 4,
        [None] * 4,
        [np.nan] * 4,
        pd.to_datetime(["2026-01-01"] * 4),
        pd.Series([None] * 4, dtype="category"),
    ],
)
def test_constant_columns_are_dropped(values):
    assert _kind(values) == "dropped"
    # Something is left for a forest to be fitted on.
    assert_array_equal(_encoded(values), np.zeros((4, 1)))


def test_a_value_that_is_sometimes_missing_is_kept():
    assert_array_equal(_encoded(["yes", None, None]), [[0], [np.nan], [np.nan]])
    assert_array_equal(_encoded([1.0, None, 1.0]), [[1], [np.nan], [1]])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (_free_texts(), "text"),
        (_free_texts()[:30] * 2, "text"),
        (["猫は窓の外を見ていた" + w for w in _free_texts()], "text"),
        (["yes", "no", "maybe"] * 20, "category"),
        ([f"town {k % 20}" for k in range(60)], "category"),
        ([f"{k % 9}" for k in range(60)], "number"),
        ([f"{k / 7:.3f}" for k in range(60)], "number"),
        ([Decimal(k) for k in range(60)], "number"),
        ([True, None] * 30, "number"),
        ([[k % 2, 1] for k in range(60)], "category"),
        ([{"a": k % 2} for k in range(60)], "category"),
        ([np.array([k % 2, np.nan]) for k in range(60)], "category"),
        ([1, "a", 2.5, None, datetime.date(2026, 1, 1)] * 12, "category"),
        (pd.cut(np.arange(60), 4), "category"),
        (pd.Series([10**400, 5] * 30, dtype=object), "number"),
    ],
)
def test_each_column_is_encoded_by_what_its_values_are(values, kind):
    assert _kind(values) == kind
    assert not np.isinf(_encoded(values)).any()


def test_names_count_as_text_and_not_as_ids():
    rng = np.random.default_rng(0)
    first, last = ["anna", "bernd", "chen", "dora"], ["smith", "miller", "tanaka"]
    names = [f"{rng.choice(first)}.{rng.choice(last)}{k}" for k in range(100)]
    assert _kind(names) == "text"


def test_codes_that_come_up_again_are_words():
    rng = np.random.default_rng(0)
    codes = [" ".join(f"code{k}" for k in rng.integers(30, size=8)) for _ in range(100)]
    assert _kind(codes) == "text"
    assert _kind([code.replace(" ", "|") for code in codes]) == "text"


def test_ordered_categories_keep_their_order():
    sizes = ["small", "large", "medium", "small"]
    order = ["small", "medium", "large"]
    ordered = pd.Categorical(sizes, categories=order, ordered=True)
    assert_array_equal(_encoded(ordered)[:, 0], [0, 2, 1, 0])
    frame = pl.DataFrame({"x": pl.Series(sizes, dtype=pl.Enum(order))})
    assert_array_equal(FrameEncoder().fit_transform(frame), _encoded(ordered))


def test_an_unseen_category_is_not_taken_for_a_known_one():
    encoder = FrameEncoder().fit(pd.DataFrame({"kind": ["a", "b", "a", None]}))
    unseen = encoder.transform(pd.DataFrame({"kind": ["z", "a", "b", None, 7]}))
    assert_array_equal(unseen[:, 0], [2, 0, 1, np.nan, 2])


def test_unseen_words_and_missing_texts_do_not_crash():
    encoder = FrameEncoder().fit(pd.DataFrame({"text": _free_texts()}))
    unseen = pd.DataFrame({"text": ["quite other words", "?!", " ", None]})
    encoded = encoder.transform(unseen)
    assert_array_equal(encoded[:2, 0], [17, 2])
    assert_array_equal(encoded[:2, 1:], 0.0)
    assert np.isnan(encoded[2:]).all()


def test_texts_with_the_same_words_are_close():
    texts = [
        "rain fell on hills at night",
        "the cat sat on the mat",
    ] * 2 + _free_texts()
    encoded = _encoded(texts)
    assert_array_equal(encoded[0], encoded[2])
    assert np.abs(encoded[0, 1:] - encoded[1, 1:]).max() > 0.1


def _mixed_columns():
    rng = np.random.default_rng(1)
    return {
        "number": rng.normal(size=N_ROWS).tolist(),
        "count": [1, None, 3] * 20,
        "flag": [True, None, False] * 20,
        "kind": ["a", "b", None] * 20,
        "text": _free_texts(),
        "day": [day.date() for day in DAYS],
        "time": [day.to_pydatetime() for day in DAYS],
        "duration": [datetime.timedelta(hours=k) for k in range(N_ROWS)],
        "id": [hashlib.md5(str(k).encode()).hexdigest() for k in range(N_ROWS)],
        "list": [[k % 3] for k in range(N_ROWS)],
        "empty": [None] * N_ROWS,
    }


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_polars_frame_encodes_as_the_same_pandas_frame(zone):
    columns = _mixed_columns()
    pandas, polars = pd.DataFrame(columns), pl.DataFrame(columns)
    pandas["time"] = pandas["time"].dt.tz_localize(zone)
    polars = polars.with_columns(pl.col("time").dt.replace_time_zone(zone))
    encoders = [FrameEncoder().fit(frame) for frame in (pandas, polars)]
    assert encoders[0].kinds_ == encoders[1].kinds_
    encoded = encoders[0].transform(pandas)
    assert encoded.shape == (N_ROWS, 24)
    assert_array_equal(encoded, encoders[1].transform(polars))
    # A frame of the one is encoded by what was learned from the other.
    assert_array_equal(encoded, encoders[0].transform(polars))


def test_storage_does_not_matter():
    frame = pd.DataFrame(_mixed_columns())
    nullable = frame.convert_dtypes()
    arrow = frame.drop(columns="list").convert_dtypes(dtype_backend="pyarrow")
    arrow["list"] = frame["list"]
    encoder = FrameEncoder().fit(frame)
    expected = encoder.transform(frame)
    for other in (nullable, arrow[frame.columns], frame.astype(object)):
        assert_array_equal(encoder.transform(other), expected)
        assert_array_equal(FrameEncoder().fit_transform(other), expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_tiny_frames_can_be_encoded(make, n_rows):
    columns = _mixed_columns()
    tiny = make({name: values[:n_rows] for name, values in columns.items()})
    encoder = FrameEncoder().fit(tiny)
    n_encoded = encoder.transform(tiny).shape[1]
    assert encoder.transform(make(columns)).shape == (N_ROWS, n_encoded)


def test_columns_that_changed_their_type_or_are_gone_do_not_crash():
    frame = pd.DataFrame(_mixed_columns())
    encoder = FrameEncoder().fit(frame)
    names = list(frame.columns)
    turned = frame[names[1:] + names[:1]].set_axis(names, axis=1)
    assert encoder.transform(turned).shape == encoder.transform(frame).shape
    one = FrameEncoder().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    written = pd.DataFrame({"x": ["1", "2.5", "two", None]})
    assert_array_equal(one.transform(written)[:, 0], [1, 2.5, np.nan, np.nan])
    assert np.isnan(one.transform(pd.DataFrame({"y": [1]}))).all()


def test_columns_may_have_names_of_any_type():
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", 7, ("b", 1)])
    assert_array_equal(FrameEncoder().fit_transform(frame), frame.to_numpy())


def test_a_forest_takes_what_comes_out():
    encoded = FrameEncoder().fit_transform(pd.DataFrame(_mixed_columns()))
    with_infinite = np.column_stack([encoded, _encoded([np.inf, -np.inf, 1e300] * 20)])
    trees = ExtraTreesClassifier(3).fit(with_infinite, np.arange(N_ROWS) % 2)
    assert np.isfinite(trees.predict_proba(with_infinite)).all()


def test_several_frames_count_as_one_however_they_are_stored():
    top = pl.DataFrame({"n": [1, 2], "kind": ["a", "b"], "id": [1, 2]})
    bottom = pl.DataFrame({"n": [0.5, 0.7], "kind": ["c", "a"], "id": ["x", "y"]})
    encoder = FrameEncoder().fit_frames([top, bottom])
    encoded = np.vstack([encoder.transform(top), encoder.transform(bottom)])
    assert_array_equal(encoded[:, 0], [1, 2, 0.5, 0.7])
    assert_array_equal(encoded[:, 1], [0, 1, 2, 0])
    assert_array_equal(np.sort(encoded[:, 2]), [0, 1, 2, 3])


def test_encoded_rows_pass_and_other_tables_are_refused():
    encoder = FrameEncoder().fit(pd.DataFrame({"x": [1, 2]}))
    encoded = np.ones((3, 1))
    assert encoder.transform(encoded) is encoded
    with pytest.raises(TypeError, match="encodes frames of pandas or polars"):
        FrameEncoder().fit(np.ones((3, 1)))


def test_the_encoder_is_deterministic_and_leaves_the_frame_alone():
    frame = pd.DataFrame(_mixed_columns())
    before = pickle.dumps(frame)
    encoder = FrameEncoder().fit(frame)
    encoded = encoder.transform(frame)
    assert pickle.dumps(frame) == before
    again = clone(encoder).fit(frame)
    assert_array_equal(again.transform(frame), encoded)
    assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(frame), encoded)
