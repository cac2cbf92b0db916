"""Rows as float32 tensors, batch by batch, from arrays, memmaps and datasets."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches
from torch.utils.data import DataLoader, Dataset, Sampler

# Fewer validation rows than this say nothing about when to stop.
MIN_VALIDATION_ROWS = 10


class Rows(Dataset):
    """Rows, and their class codes if known, by arrays of indices.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...) or torch Dataset
        Of the items of a dataset the first part is taken.
    codes : ndarray of shape (n_samples,), default=None
    batches : iterable of indices, default=None
        How to go through the rows.
    """

    def __init__(self, X, codes=None, batches=None):
        self.X = X
        self.codes = codes
        self.batches = batches

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        X = self._read(index)
        if self.codes is None:
            return (X,)
        return X, torch.as_tensor(self.codes[index])

    def _read(self, index):
        if not isinstance(self.X, Dataset):
            # A copy: modules may work in place, and memmaps may not be written to.
            return torch.as_tensor(np.array(self.X[index], dtype=np.float32))
        rows = torch.stack([first_part(self.X[i]) for i in index.ravel().tolist()])
        return rows.reshape(*index.shape, *rows.shape[1:])

    def loader(self, device, **options):
        """Go through the batches; tensors come to the device."""
        options = {"pin_memory": device.type == "cuda"} | options
        return DataLoader(self, sampler=self.batches, batch_size=None, **options)


def first_part(item):
    """The features of one item of a dataset, as a float32 tensor."""
    if isinstance(item, tuple | list):
        item = item[0]
    return torch.tensor(np.asarray(item), dtype=torch.float32)


def in_order(X, batch_size, codes=None, rows=None):
    """All rows, or the given ones, from first to last."""
    rows = np.arange(len(X)) if rows is None else rows
    batches = [rows[part] for part in gen_batches(len(rows), batch_size)]
    return Rows(X, codes, batches)


class MemberBatches(Sampler):
    """Batches for networks that are trained together, each in an order of its own.

    Parameters
    ----------
    rows : list of n_networks ndarrays of shape (n_rows,)
        Rows that each network learns from.
    batch_size : int
        At most; batches of one epoch differ in size by one at most, so that none is
        too small for batch norm.
    generators : list of n_networks numpy Generators
    """

    def __init__(self, rows, batch_size, generators):
        self.rows = rows
        self.batch_size = batch_size
        self.generators = generators

    def __len__(self):
        return -(-len(self.rows[0]) // self.batch_size)

    def __iter__(self):
        pairs = zip(self.generators, self.rows, strict=True)
        order = np.stack([rng.permutation(rows) for rng, rows in pairs])
        yield from np.array_split(order, len(self), axis=1)


def first_row(X):
    """The first row as a tensor of shape (1, ...)."""
    return Rows(X)[np.arange(1)][0]


def split_rows(codes, fraction, seed):
    """Rows to learn from and rows to validate on; none of these where they are few.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
    fraction : float or None
    seed : int

    Returns
    -------
    training, validation : ndarrays of int
    """
    rows = np.arange(len(codes))
    n_validation = round((fraction or 0.0) * len(codes))
    if n_validation < MIN_VALIDATION_ROWS:
        return rows, rows[:0]
    counts = np.bincount(codes)[np.unique(codes)]
    stratify = codes if counts.min() > 1 and len(counts) <= n_validation else None
    return train_test_split(
        rows, test_size=n_validation, stratify=stratify, random_state=seed
    )
