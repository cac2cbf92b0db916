"""The README's code runs and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
NUMBER = r"\d+\.\d+"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_readme_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(blocks("python")), {})
    shown = "".join(blocks("text"))
    assert re.sub(NUMBER, "#", printed.getvalue()) == re.sub(NUMBER, "#", shown)
    numbers = [
        [float(number) for number in re.findall(NUMBER, text)]
        for text in (printed.getvalue(), shown)
    ]
    # Other versions of the libraries may grow other trees.
    assert numbers[0] == pytest.approx(numbers[1], abs=0.05)
