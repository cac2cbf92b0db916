"""Short runs of the benchmarks of commands: kills at a random moment, and times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HOUSE = Path(__file__).parents[2] / "benchmarks" / "house"


def printed_by(script, *words):
    """Lines that a benchmark prints, without the first."""
    done = subprocess.run(
        [sys.executable, HOUSE / script, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_commands_lose_nothing():
    commands = ["start", "tell", "annotate"]
    words = "--kills", "2", "--commands", *commands
    lines = [line.split() for line in printed_by("command_kills.py", *words)]
    assert [line[0] for line in lines] == commands
    assert all(line[-1] == "nothing" for line in lines)


def test_the_time_of_status_is_measured_beside_an_import():
    pytest.importorskip("resource")  # Windows has none.
    words = "--rows", "60", "--labels", "20", "--batch", "10", "--runs", "1"
    *_, base, version, status, plan = printed_by("command_startup.py", *words)
    assert "import sklearn" in base
    assert base.split()[-1] == "1.00"
    for line, name in ((version, "--version"), (status, "status"), (plan, "plan")):
        assert line.startswith(f"sklearn-ase {name}")
        assert float(line.split()[-1]) > 0
