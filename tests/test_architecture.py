"""Imports between the folders of the package look down, heavy packages stay out."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_ase

PACKAGE = Path(sklearn_ase.__file__).parent
# Folders, or modules, from the ground up. Those of one layer do not know each other.
LAYERS = [
    {"_version", "exceptions"},
    {"_utils"},
    {"_display"},
    {"_data", "belief", "losses"},
    {"metrics"},
    {"_state"},
    {"_labels", "_annotation"},
    {"_inference", "selection"},
    {"acquisition", "risk", "surrogate", "stopping"},
    {"_evaluation"},
    {"_evaluator", "_selector"},
    {"simulation", "_plot", "testing", "neural"},
    {"_cli"},
    {"__init__", "__main__"},
]
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ["torch", "skorch", "matplotlib", "pandas", "polars", "skrub", "dask"]


def _home(path):
    """The folder, or the module at the top, that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _is_for_hints(node):
    """Whether this is ``if TYPE_CHECKING:``, whose imports are never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imported(path):
    """Folders or modules of this package that a file imports from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not _is_for_hints(node)]
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in {path}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, *rest = name.split(".")
            if package == "sklearn_ase":
                yield rest[0] if rest else "__init__"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_look_down(path):
    home = _home(path)
    for other in set(_imported(path)) - {home}:
        assert LEVEL[other] < LEVEL[home], f"{path.name} looks up at {other}"


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
    absent = ["matplotlib", "pandas", "polars", "skorch", "skrub"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent})); import sklearn_ase"
    )
    assert _run(code) == ""


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if _home(path) != "neural" and path.stem != "_dask"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_heavy_packages_are_imported_where_they_are_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in top for alias in node.names}
    names |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names}.isdisjoint(HEAVY)
