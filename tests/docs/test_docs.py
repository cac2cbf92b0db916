"""What the pages say can be pasted and runs; the site builds and its links resolve."""

import contextlib
import importlib
import inspect
import io
import json
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from types import FunctionType, ModuleType
from urllib.parse import unquote, urljoin

import numpy as np
import pytest
import sklearn
from packaging.version import Version

import sklearn_ase

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"\d+(?:\.\d+)?"
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem == "judges" else [])
    for path in GUIDE
    if BLOCK.search(path.read_text(encoding="utf-8"))
]


def assert_prints(text, namespace):
    """Run the code of a page, and compare what it prints with what the page shows."""
    printed, shown = io.StringIO(), "".join(OUTPUT.findall(text))
    with contextlib.redirect_stdout(printed):
        exec("\n".join(BLOCK.findall(text)), namespace)
    if not shown:
        return
    printed = printed.getvalue()
    words = [re.sub(NUMBER, "#", part).split() for part in (printed, shown)]
    assert words[0] == words[1]
    numbers = [
        [float(number) for number in re.findall(NUMBER, part)]
        for part in (printed, shown)
    ]
    # Older versions of the libraries grow other trees.
    if Version(sklearn.__version__) >= Version("1.9"):
        assert numbers[0] == pytest.approx(numbers[1], abs=0.005, rel=0.01)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs_from_top_to_bottom(path, monkeypatch):
    page = ModuleType(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, page)  # Its classes can be pickled.
    assert_prints(path.read_text(encoding="utf-8"), vars(page))


def test_the_readme_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_prints((ROOT / "README.md").read_text(encoding="utf-8"), {})


METHODS = (FunctionType, property, classmethod, staticmethod)


def public_objects():
    """Names of everything that is documented, methods and properties too."""
    modules = [sklearn_ase.__name__] + [
        f"sklearn_ase.{module.name}"
        for module in pkgutil.iter_modules(sklearn_ase.__path__)
        if not module.name.startswith("_")
    ]
    for module in map(importlib.import_module, modules):
        for name in module.__all__:
            thing = getattr(module, name)
            if name.startswith("_"):
                continue
            yield module.__name__, name
            members = vars(thing) if inspect.isclass(thing) else {}
            for attribute, value in members.items():
                if isinstance(value, METHODS) and not attribute.startswith("_"):
                    yield module.__name__, f"{name}.{attribute}"


def test_everything_public_stands_in_the_reference():
    lines = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").split()
    missing = {
        f"{module}.{name}"
        for module, name in public_objects()
        if "." not in name and name not in lines
    }
    # What the package checks its own arguments with.
    missing -= {
        "sklearn_ase.losses.as_loss",
        "sklearn_ase.surrogate.as_expert_surrogate",
        "sklearn_ase.surrogate.as_surrogate",
    }
    assert missing == set()


def test_docstrings_follow_numpydoc():
    validate = pytest.importorskip("numpydoc.validate").validate
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    left_out = set(settings["tool"]["numpydoc_validation"]["checks"])
    wrong = [
        f"{module}.{name}: {code} {text}"
        for module, name in public_objects()
        for code, text in validate(f"{module}.{name}")["errors"]
        if code not in left_out
    ]
    assert wrong == []


class Page(HTMLParser):
    """Links of a page, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")}
        link = attributes.get("src" if tag in ("img", "script") else "href")
        if link and tag != "link" and not re.match(r"[a-z]+:|//", link):
            self.links.append(link)


def broken_links(site):
    """Links inside a site that lead nowhere, as (page, link)."""
    files = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path) for path in files}
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = urljoin(path.as_uri(), link).partition("#")
            target = Path(unquote(target).removeprefix("file://").partition("?")[0])
            known = pages[target].anchors if target in pages else {"", anchor}
            if not target.exists() or anchor not in known:
                yield path.relative_to(site).as_posix(), link


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages as HTML; the gallery without its pictures. A warning is an error."""
    pytest.importorskip("sphinx_gallery")
    pytest.importorskip("sphinx_design")
    pytest.importorskip("pydata_sphinx_theme")
    folder = tmp_path_factory.mktemp("pages")
    for page in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md"):
        shutil.copy(ROOT / page, folder)
    built = shutil.ignore_patterns("_build", "generated", "gallery", "sg_*")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=built)
    shutil.copytree(ROOT / "examples", folder / "examples")
    command = ["sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "docs", "site"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.slow
def test_links_inside_the_site_resolve(site):
    assert list(broken_links(site)) == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_other_hosts(site):
    loaded = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^>]*>")
    found = {
        match
        for path in site.rglob("*.html")
        for match in loaded.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.slow
def test_formulas_of_the_site_are_mathml(site):
    page = (site / "method.html").read_text(encoding="utf-8")
    assert '<div class="formula" id="eq-t12"><math display="block">' in page
    assert "\\frac" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["f1"], "guide/metrics"),
        (["llm", "judg"], "guide/judges"),
        (["csv"], "guide/command_line"),
    ],
)
def test_the_search_of_the_site_finds(words, page, site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    place = index["docnames"].index(page)
    for word in words:
        found = [index[kind].get(word, []) for kind in ("terms", "titleterms")]
        assert place in np.hstack(found)


STUDIES = [
    path.relative_to(ROOT / "docs").with_suffix("").as_posix()
    for folder in ("studies", "papers")
    for path in sorted((ROOT / "docs" / folder).glob("*.md"))
    if path.stem != "index"
]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_the_site_begins_with_question_and_answer(name, site):
    page = (site / f"{name}.html").read_text(encoding="utf-8")
    box = re.search(r'<div class="in-short admonition">(.*?)\n</div>', page, re.DOTALL)
    for word in ("Question", "Answer", "How sure"):
        assert f"<strong>{word}" in box.group(1)


def test_the_version_is_the_same_everywhere():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (\S+) \((.*)\)$", changes, re.MULTILINE)
    assert heads[0][0] == Version(sklearn_ase.__version__).base_version
    number, date = next(head for head in heads if head[1] != "not released")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {number}\ndate-released: {date}\n" in citation


def test_the_spelling_is_right():
    pytest.importorskip("codespell_lib")
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert done.returncode == 0


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")), ids=lambda path: path.stem)
def test_links_of_files_beside_the_package_resolve(path):
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        target, _, anchor = link.partition("#")
        assert (ROOT / target).exists(), link
        if anchor:
            page = (ROOT / target).read_text(encoding="utf-8")
            assert anchor in map(slug, re.findall(r"^#+ (.+)$", page, re.MULTILINE))


SCRIPT = re.compile(r"\b((?:benchmarks|examples)/[a-z_/]+\.py)\b")


def test_scripts_that_pages_and_scripts_name_exist():
    folders = [ROOT / name for name in ("docs", "benchmarks", "examples", "tests")]
    files = [*ROOT.glob("*.md"), *(path for one in folders for path in one.rglob("*"))]
    for path in files:
        if path.suffix in (".md", ".py"):
            for name in SCRIPT.findall(path.read_text(encoding="utf-8")):
                assert (ROOT / name).exists(), f"{path} names {name}"


def test_the_table_of_the_benchmarks_names_every_script_that_is_run():
    folder = ROOT / "benchmarks"
    table = (folder / "README.md").read_text(encoding="utf-8")
    runs = [
        path
        for path in folder.rglob("*.py")
        if path.parent.name != "shared"
        and '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    ]
    missing = {path.name for path in runs if path.name not in table}
    # Called by another script, or read the runs of one.
    assert missing <= {"judge_methods.py", "judge_pools.py", "slice_rules.py"}
