"""Rows of a simulation, and the CSV file that keeps them."""

import csv
import os
from pathlib import Path
from typing import NamedTuple

from sklearn_ase._utils._checks import check_path

PLAIN = "Monte Carlo"


class Row(NamedTuple):
    """One estimate of one run; see :class:`LabelEfficiency` for the columns."""

    evaluator: str
    run: int
    seed: int
    risk: str
    n_labels: int
    value: float
    low: float
    high: float
    anytime: float
    flagged: float
    truth: float
    mc_variance: float

    @property
    def run_key(self):
        """What identifies the run: all its rows share it."""
        return self.evaluator, self.run, self.seed


COLUMNS = Row.__annotations__
# Names in files that were written before these were changed. A file with the old
# column is an old file; only there the old name of the risk is translated, since
# anybody may call a risk of theirs "Guarded".
_OLD_COLUMNS = {"chance": "mc_variance"}
_OLD_RISKS = {"Guarded": "GuardedASE"}


def read_rows(path):
    """Read the rows of a file; an incomplete last line is left out.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    rows : list of Row
    """
    with open(check_path(path), newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        found = reader.fieldnames or []
        reader.fieldnames = [_OLD_COLUMNS.get(name, name) for name in found]
        missing = set(COLUMNS) - set(reader.fieldnames)
        if missing:
            raise ValueError(
                f"{path} does not hold a simulation: columns {sorted(missing)} are "
                "missing. Give a file that LabelEfficiency.save wrote, or a path= of "
                "label_efficiency_curve."
            )
        lines = list(reader)
    # A run that was killed while it wrote leaves an incomplete last line.
    if not _ends_with_a_line(path):
        del lines[-1:]
    risks = _OLD_RISKS if _OLD_COLUMNS.keys() & set(found) else {}
    rows = (
        Row(*(kind(line[name]) for name, kind in COLUMNS.items())) for line in lines
    )
    return [row._replace(risk=risks.get(row.risk, row.risk)) for row in rows]


def finished_rows(path, counts, seeds):
    """Read the rows of finished runs; a run that was cut short is removed.

    Parameters
    ----------
    path : str or path
        File of the simulation; it need not exist.
    counts : list of int
        Label counts of the simulation, sorted.
    seeds : ndarray of int of shape (n_runs,)
        Seeds of the runs.

    Returns
    -------
    rows : list of Row
    """
    path = Path(path)
    if not path.exists():
        return []
    if b"\n" not in path.read_bytes():  # Killed before the first line was written.
        path.unlink()
        return []
    rows = read_rows(path)
    runs = _plain_counts(rows)
    cut_short = {key for key, found in runs.items() if found != counts}
    # Runs are written one after the other, so at most one of them is incomplete.
    if len(cut_short) > 1 or not _have_same_settings(runs, counts, seeds):
        raise ValueError(
            f"{path} holds another simulation, with other seeds or label counts. Use "
            "the same random_state and n_labels, or another file."
        )
    kept = [row for row in rows if row.run_key not in cut_short]
    if len(kept) < len(rows) or not _ends_with_a_line(path):
        replace_rows(path, kept)
    return kept


def _plain_counts(rows):
    """Return the label counts of the plain samples of each run, in order.

    Plain samples are written last in a run, so they show how complete it is.
    """
    runs = {}
    for row in rows:
        found = runs.setdefault(row.run_key, [])
        if row.risk == PLAIN:
            found.append(row.n_labels)
    return runs


def _have_same_settings(runs, counts, seeds):
    """Return whether runs have the seeds and, as far as they go, the label counts."""
    known = dict(enumerate(seeds.tolist()))  # A file may hold more runs than asked for.
    return all(
        known.get(run, seed) == seed and found == counts[: len(found)]
        for (_, run, seed), found in runs.items()
    )


def append_rows(path, rows):
    """Append rows to a file; a new file starts with the names of the columns."""
    path = Path(path)
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows(rows)


def replace_rows(path, rows):
    """Replace a file in one step, so that a crash loses nothing."""
    fresh = Path(f"{path}.new")
    fresh.unlink(missing_ok=True)
    append_rows(fresh, rows)
    fresh.replace(path)


def _ends_with_a_line(path):
    """Return whether the last line is complete."""
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
