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
    """A journal is damaged, of other data, changed by others, or open elsewhere."""


class JournalWarning(UserWarning):
    """A journal was repaired, has other settings, or lacks something minor."""


class NewClassWarning(UserWarning):
    """A label is of a class that neither the model nor the training rows have."""


class SurrogateWarning(UserWarning):
    """The labels contradict the surrogate, or it failed on them."""
