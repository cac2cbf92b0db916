"""Write rows to a file for annotators: a spreadsheet, or tasks for Label Studio."""

import csv
import json
from pathlib import Path

from sklearn_ase._data._columns import columns_of, predictions_of
from sklearn_ase._utils._checks import check_path


def export_rows(X, indices, path, predictions=None, overwrite=False):
    """Write rows for annotators; see :meth:`Evaluation.export`.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
        The pool.
    indices : array-like of int of shape (n_rows,)
        Rows to write.
    path : str or path
        Ends in ``.csv``, for spreadsheets, or in ``.json``, for Label Studio.
    predictions : array-like of shape (n_samples,), default=None
        Predictions of the model for the whole pool, shown beside the rows.
    overwrite : bool, default=False
        Whether a file of this name may be replaced.
    """
    suffix = check_suffix(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            f"{path} exists already and may hold answers. Choose another name, or pass "
            "overwrite=True."
        )
    indices, columns = [int(index) for index in indices], columns_of(X, indices)
    if predictions is not None:
        predictions = predictions_of(predictions, X, indices)
    write = _write_tasks if suffix == ".json" else _write_sheet
    write(path, indices, columns, predictions)


def check_suffix(path):
    """Return the ending of a file's name, or raise if it is not supported.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    suffix : {".csv", ".json"}
    """
    suffix = Path(check_path(path)).suffix.lower()
    if suffix not in (".csv", ".json"):
        raise ValueError(
            f"path={path} must end in .csv, for spreadsheets, or in .json, for Label "
            "Studio."
        )
    return suffix


def _write_sheet(path, indices, columns, predictions):
    table = {"row": indices, "label": [""] * len(indices)}
    if predictions is not None:
        table["prediction"] = predictions
    # Spreadsheets read a file as UTF-8 only if it starts with a byte order mark.
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(table | columns)
        writer.writerows(zip(*(table | columns).values(), strict=True))


def _write_tasks(path, indices, columns, predictions):
    tasks = _tasks(indices, columns, predictions)
    text = json.dumps(tasks, ensure_ascii=False, indent=1, default=str)
    Path(path).write_text(text, encoding="utf-8")


def _tasks(indices, columns, predictions):
    """Return rows in the form that Label Studio imports."""
    tasks = []
    for place, index in enumerate(indices):
        cells = {name: column[place] for name, column in columns.items()}
        # All features are under one name: one <Table value="$features"/> shows them.
        data = cells if list(cells) == ["text"] or not cells else {"features": cells}
        tasks.append({"data": {"row": index, **data}})
        if predictions is not None:
            tasks[-1]["predictions"] = [{"result": [_result(predictions[place])]}]
    return tasks


def _result(prediction):
    """Return a prediction in the form of Label Studio's controls Choices and Number."""
    kind, value = "choices", [str(prediction)]
    if isinstance(prediction, float):
        kind, value = "number", prediction
    names = {"from_name": "label", "to_name": "item"}
    return {**names, "type": kind, "value": {kind: value}}
