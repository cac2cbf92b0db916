"""What can be typed at the console: classes by name or number, and commands."""

_COMMANDS = {"s": "skip", "u": "undo", "q": "quit", "?": "help"}


def names_by_label(class_names, classes):
    """Return the names of the classes.

    Parameters
    ----------
    class_names : sequence, dict of label to str, or None
    classes : ndarray of shape (n_classes,) or None

    Returns
    -------
    names : dict of label to str
        Classes without a name are left out.
    """
    if class_names is None or hasattr(class_names, "items"):
        return {} if class_names is None else dict(class_names)
    if not isinstance(class_names, (list, tuple)) and not hasattr(class_names, "shape"):
        raise TypeError(
            f"class_names={class_names!r} must be a list with one name for each class, "
            "or a dict from label to name."
        )
    if classes is None or len(class_names) != len(classes):
        raise ValueError(
            f"class_names has {len(class_names)} names, but the classes are {classes}. "
            "Give one name for each class, or a dict from label to name."
        )
    return dict(zip(classes.tolist(), class_names, strict=True))


def labels_by_entry(classes, names):
    """Return the labels by what is typed for them.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
    names : dict of label to str

    Returns
    -------
    entries : dict of str to label
        Empty for regression.
    listed : str
        The classes as they are shown.
    """
    if classes is None:
        return {}, ""
    labels = classes.tolist()
    words = [str(names.get(label, label)) for label in labels]
    numbers = [str(k) for k in range(1, len(labels) + 1)]
    if classes.dtype.kind in "biu":
        numbers = [str(int(label)) for label in labels]
    # A number that is the name of a class must not also be a position in the list.
    if set(numbers) & set(words):
        return dict(zip(words, labels, strict=True)), ", ".join(words)
    listed = [f"{k} {word}" for k, word in zip(numbers, words, strict=True)]
    return dict(zip(words + numbers, labels * 2, strict=True)), ", ".join(listed)


def commands_by_entry(entries):
    """Return the commands by what is typed for them.

    Parameters
    ----------
    entries : dict of str to label
        What can be typed for labels.

    Returns
    -------
    commands : dict of str to str
    """
    # If a class has the same name as a command, commands start with a colon.
    sign = ":" if _COMMANDS.keys() & {entry.casefold() for entry in entries} else ""
    return {sign + key: command for key, command in _COMMANDS.items()}
