"""Files of answers, as spreadsheets and Label Studio write them."""

import csv
import json

import numpy as np

POOL = np.arange(24.0).reshape(12, 2) / 10
TEXTS = [f"line {i},\nsecond; line" for i in range(12)]
CANCELLED = {"result": [], "was_cancelled": True}


def write(path, text):
    """Write text or bytes, and return the path."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_table(path):
    """Lines of a table, each as a dict."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def fill_in(path, labels):
    """Answer the rows of an exported file, as somebody with a spreadsheet would."""
    lines = [line | {"label": labels[int(line["row"])]} for line in read_table(path)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def open_rows(evaluation):
    """Rows that wait for an answer."""
    return evaluation.pending.indices.tolist()


def annotation(value, control="label", **more):
    """One annotation as Label Studio exports it."""
    result = [{"from_name": control, "to_name": "item", "value": value}]
    return {"result": result, "was_cancelled": False, **more}


def write_studio_export(path, annotations):
    """Write Label Studio's full export of annotations by row."""
    tasks = [
        {"id": 100 + row, "data": {"row": row}, "annotations": some, "predictions": []}
        for row, some in annotations.items()
    ]
    return write(path, json.dumps(tasks))
