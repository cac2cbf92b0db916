"""Places of labels among the classes, and which class is the positive one."""

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._checks import shown


def columns_of(labels, classes):
    """Place of each label among sorted classes.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    classes : ndarray of shape (n_classes,)
        Sorted.

    Returns
    -------
    columns : ndarray of int of shape (n_rows,)
        -1 for a label that is none of the classes.
    """
    places = np.searchsorted(classes, labels)
    places = np.minimum(places, len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def with_predicted(classes, prediction):
    """Sorted classes, with the labels that only the model knows.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    prediction : ndarray of shape (n_samples,)

    Returns
    -------
    names : ndarray of shape (n_names,)
    """
    is_new = columns_of(prediction, classes) < 0
    return np.union1d(classes, prediction[is_new]) if is_new.any() else classes


def positive_column(metric, classes, cure, counts=None):
    """Place of the positive class.

    Parameters
    ----------
    metric : BaseMetric
        Its ``pos_label`` None means 1, or the greater of two numbers. If its
        ``prefers_one`` is False, the greater one comes before the label 1.
    classes : ndarray of shape (n_classes,)
        Sorted.
    cure : str
        What can be given if there are more than two classes, for messages.
    counts : ndarray of shape (n_classes,), default=None
        How often each class is predicted, for messages.

    Returns
    -------
    column : int
    """
    listed, pos_label, name = classes.tolist(), metric.pos_label, type(metric).__name__
    prefers_one = getattr(metric, "prefers_one", True)
    if pos_label is not None:
        if pos_label in listed:
            return listed.index(pos_label)
        raise ValueError(
            f"{name} needs pos_label to be one of the classes, but "
            f"pos_label={shown(pos_label)} is not among {shown(listed)}. Give "
            "pos_label=... one of them, or pass all classes."
        )
    if len(listed) > 2:
        raise ValueError(
            f"{name} needs to know which class is the positive one, for there are "
            f"{len(listed)} classes: {shown(listed)}. Give {cure}."
        )
    if prefers_one and 1 in listed:
        return listed.index(1)
    if len(listed) == 2 and prefers_one and classes.dtype.kind not in "biuf":
        rarer = listed[1 if counts is None else int(np.argmin(counts))]
        example = clone(metric).set_params(pos_label=rarer)
        raise ValueError(
            f"{name} needs to know which class is the positive one, {shown(listed[0])} "
            f"or {shown(listed[1])}. Give pos_label=..., as in "
            f"sklearn_ase.metrics.{example!r}."
        )
    if len(listed) == 2:
        return 1
    if 1 in listed:
        return 0
    raise ValueError(
        f"{name} needs two classes, or a class 1, but the only class is "
        f"{shown(listed[0])}. Pass all classes, or give pos_label=..."
    )


def with_positive(metric, before, classes):
    """A metric of one class, for classes that were two at first and then became more.

    Parameters
    ----------
    metric : BaseMetric
    before, classes : ndarray or None
        Classes at the start, and now.

    Returns
    -------
    metric : BaseMetric
        With the positive class of the start, if none was given. Otherwise the same.
    """
    # An average is of all classes.
    is_average = getattr(metric, "average", "binary") != "binary"
    is_open = getattr(metric, "pos_label", "none") is None and not is_average
    if not is_open or classes is None or len(classes) < 3 or len(before) != 2:
        return metric
    if before.dtype.kind not in "biuf" and getattr(metric, "prefers_one", True):
        return metric  # No text is the positive class by itself; the metric says so.
    column = positive_column(metric, before, "pos_label=...")
    return clone(metric).set_params(pos_label=before[column].item())
