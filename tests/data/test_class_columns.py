"""Columns of probabilities are aligned by class."""

import numpy as np

from sklearn_ase._data._predictions import align_columns


def test_columns_are_aligned_by_class():
    values = np.array([[0.1, 0.2, 0.7]])
    columns = np.array(["c", "a", "x"])  # No b, and an x that is not a class.
    aligned = align_columns(values, columns, np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(aligned, [[0.2, 0.0, 0.1]])
    aligned = align_columns(values, columns, np.array(["b", "c", "a"]))
    np.testing.assert_array_equal(aligned, [[0.0, 0.1, 0.2]])
    np.testing.assert_array_equal(align_columns(values, columns, columns), values)
    objects = np.array(["c", "a", "x"], dtype=object)
    members = align_columns(values[None], objects, np.array(["a", "c"]))
    np.testing.assert_array_equal(members, [[[0.2, 0.1]]])
