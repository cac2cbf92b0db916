"""Fixtures: an evaluation that waits for answers."""

import pytest
from helpers.annotations import POOL
from helpers.campaigns import campaign


@pytest.fixture
def asked():
    """An evaluation with classes of text and five open rows."""
    evaluation = campaign(["cat", "dog"], POOL)
    evaluation.ask(5)
    return evaluation
