"""Look into sdist and wheel: the package, its licence, and nothing else."""

import re
import sys
import tarfile
import zipfile
from pathlib import Path


def check(names, version, archive):
    """Assert that the names are those of a package of this version."""
    assert f"-{version}" in archive.name, f"{archive.name} is not of version {version}"
    assert any(name.endswith("LICENSE") for name in names), f"no LICENSE in {archive}"
    assert any(name.endswith("sklearn_ase/neural/_networks.py") for name in names)
    assert "sklearn_ase/py.typed" in names, f"no marker of types in {archive}"
    assert "sklearn_ase/_display/report.css" in names, f"no styles in {archive}"
    stray = [
        name
        for name in names
        if re.search(r"(^|/)(tests|docs|examples|benchmarks|\.ci)/", name)
    ]
    assert not stray, f"{archive.name} holds {stray}"
    print(archive.name, len(names), "files")


def main():
    folder = Path(sys.argv[1])
    text = Path("sklearn_ase/_version.py").read_text(encoding="utf-8")
    version = re.search(r'= "(.+)"', text).group(1)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        check(file.namelist(), version, wheel)
    with tarfile.open(sdist) as file:
        names = [name.partition("/")[2] for name in file.getnames()]
    check(names, version, sdist)
    assert {"README.md", "pyproject.toml", "setup.cfg"} <= set(names)
    source = {path.as_posix() for path in Path("sklearn_ase").rglob("*.py")}
    assert source <= set(names), f"missing: {source - set(names)}"


main()
