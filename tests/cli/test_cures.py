"""Messages say what to do in Python; the terminal has its own words for it."""

import ast
from pathlib import Path

import pytest

import sklearn_ase
from sklearn_ase._cli._terminal import _CURES, message_of
from sklearn_ase._utils._display import Advice


def _cures():
    """The cures that the package names."""
    for path in Path(sklearn_ase.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_advice = (
                isinstance(node, ast.Call) and ast.unparse(node.func) == "Advice"
            )
            if is_advice:
                yield from (each.value.value for each in node.keywords[:1])


def test_the_terminal_knows_every_cure():
    assert {*_cures()} == {*_CURES}


@pytest.mark.parametrize("note", [False, True])
def test_an_error_has_the_cure_of_its_reader(note):
    advice = Advice("Row 3 has a label.", cure="slices", in_python="Use estimate_by().")
    error = ValueError("Wrong." if note else advice)
    if note:
        error.add_note(advice)
    assert str(advice) == "Row 3 has a label. Use estimate_by()."
    assert message_of(error) == "Wrong. " * note + "Row 3 has a label. Use --by."
