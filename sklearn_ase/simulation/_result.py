"""What a simulation found: columns, their figures, and the file that keeps them."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PLAIN = "Monte Carlo"
COLUMNS = {
    "evaluator": str,
    "run": int,
    "seed": int,
    "risk": str,
    "n_labels": int,
    "value": float,
    "low": float,
    "high": float,
    "anytime": float,
    "flagged": float,
    "truth": float,
    "chance": float,
}


@dataclass(frozen=True, eq=False)
class LabelEfficiency:
    """Estimates of many runs, one entry for each run, risk and label count.

    Attributes
    ----------
    columns : dict of str to ndarray
        ``evaluator``, ``run``, ``seed``, ``risk``, ``n_labels``; the ``value`` of the
        estimate and its interval ``low``, ``high`` (infinite where none was given);
        ``anytime``, whether the anytime interval held at every label count from the
        first reported one on (NaN without one); ``flagged``, whether
        ``evaluation.diagnose()`` warned; the ``truth``; and ``chance``, the exact
        variance of a Monte Carlo estimate with as many labels.

    Examples
    --------
    See :func:`label_efficiency_curve`.
    """

    columns: dict

    def summary(self):
        """Figures over the runs, one entry for each evaluator, risk and label count.

        Returns
        -------
        figures : dict of str to ndarray
            ``mean_squared_error``, ``median_squared_error``, ``bias``; ``ratio`` of the
            first to Monte Carlo's mean squared error, which is known exactly, and its
            standard error ``ratio_error``; ``coverage`` and ``width`` (median) of the
            intervals that were given, ``given``, their share; ``anytime_coverage``;
            ``flagged``. ``pandas.DataFrame(figures)`` makes a table of it.
        """
        data = self.columns
        keys = list(zip(data["evaluator"], data["risk"], data["n_labels"], strict=True))
        groups = {}
        for place, key in enumerate(keys):
            groups.setdefault(key, []).append(place)
        lines = [
            {
                "evaluator": evaluator,
                "risk": risk,
                "n_labels": n_labels,
                **_figures({name: column[places] for name, column in data.items()}),
            }
            for (evaluator, risk, n_labels), places in groups.items()
        ]
        names = lines[0] if lines else []
        return {name: np.array([line[name] for line in lines]) for name in names}

    def save(self, path):
        """Write all columns as a CSV file."""
        _rewrite(path, zip(*self.columns.values(), strict=True))

    @classmethod
    def load(cls, path):
        """Read what :meth:`save` wrote, or what a simulation has finished so far."""
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = set(COLUMNS) - set(reader.fieldnames or ())
            if missing:
                raise ValueError(
                    f"{path} holds no simulation: columns {sorted(missing)} are "
                    "missing. Read files that LabelEfficiency.save wrote."
                )
            rows = list(reader)
        # A run that was killed while it wrote leaves a torn last line.
        if not _ends_with_a_line(path):
            del rows[-1:]
        return cls(
            {
                name: np.array([row[name] for row in rows]).astype(kind)
                for name, kind in COLUMNS.items()
            }
        )


def finished_rows(path, counts, seeds):
    """Rows of the runs that a file holds in full; one that was cut short is dropped."""
    if not Path(path).exists():
        return []
    if not Path(path).read_bytes().count(b"\n"):  # Killed before its first line.
        Path(path).unlink()
        return []
    columns = LabelEfficiency.load(path).columns
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    runs = {}
    for row in rows:
        runs.setdefault(row[:3], []).append(row)
    # The plain samples are written last, in the order of their counts.
    plain = {
        key: [row[4] for row in run if row[3] == PLAIN] for key, run in runs.items()
    }
    torn = [key for key, met in plain.items() if met != counts]
    known = dict(enumerate(seeds.tolist()))
    other = [key for key in runs if known.get(key[1], key[2]) != key[2]]
    if (
        other
        or len(torn) > 1
        or any(met != counts[: len(met)] for met in plain.values())
    ):
        raise ValueError(
            f"{path} holds another simulation, with other seeds or label counts. Use "
            "the same random_state and n_labels, or another file."
        )
    kept = [row for row in rows if row[:3] not in torn]
    if len(kept) < len(rows) or not _ends_with_a_line(path):
        _rewrite(path, kept)
    return kept


def append_rows(path, rows):
    path = Path(path)
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows(rows)


def _rewrite(path, rows):
    """Replace a file at once, so that nothing is lost if it is cut short."""
    fresh = Path(f"{path}.new")
    fresh.unlink(missing_ok=True)
    append_rows(fresh, rows)
    fresh.replace(path)


def _ends_with_a_line(path):
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _figures(part):
    error = part["value"] - part["truth"]
    chance = max(np.mean(part["chance"]), np.finfo(float).tiny)
    ratio = np.mean(error**2) / chance
    excess = error**2 - ratio * part["chance"]
    given = np.isfinite(part["low"])
    inside = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
    width = (part["high"] - part["low"])[given]
    return {
        "n_runs": len(error),
        "mean_squared_error": np.mean(error**2),
        "median_squared_error": np.median(error**2),
        "bias": np.mean(error),
        "ratio": ratio,
        "ratio_error": _standard_error(excess) / chance,
        "given": np.mean(given),
        "coverage": np.mean(inside[given]) if given.any() else np.nan,
        "width": np.median(width) if given.any() else np.nan,
        "anytime_coverage": _mean_of_known(part["anytime"]),
        "flagged": _mean_of_known(part["flagged"]),
    }


def _standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def _mean_of_known(values):
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan
