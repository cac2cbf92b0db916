"""A sample of a large pool: which rows, with which probabilities, from any source."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_ase import sample_pool
from sklearn_ase._data import _sampling

N, N_DRAWN = 4000, 300
X = np.random.default_rng(1).normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def first_column(rows):
    """A score of arrays and frames: greater, the greater the first number."""
    values = rows["a"].to_numpy() if hasattr(rows, "columns") else rows[:, 0]
    return np.exp(values)


def source(kind, folder):
    """The same rows in a source of some kind."""
    if kind in ("file", "folder", "dataset"):
        path = folder / "pool"
        path.mkdir()
        FRAME[:1500].to_parquet(path / "part0.parquet", row_group_size=70)
        FRAME[1500:].to_parquet(path / "part1.parquet", row_group_size=999)
        if kind == "dataset":
            return ds.dataset(path)
        if kind == "file":
            FRAME.to_parquet(folder / "pool.parquet", row_group_size=333)
            return folder / "pool.parquet"
        return str(path)
    if kind == "table":
        return pa.Table.from_pandas(FRAME)
    if kind == "polars":
        return pl.DataFrame(X, schema=["a", "b", "c"])
    if kind == "lazy":
        return pl.LazyFrame(X, schema=["a", "b", "c"])
    if kind == "memory map":
        np.save(folder / "pool.npy", X)
        return np.load(folder / "pool.npy", mmap_mode="r")
    return FRAME if kind == "pandas" else X


KINDS = ["file", "folder", "dataset", "table", "polars", "lazy", "pandas"] + [
    "memory map"
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", [None, first_column])
def test_every_kind_of_source_gives_the_same_rows(kind, by, tmp_path):
    expected = sample_pool(X, N_DRAWN, by=by, random_state=3)
    sample = sample_pool(source(kind, tmp_path), N_DRAWN, by=by, random_state=3)
    assert_array_equal(sample.indices, expected.indices)
    assert_array_equal(np.asarray(sample.X), X[sample.indices])
    # Means of other chunks may round a score in another way, but not a sum of one row.
    assert_allclose(sample.inclusion_proba, expected.inclusion_proba, rtol=1e-12)
    assert (sample.n_source_rows, len(sample)) == (N, N_DRAWN)


@pytest.mark.parametrize("by", [None, first_column])
def test_the_size_of_chunks_does_not_matter(by, monkeypatch):
    expected = sample_pool(X, N_DRAWN, by=by, random_state=0)
    for rows in (1, 7, 1001):
        monkeypatch.setattr(_sampling, "_CHUNK_ROWS", rows)
        sample = sample_pool(X, N_DRAWN, by=by, random_state=0)
        assert_array_equal(sample.indices, expected.indices)
        assert_array_equal(sample.inclusion_proba, expected.inclusion_proba)


def test_a_number_of_a_row_does_not_depend_on_where_reading_begins():
    whole = _sampling.uniform_of_rows(5, 0, 1000)
    for start in (0, 1, 2, 3, 4, 501):
        assert_array_equal(_sampling.uniform_of_rows(5, start, 99), whole[start:][:99])
    assert 0 < whole.min() < 0.01 < 0.99 < whole.max() < 1
    assert (_sampling.uniform_of_rows(6, 0, 1000) != whole).all()


def test_a_seed_draws_the_same_rows_again_and_another_seed_others():
    first, again, other = (
        sample_pool(X, N_DRAWN, random_state=seed).indices for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert len(np.intersect1d(first, other)) < N_DRAWN / 2


def test_rows_are_in_the_order_of_the_source_and_none_comes_twice():
    for by in (None, first_column):
        assert (np.diff(sample_pool(X, N_DRAWN, by=by).indices) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_of_few_rows_is_taken_whole(kind, tmp_path):
    sample = sample_pool(source(kind, tmp_path), N, by=first_column)
    assert sample.is_whole
    assert sample.is_uniform
    assert_array_equal(np.asarray(sample.X), X)
    assert_array_equal(sample.indices, np.arange(N))
    assert_array_equal(sample.inclusion_proba, 1.0)
    assert repr(sample) == "PoolSample(4,000 of 4,000 rows, all)"


def test_rows_in_memory_that_are_taken_whole_are_not_copied():
    assert sample_pool(FRAME, N).X is FRAME


def test_a_frame_from_parquet_is_indexed_by_the_numbers_of_its_rows(tmp_path):
    sample = sample_pool(source("folder", tmp_path), 50, random_state=0)
    assert_array_equal(sample.X.index, sample.indices)
    pd.testing.assert_frame_equal(sample.X, FRAME.loc[sample.indices])


def test_a_frame_of_pandas_keeps_its_index():
    frame = FRAME.set_axis(np.arange(N) + 10_000)
    sample = sample_pool(frame, 50, random_state=0)
    assert_array_equal(sample.X.index, sample.indices + 10_000)


def test_columns_of_a_partitioned_directory_are_read(tmp_path):
    for year in (2025, 2026):
        (tmp_path / f"year={year}").mkdir()
        FRAME[:100].to_parquet(tmp_path / f"year={year}" / "part.parquet")
    sample = sample_pool(tmp_path, 20, random_state=0)
    years = sample.X["year"].astype(int).to_numpy()
    assert_array_equal(years, np.where(sample.indices < 100, 2025, 2026))


def test_categories_that_differ_from_file_to_file_are_one_column(tmp_path):
    for part, names in enumerate((["north", "south"], ["west", "north"])):
        column = pd.Series(names * 30, dtype="category")
        pd.DataFrame({"region": column}).to_parquet(tmp_path / f"part{part}.parquet")
    sample = sample_pool(tmp_path, 100, random_state=0)
    assert set(sample.X["region"]) == {"north", "south", "west"}


def test_texts_and_sparse_rows_are_sources_too():
    texts = [f"text {row}" for row in range(100)]
    sample = sample_pool(texts, 10, by=lambda rows: [len(t) for t in rows])
    assert [f"text {row}" for row in sample.indices] == sample.X
    sample = sample_pool(sparse.csr_array(X), 10)
    assert_array_equal(sample.X.toarray(), X[sample.indices])


# Probabilities.


def drawn_mean(values, **how):
    """Mean of the source by the inverse probabilities of a sample's rows."""
    sample = sample_pool(np.arange(len(values))[:, None], **how)
    return np.sum(values[sample.indices] / sample.inclusion_proba) / len(values)


def test_all_rows_of_a_uniform_sample_are_equally_probable():
    counts = np.zeros(20)
    for seed in range(4000):
        counts[sample_pool(np.zeros((20, 1)), 5, random_state=seed).indices] += 1
    # 1000 is expected of each row, with a standard deviation of 27.
    assert np.abs(counts - 1000).max() < 4 * 27
    assert_allclose(sample_pool(X, N_DRAWN).inclusion_proba, N_DRAWN / N)


def test_every_set_of_rows_of_a_uniform_sample_is_equally_probable():
    sets = {}
    for seed in range(3000):
        rows = tuple(sample_pool(np.zeros((5, 1)), 2, random_state=seed).indices)
        sets[rows] = sets.get(rows, 0) + 1
    assert len(sets) == 10
    # 300 are expected of each, with a standard deviation of 16.
    assert all(abs(count - 300) < 4 * 16.5 for count in sets.values())


def test_sums_weighted_by_inverse_probabilities_are_unbiased_for_any_score():
    rng = np.random.default_rng(0)
    values, scores = rng.exponential(size=30), rng.lognormal(sigma=2.0, size=30)
    means = [
        drawn_mean(values, n_rows=6, by=lambda X: scores[X[:, 0]], random_state=seed)
        for seed in range(4000)
    ]
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - values.mean()) < 4 * error


def test_the_variance_of_a_weighted_sum_is_estimated_without_bias():
    # Rows do not covary, so the squares of the weighted values say it.
    rng = np.random.default_rng(0)
    values, scores = rng.exponential(size=30), rng.lognormal(sigma=1.0, size=30)
    sums, variances = [], []
    for seed in range(4000):
        sample = sample_pool(
            np.arange(30)[:, None],
            n_rows=8,
            by=lambda X: scores[X[:, 0]],
            random_state=seed,
        )
        p, drawn = sample.inclusion_proba, values[sample.indices]
        sums.append(np.sum(drawn / p))
        variances.append(np.sum((1 - p) * (drawn / p) ** 2))
    error = np.std((np.array(sums) - values.sum()) ** 2) / np.sqrt(len(sums))
    error = np.hypot(error, np.std(variances) / np.sqrt(len(sums)))
    assert abs(np.mean(variances) - np.var(sums)) < 4 * error


def test_the_same_numbers_give_what_a_plain_loop_gives():
    scores = np.random.default_rng(0).lognormal(size=50)
    sample = sample_pool(
        np.arange(50)[:, None], 9, by=lambda X: scores[X[:, 0]], random_state=4
    )
    uniform = _sampling.uniform_of_rows(sample.seed, 0, 50)
    by_rank = sorted(range(50), key=lambda row: uniform[row] / scores[row])
    threshold = uniform[by_rank[9]] / scores[by_rank[9]]
    assert sample.indices.tolist() == sorted(by_rank[:9])
    expected = [min(1.0, threshold * scores[row]) for row in sorted(by_rank[:9])]
    assert_allclose(sample.inclusion_proba, expected, rtol=1e-14)


def test_a_row_with_a_great_score_is_taken_for_certain():
    scores = np.where(np.arange(N) == 1234, 1e9, 1.0)
    for seed in range(5):
        rows = np.arange(N)[:, None]
        sample = sample_pool(
            rows, 100, by=lambda rows: scores[rows[:, 0]], random_state=seed
        )
        assert sample.inclusion_proba[sample.indices == 1234].tolist() == [1.0]
        assert (sample.inclusion_proba <= 1).all()


def test_equal_scores_draw_the_rows_of_a_uniform_sample():
    uniform = sample_pool(X, N_DRAWN, random_state=0)
    scored = sample_pool(X, N_DRAWN, by=lambda rows: np.ones(len(rows)), random_state=0)
    assert_array_equal(scored.indices, uniform.indices)
    assert len(np.unique(scored.inclusion_proba)) == 1


def test_ranks_that_are_equal_go_to_the_first_rows(monkeypatch):
    monkeypatch.setattr(
        _sampling, "uniform_of_rows", lambda seed, start, size: np.full(size, 0.5)
    )
    assert sample_pool(X, 10).indices.tolist() == list(range(10))


# Refusals.


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda X: np.zeros(len(X)), "numbers greater than 0"),
        (lambda X: np.full(len(X), np.nan), "numbers greater than 0"),
        (lambda X: np.ones(3), "one number for each row"),
        (lambda X: ["much"] * len(X), "must be numbers"),
    ],
)
def test_scores_that_give_no_probability_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        sample_pool(X, 10, by=scores)


def test_the_row_of_an_impossible_score_is_named(monkeypatch):
    monkeypatch.setattr(_sampling, "_CHUNK_ROWS", 1000)
    scores = np.where(np.arange(N) == 2500, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"the first is 0\.0 at row 2500"):
        sample_pool(np.arange(N)[:, None], 10, by=lambda rows: scores[rows[:, 0]])


def test_what_is_no_pool_is_refused_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not there"):
        sample_pool(tmp_path / "nowhere")
    (tmp_path / "pool.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"write it as Parquet once"):
        sample_pool(tmp_path / "pool.csv")
    with pytest.raises(TypeError, match="A pool must be a path to Parquet"):
        sample_pool({"a": [1, 2]})
    with pytest.raises(ValueError, match="n_rows"):
        sample_pool(X, 0)
    with pytest.raises(TypeError, match="by"):
        sample_pool(X, 10, by="score")


def test_a_directory_without_parquet_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no Parquet file"):
        sample_pool(tmp_path)
