"""A ledger as a table that people and spreadsheets can read."""

import csv
import json

from sklearn_ase._state import RECORDED, Picks
from sklearn_ase._utils._checks import check_path

_ASKED = ("index", *RECORDED[1:])
_ANSWER = ("label", "label_type", "order", "refit", "more_labels")
_SKIPPED = "skipped"
_BEFORE = "0"
_KINDS = {
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "str": str,
}


def write_csv(ledger, path):
    """Write a ledger; see :meth:`LabelLedger.to_csv`."""
    order = {index: place for place, index in enumerate(ledger.labels, start=1)}
    refits = set(ledger.refits)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*_ASKED, *_ANSWER])
        for index, label in ledger.known.items():
            nothing = [""] * (len(_ASKED) - 1)
            kind = type(label).__name__
            writer.writerow([index, *nothing, label, kind, _BEFORE, "", ""])
        rows = zip(*(getattr(ledger, name) for name in RECORDED), strict=True)
        for index, *numbers in rows:
            answer = [""] * len(_ANSWER)
            if index in ledger.skipped:
                answer[1] = _SKIPPED
            if index in ledger.labels:
                label, place = ledger.labels[index], order[index]
                answer = [label, type(label).__name__, place, int(place in refits)]
                more = ledger.more_labels.get(index)
                answer.append("" if more is None else json.dumps(more))
            writer.writerow([index, *map(repr, numbers), *answer])


def read_csv(ledger, path):
    """Fill an empty ledger from a file that :func:`write_csv` wrote."""
    answers = []
    with open(check_path(path), newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = {*_ASKED, *_ANSWER} - set(reader.fieldnames or ())
        if missing:
            raise ValueError(
                f"{path} is not a ledger: columns {sorted(missing)} are missing. "
                "Read files that LabelLedger.to_csv wrote."
            )
        for row in reader:
            index = int(row["index"])
            if row["order"] == _BEFORE:
                ledger.know([index], [_KINDS[row["label_type"]](row["label"])])
                continue
            numbers = [[_number(row[name])] for name in _ASKED[1:]]
            ledger.ask(Picks.unanswered([index], *numbers))
            if row["label"] and not row["label_type"]:
                raise ValueError(
                    f"Row {index} of {path} has a label but no label_type. Write "
                    f"which of {sorted(_KINDS)} it is, and its order."
                )
            if row["label_type"] == _SKIPPED:
                ledger.skipped.append(index)
            elif row["label_type"]:
                label = _KINDS[row["label_type"]](row["label"])
                order = int(row["order"])
                answers.append((order, index, label))
                if row["refit"] == "1":
                    ledger.refits.append(order)
                if row["more_labels"]:
                    ledger.more_labels[index] = json.loads(row["more_labels"])
    ledger.labels = {index: label for _, index, label in sorted(answers)}
    ledger.refits.sort()
    for place, index in enumerate(ledger.labels, start=1):
        ledger.note([index], None, place in ledger.refits)
    return ledger


def _number(text):
    """A number, or a list of numbers, as ``repr`` writes them."""
    if text.startswith("["):
        return [float(part) for part in text.strip("[]").split(",")]
    return float(text)
