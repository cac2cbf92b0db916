"""Read annotators' answers from a file, and plan what to record of them.

Nothing is recorded here. An evaluation records the plan, after all of it was checked.
"""

import csv
import io
import json
import math
import re
from contextlib import suppress
from pathlib import Path

from sklearn_ase._annotation._export import check_suffix
from sklearn_ase._utils._checks import shown

SKIP = ()  # The answer "cannot tell": it has no label.
_VALUES = ("choices", "number", "rating", "text")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)


def read_answers(path, skip=None):
    """Read the answers in a CSV file, or in an export of Label Studio.

    Parameters
    ----------
    path : str or path
    skip : str, default=None
        Word that means "cannot tell", in upper or lower case.

    Returns
    -------
    answers : dict of int to list of str or number
        The answers for each row that has any; `SKIP` if nobody could tell.
    """
    is_csv = check_suffix(path) == ".csv"
    if skip is not None and not isinstance(skip, str):
        raise TypeError(f"skip={shown(skip)} must be the word for it, a str, or None.")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8. Save it as CSV UTF-8.") from None
    found = {}
    for row, answer in (_csv_answers if is_csv else _json_answers)(text, path):
        if skip is not None and str(answer).casefold() == skip.casefold():
            answer = SKIP
        elif str(answer).casefold() == "nan":  # Some tools write empty cells as NaN.
            continue
        found.setdefault(_row_number(row, path), []).append(answer)
    if is_csv:  # A sheet has one answer for a row, an export one for each annotator.
        found = {row: _only_answer(row, some, path) for row, some in found.items()}
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
            f"Row {row} has different answers in {path}: {answers}. Keep one of them."
        )
    return answers[:1]


def _csv_answers(text, path):
    """Yield pairs of row and text; empty cells are left out."""
    for delimiter in ",;\t":
        table = csv.reader(io.StringIO(text), delimiter=delimiter)
        names = [name.strip() for name in next(table, [])]
        if names.count("row") == names.count("label") == 1:
            break
    else:
        raise ValueError(
            f"{path} must have one column named row and one named label, but starts "
            f"with {text[:80]!r}."
        )
    for cells in table:
        cells = [cell.strip() for cell in cells] + [""] * len(names)
        row, answer = cells[names.index("row")], cells[names.index("label")]
        # Where columns are separated by semicolons, decimals are written with commas.
        if delimiter == ";" and _DECIMAL_COMMA.fullmatch(answer):
            answer = answer.replace(",", ".")
        if answer:
            yield row, answer


def _json_answers(text, path):
    """Yield pairs of row and answer, from Label Studio's exports JSON or JSON-MIN."""
    try:
        tasks = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"{path} is not valid JSON: {error}. Export it again."
        ) from None
    tasks = tasks if isinstance(tasks, list) else [tasks]
    for task in tasks:
        if not isinstance(task, dict):
            raise ValueError(
                f"{path} is not an export of Label Studio: it holds {task!r} where a "
                "task should be. Export it again as JSON or JSON-MIN."
            )
        row = task.get("data", task).get("row")
        if row is None:
            raise ValueError(
                f"Task {task.get('id')} of {path} has no row in its data. Import into "
                "Label Studio what export() wrote."
            )
        for controls in _annotations(task):
            answer = SKIP if controls == SKIP else _choice(controls, row)
            if answer is not None:
                yield row, answer


def _annotations(task):
    """Return what each annotator of a task answered, by the name of the control."""
    if "data" in task:
        return [_controls(annotation) for annotation in task.get("annotations", [])]
    # JSON-MIN has one record for each annotation, and none for those cancelled.
    return [{"label": task["label"]}] if "label" in task else []


def _controls(annotation):
    if annotation.get("was_cancelled"):
        return SKIP
    results = annotation.get("result") or []
    return {each["from_name"]: each["value"] for each in results if "value" in each}


def _choice(controls, row):
    """Return the answer of the control `label`, or of the only control; None if empty.

    The value of a control may be nested, as ``{"choices": ["cat"]}``.
    """
    if len(controls) > 1 and "label" not in controls:
        raise ValueError(
            f"Row {row} has answers in the controls {sorted(controls)}. Name the one "
            "that holds the label `label` in the labelling interface."
        )
    value = controls.get("label", next(iter(controls.values()), None))
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            value = next((value[key] for key in _VALUES if key in value), None)
        elif len(value) > 1:
            raise ValueError(
                f"Row {row} has the labels {value}, but a row takes one. Use a control "
                "with a single choice."
            )
        else:
            value = value[0] if value else None
    return value


def plan_answers(evaluation, answers, correct=False):
    """Sort answers by what to do with them, or refuse all if one cannot be recorded.

    Parameters
    ----------
    evaluation : Evaluation
    answers : dict of int to list
        What :func:`read_answers` returned.
    correct : bool, default=False
        Whether labels that are recorded already may be replaced.

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
    for row, given in answers.items():
        labels = [to_label(evaluation, answer, f"Row {row}: ") for answer in given]
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
            "to replace it, or remove them from the file."
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
    with suppress(KeyError, TypeError, ValueError):
        label = _LABELS.get(kind, str)(answer)
        is_number = not isinstance(label, float) or math.isfinite(label)
        if is_number and (not is_closed or label in classes.tolist()):
            return label
    allowed = "a finite number"
    if classes is not None:
        some = "one of" if is_closed or kind == "b" else "a label such as"
        allowed = f"{some} {classes.tolist()}"
    raise ValueError(f"{where}{answer!r} is not a valid label. Give {allowed}.")


def _whole(answer):
    try:
        return int(str(answer))
    except ValueError:  # Spreadsheets write 3 as 3.0.
        number = float(answer)
        if not number.is_integer():
            raise
        return int(number)


def _truth(answer):
    words = {"true": True, "1": True, "1.0": True}
    words |= {"false": False, "0": False, "0.0": False}
    return words[str(answer).casefold()]


_LABELS = {"b": _truth, "i": _whole, "u": _whole, "f": float}
