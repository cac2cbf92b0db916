"""Estimates with other intervals."""

from dataclasses import replace

from sklearn_ase._inference._bounds import PoolSample


def with_interval(estimate, **changes):
    """The estimate with some attributes of its interval changed."""
    return replace(estimate, uncertainty=replace(estimate.uncertainty, **changes))


def with_sample(estimate, **changes):
    """The estimate with some attributes of the pool as a sample changed."""
    return with_interval(
        estimate, sample=replace(estimate.uncertainty.sample, **changes)
    )


def of_population(**known):
    """A pool whose variance as a sample of a population is known."""
    return PoolSample(**{f"population_{name}": value for name, value in known.items()})
