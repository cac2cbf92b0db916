"""The section about the labels: how many, which, and those nobody expected."""

import math
from collections import Counter

import numpy as np

from sklearn_ase._report._blocks import Facts, Range, Table, Words
from sklearn_ase._report._estimates import range_of
from sklearn_ase._report._text import counted, number, percent
from sklearn_ase.metrics import LabelMean, LabelShare

_MOST_CLASSES = 10
_MOST_ROWS = 10


def labelled_blocks(evaluation, level, columns):
    """What was labelled.

    Parameters
    ----------
    evaluation : Evaluation
    level : float
    columns : dict of str to sequence of length n_samples
        Shown beside single rows.

    Yields
    ------
    block : block
    """
    ledger = evaluation.ledger
    yield Facts(_counts(evaluation))
    if not len(ledger):
        yield Words("No row is labelled yet.", is_missing=True)
        return
    yield from _of_labels(evaluation, level)
    if ledger.more_labels:
        yield from _agreement(evaluation, level)
    yield from _unexpected(evaluation, columns)


def _counts(evaluation):
    ledger = evaluation.ledger
    facts = {"labels": f"{len(ledger)} of {counted(evaluation.n_samples, 'row')}"}
    if ledger.known:
        facts["known beforehand"] = counted(len(ledger.known), "label")
    if ledger.skipped:
        facts["could not be labelled"] = counted(len(ledger.skipped), "row")
    if ledger.pending:
        facts["asked for, not answered yet"] = counted(len(ledger.pending), "row")
    if evaluation.problem.cost is not None:
        facts["cost of the labels"] = number(evaluation.spent)
    return facts


def _of_labels(evaluation, level):
    """How often each label was given, and its share in the pool; or the numbers."""
    labels = list(evaluation.ledger.labels.values())
    if evaluation.classes_ is None:
        values = np.array(labels, dtype=float)
        middle = f"{number(float(np.median(values)))} in the middle"
        span = f"{number(values.min())} to {number(values.max())}, {middle}"
        facts, mean = {"labels that were given": span}, _asked(evaluation, LabelMean())
        if mean is not None:
            name = f"mean label of the pool ({percent(level)} interval)"
            facts[name] = str(range_of(mean, level))
        yield Facts(facts)
        return
    counts = Counter(labels)
    for label in evaluation.classes_.tolist():
        counts.setdefault(label, 0)
    rows = []
    for label, count in counts.most_common(_MOST_CLASSES):
        found = _asked(evaluation, LabelShare(label))
        share = Range(math.nan) if found is None else range_of(found, level)
        rows.append([str(label), count, share])
    yield Words(
        "Rows were picked on purpose and not evenly, so the labels that were given do "
        "not show how frequent each label is. The last column estimates that."
    )
    head = ["label", "given", f"estimated share of the pool ({percent(level)})"]
    yield Table(head, rows, drawn=2)
    if len(counts) > _MOST_CLASSES:
        yield Words(f"{len(counts) - _MOST_CLASSES} rarer labels are not shown.")


def _asked(evaluation, metric):
    """An estimate; None if there is none."""
    try:
        return evaluation.estimate(metric=metric)
    except ValueError:
        return None


def _agreement(evaluation, level):
    try:
        yield Facts(evaluation.agreement(level=level).describe())
    except ValueError as error:
        yield Words(str(error), is_missing=True)


def _unexpected(evaluation, columns):
    """The labels that differ most from what was expected."""
    history = evaluation.history
    surprise = np.abs(history["loss"] - history["expected_loss"])
    order = np.argsort(-np.nan_to_num(surprise, nan=-1.0), kind="stable")[:_MOST_ROWS]
    problem = evaluation.problem
    has_model = problem.model is not None or problem.predictions.expert is not None
    has_loss = has_model and not hasattr(evaluation, "models")  # There it is of one.
    rows = []
    for place in order:
        row = int(history["index"][place])
        cells = [_cell(column, row) for column in columns.values()]
        label = history["label"][place].item()
        line = [row, *cells, label if isinstance(label, float) else str(label)]
        if has_loss:
            line += [float(history[name][place]) for name in ("expected_loss", "loss")]
        rows.append(line)
    head = ["row", *columns, "label", *["expected loss", "loss"] * has_loss]
    which = f"The {len(rows)} labels" if len(rows) > 1 else "The label"
    yield Words(
        f"{which} that the surrogate expected least. If a label may be wrong, look at "
        "these rows first."
    )
    yield Table(head, rows)


def _cell(column, row):
    value = column[row]
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else str(value)
