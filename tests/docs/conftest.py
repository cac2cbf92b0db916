"""Fixtures: the scripts of the paper and of the benchmarks can be imported."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "examples" / "papers"
BENCHMARKS = ROOT / "benchmarks"


def _importable(folder, monkeypatch):
    """Let Python see a folder as it does when one of its scripts is run."""
    monkeypatch.syspath_prepend(str(folder))
    yield
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def papers(monkeypatch):
    """The scripts of the paper."""
    yield from _importable(PAPERS, monkeypatch)


@pytest.fixture
def benchmarks(monkeypatch):
    """The scripts of the benchmarks."""
    yield from _importable(BENCHMARKS, monkeypatch)
