"""Fingerprints of pools depend on the values and on nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.crashing_campaign import X
from scipy import sparse

from sklearn_ase._labels._fingerprint import fingerprint


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (X, np.asfortranarray(X)),
        (X, X.astype(">f8")),
        (np.array([[0.0]]), np.array([[-0.0]])),
        (sparse.csr_matrix(X), sparse.csc_array(X)),
        (pd.DataFrame({"a": ["ü", "x"], "b": [1, 2]}),) * 2,
        (
            pd.DataFrame({"a": ["ü", "x"]}),
            pd.DataFrame({"a": ["ü", "x"]}, index=[7, 3]),
        ),
        (pd.DataFrame({"a": ["x"], "b": [1]}), pl.DataFrame({"a": ["x"], "b": [1]})),
        (["some", "text"], np.array(["some", "text"], dtype=object)),
    ],
    ids=["order", "bytes", "zero", "sparse", "frame", "index", "polars", "text"],
)
def test_the_fingerprint_of_a_pool_is_that_of_its_values(first, second):
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (X, X[::-1]),
        (X, np.nextafter(X, 9.0)),
        (X, X.reshape(-1, 2)),
        (sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(np.eye(3)[:, ::-1])),
        (pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [1], "a": [2]})),
        (["ab", "c"], ["a", "bc"]),
        (np.zeros((5000, 1)), np.r_[np.zeros((4999, 1)), [[1.0]]]),
    ],
    ids=["order", "rounding", "shape", "sparse", "names", "text", "last row"],
)
def test_the_fingerprint_of_another_pool_is_another(first, second):
    assert fingerprint(first) != fingerprint(second)
