"""Checks of values and objects that users give; each error names the argument."""

from __future__ import annotations

import functools
import math
import os
import pickle
from collections.abc import Callable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def shown(value: Any) -> str:
    """Return a value as an error message shows it: what prints long is cut."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def first_of(values: Any, n_shown: int = 5) -> str:
    """Return a list as a message shows it: the first values, and how many follow."""
    text, n_more = repr(values[:n_shown]), len(values) - n_shown
    return f"{text} and {n_more} more" if n_more > 0 else text


def did_you_mean(name: str, names: Sequence[str], aliases: dict[str, str]) -> str:
    """A question that names what was probably meant; empty if nothing is close."""
    name = name.lower().replace(" ", "_").replace("-", "_").removesuffix("_score")
    close = get_close_matches(name, names, n=3)
    if name in names or name in aliases:
        close = [aliases.get(name, name)]
    return f"Did you mean {' or '.join(map(repr, close))}? " if close else ""


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def check_number(
    value: Any,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    ends: str = "[]",
    infinite: bool = False,
    note: str = "",
) -> float | int:
    """Refuse what is not a number between two others."""
    valid = is_number(value) and (math.isfinite(value) or (infinite and value > 0))
    if valid:
        above = value >= low if ends[0] == "[" else value > low
        valid = above and (value <= high if ends[1] == "]" else value < high)
    if not valid:
        must = _must("a number", low, high, ends)
        raise _error(value)(f"{name}={shown(value)} {must}{note}.")
    return value


def check_level(level: Any) -> Any:
    """Refuse what is not the level of an interval."""
    is_percent = is_number(level) and 1 < level < 100
    note = f". For {level:g} % give {level / 100:g}" if is_percent else ""
    return check_number(level, "level", 0, 1, ends="()", note=note)


def check_integer(
    value: Any, name: str, low: float = 0, high: float = math.inf, *, note: str = ""
) -> Any:
    """Refuse what is not an integer between two others; see :func:`check_number`."""
    is_integer = isinstance(value, Integral) and is_number(value)
    valid = is_integer and low <= int(value) <= high
    if not valid:
        must = _must("an integer", low, high, "[]")
        raise _error(value)(f"{name}={shown(value)} {must}{note}.")
    return value


def check_folds(cv: Any, none: str) -> int:
    """Refuse what is not a number of folds; 0 stands for what `none` says."""
    note = f", the number of folds. 0 means {none}"
    if cv != 1 or isinstance(cv, (bool, np.bool_)):
        return check_integer(cv, "cv", note=note)
    raise ValueError(f"cv=1 must be an integer >= 2{note}.")


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse what is not a number of jobs: None, or an integer other than 0."""
    if n_jobs is not None:
        check_integer(n_jobs, "n_jobs", -math.inf, note=" other than 0, or None")
        if n_jobs == 0:
            raise ValueError("n_jobs=0 must be an integer other than 0, or None.")


def check_verbose(verbose: Any) -> None:
    """Refuse what does not say how much to show."""
    if not isinstance(verbose, (bool, np.bool_)):
        check_integer(verbose, "verbose")


def check_choice(value: Any, name: str, choices: Any) -> Any:
    """Refuse what is not one of a few names, or other constants."""
    if not any(type(value) is type(one) and value == one for one in choices):
        raise _error(value)(f"{name}={shown(value)} must be one of {tuple(choices)}.")
    return value


def check_flag(value: Any, name: str) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _error(value)(f"{name}={shown(value)} must be True or False.")


def check_path(path: Any, name: str = "path") -> Any:
    """Refuse what is not the path of a file: open(3) would take any open file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name}={shown(path)} must be a path, a str or a Path.")
    return path


def check_callable(value: Any, name: str, what: str) -> None:
    """Refuse what cannot be called, or is a class."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name}={shown(value)} must be a function, {what}.")


def _error(value: Any) -> type[Exception]:
    """A ValueError for a value of the right kind that is out of range."""
    return ValueError if isinstance(value, (Real, str)) else TypeError


def _must(what: str, low: float, high: float, ends: str) -> str:
    """What is asked for, in words."""
    if math.isfinite(low) and math.isfinite(high):
        strictly = "strictly " if ends == "()" else ""
        less = f" and be less than {high}" if ends == "[)" else ""
        if what == "a number":
            return f"must lie {strictly}between {low} and {high}{less}"
        return f"must be {what} between {low} and {high}"
    if math.isinf(low):
        return f"must be {what}"
    return f"must be {what} {'>=' if ends[0] == '[' else '>'} {low}"


# Strategies, perhaps of the user's own.


def check_strategy(strategy: Any, base: Any, verbs: Any, owner: str) -> Any:
    """Refuse strings, classes and objects that lack what the package reads.

    The parameters of the strategy are checked, too, by its ``validate()``.
    """
    is_object = not isinstance(strategy, (type, str))
    if is_object and hasattr(strategy, "validate"):
        strategy.validate()  # Before the flags, which may depend on the parameters.
    needed = (*verbs, *base.flags, "get_params", "validate")
    missing = [name for name in needed if not hasattr(strategy, name)]
    if not is_object or missing:
        lack = f" It lacks {', '.join(missing)}." if is_object else ""
        if isinstance(strategy, type) and issubclass(strategy, base):
            lack = f" Make an instance: {owner}={strategy.__name__}(...)."
        elif not is_object:
            folder = base.__module__.rpartition(".")[0]
            lack = f" The classes to choose from are in {folder}."
        # Not an AttributeError, which hasattr(owner, ...) would hide.
        raise TypeError(
            f"{owner} must be an instance of a subclass of {base.__name__}, but got "
            f"{shown(strategy)}.{lack}"
        )
    return strategy


# Arguments that must be named.


_Method = TypeVar("_Method", bound=Callable[..., Any])


def named_after(most: int, cure: str) -> Callable[[_Method], _Method]:
    """Make a method refuse further arguments without a name, in words that help."""

    def decorate(method):
        @functools.wraps(method)
        def checked(self, *args, **named):
            if len(args) > most:
                raise TypeError(
                    f"{method.__name__} got {len(args)} arguments without a name, but "
                    f"takes {most} of them. {cure}"
                )
            return method(self, *args, **named)

        return checked

    return decorate


# Equal parameters.


def same_settings(first: Any, second: Any) -> bool:
    """Whether two objects are of one class and have the same parameters.

    The text of an object does not tell: scikit-learn shortens long parameters in it,
    such as a matrix of costs.
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if hasattr(first, "get_params"):
        ours, theirs = vars(first), vars(second)
        return ours.keys() == theirs.keys() and all(
            same_settings(value, theirs[name]) for name, value in ours.items()
        )
    try:
        return pickle.dumps(first) == pickle.dumps(second)
    except Exception:  # Whatever a parameter raises.
        return False
