"""Metrics: what is reported of a model, from one set of labels."""

from sklearn_ase.metrics._base import BaseMetric

__all__ = ["BaseMetric"]
