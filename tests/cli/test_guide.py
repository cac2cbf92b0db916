"""The transcript of the guide can be repeated, word by word."""

import csv
import io
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

from sklearn_ase._cli._main import main

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGE = GUIDE / "command_line.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"\d+(?:\.\d+)?"


def transcript():
    """Commands of the page, and what it shows after each."""
    found = []
    blocks = CONSOLE.findall(PAGE.read_text(encoding="utf-8"))
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


@pytest.fixture
def sums():
    return runpy.run_path(str(GUIDE / "files" / "make_sums.py"))


def fill(path, sums):
    """Add up what is asked, and write down whether the answer is right."""
    text = path.read_bytes().decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    for line in lines:
        first, sign, second = line["question"][8:-1].split()
        answer = sums["true_answer"](int(first), sign, int(second))
        is_right = line["answer"] == f"It is {answer}."
        line["label"] = "correct" if is_right else "wrong"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def test_the_guide_prints_what_it_says(tmp_path, monkeypatch, capsys, sums):
    shutil.copy(GUIDE / "files" / "sums.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert {command.split()[1] for command, _ in transcript()} >= {
        *("columns", "start", "ask", "tell", "status", "check", "plan"),
        *("estimate", "judges"),
    }
    printed, shown, code = [], [], 0
    for command, expected in transcript():
        if command == "echo $?":
            printed.append(str(code))
        else:
            name, *argv = shlex.split(command)
            assert name == "sklearn-ase"
            code = main(argv)
            printed.append(capsys.readouterr().out.strip())
            if argv[0] == "ask":
                fill(tmp_path / argv[-1], sums)
        shown.append(expected)
    printed, shown = "\n".join(printed), "\n".join(shown)
    # Versions of the libraries differ in the last digits, and so in some widths.
    words = [re.sub(NUMBER, "#", text).split() for text in (printed, shown)]
    assert words[0] == words[1]
    if Version(sklearn.__version__) >= Version("1.9"):
        numbers = [list(map(float, re.findall(NUMBER, t))) for t in (printed, shown)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.005, rel=0.01)


def test_the_pool_of_the_guide_is_what_its_script_makes(sums):
    text = (GUIDE / "files" / "sums.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows == list(sums["rows"]())
    page = PAGE.read_text(encoding="utf-8")
    assert all(line in page for line in text.splitlines()[:4])
    scores = [float(row["judge"]) for row in rows]
    assert f"The mean of the scores is {sum(scores) / 400:.2f}." in page
    right = 0
    for row in rows:
        first, sign, second = row["question"][8:-1].split()
        answer = sums["true_answer"](int(first), sign, int(second))
        right += row["answer"] == f"It is {answer}."
    assert f"The truth is {right / 400:.2f}." in page
