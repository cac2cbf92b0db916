"""Validation of the rows and labels that a deep classifier gets."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch.utils.data import Dataset

# Arrays of any shape and any numeric type are left as they are. They become float32
# batch by batch, so that a memmap never has to fit into memory.
ARRAYS = {"allow_nd": True, "dtype": "numeric"}


def check_rows(classifier, X):
    """Rows to predict for, by a classifier that must be fitted."""
    check_is_fitted(classifier, "net_")
    if isinstance(X, Dataset):
        return X
    return validate_data(classifier, X, reset=False, **ARRAYS)


def check_training_rows(classifier, X, y, reset):
    """Rows to learn from and their labels.

    Parameters
    ----------
    classifier : BaseDeepClassifier
    X : array-like of shape (n_samples, ...) or torch Dataset
    y : array-like of shape (n_samples,)
    reset : bool
        Whether the number of features is stored; otherwise it is compared.

    Returns
    -------
    X : ndarray of shape (n_samples, ...) or torch Dataset
    y : ndarray of shape (n_samples,)
    """
    if isinstance(X, Dataset):
        y = np.asarray(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, but y has {len(y)} labels.")
    else:
        X, y = validate_data(classifier, X, y, reset=reset, **ARRAYS)
    check_classification_targets(y)
    return X, y


def encode_labels(y, classes):
    """Position of each label among the sorted classes, (n_samples,)."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(
            f"Labels {unknown.tolist()} are not among the classes "
            f"{classes.tolist()}. Pass classes=... with all possible labels."
        )
    return np.searchsorted(classes, y)
