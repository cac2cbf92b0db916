"""Warnings and errors of the package."""

__all__ = [
    "IntervalWarning",
    "JournalError",
    "JournalWarning",
    "NewClassWarning",
    "SurrogateWarning",
]


class IntervalWarning(UserWarning):
    """No valid confidence interval could be computed."""


class JournalError(ValueError):
    """A journal is damaged, belongs to other data, or is open in another process."""


class JournalWarning(UserWarning):
    """A journal was repaired, or is continued with other settings."""


class NewClassWarning(UserWarning):
    """A label is of a class that neither the model nor the training rows have."""


class SurrogateWarning(UserWarning):
    """The labels contradict the surrogate; estimates that rely on it may be wrong."""
