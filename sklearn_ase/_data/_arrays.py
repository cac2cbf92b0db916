"""Arrays that come from outside: what they may hold, said once for all arguments."""

from collections.abc import Iterator, Mapping, Set

import numpy as np

from sklearn_ase._utils._checks import shown

_KINDS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "S": "bytes",
    "V": "records",
    "U": "text",
}


def is_from(value, module):
    """Return whether a class of a module made the value, without importing it."""
    kinds = type(value).__mro__
    return any(kind.__module__.partition(".")[0] == module for kind in kinds)


def without_torch(values):
    """Return a tensor of torch as an array; anything else as it is."""
    if is_from(values, "torch") and hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values


def refuse_masked(values, name):
    """Refuse a masked array, unless nothing of it is masked."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, and {np.ma.count_masked(values)} of its values "
            "are masked. Masks are not read: leave these rows out."
        )


def read_array(values, name):
    """Return values as an array of whatever they hold.

    Lists become arrays of objects, in which missing values can still be recognised: of
    a list of text, numpy would make the text "nan".

    Parameters
    ----------
    values : array-like
        Tensors of torch are taken, too.
    name : str
        Of the argument, for the message.

    Returns
    -------
    values : ndarray
    """
    values = without_torch(values)
    refuse_masked(values, name)
    if isinstance(values, (Set, Mapping, Iterator)) or callable(values):
        raise TypeError(
            f"{name} must be an array or a list, but got a {type(values).__name__}."
        )
    try:
        return np.asarray(
            values, dtype=None if hasattr(values, "__array__") else object
        )
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be an array, but its rows are of different lengths, or of "
            f"different kinds: {shown(values)}."
        ) from None


def plain(values, name):
    """Return an array of numbers or of text, also if they came as objects.

    Parameters
    ----------
    values : ndarray
    name : str
        Of the argument, for the message.

    Returns
    -------
    values : ndarray
    """
    if values.dtype == object or values.dtype.kind == "T":
        entries = values.ravel().tolist()
        is_text = {isinstance(entry, str) for entry in entries}
        if len(is_text) > 1:
            raise ValueError(
                f"{name} are of different kinds, text and numbers: {shown(entries)}. "
                "Give all as text, or all as numbers."
            )
        odd = [entry for entry in entries if not np.isscalar(entry)]
        if odd:
            raise ValueError(
                f"{name} must be numbers or text, one for each entry, but hold "
                f"{shown(odd[0])}."
            )
        values = np.array(values.tolist())
        if values.dtype == object and all(type(entry) is int for entry in entries):
            return values  # Integers of more than 64 bits.
    if values.dtype.kind not in "biufU":
        what = _KINDS.get(values.dtype.kind, f"values of type {values.dtype}")
        raise ValueError(f"{name} must be numbers or text, but hold {what}.")
    return values


def read_numbers(values, name):
    """Return values as an array of floats; anything but numbers is refused.

    Parameters
    ----------
    values : array-like of any shape
    name : str
        Of the argument, for the message.

    Returns
    -------
    values : ndarray of float
    """
    values = plain(read_array(values, name), name)
    if values.dtype.kind == "U":
        raise ValueError(f"{name} must be numbers, but hold text: {shown(values)}.")
    return values.astype(float)
