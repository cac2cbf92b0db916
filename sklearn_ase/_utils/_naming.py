"""Arguments that must be named, with an error that says how."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


def named_after(most: int, cure: str) -> Callable[[_Method], _Method]:
    """Make a method refuse further arguments without a name, in words that help.

    Parameters
    ----------
    most : int
        Number of arguments that may come without a name.
    cure : str
        What to do, to end the message.

    Returns
    -------
    decorate : callable
    """

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
