"""Where the labels of an evaluation are kept: in memory or in a journal."""

import re
from contextlib import contextmanager

import numpy as np

from sklearn_ase._data._rows import n_rows
from sklearn_ase._labels._fingerprint import fingerprint, sketch
from sklearn_ase._labels._journal import Journal
from sklearn_ase._labels._ledger import LabelLedger


@contextmanager
def opened(ledger, journal):
    """A ledger to go on with, closed again if the start fails.

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
    journal = Journal(journal)
    try:
        with journal.held_back():  # A start that fails leaves no trace.
            yield journal
    except BaseException:
        journal.close()
        raise


def stored_seed(ledger):
    """The seed of the campaign that a journal continues, or None."""
    header = getattr(ledger, "header", None)
    return None if header is None else header.get("seed")


def begin(ledger, task, seed, settings, known_labels):
    """Start a journal, or check that it is of this campaign; take up known labels.

    Parameters
    ----------
    ledger : LabelLedger
    task : Task
    seed : int
    settings : dict of str to object
        Parameters that shape the campaign; they may be changed, with a warning.
    known_labels : dict of int to label
    """
    if isinstance(ledger, Journal):
        ledger.begin(_header(task, seed, settings))
    if known_labels:
        labels = task.check_labels(list(known_labels.values()), list(known_labels))
        loss = task.loss_for(task.classes_with(labels))
        loss.observed(np.array([*known_labels]), labels)  # Refuses one without.
        known_labels = dict(zip(known_labels, labels.tolist(), strict=True))
        given = ledger.given
        if given and given != known_labels:
            raise ValueError(
                "known_labels differ from those the journal was started with. Leave "
                "them out, or give the same."
            )
        if ledger.indices and not given:
            raise ValueError(
                "known_labels must be given at the start: some rows have been asked "
                "for already."
            )
        if not given:
            ledger.know(known_labels, known_labels.values())


def _header(task, seed, settings):
    rows = {"X_train": task.X_train, "y_train": task.y_train, "cost": task.cost}
    honest = task.train_predictions
    rows["train_predictions"] = None if honest is None else honest.response
    return {
        "n_samples": n_rows(task.X),
        "pool": fingerprint(task.X),
        "predictions": _sketch(task.predictions),
        "kind": task.kind,
        "loss": _name(task.loss),
        "classes": None if task.labels is None else task.labels.tolist(),
        "seed": seed,
        **{name: None if X is None else fingerprint(X) for name, X in rows.items()},
        **{name: _name(value) for name, value in settings.items()},
    }


def _sketch(predictions):
    """What the loss reads and, where it is something else, what the surrogate does."""
    columns = sketch(predictions.response)
    if predictions.expert is not predictions.response:
        columns += sketch(predictions.expert)
    return columns


def _name(value):
    # Where a function lies in memory differs from run to run.
    return re.sub(r" at 0x\w+", "", repr(value))
