"""Draw a sample with known probabilities from a pool that does not fit into memory.

N: rows of the source, n: rows of the sample. The names of the arrays:

number          (n,)  place of a row in the source, 0 to N - 1
uniform         (N,)  number between 0 and 1, a function of seed and place alone
score           (N,)  number > 0 of each row; 1 without `by`
rank            (N,)  uniform / score
inclusion_proba (n,)  probability π with which the row comes into the sample

The sample are the n rows of least rank. With scores, π = min(1, τ score), where τ is
the next greater rank. This is priority sampling: Duffield, Lund and Thorup, "Priority
sampling for estimation of arbitrary subset sums", J. ACM 54 (2007). Given τ, sums
weighted by 1 / π are unbiased, and two rows do not covary. Without scores, π = n / N.

A rank depends on nothing but the row. So chunks of any size, partitions on a cluster
and rows in memory give the same sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_ase._data._rows import (
    is_dataset,
    is_frame,
    is_from,
    read_dataset,
    read_numbers,
    take_rows,
)
from sklearn_ase._data._rows import (
    n_rows as count_rows,
)
from sklearn_ase._utils._checks import (
    check_callable,
    check_integer,
    first_of,
    shown,
)
from sklearn_ase._utils._estimators import draw_seed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklearn_ase._utils._typing import Floats, Ints, Rows, Seed

# Rows that are taken of a pool that is not in memory, if nobody says how many.
DEFAULT_ROWS = 1_000_000
# A chunk has at most so many rows, and some 16 MB of numbers.
_CHUNK_ROWS, _CHUNK_NUMBERS = 2**15, 2**21
# The generator gives that many numbers at a time.
_NUMBERS_OF_A_STEP = 4
_PARQUET = (".parquet", ".parq", ".pq")
_INSTALL = "Install them with: pip install pandas pyarrow"


@dataclass(frozen=True, eq=False, repr=False)
class PoolSample:
    """Rows of a pool that were drawn with known probabilities.

    :func:`sample_pool` makes one. ``fit(sample, oracle)`` and ``start(sample)`` take it
    in the place of the pool: estimates and intervals are then about the source. Rows
    are named by their numbers in the source wherever you meet them: in queries, labels,
    journals and sheets.

    Attributes
    ----------
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
        The rows, in the order of the source.
    indices : ndarray of int of shape (n_rows,)
        Their numbers in the source.
    inclusion_proba : ndarray of shape (n_rows,)
        Probability with which each of them was drawn.
    n_source_rows : int
        Number of rows of the source.
    seed : int
        The draw depends on it, the number of rows and the scores, and on nothing else.
    schema : str
        Names and types of the columns of the source.
    is_uniform : bool
        Whether all rows had the same probability.

    See Also
    --------
    sample_pool : Draw a sample.
    """

    X: Rows
    indices: Ints
    inclusion_proba: Floats
    n_source_rows: int
    seed: int
    schema: str = ""
    is_uniform: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the source."""
        return len(self.indices) == self.n_source_rows

    @property
    def weight(self) -> Floats | None:
        """How much each row counts: the inverse probability, mean 1; None if equal."""
        if self.is_uniform:
            return None
        inverse = 1.0 / self.inclusion_proba
        return inverse / inverse.mean()

    def weighted(self, weight: Floats | None) -> Floats | None:
        """Return weights of the rows times how much each counts by the draw."""
        if weight is None or self.weight is None:
            return self.weight if weight is None else weight
        return weight * self.weight

    @property
    def origin(self) -> dict[str, Any]:
        """What tells the source and the draw from others, as plain values."""
        return {
            "n_rows": self.n_source_rows,
            "schema": self.schema,
            "seed": self.seed,
            "n_drawn": len(self),
            "by_score": not self.is_uniform,
        }

    def places_of(self, numbers: ArrayLike) -> Ints:
        """Return the places in the sample of rows that are named by their numbers."""
        numbers = np.asarray(numbers, dtype=int)
        places = np.searchsorted(self.indices, numbers).clip(max=len(self) - 1)
        absent = numbers[self.indices[places] != numbers]
        if len(absent):
            raise ValueError(
                f"Rows {first_of(absent.tolist())} are not in the sample: of the "
                f"{self.n_source_rows} rows of the source {len(self)} were drawn. Rows "
                "are named by their numbers in the source, as ask() returns them."
            )
        return places

    def entries_of(self, values: Any, name: str) -> Any:
        """Return the entries of the sample's rows, of one entry per row of the source.

        Values with one entry per row of the sample are returned as they are.
        """
        if values is None or isinstance(values, str) or not hasattr(values, "__len__"):
            return values
        if isinstance(values, Mapping):
            return {key: self.entries_of(each, name) for key, each in values.items()}
        size = count_rows(values)
        if size == self.n_source_rows:
            return take_rows(values, self.indices)
        if size != len(self):
            raise ValueError(
                f"{name} has {size} entries, but must have one per row of the source, "
                f"{self.n_source_rows}, or of the sample, {len(self)}, in their order."
            )
        return values

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        how = "all" if self.is_whole else "uniform" if self.is_uniform else "by a score"
        rows = f"{len(self):,} of {self.n_source_rows:,} rows"
        return f"PoolSample({rows}, {how})"


def sample_pool(
    source: Rows,
    n_rows: int = DEFAULT_ROWS,
    *,
    by: Callable[[Rows], ArrayLike] | None = None,
    random_state: Seed = None,
) -> PoolSample:
    """Draw rows of a large pool, uniformly or by a score, with known probabilities.

    The same rows are drawn from the same source, however it is stored: the sample
    depends on `random_state`, the order of the rows and their scores, not on the sizes
    of files, groups of rows or partitions. A source of at most `n_rows` rows is taken
    whole.

    Parameters
    ----------
    source : path, dataset, frame, array or list
        A path to a Parquet file or a directory of them, a dataset or table of pyarrow,
        a frame of polars (also a lazy one), a frame or an array of dask, a frame of
        pandas, an array (also a memory map), a sparse matrix or a list of texts. A
        collection of dask is read on the workers of its cluster. The order of the rows
        must be the same whenever they are read.
    n_rows : int, default=1_000_000
        Number of rows to draw.
    by : callable, default=None
        ``by(rows)`` returns one number greater than 0 for each of some rows, such as
        the doubt of the model. Rows are drawn with probabilities in proportion to it,
        as far as these are below 1; others are taken for certain. The design is
        priority sampling [1]_: exactly `n_rows` rows, and sums weighted by the inverse
        probabilities are unbiased. The score must depend on the row alone. The source
        is read twice: for the scores, then for the rows. None draws all rows with the
        same probability, in one pass.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    sample : PoolSample
        To be given to ``fit`` or ``start`` in the place of the pool. Rows of Parquet
        and of tables of pyarrow are frames of pandas; their index is the number of the
        row in the source.

    References
    ----------
    .. [1] Duffield, Lund and Thorup, "Priority sampling for estimation of arbitrary
       subset sums", Journal of the ACM 54, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import sample_pool
    >>> X = np.arange(2000.0).reshape(1000, 2)
    >>> sample_pool(X, n_rows=10, random_state=0)
    PoolSample(10 of 1,000 rows, uniform)
    >>> sample = sample_pool(X, n_rows=10, by=lambda rows: rows[:, 1], random_state=0)
    >>> sample.X.shape
    (10, 2)
    """
    n_rows = check_integer(n_rows, "n_rows", 2)
    if by is not None:
        check_callable(by, "by", "of some rows that returns a number > 0 for each")
    return draw(reader_of(source), n_rows, by=by, seed=draw_seed(random_state))


def draw(reader: Reader, n_rows: int, *, by: Callable | None, seed: int) -> PoolSample:
    """Draw a sample from a source that is open."""
    if reader.n_rows <= n_rows:
        numbers = np.arange(reader.n_rows)
        proba = np.ones(reader.n_rows)
    elif by is None:
        numbers = least_ranks_of(reader.n_rows, n_rows, seed).numbers
        proba = np.full(n_rows, n_rows / reader.n_rows)
    else:
        rank = partial(rank_rows, by=by, seed=seed, n_rows=n_rows)
        ranked = reader.reduce(rank, partial(join_ranked, n_rows=n_rows))
        ranked, threshold = least_and_next(ranked, n_rows)
        numbers = ranked.numbers
        proba = np.minimum(1.0, threshold * ranked.scores)
    return PoolSample(
        X=reader.take(numbers),
        indices=numbers,
        inclusion_proba=proba,
        n_source_rows=reader.n_rows,
        seed=seed,
        schema=reader.schema,
        is_uniform=by is None or reader.n_rows <= n_rows,
    )


# Ranks of rows, and those that are least.


class Ranked(NamedTuple):
    """Some rows with their ranks."""

    numbers: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray


def uniform_of_rows(seed: int, start: int, n_rows: int) -> Floats:
    """Return a uniform number for each of some consecutive rows.

    The generator counts: what it gives a row depends on its number alone.
    """
    generator = np.random.Philox(key=seed).advance(start // _NUMBERS_OF_A_STEP)
    skipped = start % _NUMBERS_OF_A_STEP
    raw = generator.random_raw(skipped + n_rows)[skipped:]
    # 53 bits, and never 0: a rank must tell how great the score is.
    return ((raw >> np.uint64(11)) + 0.5) * 2.0**-53


def rank_rows(
    start: int, rows: Rows, *, by: Callable, seed: int, n_rows: int
) -> list[Ranked]:
    """Rank consecutive rows by their scores, and keep those that may be drawn."""
    size = count_rows(rows)
    scores = check_scores(by(rows), start, size)
    ranks = uniform_of_rows(seed, start, size) / scores
    return [shorten(Ranked(start + np.arange(size), ranks, scores), n_rows)]


def check_scores(scores: Any, start: int, size: int) -> Floats:
    """Check the scores of some rows."""
    scores = read_numbers(scores, "The scores of by=")
    where = f"rows {start} to {start + size - 1}"
    if scores.shape != (size,):
        raise ValueError(
            f"by= must return one number for each row, shape ({size},) for {where}, "
            f"but returned shape {scores.shape}."
        )
    odd = ~(np.isfinite(scores) & (scores > 0))
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"by= must return numbers greater than 0, but for {where} {odd.sum()} are "
            f"not; the first is {scores[row]} at row {start + row}. A row with score 0 "
            "could not be drawn: add a small number to all scores, or leave such rows "
            "out of the source."
        )
    return scores


def join_ranked(
    first: list[Ranked], second: list[Ranked], *, n_rows: int
) -> list[Ranked]:
    """Join parts of the rows that may be drawn; now and then they become one part."""
    parts = first + second
    if sum(len(part.ranks) for part in parts) <= 3 * n_rows:
        return parts
    return [shorten(_as_one(parts), n_rows)]


def _as_one(parts: list[Ranked]) -> Ranked:
    return Ranked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def shorten(ranked: Ranked, n_rows: int) -> Ranked:
    """Leave out rows that cannot be drawn; one more decides the probabilities."""
    if len(ranked.ranks) <= n_rows + 1:
        return ranked
    most = np.partition(ranked.ranks, n_rows)[n_rows]
    return Ranked(*(column[ranked.ranks <= most] for column in ranked))


def least_and_next(parts: list[Ranked], n_rows: int) -> tuple[Ranked, float]:
    """The rows of least rank, in order of the source, and the next greater rank."""
    ranked = shorten(_as_one(parts), n_rows)
    # Ranks may be equal among 10⁸ rows: the first row is then taken.
    order = np.lexsort((ranked.numbers, ranked.ranks))
    least = order[:n_rows]
    least = least[np.argsort(ranked.numbers[least])]
    threshold = float(ranked.ranks[order[n_rows]])
    return Ranked(*(column[least] for column in ranked)), threshold


def least_ranks_of(n_source_rows: int, n_rows: int, seed: int) -> Ranked:
    """The rows of least rank if all scores are 1: no row is read."""
    size = _CHUNK_ROWS * _NUMBERS_OF_A_STEP
    parts: list[Ranked] = []
    for start in range(0, n_source_rows, size):
        ranks = uniform_of_rows(seed, start, min(size, n_source_rows - start))
        some = Ranked(start + np.arange(len(ranks)), ranks, np.ones(len(ranks)))
        parts = join_ranked(parts, [shorten(some, n_rows)], n_rows=n_rows)
    return least_and_next(parts, n_rows)[0]


# How rows are read, one function for each kind of source.


@dataclass(frozen=True)
class Reader:
    """An open source.

    Attributes
    ----------
    n_rows : int
    reduce : callable
        ``reduce(function, join)`` calls ``function(start, rows)`` with the rows from
        number `start` on, some at a time, and joins two results at a time.
    take : callable
        ``take(numbers)`` returns some rows, whose numbers increase.
    schema : str
        Names and types of the columns.
    """

    n_rows: int
    reduce: Callable[[Callable, Callable], Any]
    take: Callable[[np.ndarray], Any]
    schema: str = field(default="")


def is_stored(source: Any) -> bool:
    """Return whether a pool is not in memory as rows that a model takes."""
    if isinstance(source, str | Path):
        return True
    is_lazy = is_from(source, "polars") and hasattr(source, "collect")
    return is_lazy or is_from(source, "pyarrow") or is_from(source, "dask")


def reader_of(source: Any) -> Reader:
    """Open a source, whatever it is."""
    if isinstance(source, str | Path):
        return read_parquet(_open_parquet(Path(source)))
    if is_from(source, "pyarrow") and hasattr(source, "count_rows"):
        return read_parquet(source)
    if is_from(source, "pyarrow") and hasattr(source, "num_rows"):
        import pyarrow.dataset as ds

        return read_parquet(ds.dataset(source))
    if is_from(source, "polars") and hasattr(source, "collect"):
        return read_lazy_frame(source)
    if is_from(source, "dask") and hasattr(source, "to_delayed"):
        from sklearn_ase._data._dask import read_collection

        return read_collection(source)
    is_table = hasattr(source, "shape") or isinstance(source, list)
    if is_table or is_dataset(source):
        return read_memory(source)
    raise TypeError(
        "A pool must be a path to Parquet, a dataset or table of pyarrow, a frame of "
        "polars or pandas, a collection of dask, an array, a sparse matrix or a list "
        f"of texts, but got {shown(source)}."
    )


def read_memory(X: Rows) -> Reader:
    """Open rows in memory, or in a memory map."""
    shape = (count_rows(X), *getattr(X, "shape", (0,))[1:])
    size = max(1, min(_CHUNK_ROWS, _CHUNK_NUMBERS // max(1, int(np.prod(shape[1:])))))

    def chunks() -> Iterator[Any]:
        for start in range(0, shape[0], size):
            yield _loaded(take_rows(X, slice(start, start + size)))

    def take(numbers: np.ndarray) -> Any:
        return X if len(numbers) == shape[0] else take_rows(X, numbers)

    if is_frame(X):
        schema = named_types(list(X.columns), list(X.dtypes))
    else:
        schema = f"{getattr(X, 'dtype', type(X).__name__)}, shape (N, *{shape[1:]})"
    return Reader(shape[0], partial(reduce_chunks, chunks), take, schema)


def read_parquet(dataset: Any) -> Reader:
    """Open a dataset of pyarrow; its rows become frames of pandas."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    def tables() -> Iterator[Any]:
        # Nothing is read ahead: a slow reader would let it pile up in memory.
        batches = dataset.to_batches(
            batch_size=_CHUNK_ROWS,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
            fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False),
        )
        return (pa.Table.from_batches([batch]) for batch in batches if len(batch))

    def chunks() -> Iterator[Any]:
        start = 0
        for table in tables():
            yield _as_frame(table, start + np.arange(len(table)))
            start += len(table)

    def take(numbers: np.ndarray) -> Any:
        start, pieces = 0, [dataset.schema.empty_table()]
        for table in tables():
            end = start + len(table)
            first, last = np.searchsorted(numbers, [start, end])
            if first < last:
                pieces.append(table.take(numbers[first:last] - start))
            start = end
        return _as_frame(pa.concat_tables(pieces), numbers)

    schema = named_types(dataset.schema.names, dataset.schema.types)
    n_source_rows = int(dataset.count_rows())
    return Reader(n_source_rows, partial(reduce_chunks, chunks), take, schema)


def read_lazy_frame(frame: Any) -> Reader:
    """Open a lazy frame of polars; its query runs in every pass."""
    import polars as pl

    n_source_rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    columns = frame.collect_schema()

    def chunks() -> Iterator[Any]:
        if hasattr(frame, "collect_batches"):  # polars 1.33
            for batch in frame.collect_batches(
                chunk_size=_CHUNK_ROWS, maintain_order=True, engine="streaming"
            ):
                yield from batch.iter_slices(_CHUNK_ROWS)
            return
        for start in range(0, n_source_rows, _CHUNK_ROWS):
            yield frame.slice(start, _CHUNK_ROWS).collect(engine="streaming")

    def take(numbers: np.ndarray) -> Any:
        if len(numbers) == n_source_rows:
            return frame.collect(engine="streaming")
        start, pieces = 0, [frame.head(0).collect()]
        for rows in chunks():
            end = start + len(rows)
            first, last = np.searchsorted(numbers, [start, end])
            pieces.append(rows[numbers[first:last] - start])
            start = end
        return pl.concat(pieces)

    schema = named_types(columns.names(), columns.dtypes())
    return Reader(n_source_rows, partial(reduce_chunks, chunks), take, schema)


def reduce_chunks(chunks: Callable, function: Callable, join: Callable) -> Any:
    """Call a function with the rows of each chunk, and join what it returns."""
    start, joined = 0, None
    for rows in chunks():
        some = function(start, rows)
        joined = some if joined is None else join(joined, some)
        start += count_rows(rows)
    return joined


def _open_parquet(path: Path) -> Any:
    """The Parquet file, or all of a directory, as a dataset."""
    if not path.exists():
        raise FileNotFoundError(
            f"The pool {str(path)!r} is not there. Give the path of a Parquet file or "
            "of a directory of such files."
        )
    is_parquet = path.suffix in _PARQUET
    if not path.is_dir() and not is_parquet:
        raise ValueError(
            f"The pool {str(path)!r} is not Parquet. Read it, and give the frame; or "
            "write it as Parquet once: frame.to_parquet('pool.parquet')."
        )
    try:
        import pandas  # noqa: F401
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError(f"Parquet needs pandas and pyarrow. {_INSTALL}") from error
    if path.is_dir() and not any(p.suffix in _PARQUET for p in path.rglob("*")):
        raise ValueError(f"The directory {str(path)!r} holds no Parquet file.")
    return ds.dataset(path, format="parquet", partitioning="hive")


def _as_frame(table: Any, numbers: np.ndarray) -> Any:
    """A table of pyarrow as a frame of pandas, indexed by the numbers of its rows."""
    frame = table.to_pandas()
    frame.index = numbers
    return frame


def _loaded(rows: Rows) -> Rows:
    """Rows with their features read, if they are of a dataset of torch."""
    return read_dataset(rows) if is_dataset(rows) else rows


def named_types(names: list, types: list) -> str:
    """Names and types of columns in one line."""
    pairs = zip(names, types, strict=True)
    return ", ".join(f"{name}: {kind}" for name, kind in pairs)
