"""Fixtures: the scripts of the paper and of the benchmarks can be imported."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "examples" / "papers"
BENCHMARKS = ROOT / "benchmarks"


def _importable(folders, monkeypatch):
    """Let Python see folders as it does when one of their scripts is run."""
    monkeypatch.setattr(sys, "path", sys.path.copy())  # The scripts add to it, too.
    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
    yield
    for folder in folders:
        for path in folder.glob("*.py"):
            sys.modules.pop(path.stem, None)


@pytest.fixture
def papers(monkeypatch):
    """The scripts of the paper."""
    yield from _importable([PAPERS], monkeypatch)


@pytest.fixture
def benchmarks(monkeypatch):
    """The scripts of the benchmarks."""
    folders = [BENCHMARKS, *(path for path in BENCHMARKS.iterdir() if path.is_dir())]
    yield from _importable(folders, monkeypatch)
