"""Rows of arrays, memmaps and datasets, read in batches as float32 tensors."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches
from torch.utils.data import DataLoader, Dataset, Sampler

# With fewer validation rows their loss is too noisy to decide when to stop.
MIN_VALIDATION_ROWS = 10


class Rows(Dataset):
    """Dataset that is indexed by arrays: rows, with their class codes if given.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...) or torch Dataset
        If the items of a dataset are tuples, the first entry is used.
    codes : ndarray of shape (n_samples,), default=None
        Class code of each row.
    batches : iterable of arrays of indices, default=None
        Rows of each batch, in the order in which they are read.
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
            # A copy: modules may work in place, and a memmap may be read-only.
            return torch.as_tensor(np.array(self.X[index], dtype=np.float32))
        rows = torch.stack([first_part(self.X[i]) for i in index.ravel().tolist()])
        return rows.reshape(*index.shape, *rows.shape[1:])

    def loader(self, device, **options):
        """Loader of the batches, with pinned memory for CUDA."""
        options = {"pin_memory": device.type == "cuda"} | options
        return DataLoader(self, sampler=self.batches, batch_size=None, **options)


def first_part(item):
    """Features of one item of a dataset, as a float32 tensor."""
    if isinstance(item, tuple | list):
        item = item[0]
    return torch.tensor(np.asarray(item), dtype=torch.float32)


def in_order(X, batch_size, codes=None, rows=None):
    """Batches of all rows, or of the given ones, in order."""
    rows = np.arange(len(X)) if rows is None else rows
    batches = [rows[part] for part in gen_batches(len(rows), batch_size)]
    return Rows(X, codes, batches)


class MemberBatches(Sampler):
    """Batches for networks that are trained together, in another order for each.

    Parameters
    ----------
    rows : list of n_networks ndarrays of shape (n_rows,)
        Indices of the rows that each network learns from.
    batch_size : int
        Rows per network in one batch, at most. The sizes of the batches differ by at
        most one, so that none is too small for batch norm.
    generators : list of n_networks numpy Generators
        Each draws the order of its network.
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
    """First row, as a tensor of shape (1, ...)."""
    return Rows(X)[np.arange(1)][0]


def split_rows(codes, fraction, seed):
    """Split the rows into training and validation rows.

    The classes are stratified if each has two rows and there are at least as many
    validation rows as classes.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class code of each row.
    fraction : float or None
        Share of the validation rows. There are none if they would be fewer than 10.
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
