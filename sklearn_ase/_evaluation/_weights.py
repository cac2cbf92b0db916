"""Which rows of the pool a question is about, and how much each counts."""

import numpy as np

from sklearn_ase._data._arrays import read_array, read_numbers


def check_weight(sample_weight, n_samples):
    """Check the weights of the rows of the pool.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,) or None
    n_samples : int

    Returns
    -------
    weight : ndarray of shape (n_samples,) or None
    """
    if sample_weight is None:
        return None
    weight = read_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(
            "sample_weight must have one weight per row of the pool, shape "
            f"({n_samples},), but has shape {weight.shape}."
        )
    n_odd = int(np.sum(~np.isfinite(weight)))
    if n_odd:
        raise ValueError(
            f"sample_weight must be finite numbers >= 0, but {n_odd} of them are NaN "
            "or infinite. Give such rows the weight 0 to leave them out."
        )
    if (weight < 0).any() or not weight.any():
        raise ValueError(
            "sample_weight must be finite numbers >= 0, not all 0, but they go from "
            f"{weight.min()} to {weight.max()}."
        )
    return weight.astype(float)


def check_where(where, n_samples):
    """Check which rows of the pool a question is about.

    Parameters
    ----------
    where : array-like of bool of shape (n_samples,), or None
    n_samples : int

    Returns
    -------
    where : ndarray of shape (n_samples,), dtype bool, or None
    """
    if where is None:
        return None
    where = read_array(where, "where")
    if where.dtype == object and {type(each) for each in where.ravel()} == {bool}:
        where = where.astype(bool)  # A list.
    if where.dtype != bool or where.shape != (n_samples,):
        raise ValueError(
            "where must be a mask of True and False with one entry per row of the "
            f"pool, shape ({n_samples},), but has type {where.dtype} and shape "
            f"{where.shape}. Compare to make one: where=region == 'north', or "
            "where=numpy.isin(numpy.arange(n_samples), rows) for numbers of rows."
        )
    if not where.any():
        raise ValueError("where selects no row of the pool. Choose at least one row.")
    return where


def weight_of(where, sample_weight):
    """Weight of each row, with mean 1 over the pool; None if all are equal.

    Parameters
    ----------
    where : ndarray of shape (n_samples,), dtype bool, or None
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    weight : ndarray of shape (n_samples,) or None
    """
    if where is None and sample_weight is None:
        return None
    weight = 1.0 if sample_weight is None else sample_weight
    weight = weight * (1.0 if where is None else where.astype(float))
    total = weight.mean()
    if not total > 0:
        raise ValueError(
            "where selects only rows of weight 0. Choose rows with a positive weight."
        )
    return weight / total
