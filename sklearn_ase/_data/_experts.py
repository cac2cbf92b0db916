"""What others say about the labels of the pool: judges, other models, cheap labels."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._data._class_columns import align_columns


@dataclass(frozen=True, eq=False)
class Expert:
    """What one expert says about the label of each row.

    Attributes
    ----------
    name : str
    values : ndarray of shape (n_samples, n_columns) or (n_samples,)
        Probabilities of some classes, or values for regression; NaN where missing.
    columns : ndarray of shape (n_columns,) or None
        Class of each column; None for regression.
    middle : float or ndarray of shape (n_columns,)
        Mean of the values in the pool that is evaluated.
    scale : float
        By which differences from the mean are divided: their standard deviation
        (regression); less than 1 for probabilities that hardly differ from row to row.
    """

    name: str
    values: np.ndarray
    columns: np.ndarray | None = None
    middle: float = 0.0
    scale: float = 1.0

    @property
    def is_present(self):
        """Rows about which the expert says something, a mask."""
        return np.isfinite(self.values.reshape(len(self.values), -1)).all(axis=1)

    def proba_for(self, classes):
        """Probability of each class, stretched; NaN where missing.

        What the columns leave is shared by the classes without a column. Stretched
        probabilities may be negative.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        stays = np.isin(self.columns, classes)
        values = self.middle + (self.values - self.middle) / self.scale
        proba = align_columns(values[:, stays], self.columns[stays], classes)
        others = ~np.isin(classes, self.columns)
        proba = np.array(proba, dtype=float)
        if others.any():
            proba[:, others] = (1.0 - values.sum(axis=1))[:, None] / others.sum()
        proba[~self.is_present] = np.nan
        return proba


@dataclass(frozen=True, eq=False)
class Experts:
    """What several experts say about the label of each row.

    Attributes
    ----------
    each : tuple of Expert
    positive : label or None
        The label that a score is the probability of.
    """

    each: tuple
    positive: object = None

    @property
    def names(self):
        """Names of the experts, in order."""
        return tuple(expert.name for expert in self.each)

    @property
    def all_labels(self):
        """Labels that the experts name (classification)."""
        return np.concatenate([expert.columns for expert in self.each])

    def scores_for(self, classes):
        """What each expert adds to the score of each class.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        scores : ndarray of shape (n_samples, n_experts, n_classes)
            Probability minus ``1 / n_classes``; 0 where missing. For regression
            standardised values, of shape (n_samples, n_experts).
        """
        if classes is None:
            scores = [(each.values - each.middle) / each.scale for each in self.each]
            return np.nan_to_num(np.stack(scores, axis=1))
        proba = np.stack([expert.proba_for(classes) for expert in self.each], axis=1)
        return np.nan_to_num(proba - 1.0 / len(classes))
