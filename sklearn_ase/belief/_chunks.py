"""Joining beliefs about chunks of a pool without holding them twice."""

from dataclasses import fields

import numpy as np


def join_chunks(chunks, n_samples):
    """Fields of the belief about a pool from beliefs about its consecutive chunks.

    Parameters
    ----------
    chunks : iterable of beliefs of one kind
        Each is read and let go before the next is asked for.
    n_samples : int
        Size of the pool.

    Returns
    -------
    values : dict of str to ndarray or None
    """
    joined, begin = {}, 0
    for chunk in chunks:
        end = begin + chunk.n_samples
        for field in fields(chunk):
            name, values = field.name, getattr(chunk, field.name)
            if values is None:
                joined[name] = None
            elif name == "training_worth":
                share = chunk.n_samples / n_samples
                joined[name] = values.plus(joined.get(name), share)
            elif name == "member_risk":
                share = chunk.n_samples / n_samples
                joined[name] = joined.get(name, 0.0) + share * values
            else:
                # Samples are the last axis of member_loss and the first of the others.
                axis = 1 if name == "member_loss" else 0
                if name not in joined:
                    shape = list(values.shape)
                    shape[axis] = n_samples
                    joined[name] = np.empty(shape)
                np.moveaxis(joined[name], axis, 0)[begin:end] = np.moveaxis(
                    values, axis, 0
                )
        begin = end
    return joined
