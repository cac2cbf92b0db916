"""A journal that was damaged is refused; only a last line that is torn is dropped."""

import importlib.util
import warnings
from pathlib import Path

import pytest
from helpers.journals import LABELS, start_small, values_in

from sklearn_ase.exceptions import JournalError, JournalWarning

HOUSE = Path(__file__).parents[2] / "benchmarks" / "house"
SCRIPT = HOUSE / "journal_corruption.py"


def test_no_random_damage_passes_unnoticed():
    spec = importlib.util.spec_from_file_location("journal_corruption", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    counts = script.count_outcomes(400, seed=1)
    for found in counts.values():
        assert {*found} <= {"refused", "as after a crash"}
    assert {*counts["changed_byte"]} == {"refused"}
    assert sum(found["refused"] for found in counts.values()) > 380


@pytest.mark.parametrize("place", [0, 1, 2, -1])
def test_a_changed_byte_is_refused_with_its_line(written, place):
    lines = written.read_bytes().splitlines(keepends=True)
    number = range(1, len(lines) + 1)[place]
    changed = lines[place][:-20] + b"7" + lines[place][-19:]
    assert changed != lines[place]
    lines[place] = changed
    text = b"".join(lines)
    written.write_bytes(text)
    with pytest.raises(JournalError, match=rf"Line {number} .*checksum.*left as it is"):
        start_small(written)
    assert written.read_bytes() == text


@pytest.mark.parametrize("byte", [b" ", b"\r", b"\x0b", b"]", b"0", b"\xff", b"\x00"])
def test_a_changed_end_of_the_last_line_is_refused_and_loses_no_label(written, byte):
    text = written.read_bytes()
    number = text.count(b"\n")
    written.write_bytes(text[:-1] + byte)
    with pytest.raises(JournalError, match=f"Line {number} "):
        start_small(written)
    assert written.read_bytes() == text[:-1] + byte


def test_a_last_line_that_only_lacks_its_end_counts(written):
    text = written.read_bytes()
    written.write_bytes(text[:-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with start_small(written) as evaluation:
            assert len(evaluation.ledger) == 3
    assert written.read_bytes() == text


def test_lines_that_are_missing_at_the_end_are_those_of_a_crash(written):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join(lines[:2]))
    with start_small(written) as evaluation:
        assert len(evaluation.ledger.pending) == 5


@pytest.mark.parametrize("version", [b"0", b"1", b"2"])
def test_a_journal_cannot_pass_for_one_without_checksums(written, version):
    text = written.read_bytes()
    written.write_bytes(text.replace(b'"version": 3', b'"version": ' + version, 1))
    with pytest.raises(JournalError, match=r"Line 1 .*checksum"):
        start_small(written)


def test_other_line_ends_are_a_change(written):
    written.write_bytes(written.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(JournalError, match=r"Line 1 .*checksum"):
        start_small(written)


def test_what_follows_a_torn_line_has_the_right_checksum(written):
    with open(written, "ab") as file:
        file.write(b'["tell", [3')
    with pytest.warns(JournalWarning, match="dropped"):
        evaluation = start_small(written)
    row = evaluation.ask().indices
    evaluation.tell(row, LABELS[row])
    evaluation.close()
    with start_small(written) as evaluation:
        assert len(evaluation.ledger) == 4
    assert values_in(written)[-2][0] == "tell"
