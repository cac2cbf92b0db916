"""The house stands as it was drawn: imports look down, heavy packages stay out."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_ase

PACKAGE = Path(sklearn_ase.__file__).parent
# Rooms of one storey do not know each other, except where ALLOWED says so.
STOREYS = [
    {"_version", "_warn"},
    {
        "_rows",
        "_kernels",
        "_state",
        "_cross_fitting",
        "_schedule",
        "_seeding",
        "_progress",
        "_html",
        "_callbacks",
        "_ledger_csv",
        "_lock",
        "_sheet",
        "_evidence",
        "belief",
        "exceptions",
    },
    {
        "losses",
        "selection",
        "acquisition",
        "risk",
        "surrogate",
        "_plan",
        "_validation",
        "_ledger",
        "_model",
        "_snapshot",
        "_fingerprint",
        "_drawing",
        "stopping",
    },
    {
        "_task",
        "_diagnosis",
        "_history",
        "_forecast",
        "_learner",
        "_picker",
        "_journal",
        "_answers",
    },
    {"_evaluation", "_campaign"},
    {"_active_risk", "_console"},
    {"testing", "simulation", "model_selection", "_plot", "datasets", "neural"},
    {""},  # The shop window.
]
ALLOWED = {
    ("belief", "_kernels"),
    ("_cross_fitting", "_rows"),
    ("_evidence", "_kernels"),
    ("_sheet", "_rows"),
    ("_state", "_sheet"),
    ("_lock", "exceptions"),
}
HEAVY = ["torch", "skorch", "matplotlib", "pandas", "polars", "dask"]


def _room(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0].replace("__init__", "")


def _imported_rooms(path):
    """Rooms of this package that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in {path}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, *rest = name.split(".")
            if package == "sklearn_ase":
                yield rest[0] if rest else ""


FILES = sorted(PACKAGE.rglob("*.py"))
LEVEL = {room: level for level, storey in enumerate(STOREYS) for room in storey}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_look_down(path):
    room = _room(path)
    assert room in LEVEL, f"give {room} a storey"
    for other in set(_imported_rooms(path)) - {room}:
        assert LEVEL[other] < LEVEL[room] or (room, other) in ALLOWED, (
            f"{path.name} looks up or sideways at {other}"
        )


def _run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    # scikit-learn itself imports pandas where there is one.
    code = "import sys, sklearn.compose, sklearn.ensemble; before = {*sys.modules}"
    code += f"; import sklearn_ase; print(({{*sys.modules}} - before) & {set(HEAVY)})"
    assert _run(code) == "set()"


def test_the_package_works_without_its_optional_packages():
    # An import of what stands as None fails. (scipy itself looks for torch and dask.)
    absent = ["matplotlib", "pandas", "polars", "skorch"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent})); import sklearn_ase"
    )
    assert _run(code) == ""


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if _room(path) != "neural"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_heavy_packages_are_imported_where_they_are_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in top for alias in node.names}
    names |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names}.isdisjoint(HEAVY)
