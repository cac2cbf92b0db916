"""Files for annotators: spreadsheets without formulas, and tasks of Label Studio."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_ase._data._rows import columns_of, predictions_of
from sklearn_ase._utils._checks import check_path, shown
from sklearn_ase._utils._display import Advice, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sklearn_ase._utils._typing import Rows, StrPath

# A text that starts with one of these is a formula for some spreadsheet.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d+[.,]\d+(e[+-]?\d+)?", re.IGNORECASE)
_ROW = re.compile(r"\d+(\.0+)?")
_CELL_ERROR = re.compile(r"#([A-Z]+[!?]|DIV/0!|N/A)")


def export_rows(
    X: Rows,
    indices: Any,
    path: StrPath,
    predictions: Any = None,
    overwrite: bool = False,
    names: Any = None,
    row_names: Any = None,
) -> None:
    """Write rows for annotators; see :meth:`Evaluation.export`."""
    check_free(path, overwrite)
    indices, columns = [int(index) for index in indices], columns_of(X, indices)
    if names is not None:
        columns = _chosen(columns, names)
    if predictions is not None:
        predictions = predictions_of(predictions, X, indices)
    if row_names is not None:
        indices = [int(row) for row in row_names]
    write_rows(path, indices, columns, predictions)


def write_rows(
    path: StrPath,
    indices: list[int],
    columns: dict[str, list],
    predictions: list | None = None,
) -> None:
    """Write cells of rows as a sheet, or as tasks of Label Studio."""
    if check_suffix(path) == ".json":
        _write_tasks(path, indices, columns, predictions)
        return
    table: dict[str, list] = {"row": indices, "label": [""] * len(indices)}
    if predictions is not None:
        table["prediction"] = predictions
    _write_sheet(path, table | columns)


def _chosen(columns: dict[str, list], names: Any) -> dict[str, list]:
    """Some of the columns, in the order of their names."""
    if isinstance(names, str):
        raise TypeError(
            f"columns={names!r} must be a list of names: columns=[{names!r}]."
        )
    # A feature that is called like a column of the sheet has a longer name there.
    full = {name.removesuffix(" (feature)"): name for name in columns}
    full |= {name: name for name in columns}
    unknown = [name for name in map(str, names) if name not in full]
    if unknown:
        raise ValueError(
            f"columns={shown(list(names))}: the pool has no column {shown(unknown)}. "
            f"Its columns are {shown(list(columns))}."
        )
    return {full[str(name)]: columns[full[str(name)]] for name in names}


def check_free(path: StrPath, overwrite: bool = False) -> None:
    """Refuse a file with another ending, and one that would replace answers."""
    check_suffix(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            Advice(
                f"{path} exists already and may hold answers. Choose another name, or",
                cure="overwrite",
                in_python="pass overwrite=True.",
            )
        )


def check_suffix(path: StrPath) -> str:
    """Return the ending of a file's name, or raise if it is not supported."""
    suffix = Path(check_path(path)).suffix.lower()
    if suffix not in (".csv", ".json"):
        raise ValueError(
            f"path={path} must end in .csv, for spreadsheets, or in .json, for Label "
            "Studio."
        )
    return suffix


# Spreadsheets.


def _write_sheet(path: StrPath, columns: dict[str, list]) -> None:
    """Write a CSV file in which no cell is a formula."""
    file = io.StringIO(newline="")
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    csv.writer(file).writerows([_neutral(cell) for cell in line] for line in lines)
    # Spreadsheets read a file as UTF-8 only if it starts with a byte order mark.
    encoded = file.getvalue().encode("utf-8-sig", errors="backslashreplace")
    write_whole(path, encoded)


def _neutral(cell: Any) -> Any:
    """Return a cell with an apostrophe before what would be a formula."""
    text = str(cell)
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else cell


def read_sheet(
    text: str, path: StrPath, names: set[str]
) -> tuple[list[tuple[str, str]], list[tuple[int, str, dict[str, str]]]]:
    """Return the answers in a CSV file, by row, and the lines that have one."""
    delimiter, lines = read_lines(text, path, _is_header)
    header = [name.strip() for name in lines[0][1]] if lines else []
    if not _is_header(header):
        raise ValueError(
            f"{path} must have one column named row and one named label, but starts "
            f"with {text[:80]!r}."
        )
    row_at, label_at = header.index("row"), header.index("label")
    answers, answered = [], []
    signs: dict[str, int] = {}  # Of decimals, with the first line that has it.
    for number, cells in lines[1:]:
        where = f"{path}, line {number}"
        _check_line(cells, header, delimiter, where)
        cells += [""] * (len(header) - len(cells))
        answer = _answer(cells[label_at], names, where)
        # Where columns are separated by semicolons, decimals are written with commas.
        if answer and delimiter == ";" and not names and _DECIMAL.fullmatch(answer):
            signs.setdefault("," if "," in answer else ".", number)
            answer = answer.replace(",", ".")
        if answer is not None:
            row = cells[row_at].strip()
            answers.append((row, answer))
            answered.append((number, row, dict(zip(header, cells, strict=False))))
    if len(signs) == 2:
        raise ValueError(
            f"{path} has a number with a decimal comma in line {signs[',']}, and one "
            f"with a point in line {signs['.']}. Write all of them in the same way."
        )
    return answers, answered


def _is_header(cells: list[str]) -> bool:
    """Whether these are the names of the columns of a sheet."""
    names = [name.strip() for name in cells]
    return names.count("row") == names.count("label") == 1


def read_text(path: StrPath) -> str:
    """Return the text of a file, which must be in UTF-8."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8. Save it as CSV UTF-8.") from None


def read_lines(
    text: str, path: StrPath, rate: Callable[[list[str]], int]
) -> tuple[str, list[tuple[int, list[str]]]]:
    """Return what separates the columns of a CSV file, and its lines by number.

    The separator is the first whose names of columns `rate` rates highest.
    """

    def table(sign: str, is_strict: bool) -> Any:
        file = io.StringIO(text, newline="")
        return csv.reader(file, delimiter=sign, strict=is_strict)

    # By default csv refuses cells with more than 2**17 characters.
    limit = csv.field_size_limit(len(text) + 1)
    lines, number = [], 1
    try:
        delimiter = max(",;\t", key=lambda sign: rate(next(table(sign, False), [])))
        reader = table(delimiter, True)
        for cells in reader:
            lines.append((number, cells))
            number = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {number}: a quotation mark is not closed, or is inside a "
            f"quoted cell ({error}). Close the cell, or double the mark inside it."
        ) from None
    finally:
        csv.field_size_limit(limit)
    return delimiter, lines


def as_number(cell: Any) -> float:
    """Return a cell as a number, or NaN if it is empty or not a number."""
    if "_" in str(cell):  # Python reads 1_000 as a number.
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _check_line(
    cells: list[str], header: list[str], delimiter: str, where: str
) -> None:
    """Raise if cells were split that belong together, or the other way round."""
    if any(cell.strip() for cell in cells[len(header) :]):
        raise ValueError(
            f"{where} has {len(cells)} cells, but there are {len(header)} columns. "
            f"Quote cells that contain {delimiter!r}, and write decimals with a point."
        )
    row_at, label_at = header.index("row"), header.index("label")
    for name, cell in zip(header, cells, strict=False):
        for line in cell.splitlines()[1:]:
            parts = [part.strip() for part in line.split(delimiter)]
            is_line = len(parts) == len(header) and _ROW.fullmatch(parts[row_at])
            if is_line and parts[label_at]:
                raise ValueError(
                    f"{where}: the cell in column {name!r} contains {line!r}, which "
                    "looks like a line of this file after a quotation mark that was "
                    "not closed. Close it, or delete the column if the cell is right."
                )


def _answer(cell: str, names: set[str], where: str) -> str | None:
    """Return the answer in a cell, exactly as the class if it is one; None if empty."""
    text = cell.strip()
    plain = text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text
    if text == '""' and "" in names:  # An empty cell has no answer.
        return ""
    for option in filter(None, (cell, text, plain)):
        if option in names:
            return option
    if text.casefold() in ("true", "false"):  # Spreadsheets write True as TRUE.
        alike = [name for name in names if name.casefold() == text.casefold()]
        return alike[0] if len(alike) == 1 else text
    if _CELL_ERROR.fullmatch(text):
        raise ValueError(
            f"{where}: {text} is an error of the spreadsheet. Format the column label "
            "as text, and type the label again."
        )
    return plain or None


# Tasks and exports of Label Studio.


SKIP: tuple = ()  # The answer "cannot tell": it has no label.
_CONTROL = "label"  # The control whose answers are read.
_VALUES = ("choices", "number", "rating", "text")
# What JSON-MIN adds to the answers, and what export() wrote.
_NO_CONTROLS = {"row", "text", "features", "id", "annotator", "annotation_id"}
_NO_CONTROLS |= {"created_at", "updated_at", "lead_time", "agreement"}


def _write_tasks(
    path: StrPath,
    indices: list[int],
    columns: dict[str, list],
    predictions: list | None = None,
) -> None:
    """Write rows in the form that Label Studio imports."""
    text = json.dumps(_tasks(indices, columns, predictions), default=str)
    # JSON has neither NaN nor Infinity: null, and the word.
    tasks = json.loads(text, parse_constant=lambda name: {"NaN": None}.get(name, name))
    text = json.dumps(tasks, ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def _tasks(
    indices: list[int], columns: dict[str, list], predictions: list | None
) -> list[dict]:
    """Rows as tasks of Label Studio."""
    tasks: list[dict] = []
    for place, index in enumerate(indices):
        cells = {name: column[place] for name, column in columns.items()}
        # All features are under one name: one <Table value="$features"/> shows them.
        data = cells if list(cells) == ["text"] or not cells else {"features": cells}
        tasks.append({"data": {"row": index, **data}})
        result = [] if predictions is None else _result(predictions[place])
        if result:
            tasks[-1]["predictions"] = [{"result": result}]
    return tasks


def _result(prediction: Any) -> list[dict]:
    """Return a prediction in the form of Label Studio's controls Choices and Number."""
    value: dict[str, Any] = {"choices": [str(prediction)]}
    if isinstance(prediction, float):
        value = {"number": prediction}
        if not math.isfinite(prediction):
            return []
    (kind,) = value
    names = {"from_name": _CONTROL, "to_name": "item"}
    return [{**names, "type": kind, "value": value}]


def read_export(text: str, path: StrPath) -> list[tuple[Any, Any]]:
    """Return the answers in an export of Label Studio.

    Only the control named ``label`` is read.
    """
    answers: list[tuple[Any, Any]] = []
    others: set[str] = set()
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


def _annotations(text: str, path: StrPath) -> Iterator[tuple[Any, Any]]:
    """Yield row and controls, a dict of values by name or `SKIP`, per annotation."""
    for task in _records(text, path):
        data = task.get("data", task)
        row = data.get("row") if isinstance(data, dict) else None
        if row is None:
            raise ValueError(
                f"Task {task.get('id')} of {path} has no row in its data. Import into "
                "Label Studio the file that was written for it."
            )
        if "data" not in task:  # JSON-MIN, without those that were cancelled.
            yield row, {name: task[name] for name in task.keys() - _NO_CONTROLS}
            continue
        for annotation in _dicts(task.get("annotations") or [], path):
            if annotation.get("was_cancelled"):
                yield row, SKIP
                continue
            controls: dict[str, list] = {}
            for result in _dicts(annotation.get("result") or [], path):
                if "value" in result and "from_name" in result:
                    controls.setdefault(result["from_name"], []).append(result["value"])
            yield row, controls


def _records(text: str, path: StrPath) -> list[dict]:
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


def _dicts(records: list, path: StrPath) -> list[dict]:
    """Refuse records that are no dicts."""
    for record in records:
        if not isinstance(record, dict):
            raise ValueError(
                f"{path} is not an export of Label Studio: it holds {record!r} where a "
                "task should be. Export it again as JSON or JSON-MIN."
            )
    return records


def _choice(value: Any, row: Any) -> Any:
    """Return the one answer in a value such as ``[{"choices": ["cat"]}]``, or None."""
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            values = [value[key] for key in _VALUES if key in value]
            if not values:
                raise ValueError(
                    f"Row {row} has the answer {value}. Use Choices or Number for the "
                    f"control {_CONTROL!r}."
                )
            value = values[0]
        elif len(value) > 1:
            raise ValueError(
                f"Row {row} has the labels {value}, but a row takes one. Use a control "
                "with a single choice."
            )
        else:
            value = value[0] if value else None
    return value
