"""Warnings and errors of the package, to be caught or silenced by their class."""

__all__ = [
    "IntervalWarning",
    "JournalError",
    "JournalWarning",
    "NewClassWarning",
    "SurrogateWarning",
]


class IntervalWarning(UserWarning):
    """An interval was asked for that could not be given honestly."""


class JournalError(ValueError):
    """A journal is damaged, of another campaign, or open somewhere else."""


class JournalWarning(UserWarning):
    """A journal was mended or goes on with other settings."""


class NewClassWarning(UserWarning):
    """A label came that neither the model nor the training rows know."""


class SurrogateWarning(UserWarning):
    """The labels contradict the surrogate, so estimates that lean on it may be off."""
