"""The journal: a ledger that is opened again, and refused if it is of other data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._predictions import Predictions
from sklearn_ase._data._rows import check_indices, is_dataset, n_rows
from sklearn_ase._labels._fingerprint import (
    fingerprint,
    fingerprint_of_pool,
    same_experts,
    same_loss_values,
    same_sketch,
    sketch,
    sketch_loss,
)
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._labels._store import (
    FORMAT,
    VERSION,
    BaseStore,
    as_store,
    check_header,
    finite,
    read_file,
)
from sklearn_ase._state import Picks
from sklearn_ase._utils._checks import check_path
from sklearn_ase._utils._display import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._data._sampling import PoolSample
    from sklearn_ase._utils._typing import StrPath

_VERBS = {"ask", "tell", "correct", "withdraw", "skip", "know", "refit", "note"}
_NOT_NUMBERS = ("refusal", "anytime_refusal", "of", "name", "scale", "kind")


@contextmanager
def open_ledger(
    ledger: LabelLedger | None, journal: BaseStore | StrPath | None
) -> Iterator[LabelLedger]:
    """Open a ledger to continue; what happens is written when the start is over.

    A start that fails leaves no trace, and closes what was opened here.
    """
    if journal is None:
        ledger = LabelLedger() if ledger is None else ledger.copy()
        ledger.header = None  # The evaluation may have another model or loss.
        yield ledger
        return
    if ledger is not None:
        raise ValueError(
            "Give ledger= or journal=, not both: a journal has a ledger of its own."
        )
    store = as_store(journal)
    try:
        ledger = _replayed(store.read(), str(store))
        ledger.hold_back(str(store))
        yield ledger
        ledger.write_to(store)
    except BaseException:
        if store is not journal:
            store.close()
        raise


def origin_in(journal: BaseStore | StrPath | None) -> dict[str, Any] | None:
    """Return from where the pool of a journal was drawn; None if it was not."""
    if journal is None:
        return None
    if isinstance(journal, BaseStore):
        entries = journal.read()
    else:
        path = Path(check_path(journal, "journal"))
        entries = read_file(path) if path.exists() else []
    return entries[0].get("source") if entries else None


def read_journal(path: StrPath) -> LabelLedger:
    """Return what a journal holds, also while an evaluation has it open.

    Nothing is fitted and the pool is not needed. A last line that was not written to
    its end is left out, as it is when the journal is opened.
    """
    return _replayed(read_file(path), str(path))


def _replayed(entries: list, name: str) -> LabelLedger:
    """The ledger that the entries of a journal make."""
    ledger = LabelLedger()
    if not entries:
        return ledger
    header, *events = entries
    check_header(header, name)
    ledger.header, ledger.settings = header, _settings(header)
    for place, event in enumerate(events, start=2):
        try:
            _replay(ledger, event)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise JournalError(
                f"Line {place} of {name} does not fit what came before it: {error} "
                "The file was left as it is."
            ) from error
    return ledger


def _replay(ledger: LabelLedger, event: list) -> None:
    """Let an event of a journal happen again."""
    verb, *arguments = event
    if verb == "together":
        for one in arguments:
            _replay(ledger, one)
        return
    if verb == "settings":
        ledger.use(*arguments)
        return
    if verb not in _VERBS:
        raise ValueError(f"{verb!r} is not an event.")
    _check_event(ledger, verb, arguments[0])
    if verb == "ask":
        arguments = [Picks.unanswered(*arguments)]
    if verb == "note":
        arguments[1] = _numbers(arguments[1])
    getattr(ledger, verb)(*arguments)


def _check_event(ledger: LabelLedger, verb: str, first: Any) -> None:
    """Refuse what only a damaged file can say."""
    if verb == "ask":
        assert ledger.header is not None
        source = ledger.header.get("source")
        n_rows = ledger.header["n_samples"] if source is None else source["n_rows"]
        if not all(0 <= index < n_rows for index in first):
            raise ValueError(f"Rows {first} are not all rows of the pool.")
    if verb == "note" and not all(index in ledger.labels for index in first):
        raise ValueError(f"Rows {first} do not all have a label.")
    if verb == "refit" and not 0 <= first <= len(ledger.labels):
        raise ValueError(f"There are fewer than {first} labels.")


def _numbers(value: Any) -> Any:
    """A noted estimate with the numbers that JSON lacks."""
    if isinstance(value, dict):
        return {
            name: entry if name in _NOT_NUMBERS else _numbers(entry)
            for name, entry in value.items()
        }
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return float(value) if isinstance(value, str) else value


# Of which evaluation a ledger is.

# What may not differ when a journal is opened again, and how to say that it does.
_SAME = {
    "source": "the source that the rows were drawn from, or the draw, differs",
    "n_samples": "the size of the pool differs",
    "pool": "the rows of the pool differ",
    "predictions": "the predictions of the model differ",
    "task": "one is of classification and the other of regression",
    "classes": "the classes differ",
    "loss": "the loss differs",
    "loss_values": "the loss has the same name but other values",
    "experts": "the experts, or what they say, differ",
}
_COMPARE = {
    # To read a pool that is not in memory takes long, so only journals know its rows.
    "pool": lambda first, second: None in (first, second) or first == second,
    "predictions": same_sketch,
    "loss_values": same_loss_values,
    "experts": same_experts,
}


def identify(ledger: LabelLedger, problem: Problem, header: dict[str, Any]) -> None:
    """Say of which evaluation a ledger is, or refuse it if it is of another one."""
    is_read = not is_dataset(problem.X) or ledger.place is not None
    rows = fingerprint(problem.X) if is_read else None
    _recognise_pool(ledger, fingerprint_of_pool(problem, rows))
    header = finite({"format": FORMAT, "version": VERSION, "pool": rows, **header})
    settings, before = _settings(header), ledger.header
    if before is not None:
        _compare(before, header, str(ledger.place))
    ledger.header = header
    if not ledger.settings:
        ledger.settings = settings
    before_and_now = ledger.settings | settings
    changed = [
        key for key in before_and_now if settings.get(key) != ledger.settings.get(key)
    ]
    if changed:
        ledger.use(settings)
    if changed and before is not None:
        warn_caller(
            f"{ledger.place} was last used with different "
            f"{', '.join(sorted(changed))}. What it recorded stays valid; what comes "
            "now follows the new ones.",
            JournalWarning,
        )


def _compare(before: dict[str, Any], header: dict[str, Any], name: str) -> None:
    """Refuse a journal of another evaluation."""
    for key, difference in _SAME.items():
        if not _COMPARE.get(key, eq)(before.get(key), header.get(key)):
            raise JournalError(
                f"{name} belongs to another evaluation: {difference}. Give what it was "
                "started with, or another file name. It was left as it is."
            )


def _settings(header: dict[str, Any]) -> dict[str, Any]:
    """What may differ when a journal is opened again."""
    same = {*_SAME, "format", "version"}
    return {key: value for key, value in header.items() if key not in same}


def check_ledger(ledger: Any, n_samples: int) -> None:
    """Check that a ledger may be of this pool."""
    if ledger is None:
        return
    if not isinstance(ledger, LabelLedger):
        raise TypeError(
            f"ledger must be a LabelLedger, got {ledger!r}. A file is resumed with "
            "start(..., journal=path)."
        )
    rows = [*ledger.indices, *ledger.known]
    wrong = [index for index in rows if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"The ledger is of another pool: it has row {wrong[0]}, but this pool has "
            f"{n_samples} rows."
        )


def _recognise_pool(ledger: LabelLedger, pool: str | None) -> None:
    """Refuse a ledger of other rows, and let it remember these."""
    if None not in (pool, ledger.pool) and pool != ledger.pool:
        raise ValueError(
            "The ledger is of another pool: the rows, their order or their types "
            "differ. Labels belong to rows by their place in the pool, so give the "
            "pool that the ledger was made with."
        )
    ledger.pool = pool or ledger.pool


def check_known_labels(
    known_labels: Any, n_samples: int, sample: PoolSample | None = None
) -> dict[int, Any]:
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
    n_named = n_samples if sample is None else sample.n_source_rows
    rows = check_indices(list(known_labels), "known_labels", n_named)
    known_labels = dict(zip(rows.tolist(), known_labels.values(), strict=True))
    if sample is None:
        return known_labels
    drawn = np.isin(rows, sample.indices)
    if not drawn.all():
        warn_caller(
            f"{np.sum(~drawn)} of {len(rows)} known_labels are of rows that were not "
            "drawn into the sample, and are left out. Give such rows as X_train.",
            UserWarning,
        )
    return {row: known_labels[row] for row in rows[drawn].tolist()}


def header_of(problem: Problem, seed: int, settings: dict[str, Any]) -> dict:
    """Return what identifies an evaluation, but for its rows, as JSON values."""
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
        "source": None if problem.sample is None else problem.sample.origin,
        "n_samples": n_rows(problem.X),
        "predictions": sketch_predictions(problem.predictions),
        "task": problem.task,
        "loss": described(problem.loss),
        "loss_values": sketch_loss(problem),
        "classes": None if problem.classes is None else problem.classes.tolist(),
        "seed": seed,
        **{name: None if X is None else fingerprint(X) for name, X in rows.items()},
        "experts": experts,
        **{name: described(value) for name, value in settings.items()},
    }


def record_known_labels(
    ledger: LabelLedger, problem: Problem, known_labels: dict[int, Any]
) -> None:
    """Record labels that are available before the first query."""
    if not known_labels:
        return
    rows, labels = list(known_labels), list(known_labels.values())
    labels = problem.check_new_labels(labels, rows, "known_labels")
    if not ledger.given:
        problem.refuse_respelled(problem.classes, [], labels, name="known_labels")
    loss = problem.loss_for(problem.classes_with(labels))
    loss.observed(problem.places_of(rows), labels)  # Refuses one without a loss.
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


def sketch_predictions(predictions: Predictions) -> list[list[float]]:
    """Sketch of the response, and of the expert if it differs."""
    if not predictions.has_expert:
        return []
    if not isinstance(predictions, Predictions):
        predictions = predictions.some()
    columns = sketch(predictions.response)
    if predictions.expert is not predictions.response:
        columns += sketch(predictions.expert)
    return columns


def described(value: Any) -> str:
    """Text that tells a strategy, a loss or a metric from others, in any session."""
    # Where a function lies in memory differs from run to run.
    return " ".join(re.sub(r" at 0x\w+", "", repr(value)).split())
