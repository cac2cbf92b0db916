"""The tables of the studies are those that the kept results print."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
# What prints the tables of a page, and how many of its lines at least come from there.
PRINTED = {
    "questions": (
        [
            ("questions", "questions.csv", "--report"),
            ("questions", "questions_known.csv", "--report"),
            ("slices", "slices.csv", "--report"),
        ],
        70,
    ),
    "judges": ([("judges", "judges.csv", "--markdown")], 65),
    "trust": (
        [
            ("trust", "trust.csv", "--markdown"),
            ("trust", "trust.csv", "--markdown --held-out"),
            ("interval_coverage", "intervals.csv", "--report"),
        ],
        60,
    ),
}


def lines_by_head(text):
    """Lines of the tables of a text, by the line with the names of the columns."""
    found = {}
    for table in TABLE.findall(text):
        head, _, *lines = table.splitlines()
        found.setdefault(head, []).extend(lines)
    return found


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize("page", PRINTED)
def test_the_tables_of_a_study_are_printed_from_its_results(page, capsys):
    calls, n_lines = PRINTED[page]
    for script, file, words in calls:
        import_module(script).main(["--out", str(RESULTS / file), *words.split()])
    printed = lines_by_head(capsys.readouterr().out)
    text = (ROOT / "docs" / "studies" / f"{page}.md").read_text(encoding="utf-8")
    shown = [
        (head, line)
        for head, lines in lines_by_head(text).items()
        for line in lines
        if head in printed
    ]
    assert len(shown) >= n_lines
    assert [line for head, line in shown if line not in printed[head]] == []


def test_results_are_small_and_readable():
    files = list(RESULTS.iterdir())
    assert {file.suffix for file in files} == {".csv"}
    assert sum(file.stat().st_size for file in files) < 500_000
