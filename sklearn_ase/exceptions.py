"""Warnings of the package, to be caught or silenced by their class."""

__all__ = ["IntervalWarning", "SurrogateWarning"]


class IntervalWarning(UserWarning):
    """An interval was asked for that could not be given honestly."""


class SurrogateWarning(UserWarning):
    """The labels contradict the surrogate, so estimates that lean on it may be off."""
