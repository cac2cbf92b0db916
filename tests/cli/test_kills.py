"""Commands that are killed at a random moment lose nothing; the benchmark has more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "command_kills.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_commands_lose_nothing():
    commands = ["start", "ask", "tell", "annotate", "status"]
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "2", "--commands", *commands],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [line[0] for line in lines] == commands
    assert all(line[-1] == "nothing" for line in lines)
