"""In which module of the package a public name is, without importing it."""

import ast
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def home_of(name):
    """Return the module whose ``__all__`` has a name, or None.

    Parameters
    ----------
    name : str

    Returns
    -------
    module : str or None
        Such as ``"sklearn_ase.risk"``.
    """
    for path in sorted([*_PACKAGE.glob("*.py"), *_PACKAGE.glob("*/__init__.py")]):
        module = path.stem if path.parent == _PACKAGE else path.parent.name
        if not module.startswith("_") and name in _public_names(path):
            return f"{_PACKAGE.name}.{module}"
    return None


def _public_names(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []
