"""Label Studio: write rows as tasks, read its exports JSON and JSON-MIN."""

import json
import math

from sklearn_ase._utils._files import write_whole

SKIP = ()  # The answer "cannot tell": it has no label.
_CONTROL = "label"  # The control whose answers are read.
_VALUES = ("choices", "number", "rating", "text")
# What JSON-MIN adds to the answers, and what export() wrote.
_NO_CONTROLS = {"row", "text", "features", "id", "annotator", "annotation_id"}
_NO_CONTROLS |= {"created_at", "updated_at", "lead_time", "agreement"}


def write_tasks(path, indices, columns, predictions=None):
    """Write rows in the form that Label Studio imports.

    Parameters
    ----------
    path : str or path
    indices : list of int
    columns : dict of str to list
        Features of these rows.
    predictions : list, default=None
    """
    text = json.dumps(_tasks(indices, columns, predictions), default=str)
    # JSON has neither NaN nor Infinity: null, and the word.
    tasks = json.loads(text, parse_constant=lambda name: {"NaN": None}.get(name, name))
    text = json.dumps(tasks, ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def _tasks(indices, columns, predictions):
    tasks = []
    for place, index in enumerate(indices):
        cells = {name: column[place] for name, column in columns.items()}
        # All features are under one name: one <Table value="$features"/> shows them.
        data = cells if list(cells) == ["text"] or not cells else {"features": cells}
        tasks.append({"data": {"row": index, **data}})
        result = [] if predictions is None else _result(predictions[place])
        if result:
            tasks[-1]["predictions"] = [{"result": result}]
    return tasks


def _result(prediction):
    """Return a prediction in the form of Label Studio's controls Choices and Number."""
    kind, value = "choices", [str(prediction)]
    if isinstance(prediction, float):
        kind, value = "number", prediction
        if not math.isfinite(prediction):
            return []
    names = {"from_name": _CONTROL, "to_name": "item"}
    return [{**names, "type": kind, "value": {kind: value}}]


def read_export(text, path):
    """Return the answers in an export of Label Studio.

    Only the control named ``label`` is read.

    Parameters
    ----------
    text : str
        What the file holds.
    path : str or path
        For the messages.

    Returns
    -------
    answers : list of (row, answer)
        One for each annotation that has an answer, first those that were made first.
        The answer is `SKIP` if the annotation was cancelled.
    """
    answers, others = [], set()
    for row, controls in _annotations(text, path):
        if controls == SKIP:
            answers.append((row, SKIP))
        elif _CONTROL in controls:
            answers.append((row, _choice(controls[_CONTROL], row)))
        else:
            others |= {*controls}
    if others and not any(answer != SKIP for _, answer in answers):
        raise ValueError(
            f"{path} has answers in {sorted(others)}, but none in a control named "
            f"{_CONTROL!r}. Give this name to the control that holds the label, in "
            "the labelling interface."
        )
    return [(row, answer) for row, answer in answers if answer is not None]


def _annotations(text, path):
    """Yield row and controls, a dict of values by name or `SKIP`, per annotation."""
    for task in _records(text, path):
        data = task.get("data", task)
        row = data.get("row") if isinstance(data, dict) else None
        if row is None:
            raise ValueError(
                f"Task {task.get('id')} of {path} has no row in its data. Import into "
                "Label Studio what export() wrote."
            )
        if "data" not in task:  # JSON-MIN, without those that were cancelled.
            yield row, {name: task[name] for name in task.keys() - _NO_CONTROLS}
            continue
        for annotation in _dicts(task.get("annotations") or [], path):
            if annotation.get("was_cancelled"):
                yield row, SKIP
                continue
            controls = {}
            for result in _dicts(annotation.get("result") or [], path):
                if "value" in result and "from_name" in result:
                    controls.setdefault(result["from_name"], []).append(result["value"])
            yield row, controls


def _records(text, path):
    """Return the tasks of an export; those of JSON-MIN as they were annotated."""
    try:
        tasks = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"{path} is not valid JSON: {error}. Export it again."
        ) from None
    tasks = _dicts(tasks if isinstance(tasks, list) else [tasks], path)
    ids = [task.get("annotation_id") or 0 for task in tasks]
    # JSON-MIN has one record per annotation, for each task the newest first.
    if all(isinstance(each, int) for each in ids):
        order = sorted(range(len(tasks)), key=ids.__getitem__)
        tasks = [tasks[place] for place in order]
    return tasks


def _dicts(records, path):
    for record in records:
        if not isinstance(record, dict):
            raise ValueError(
                f"{path} is not an export of Label Studio: it holds {record!r} where a "
                "task should be. Export it again as JSON or JSON-MIN."
            )
    return records


def _choice(value, row):
    """Return the one answer in a value such as ``[{"choices": ["cat"]}]``, or None."""
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            found = [value[key] for key in _VALUES if key in value]
            if not found:
                raise ValueError(
                    f"Row {row} has the answer {value}. Use Choices or Number for the "
                    f"control {_CONTROL!r}."
                )
            value = found[0]
        elif len(value) > 1:
            raise ValueError(
                f"Row {row} has the labels {value}, but a row takes one. Use a control "
                "with a single choice."
            )
        else:
            value = value[0] if value else None
    return value
