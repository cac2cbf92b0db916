"""Annotate rows at the console: show a row, read its label, record it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._annotation._answers import to_label
from sklearn_ase._data._rows import row_of
from sklearn_ase._utils._checks import check_callable, check_integer, shown
from sklearn_ase._utils._limits import Limits
from sklearn_ase._utils._typing import Label
from sklearn_ase.exceptions import JournalError, NewClassWarning

if TYPE_CHECKING:
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase.stopping import BaseStop

_COMMANDS = {"s": "skip", "u": "undo", "q": "quit", "?": "help"}


def annotate(
    evaluation: Evaluation,
    n_labels: int | None = None,
    *,
    stop: BaseStop | None = None,
    class_names: Sequence[str] | Mapping[Label, str] | None = None,
    show: Callable[..., Any] | None = None,
    read: Callable[[str], str] = input,
    write: Callable[[str], Any] = print,
) -> int:
    """Label rows at the console, one at a time.

    Rows that are waiting for a label come first. Type a label, or a command: ``s``
    skips a row that you cannot label, ``u`` takes back the last answer of this
    session, ``q`` quits, ``?`` shows help. After the last row you can still take back
    the last answer. All answers are kept, however the session ends.

    Parameters
    ----------
    evaluation : Evaluation
    n_labels : int, default=None
        Total number of labels to reach, including those recorded before. None
        continues until you quit.
    stop : stopping rule, default=None
        A rule of :mod:`sklearn_ase.stopping`, applied after every answer.
    class_names : sequence or dict, default=None
        Names of the classes to show and type: in the order of ``classes_``, or as
        ``{label: name}``.
    show : callable, default=None
        ``show(row)`` returns what to show of a row: text, or a dict of features. It
        may open a viewer. `row` is a dict for frames, otherwise the array or text.
    read, write : callable, default=input and print
        Functions that read a line and write a line.

    Returns
    -------
    n_answers : int
        Number of labels and skips of this session.

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
    _check(evaluation, n_labels, stop, show, read, write)

    def view(index: int) -> Any:
        problem = evaluation.problem
        row = row_of(problem.X, int(problem.places_of([index])[0]))
        return row if show is None else show(row)

    rules = () if stop is None else (stop,)
    limits = [at_most(np.inf if n_labels is None else n_labels, rules)]
    names = names_by_label(class_names, evaluation.classes_)
    return label_rows(evaluation, view, limits, names=names, read=read, write=write)


def at_most(n_labels: float, stops: tuple = ()) -> Limits:
    """Return the limits of a session with so many labels in all."""
    words = "The requested number of labels is reached."
    return Limits(n_labels, stops=stops, words=words)


def label_rows(
    evaluation: Evaluation,
    view: Callable[[int], Any],
    limits: Sequence[Limits] = (),
    **how: Any,
) -> int:
    """Label rows at the console; `how` has further fields of the session."""
    session = _Session(evaluation, view, limits or [Limits()], **how)
    try:
        session.run()
    except (EOFError, KeyboardInterrupt):
        session.write(f"\n{len(evaluation.ledger)} labels, all kept.")
    return len(session.answered)


def _check(
    evaluation: Any, n_labels: Any, stop: Any, show: Any, read: Any, write: Any
) -> None:
    """Refuse what is no evaluation, number, rule or function."""
    if not hasattr(evaluation, "stop_reason"):
        raise TypeError(
            f"evaluation={shown(evaluation)} must be an Evaluation: what start() "
            "returns, or evaluator.evaluation_ after fit()."
        )
    if n_labels is not None:
        check_integer(n_labels, "n_labels", note=", or None")
    if stop is not None:
        evaluation.stop_reason(stop)
    if show is not None:
        check_callable(show, "show", "row -> what to show of it")
    check_callable(read, "read", "prompt -> line")
    check_callable(write, "write", "line -> None")


@dataclass
class _Session:
    """One session at the console."""

    evaluation: Evaluation
    view: Callable[[int], Any]  # What to show of a row.
    limits: Sequence[Limits]  # The first says how many labels are wanted.
    names: dict[Label, str] = field(default_factory=dict)
    read: Callable[[str], str] = input
    write: Callable[[str], Any] = print
    with_estimate: bool = True
    answered: list[int] = field(default_factory=list)  # In the order of the answers.

    def run(self) -> None:
        """Show rows and record answers until the annotator quits or nothing is left."""
        index = None
        while True:
            index = self._next_row() if index is None else index
            if index is None:
                return
            command, label = self._ask(index)
            if command == "quit":
                self.write(self._progress())
                return
            if command == "undo":
                index = self._undo(index)
            elif self._is_recorded(command, index, label):
                self.answered.append(index)
                index = None

    def _next_row(self) -> int | None:
        """Return the next row to show, or None at the end of the session."""
        while not (reason := self._reason()):
            if (index := self._waiting_row()) is not None:
                return index
        self.write(f"{reason}\n{self._progress()}")
        return self._undo(None) if self.answered and self._wants_undo() else None

    def _reason(self) -> str:
        """Return why no more rows are shown; empty to continue."""
        reasons = (limits.reason_to_stop(self.evaluation) for limits in self.limits)
        return next(filter(None, reasons), "")

    def _waiting_row(self) -> int | None:
        """Return the first row that waits for a label, or None if none is left."""
        evaluation = self.evaluation
        while not len(evaluation.pending) and evaluation.state.n_free:
            evaluation.ask()  # Rows with known labels do not wait: they are recorded.
        indices = evaluation.pending.indices
        return int(indices[0]) if len(indices) else None

    def _ask(self, index: int) -> tuple[str, Label]:
        """Show a row; return a command and, for "tell", a label."""
        self.write(f"\nRow {index}. {self._progress()}\n")
        self.write(as_text(self.view(index)))
        return self._answer()

    def _answer(self) -> tuple[str, Label]:
        """Read until an entry is valid; return a command and, for "tell", a label."""
        entries, classes = labels_by_entry(self.evaluation.classes_, self.names)
        commands = commands_by_entry(entries)
        listed = ", ".join(f"{key} {command}" for key, command in commands.items())
        if classes:
            self.write(f"Classes: {classes}")
        while True:
            entry = self.read(f"label ({listed}): ").strip()
            command = commands.get(entry.casefold())
            if command == "help":
                self.write(f"Type a label or {listed}.")
                if classes and not self.evaluation.problem.is_closed:
                    self.write(f"Classes: {classes}. Type +name for another class.")
            elif command is not None:
                return command, None
            elif entry in entries:
                return "tell", entries[entry]
            elif entry.startswith("+") or (entry and not classes):
                try:
                    return "tell", to_label(self.evaluation, entry.removeprefix("+"))
                except ValueError as error:
                    self.write(str(error))
            elif entry:
                self.write(f"{entry!r} is not one of {classes}.")

    def _is_recorded(self, command: str, index: int, label: Label) -> bool:
        """Record an answer and return True, or write why it was refused."""
        try:
            if command == "skip":
                self.evaluation.skip([index])
            else:
                # The plus sign has shown already that a new class is meant.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NewClassWarning)
                    self.evaluation.tell([index], [label])
        except JournalError:
            raise
        except ValueError as error:
            if index not in self.evaluation.ledger.pending:
                raise  # The answer is recorded; the error has another cause.
            self.write(str(error))
            return False
        return True

    def _wants_undo(self) -> bool:
        """Ask at the end whether to take back the last answer."""
        entries, _ = labels_by_entry(self.evaluation.classes_, self.names)
        commands = commands_by_entry(entries)
        (undo,) = [key for key, command in commands.items() if command == "undo"]
        entry = self.read(f"Enter to leave, {undo} to undo: ")
        return entry.strip().casefold() == undo

    def _undo(self, index: int | None) -> int | None:
        """Withdraw the last answer of this session; return the row to show next."""
        if self.answered:
            index = self.answered.pop()
            self.evaluation.withdraw(index)
        else:
            self.write("Nothing was answered in this session.")
        return index

    def _progress(self) -> str:
        """Return the number of labels, and the estimate if it is to be shown."""
        most = self.limits[0].n_labels
        goal = "" if most == np.inf else f" of {most}"
        if not self.with_estimate:
            return f"{len(self.evaluation.ledger)}{goal} labels"
        try:
            words = self.evaluation.estimate().describe(method="anytime")
        except ValueError as error:
            words = {"no estimate": str(error)}
        words.pop("labels", None)
        return f"{len(self.evaluation.ledger)}{goal} labels\n{as_text(words)}"


# What is shown of a row, and what can be typed for it.


def as_text(row: Any) -> str:
    """Return a row as lines of text."""
    if isinstance(row, str):
        return row
    if not isinstance(row, dict):
        row = np.asarray(row)
        if row.ndim > 1:
            return f"(an array of shape {row.shape}; pass show= to say how to show it)"
        row = {f"x{j}": value for j, value in enumerate(np.atleast_1d(row).tolist())}
    width = max(map(len, row), default=0)
    return "\n".join(
        f"{name:<{width}}  " + (f"{v:.6g}" if isinstance(v, float) else str(v))
        for name, v in row.items()
    )


def names_by_label(class_names: Any, classes: np.ndarray | None) -> dict[Label, str]:
    """Return the names of the classes."""
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


def labels_by_entry(
    classes: np.ndarray | None, names: dict[Any, str]
) -> tuple[dict[str, Any], str]:
    """Return the labels by what is typed for them."""
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


def commands_by_entry(entries: dict[str, Any]) -> dict[str, str]:
    """Return the commands by what is typed for them."""
    # If a class has the same name as a command, commands start with a colon.
    sign = ":" if _COMMANDS.keys() & {entry.casefold() for entry in entries} else ""
    return {sign + key: command for key, command in _COMMANDS.items()}
