"""Fixtures: names of journals, a journal on disk, campaigns in another process."""

import pytest
from helpers.crashing_campaign import campaign_server
from helpers.journals import LABELS, start_small


@pytest.fixture
def path(tmp_path):
    """The name of a journal."""
    return tmp_path / "labels.jsonl"


@pytest.fixture
def written(path):
    """A closed journal of the small campaign: 5 rows asked for, 3 labelled."""
    with start_small(path) as evaluation:
        rows = evaluation.ask(5).indices[:3]
        evaluation.tell(rows, LABELS[rows])
    return path


@pytest.fixture(scope="module")
def run_and_kill():
    """Run a campaign in another process and kill it; see `campaign_server`."""
    with campaign_server() as run_and_kill:
        yield run_and_kill
