"""Read annotators' answers from a file, and plan what to record of them.

Nothing is recorded here. An evaluation records the plan, after all of it was checked.
"""

import math
from contextlib import suppress
from pathlib import Path

from sklearn_ase._annotation._export import check_suffix
from sklearn_ase._annotation._label_studio import SKIP, read_export
from sklearn_ase._annotation._sheet import read_sheet
from sklearn_ase._annotation._slips import refuse_slips
from sklearn_ase._utils._checks import shown

_INTEGERS = range(-(2**63), 2**63)  # Those that arrays of integers can hold.


def read_answers(path, skip=None, classes=None, check=None):
    """Read the answers in a CSV file, or in an export of Label Studio.

    Parameters
    ----------
    path : str or path
    skip : str, default=None
        Word that means "cannot tell", in upper or lower case.
    classes : ndarray of shape (n_classes,), default=None
        An answer that is exactly one of them is kept as it is, even "nan".
    check : callable, default=None
        ``check(lines)`` refuses lines of a sheet that show other rows; see
        :func:`check_lines`.

    Returns
    -------
    answers : dict of int to list of str or number
        The answers for each row that has any; `SKIP` if nobody could tell.
    """
    labels = [] if classes is None else classes.tolist()
    names = {label for label in labels if isinstance(label, str)}
    if skip is not None and skip in map(str, labels):
        raise ValueError(
            f"skip={skip!r} is one of the classes. Choose another word for rows that "
            "nobody can label."
        )
    is_csv = check_suffix(path) == ".csv"
    if skip is not None and not isinstance(skip, str):
        raise TypeError(f"skip={shown(skip)} must be the word for it, a str, or None.")
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8. Save it as CSV UTF-8.") from None
    lines = []
    if is_csv:
        pairs, lines = read_sheet(text, path, names)
    else:
        pairs = read_export(text, path)
    found = {}
    for row, answer in pairs:
        if answer not in names:
            answer = answer.strip() if isinstance(answer, str) else answer
            word = str(answer).casefold()
            if skip is not None and word == skip.casefold():
                answer = SKIP
            elif word in ("", "nan"):  # Some tools write empty cells as NaN.
                continue
        found.setdefault(_row_number(row, path), []).append(answer)
    if is_csv:  # A sheet has one answer for a row, an export one for each annotator.
        found = {row: _only_answer(row, some, path) for row, some in found.items()}
    if check is not None:
        check([(number, _row_number(row, path), cells) for number, row, cells in lines])
    # A row is skipped only if none of its annotators could tell.
    return {row: [a for a in some if a != SKIP] or SKIP for row, some in found.items()}


def _row_number(cell, path):
    try:
        return _whole(cell)
    except (TypeError, ValueError):
        raise ValueError(
            f"{path}: {cell!r} is not a row of the pool. Leave the column row as "
            "export() wrote it."
        ) from None


def _only_answer(row, answers, path):
    if len(set(answers)) > 1:
        raise ValueError(
            f"Row {row} has different answers in {path}: {answers}. Keep one of them. "
            "Answers of several people belong in a file for each of them."
        )
    return answers[:1]


def together(answers):
    """Put the answers of several people together.

    Parameters
    ----------
    answers : list of dict of int to list
        What :func:`read_answers` returned for each file.

    Returns
    -------
    answers : dict of int to list
        A row is skipped only if nobody could tell.
    """
    found = {}
    for each in answers:
        for row, some in each.items():
            found[row] = [*found.get(row, ()), *some]
    return {row: some or SKIP for row, some in found.items()}


def plan_answers(evaluation, answers, correct=False, new_classes=()):
    """Sort answers by what to do with them, or refuse all if one cannot be recorded.

    Parameters
    ----------
    evaluation : Evaluation
    answers : dict of int to list
        What :func:`read_answers` returned.
    correct : bool, default=False
        Whether labels that are recorded already may be replaced.
    new_classes : list of label, default=()
        Labels that are meant to be new classes.

    Returns
    -------
    told, corrected : dict of int to list of labels
        New labels, and labels that replace others. In `corrected` the list is empty
        if the label is withdrawn because nobody could tell it.
    skipped : list of int
        Rows to skip. A row where nothing changes is in none of the three.
    """
    ledger = evaluation.ledger
    unknown = sorted(set(answers) - set(ledger.indices))
    if unknown:
        raise ValueError(
            f"Rows {unknown} were not asked for. Remove them from the file, or import "
            "it into the evaluation that exported it."
        )
    told, corrected, skipped = {}, {}, []
    answers = {
        row: [to_label(evaluation, answer, f"Row {row}: ") for answer in given]
        for row, given in answers.items()
    }
    if evaluation.classes_ is not None:
        pairs = [(row, label) for row, some in answers.items() for label in some]
        refuse_slips(pairs, evaluation.classes_.tolist(), new_classes)
    for row, labels in answers.items():
        if row in ledger.labels:
            recorded = [ledger.labels[row], *ledger.more_labels.get(row, [])]
            if sorted(labels) != sorted(recorded):
                corrected[row] = labels
        elif labels:
            told[row] = labels
        elif row not in ledger.skipped:
            skipped.append(row)
    if corrected and not correct:
        raise ValueError(
            f"Rows {sorted(corrected)} have another label already. Pass correct=True "
            "to replace it, or remove them from the file. If several people answered "
            "the same rows, import their files together: import_answers([one, other], "
            "correct=True)."
        )
    return told, corrected, skipped


def to_label(evaluation, answer, where=""):
    """Return an answer as a label of the evaluation.

    Parameters
    ----------
    evaluation : Evaluation
    answer : str or number
    where : str, default=""
        First words of the error message if it is not a label.

    Returns
    -------
    label : bool, int, float or str
        Of the same kind as the classes; a float for regression.
    """
    classes = evaluation.classes_
    is_closed = classes is not None and evaluation.problem.is_closed
    kind = "f" if classes is None else classes.dtype.kind
    with suppress(KeyError, OverflowError, TypeError, ValueError):
        label = _LABELS.get(kind, str)(answer)
        if _fits(label) and (not is_closed or label in classes.tolist()):
            return label
    allowed = "a finite number"
    if classes is not None:
        some = "one of" if is_closed or kind == "b" else "a label such as"
        if kind in "iu" and not is_closed:
            some = "a whole number of at most 64 bits, such as"
        allowed = f"{some} {classes.tolist()}"
    raise ValueError(f"{where}{answer!r} is not a valid label. Give {allowed}.")


def _fits(label):
    """Return whether an array of its kind can hold a label."""
    if isinstance(label, str):
        return True
    return math.isfinite(label) if isinstance(label, float) else label in _INTEGERS


def _number(answer):
    if "_" in str(answer):  # Python reads 1_000 as a number.
        raise ValueError
    return float(answer)


def _whole(answer):
    try:
        if "_" not in str(answer):
            return int(str(answer))
    except ValueError:  # Spreadsheets write 3 as 3.0.
        pass
    number = _number(answer)
    if not number.is_integer() or abs(number) > 2**53:  # Digits may be lost.
        raise ValueError
    return int(number)


def _truth(answer):
    words = {"true": True, "1": True, "1.0": True}
    words |= {"false": False, "0": False, "0.0": False}
    return words[str(answer).casefold()]


_LABELS = {"b": _truth, "i": _whole, "u": _whole, "f": _number}
