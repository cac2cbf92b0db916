"""Journals that were damaged at random: how many of them are opened all the same.

A journal is damaged once, in one of five ways: a byte or a bit is changed; a line is
removed, repeated, or changes places with another. Then it is opened. There are three
outcomes:

refused          a JournalError, which names the first line that differs
as after a crash lines are missing at the end and nowhere else, which no file can tell
silent           the journal is opened with other contents

    python benchmarks/house/journal_corruption.py
"""

import argparse
import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import JournalError
from sklearn_ase.risk import LURE

X = np.arange(60.0)[:, None]
PROBA = np.linspace([0.8, 0.1, 0.1], [0.2, 0.3, 0.5], len(X))


def start(path):
    """Start or resume an evaluation whose surrogate is never fitted."""
    evaluator = ActiveRiskEstimator(
        surrogate=GaussianNB(),
        risk=LURE(),
        refit=[10**6],
        classes=[0, 1, 2],
        random_state=0,
    )
    return evaluator.start(X, predictions=PROBA, journal=path)


def write_journal(path):
    """Write a journal with labels, corrections and rows that nobody could label."""
    with start(path) as evaluation:
        for _ in range(6):
            rows = evaluation.ask(4).indices
            evaluation.tell(rows[:3], rows[:3] % 3)
            evaluation.correct(rows[0], (rows[0] + 1) % 3)
            evaluation.skip(rows[3:])
    return path.read_bytes()


def changed_byte(text, rng):
    """Return the text with another byte at one place."""
    place = rng.integers(len(text))
    byte = (text[place] + rng.integers(1, 256)) % 256
    return text[:place] + bytes([byte]) + text[place + 1 :]


def flipped_bit(text, rng):
    """Return the text with another bit at one place."""
    place = rng.integers(len(text))
    return (
        text[:place] + bytes([text[place] ^ 1 << rng.integers(8)]) + text[place + 1 :]
    )


def removed_line(text, rng):
    """Return the text without one of its lines."""
    lines = text.splitlines(keepends=True)
    del lines[rng.integers(len(lines))]
    return b"".join(lines)


def repeated_line(text, rng):
    """Return the text with one of its lines twice, at any two places."""
    lines = text.splitlines(keepends=True)
    lines.insert(rng.integers(len(lines) + 1), lines[rng.integers(len(lines))])
    return b"".join(lines)


def swapped_lines(text, rng):
    """Return the text with two of its lines in each other's place."""
    lines = text.splitlines(keepends=True)
    one, two = rng.choice(len(lines), size=2, replace=False)
    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


DAMAGES = (changed_byte, flipped_bit, removed_line, repeated_line, swapped_lines)


def outcome(path, text, damaged):
    """Open a damaged journal, and say what came of it.

    Parameters
    ----------
    path : Path
        A file to write to.
    text, damaged : bytes
        The journal as it was, and as it is.

    Returns
    -------
    outcome : str
    """
    path.write_bytes(damaged)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start(path).close()
    except JournalError as error:
        named = re.search(r"Line (\d+) of", str(error))
        pairs = zip(text.split(b"\n"), damaged.split(b"\n"), strict=False)
        first = next(place for place, (a, b) in enumerate(pairs, 1) if a != b)
        # What is wrong with the first line is said in other words.
        is_named = first == 1 if named is None else int(named[1]) == first
        return "refused" if is_named else "refused, wrong line"
    kept = path.read_bytes()  # Opening may add what can be computed again.
    n_lines = damaged.count(b"\n")
    same = kept.splitlines()[:n_lines] == text.splitlines()[:n_lines]
    return "as after a crash" if same else "silent"


def count_outcomes(n_damages, seed=0):
    """Damage a journal so many times.

    Returns
    -------
    counts : dict of str to Counter
        For each kind of damage.
    """
    rng, counts = np.random.default_rng(seed), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        text = write_journal(path)
        for place in range(n_damages):
            damage = DAMAGES[place % len(DAMAGES)]
            damaged = text
            while damaged == text:
                damaged = damage(text, rng)
            found = counts.setdefault(damage.__name__, Counter())
            found[outcome(path, text, damaged)] += 1
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--damages", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name, found in count_outcomes(args.damages, args.seed).items():
        listed = ", ".join(f"{n} {word}" for word, n in sorted(found.items()))
        print(f"{name:14} {sum(found.values()):5}: {listed}")
