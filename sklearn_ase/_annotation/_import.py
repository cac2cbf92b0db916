"""What annotators answer: read from files, checked, and only then recorded."""

import csv
import io
import json
import math
import re
from contextlib import suppress
from pathlib import Path

import numpy as np

from sklearn_ase._annotation._export import check_suffix

SKIP = ()  # An answer without a label: cannot tell.
_VALUES = ("choices", "number", "rating", "text")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)


def import_answers(evaluation, path, correct=False, skip=None):
    """Record the answers in a file; see :meth:`Evaluation.import_answers`.

    Returns
    -------
    n_labels : int
        Rows that had no label before.
    """
    answers = read_answers(path, skip)
    told, corrected, skipped = plan_answers(evaluation, answers, correct)
    for row, labels in (told | corrected).items():
        if labels:  # All of them before any is recorded.
            evaluation._check_answers([row], [labels])
    for n_answers in sorted({len(labels) for labels in told.values()}):
        rows = [row for row, labels in told.items() if len(labels) == n_answers]
        evaluation.tell(rows, np.array([told[row] for row in rows]))
    for row, labels in corrected.items():
        if labels:
            evaluation.correct(row, labels)
        else:
            evaluation.withdraw(row)
            skipped.append(row)
    if skipped:
        evaluation.skip(skipped)
    return len(told)


def read_answers(path, skip=None):
    """Read what annotators wrote into a CSV file or exported from Label Studio.

    Parameters
    ----------
    path : str or path
    skip : str, default=None
        Word that means "cannot tell", in whatever case.

    Returns
    -------
    answers : dict of int to list of str or number
        Of each row that has any; `SKIP` where nobody could tell.
    """
    is_csv = check_suffix(path) == ".csv"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8. Save it as CSV UTF-8.") from None
    found = {}
    for row, answer in (_csv_answers if is_csv else _json_answers)(text, path):
        if skip is not None and str(answer).casefold() == skip.casefold():
            answer = SKIP
        elif str(answer).casefold() == "nan":  # An empty cell, as some tools write it.
            continue
        found.setdefault(_row_number(row, path), []).append(answer)
    for row, answers in found.items():
        if is_csv and len(set(answers)) > 1:
            raise ValueError(
                f"Row {row} has different answers in {path}: {answers}. Keep one."
            )
        answers = answers[:1] if is_csv else answers
        # Those who could tell speak for those who could not.
        found[row] = [answer for answer in answers if answer != SKIP] or SKIP
    return found


def _row_number(cell, path):
    try:
        return _whole(cell)
    except (TypeError, ValueError):
        raise ValueError(f"{path}: {cell!r} is no row of the pool.") from None


def _csv_answers(text, path):
    """Pairs of row and text; empty cells are left out."""
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
        # Spreadsheets that part columns by semicolons write decimals with commas.
        if delimiter == ";" and _DECIMAL_COMMA.fullmatch(answer):
            answer = answer.replace(",", ".")
        if answer:
            yield row, answer


def _json_answers(text, path):
    """Pairs of row and choice or number, from either of Label Studio's exports."""
    try:
        tasks = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}. Export it again.") from None
    tasks = tasks if isinstance(tasks, list) else [tasks]
    for task in tasks:
        if not isinstance(task, dict):
            raise ValueError(f"{path} is no export of Label Studio: it has {task!r}.")
        row = task.get("data", task).get("row")
        if row is None:
            raise ValueError(
                f"Task {task.get('id')} of {path} has no row in its data. Import into "
                "Label Studio what export() wrote."
            )
        if "data" in task:
            annotations = [_controls(one) for one in task.get("annotations", [])]
        else:  # JSON-MIN has a record for each annotation, but the cancelled ones.
            annotations = [{"label": task["label"]}] if "label" in task else []
        for controls in annotations:
            answer = SKIP if controls == SKIP else _choice(controls, row)
            if answer is not None:
                yield row, answer


def _controls(annotation):
    if annotation.get("was_cancelled"):
        return SKIP
    results = annotation.get("result") or []
    return {each["from_name"]: each["value"] for each in results if "value" in each}


def _choice(controls, row):
    """What the control named label says, or the only one there is; None if nothing."""
    if len(controls) > 1 and "label" not in controls:
        raise ValueError(
            f"Row {row} has answers in {sorted(controls)}. Name the one that is the "
            "label `label` in the labelling interface."
        )
    value = controls.get("label", next(iter(controls.values()), None))
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            value = next((value[key] for key in _VALUES if key in value), None)
        elif len(value) > 1:
            raise ValueError(f"Row {row} has the labels {value}. Each row takes one.")
        else:
            value = value[0] if value else None
    return value


def plan_answers(evaluation, answers, correct=False):
    """Sort answers into what is to be done, and refuse them if not all can be.

    Parameters
    ----------
    evaluation : Evaluation
    answers : dict of int to list
        What :func:`read_answers` returned.
    correct : bool, default=False
        Whether labels that are there already may be replaced.

    Returns
    -------
    told, corrected : dict of int to list of labels
        `corrected` has none for rows that turned out to be undecidable.
    skipped : list of int
        Rows with nothing to be done are in none of these.
    """
    ledger = evaluation.ledger
    unknown = sorted(set(answers) - set(ledger.indices))
    if unknown:
        raise ValueError(
            f"Rows {unknown} were not asked for. Take them out, or import into the "
            "evaluation that exported them."
        )
    told, corrected, skipped = {}, {}, []
    for row, given in answers.items():
        labels = [to_label(evaluation, answer, f"Row {row}: ") for answer in given]
        if row in ledger.labels:
            known = [ledger.labels[row], *ledger.more_labels.get(row, [])]
            if sorted(labels) != sorted(known):
                corrected[row] = labels
        elif labels:
            told[row] = labels
        elif row not in ledger.skipped:
            skipped.append(row)
    if corrected and not correct:
        raise ValueError(
            f"Rows {sorted(corrected)} have another label already. Pass correct=True "
            "to replace it, or take them out."
        )
    return told, corrected, skipped


def to_label(evaluation, answer, where=""):
    """An answer as a label of the evaluation; a ValueError says what would be one."""
    classes = evaluation.classes_
    is_closed = classes is not None and evaluation.task.is_closed
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
    raise ValueError(f"{where}{answer!r} is no label here. Give {allowed}.")


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
