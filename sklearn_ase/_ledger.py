"""The record of what was asked and what was answered: labels are never lost."""

import csv
import json

import numpy as np

_ANSWER = ("label", "label_type", "order", "refit", "more_labels")
_KINDS = {
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "str": str,
}


class LabelLedger:
    """Record of queries and labels, in the order in which they were asked.

    With each query stands what was known before its label was seen, so that every
    risk can be computed again from the ledger alone.

    Attributes
    ----------
    indices : list of int
        Rows of the pool, in the order in which they were asked.
    query_proba : list of float
        Probability of each pick; NaN where it had none.
    expected_loss : list of float
        ``g`` at the picked row, 0 before the surrogate's first fit.
    free_expected_loss : list of float
        Sum of ``g`` over the rows that were free, the picked one included.
    residual_moment, loss_moment : list of float
        Mean of ``((l - g) / q)²`` and of ``(l / q)²`` over pick and label, as the
        surrogate expected them; NaN before its first fit and where the pick had no
        probability.
    labels : dict of int to label
        Answers so far, in the order in which they came; the first one of each row.
    more_labels : dict of int to list
        Further answers for the same rows, where several people were asked.
    refits : list of int
        Numbers of labels at which the surrogate was fitted again.

    Examples
    --------
    >>> from sklearn_ase import LabelLedger
    >>> ledger = LabelLedger()
    >>> ledger.ask([7, 3], [0.25, 0.5], *[[0.0, 0.0]] * 4)
    >>> ledger.tell([3], ["cat"])
    >>> ledger.pending
    [7]
    """

    columns = (
        "index",
        "query_proba",
        "expected_loss",
        "free_expected_loss",
        "residual_moment",
        "loss_moment",
    )

    def __init__(self):
        self.indices = []
        self.query_proba = []
        self.expected_loss = []
        self.free_expected_loss = []
        self.residual_moment = []
        self.loss_moment = []
        self.labels = {}
        self.more_labels = {}
        self.refits = []

    def __len__(self):
        return len(self.labels)

    @property
    def pending(self):
        """Rows that were asked for and have no label yet."""
        return [index for index in self.indices if index not in self.labels]

    def ask(self, indices, *numbers):
        """Record queries, each with what was known before its label.

        `numbers` are one sequence for each of the columns after the index.
        """
        self.indices.extend(int(index) for index in indices)
        for name, values in zip(self.columns[1:], numbers, strict=True):
            getattr(self, name).extend(float(value) for value in values)

    def tell(self, indices, labels, more_labels=()):
        """Record the labels of rows that were asked for.

        `more_labels` holds a sequence of further answers for each row, or nothing.
        Nothing is recorded unless all of it can be.
        """
        indices = [int(index) for index in indices]
        if len(indices) != len(labels):
            raise ValueError(
                f"{len(indices)} rows were to be answered, but {len(labels)} labels "
                "came. Give one label a row, in the order of the indices."
            )
        repeated = [index for index in indices if index in self.labels]
        if repeated or len(set(indices)) < len(indices):
            raise ValueError(
                f"Rows {repeated or indices} have a label already or are answered "
                "twice. Each row takes one label."
            )
        unknown = sorted(set(indices) - set(self.indices))
        if unknown:
            raise ValueError(
                f"Rows {unknown} were not asked for; open are {self.pending}. Answer "
                "what ask() returned."
            )
        further = {
            index: _plain(answers)
            for index, answers in zip(indices, more_labels, strict=False)
        }
        self.labels.update(zip(indices, _plain(labels), strict=True))
        self.more_labels.update(further)

    def copy(self):
        """An independent copy."""
        other = LabelLedger()
        other.ask(*(self._column(name) for name in self.columns))
        other.labels = dict(self.labels)
        other.more_labels = {index: list(m) for index, m in self.more_labels.items()}
        other.refits = list(self.refits)
        return other

    def to_csv(self, path):
        """Write the ledger: one line a query, the label empty while it is open.

        ``order`` says as how many-th the label came, ``refit`` whether the surrogate
        was fitted again after it, ``label_type`` how to read it back;
        ``more_labels`` are further answers as JSON.
        """
        order = {index: place for place, index in enumerate(self.labels, start=1)}
        refits = set(self.refits)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*self.columns, *_ANSWER])
            rows = zip(*(self._column(name) for name in self.columns), strict=True)
            for index, *numbers in rows:
                answer = [""] * len(_ANSWER)
                if index in self.labels:
                    label, place = self.labels[index], order[index]
                    answer = [label, type(label).__name__, place, int(place in refits)]
                    more = self.more_labels.get(index)
                    answer.append("" if more is None else json.dumps(more))
                writer.writerow([index, *map(repr, numbers), *answer])

    @classmethod
    def from_csv(cls, path):
        """Read a ledger that :meth:`to_csv` wrote."""
        ledger, answers = cls(), []
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = {*cls.columns, *_ANSWER} - set(reader.fieldnames or ())
            if missing:
                raise ValueError(
                    f"{path} is no ledger: columns {sorted(missing)} are missing. "
                    "Read files that LabelLedger.to_csv wrote."
                )
            for row in reader:
                index = int(row["index"])
                ledger.ask([index], *([row[name]] for name in cls.columns[1:]))
                if row["label"] and not row["label_type"]:
                    raise ValueError(
                        f"Row {index} of {path} has a label but no label_type. Say "
                        f"which of {sorted(_KINDS)} it is, and its order."
                    )
                if row["label_type"]:
                    label = _KINDS[row["label_type"]](row["label"])
                    order = int(row["order"])
                    answers.append((order, index, label))
                    if row["refit"] == "1":
                        ledger.refits.append(order)
                    if row["more_labels"]:
                        ledger.more_labels[index] = json.loads(row["more_labels"])
        ledger.labels = {index: label for _, index, label in sorted(answers)}
        ledger.refits.sort()
        return ledger

    def _column(self, name):
        return self.indices if name == "index" else getattr(self, name)


def _plain(labels):
    """Labels as Python's own scalars, which every file format can hold."""
    return [
        label.item() if isinstance(label, np.generic) else label for label in labels
    ]
