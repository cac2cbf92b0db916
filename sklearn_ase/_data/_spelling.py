"""Labels that are a known class in another spelling."""

from sklearn_ase._utils._checks import shown


def refuse_respelled(labels, known, name="labels"):
    """Refuse text that differs from a class only in case, or in blanks around it.

    It would become a class of its own, at which the model is always wrong.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
    known : sequence of label
        Labels that are classes already.
    name : str, default="labels"
        Of the argument, for the message.
    """
    if labels.dtype.kind != "U":
        return
    spelled = {_folded(label): label for label in known if isinstance(label, str)}
    exact = {*known}
    for label in dict.fromkeys(labels.tolist()):
        other = spelled.setdefault(_folded(label), label)
        if label != other and label not in exact:
            which = "the class" if other in exact else "another label of them,"
            raise ValueError(
                f"{name} hold {shown(label)}, which differs from {which} "
                f"{shown(other)} only in case or in blanks around it. Nothing was "
                f"recorded. Write it as {shown(other)}. If two classes are meant, pass "
                "classes=[...] with both of them to the evaluator at the start."
            )


def _folded(label):
    return label.strip().casefold()
