"""Open the ledger of an evaluation: in memory, or in the file of a journal."""

import re
from collections.abc import Mapping
from contextlib import contextmanager

import numpy as np

from sklearn_ase._data._predictions import Predictions
from sklearn_ase._data._rows import check_indices, n_rows
from sklearn_ase._labels._fingerprint import (
    fingerprint,
    fingerprint_of_pool,
    sketch,
)
from sklearn_ase._labels._journal import Journal
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._labels._loss_values import sketch_loss
from sklearn_ase._utils._checks import check_path


@contextmanager
def open_ledger(ledger, journal):
    """Open a ledger to continue; it is closed again if the start fails.

    Parameters
    ----------
    ledger : LabelLedger or None
        Copied.
    journal : str, path or None

    Yields
    ------
    ledger : LabelLedger
    """
    if journal is None:
        yield LabelLedger() if ledger is None else ledger.copy()
        return
    if ledger is not None:
        raise ValueError(
            "Give ledger= or journal=, not both: a journal has a ledger of its own."
        )
    journal = Journal(check_path(journal, "journal"))
    try:
        with journal.held_back():  # A start that fails leaves no trace.
            yield journal
    except BaseException:
        journal.close()
        raise


def check_ledger(ledger, n_samples):
    """Check that a ledger may be of this pool."""
    if ledger is None:
        return
    if not isinstance(ledger, LabelLedger):
        raise TypeError(
            f"ledger must be a LabelLedger, got {ledger!r}. Read a file with "
            "LabelLedger.from_csv(path)."
        )
    rows = [*ledger.indices, *ledger.known]
    wrong = [index for index in rows if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"The ledger is of another pool: it has row {wrong[0]}, but this pool has "
            f"{n_samples} rows."
        )
    if len(set(ledger.indices)) < len(ledger.indices):
        raise ValueError(
            "The ledger asks for some rows twice. Each row is asked for once."
        )


def recognise_pool(ledger, problem):
    """Refuse a ledger of other rows, and let it remember these.

    Parameters
    ----------
    ledger : LabelLedger
    problem : Problem
    """
    pool = fingerprint_of_pool(problem)
    if None not in (pool, ledger.pool) and pool != ledger.pool:
        raise ValueError(
            "The ledger is of another pool: the rows, their order or their types "
            "differ. Labels belong to rows by their place in the pool, so give the "
            "pool that the ledger was made with. If only types of columns have "
            "changed, remove the column pool from the file of to_csv."
        )
    ledger.pool = pool or ledger.pool


def check_known_labels(known_labels, n_samples):
    """Check labels that are available before the first query, as a dict."""
    if known_labels is None:
        return {}
    if not isinstance(known_labels, Mapping):
        raise TypeError(
            "known_labels must be a dict {row: label}, where rows are counted from 0, "
            f"got a {type(known_labels).__name__}. For an array with None where no "
            "label is known: {row: label for row, label in enumerate(labels) if label "
            "is not None}."
        )
    rows = check_indices(list(known_labels), "known_labels", n_samples)
    return dict(zip(rows.tolist(), known_labels.values(), strict=True))


def header_of(problem, seed, settings):
    """Return what identifies an evaluation, as JSON values.

    Parameters
    ----------
    problem : Problem
    seed : int
    settings : dict of str to object
        Parameters that shape the evaluation; they may be changed, with a warning.

    Returns
    -------
    header : dict
    """
    rows = {
        "X_train": problem.X_train,
        "y_train": problem.y_train,
        "cost": problem.cost,
        "sample_weight": problem.sample_weight,
        "train_predictions": getattr(problem.train_predictions, "response", None),
    }
    experts = None
    if problem.experts is not None:
        experts = {one.name: sketch(one.values) for one in problem.experts.each}
    return {
        "n_samples": n_rows(problem.X),
        "pool": fingerprint(problem.X),
        "predictions": sketch_predictions(problem.predictions),
        "task": problem.task,
        "loss": described(problem.loss),
        "loss_values": sketch_loss(problem),
        "classes": None if problem.classes is None else problem.classes.tolist(),
        "seed": seed,
        **{name: None if X is None else fingerprint(X) for name, X in rows.items()},
        "metric": None,  # As in journals of older versions.
        "experts": experts,
        **{name: described(value) for name, value in settings.items()},
    }


def record_known_labels(ledger, problem, known_labels):
    """Record labels that are available before the first query.

    Parameters
    ----------
    ledger : LabelLedger
    problem : Problem
    known_labels : dict of int to label
    """
    if not known_labels:
        return
    rows, labels = list(known_labels), list(known_labels.values())
    labels = problem.check_new_labels(labels, rows, "known_labels")
    if not ledger.given:
        problem.refuse_respelled(problem.classes, [], labels, name="known_labels")
    loss = problem.loss_for(problem.classes_with(labels))
    loss.observed(np.array([*known_labels]), labels)  # Refuses one without a loss.
    known_labels = dict(zip(known_labels, labels.tolist(), strict=True))
    if ledger.given and ledger.given != known_labels:
        raise ValueError(
            "known_labels differ from those the journal was started with. Leave "
            "them out, or give the same."
        )
    if ledger.indices and not ledger.given:
        raise ValueError(
            "known_labels must be given at the start: some rows have been asked "
            "for already."
        )
    if not ledger.given:
        ledger.know(known_labels, known_labels.values())


def sketch_predictions(predictions):
    """Sketch of the response, and of the expert if it differs.

    Parameters
    ----------
    predictions : Predictions or PredictionsOnDemand

    Returns
    -------
    columns : list of list of float
    """
    if not predictions.has_expert:
        return []
    if not isinstance(predictions, Predictions):
        predictions = predictions.some()
    columns = sketch(predictions.response)
    if predictions.expert is not predictions.response:
        columns += sketch(predictions.expert)
    return columns


def described(value):
    """Text that tells a strategy, a loss or a metric from others, in any session."""
    # Where a function lies in memory differs from run to run.
    return " ".join(re.sub(r" at 0x\w+", "", repr(value)).split())
