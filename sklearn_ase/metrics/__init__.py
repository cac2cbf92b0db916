"""Metrics: what is reported of a model, from one set of labels."""

from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._row_values import RowValues

__all__ = ["BaseMetric", "RowValues"]
