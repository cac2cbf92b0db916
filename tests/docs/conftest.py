"""Fixtures: the scripts of the paper can be imported."""

import sys
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[2] / "examples" / "papers"


@pytest.fixture
def papers(monkeypatch):
    """The folder of the scripts, as Python sees it when one of them is run."""
    monkeypatch.syspath_prepend(str(PAPERS))
    yield
    for path in PAPERS.glob("*.py"):
        sys.modules.pop(path.stem, None)
