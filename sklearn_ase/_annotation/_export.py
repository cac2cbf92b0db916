"""Write rows to a file for those who label them: a spreadsheet or tasks."""

import csv
import json
from pathlib import Path

from sklearn_ase._data._columns import columns_of, predictions_of


def export_rows(X, indices, path, predictions=None, overwrite=False):
    """Write rows for annotators; see :meth:`Evaluation.export`.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
        The pool.
    indices : array-like of int
    path : str or path
        Ends in ``.csv``, for spreadsheets, or in ``.json``, for Label Studio.
    predictions : array-like of shape (n_samples,), default=None
        Of the model on the whole pool, to be shown.
    overwrite : bool, default=False
    """
    suffix = check_suffix(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            f"{path} is there already, perhaps with answers in it. Choose another "
            "name, or pass overwrite=True."
        )
    indices, columns = [int(index) for index in indices], columns_of(X, indices)
    if predictions is not None:
        predictions = predictions_of(predictions, X, indices)
    if suffix == ".json":
        tasks = _tasks(indices, columns, predictions)
        text = json.dumps(tasks, ensure_ascii=False, indent=1, default=str)
        Path(path).write_text(text, encoding="utf-8")
        return
    table = {"row": indices, "label": [""] * len(indices)}
    if predictions is not None:
        table["prediction"] = predictions
    # Spreadsheets take a file for UTF-8 only if it starts with a byte order mark.
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(table | columns)
        writer.writerows(zip(*(table | columns).values(), strict=True))


def check_suffix(path):
    """Which kind of file it is, by its name."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".json"):
        raise ValueError(
            f"{path} must end in .csv, for spreadsheets, or in .json, for Label Studio."
        )
    return suffix


def _tasks(indices, columns, predictions):
    """Rows as Label Studio imports them."""
    tasks = []
    for place, index in enumerate(indices):
        cells = {name: column[place] for name, column in columns.items()}
        # Features stand together, so that one <Table value="$features"/> shows all.
        data = cells if list(cells) == ["text"] or not cells else {"features": cells}
        tasks.append({"data": {"row": index, **data}})
        if predictions is not None:
            tasks[-1]["predictions"] = [{"result": [_result(predictions[place])]}]
    return tasks


def _result(prediction):
    """A prediction as Label Studio's Choices, or its Number, would answer."""
    kind, value = "choices", [str(prediction)]
    if isinstance(prediction, float):
        kind, value = "number", prediction
    names = {"from_name": "label", "to_name": "item"}
    return {**names, "type": kind, "value": {kind: value}}
