"""Compare objects by their parameters."""

import pickle


def same_settings(first, second):
    """Whether two objects are of one class and have the same parameters.

    The text of an object does not tell: scikit-learn shortens long parameters in it,
    such as a matrix of costs.

    Parameters
    ----------
    first, second : object
        Such as two losses. Functions are the same only if they are one object.

    Returns
    -------
    is_same : bool
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if hasattr(first, "get_params"):
        ours, theirs = vars(first), vars(second)
        return ours.keys() == theirs.keys() and all(
            same_settings(value, theirs[name]) for name, value in ours.items()
        )
    try:
        return pickle.dumps(first) == pickle.dumps(second)
    except Exception:  # Whatever a parameter raises.
        return False
