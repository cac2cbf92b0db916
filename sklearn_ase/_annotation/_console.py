"""A desk for one annotator: rows are shown and answered at the console."""

import warnings

from sklearn_ase._annotation._import import to_label
from sklearn_ase._annotation._text_view import drawn
from sklearn_ase._data._columns import row_of
from sklearn_ase.exceptions import JournalError, NewClassWarning

_COMMANDS = {"s": "skip", "u": "undo", "q": "quit", "?": "help"}


def annotate(
    evaluation,
    n_labels=None,
    *,
    stop=None,
    class_names=None,
    show=None,
    read=input,
    write=print,
):
    """Answer queries at the console, one row at a time.

    Open queries come first. Type a label; ``s`` skips a row that you cannot tell,
    ``u`` takes back the last answer of this sitting, ``q`` quits, ``?`` helps. When
    there is nothing more to answer, the last answer can still be taken back. What was
    answered is kept, however the sitting ends.

    Parameters
    ----------
    evaluation : Evaluation
    n_labels : int, default=None
        Labels in all, those there are already included; None goes on until you quit.
    stop : stopping rule, default=None
        Of :mod:`sklearn_ase.stopping`; asked after every answer.
    class_names : sequence or dict, default=None
        Names of the classes: in the order of ``classes_``, or by label.
    show : callable, default=None
        ``show(row)`` returns what to show of a row: text, an image as array, or a
        dict of features. It gets a dict for frames, else the array or text.
    read, write : callable, default=input and print
        How to ask for a line and how to show one.

    Returns
    -------
    n_answers : int
        Labels and skips of this sitting.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator, annotate
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X, y))
    >>> evaluation = ActiveRiskEstimator(model, random_state=0).start(X)
    >>> typed = iter(["setosa", "q"])
    >>> annotate(evaluation, class_names=["setosa", "versicolor", "virginica"],
    ...          read=lambda prompt: next(typed), write=lambda line: None)
    1
    """
    names = _names(class_names, evaluation.classes_)
    answered, index = [], None
    try:
        while True:
            reason = "" if index is not None else _reason(evaluation, n_labels, stop)
            if reason:
                write(f"{reason}\n{_progress(evaluation, n_labels)}")
                if not answered or not _wants_undo(evaluation, names, read):
                    break
                index = _undo(evaluation, answered, index, write)
            index = _next_row(evaluation) if index is None else index
            if index is None:
                continue  # The rest of the pool was known.
            command, label = _ask(evaluation, index, n_labels, names, show, read, write)
            if command == "quit":
                write(_progress(evaluation, n_labels))
                break
            if command == "undo":
                index = _undo(evaluation, answered, index, write)
            elif _is_recorded(evaluation, command, index, label, write):
                answered.append(index)
                index = None
    except (EOFError, KeyboardInterrupt):
        write(f"\n{len(evaluation.ledger)} labels, all kept.")
    return len(answered)


def _names(class_names, classes):
    """Names of the classes by label."""
    if class_names is None or hasattr(class_names, "items"):
        return {} if class_names is None else dict(class_names)
    if classes is None or len(class_names) != len(classes):
        raise ValueError(
            f"class_names has {len(class_names)} names, but the classes are {classes}. "
            "Give one name for each, or a dict from label to name."
        )
    return dict(zip(classes.tolist(), class_names, strict=True))


def _reason(evaluation, n_labels, stop):
    """Why no more rows are shown; empty to go on."""
    if n_labels is not None and len(evaluation.ledger) >= n_labels:
        return "These are all labels that were wanted."
    if not evaluation.ledger.pending and not evaluation.state.free.any():
        return "Every row of the pool has been asked for."
    return "" if stop is None else evaluation.stop_reason(stop)


def _next_row(evaluation):
    while not len(evaluation.pending) and evaluation.state.free.any():
        evaluation.ask()  # Rows with known labels are answered at once.
    indices = evaluation.pending.indices
    return int(indices[0]) if len(indices) else None


def _ask(evaluation, index, n_labels, names, show, read, write):
    """Show a row; a command and, with "tell", a label."""
    row = row_of(evaluation.task.X, index)
    write(f"\nRow {index}. {_progress(evaluation, n_labels)}\n")
    write(drawn(row if show is None else show(row)))
    return _answer(evaluation, names, read, write)


def _is_recorded(evaluation, command, index, label, write):
    """Record an answer, or say why it cannot be."""
    try:
        if command == "skip":
            evaluation.skip([index])
        else:
            with warnings.catch_warnings():  # A new class was marked by its plus sign.
                warnings.simplefilter("ignore", NewClassWarning)
                evaluation.tell([index], [label])
    except JournalError:
        raise
    except ValueError as error:
        if index not in evaluation.ledger.pending:
            raise  # It is recorded, and something else is wrong.
        write(str(error))
        return False
    return True


def _wants_undo(evaluation, names, read):
    entries, _ = _entries(evaluation.classes_, names)
    (undo,) = [key for key, verb in _commands(entries).items() if verb == "undo"]
    return read(f"Enter to leave, {undo} to undo: ").strip().casefold() == undo


def _undo(evaluation, answered, index, write):
    """Open the row answered last, to be asked again, if there is one."""
    if answered:
        index = answered.pop()
        evaluation.withdraw(index)
    else:
        write("Nothing was answered in this sitting.")
    return index


def _progress(evaluation, n_labels):
    """How far it is, and the running estimate or why there is none."""
    goal = "" if n_labels is None else f" of {n_labels}"
    try:
        words = evaluation.estimate().describe(method="anytime")
    except ValueError as error:
        words = {"no estimate": str(error)}
    words.pop("labels", None)
    return f"{len(evaluation.ledger)}{goal} labels\n{drawn(words)}"


def _answer(evaluation, names, read, write):
    """Ask until the entry is understood; a command and, with "tell", a label."""
    entries, classes = _entries(evaluation.classes_, names)
    commands = _commands(entries)
    listed = ", ".join(f"{key} {command}" for key, command in commands.items())
    if classes:
        write(f"Classes: {classes}")
    while True:
        entry = read(f"label ({listed}): ").strip()
        command = commands.get(entry.casefold())
        if command == "help":
            write(f"Type a label or {listed}.")
            if classes:
                write(f"Classes: {classes}; +name for one that is not among them.")
        elif command is not None:
            return command, None
        elif entry in entries:
            return "tell", entries[entry]
        elif entry.startswith("+") or (entry and not classes):
            try:
                return "tell", to_label(evaluation, entry.removeprefix("+"))
            except ValueError as error:
                write(str(error))
        elif entry:
            write(f"{entry!r} is none of {classes}.")


def _commands(entries):
    """What can be typed for each command."""
    # Where a class has the name of a command, commands start with a colon.
    sign = ":" if _COMMANDS.keys() & {entry.casefold() for entry in entries} else ""
    return {sign + key: command for key, command in _COMMANDS.items()}


def _entries(classes, names):
    """What can be typed for each label, and the list of classes to be shown."""
    if classes is None:
        return {}, ""
    labels = classes.tolist()
    words = [str(names.get(label, label)) for label in labels]
    numbers = [str(k) for k in range(1, len(labels) + 1)]
    if classes.dtype.kind in "biu":
        numbers = [str(int(label)) for label in labels]
    if set(numbers) & set(words):  # A number that names a class is not also a place.
        return dict(zip(words, labels, strict=True)), ", ".join(words)
    listed = [f"{k} {word}" for k, word in zip(numbers, words, strict=True)]
    return dict(zip(words + numbers, labels * 2, strict=True)), ", ".join(listed)
