"""Print figures about the structure of the installed package.

``python benchmarks/structure.py`` counts files, lines, chains of classes, and tuples
that are packed to be starred. It follows a ``tell`` without a refit, an estimate of a
metric and a comparison of two models through the functions of the package. Run it with
another version of the package on ``PYTHONPATH`` to compare.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import sklearn_ase
from sklearn_ase import ActiveRiskEstimator

PACKAGE = Path(sklearn_ase.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
QUESTIONS = ("isinstance", "hasattr", "getattr", "type")
SHORT, LONG_FUNCTION = 40, 40


def parsed(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def lines_of(path):
    """Numbers of the lines of code, and of those of docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#")
    }
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented |= set(range(first.lineno, first.end_lineno + 1))
    return lines - documented, documented


def packed_tuples(tree):
    """Tuples that are given a name and starred into a call of the same function."""
    for function in ast.walk(tree):
        if not isinstance(function, FUNCTIONS):
            continue
        nodes = list(ast.walk(function))
        packed = {
            node.targets[0].id
            for node in nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Tuple)
        }
        starred = {
            argument.value.id
            for node in nodes
            if isinstance(node, ast.Call)
            for argument in node.args
            if isinstance(argument, ast.Starred)
            and isinstance(argument.value, ast.Name)
        }
        yield from packed & starred


def importers(trees):
    """How many modules of the package import from each module, but for packages."""
    names = {
        ".".join(
            ("sklearn_ase", *path.relative_to(PACKAGE).with_suffix("").parts)
        ): path
        for path in trees
        if not path.stem.startswith("__")
    }
    users = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = [node.module]
                targets += [f"{node.module}.{alias.name}" for alias in node.names]
                for name in targets:
                    if name in names and names[name] != path:
                        users[name].add(path)
    return {name: len(users[name]) for name in names}


def chains():
    """Number of classes of the package in the line of each class."""
    for module in pkgutil.walk_packages([str(PACKAGE)], "sklearn_ase."):
        if module.name.endswith("__main__"):
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(thing) and thing.__module__ == module.name:
                ours = [
                    c for c in thing.__mro__ if c.__module__.startswith("sklearn_ase")
                ]
                yield len(ours), thing.__qualname__


class Calls:
    """Calls of functions of the package while it is entered."""

    def __enter__(self):
        self.count = Counter()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def _note(self, frame, event, argument):
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(str(PACKAGE))
        if is_ours and not code.co_name.startswith("<"):
            self.count[code.co_filename, code.co_qualname] += 1

    def __str__(self):
        n_files = len({file for file, _ in self.count})
        total = self.count.total()
        return f"{len(self.count)} functions, {total} calls, {n_files} files"


def walks():
    """Calls of some verbs of an evaluation of a model on iris with 13 labels."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    training = {"X_train": X[:40], "y_train": y[:40]}
    model = GaussianNB().fit(X[:40], y[:40])
    others = {
        "linear": LogisticRegression(max_iter=500).fit(X[:40], y[:40]),
        "tree": DecisionTreeClassifier(random_state=0).fit(X[:40], y[:40]),
    }
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), random_state=0)
    evaluation = evaluator.start(X[40:], **training)
    for _ in range(12):
        query = evaluation.ask()
        evaluation.tell(query, y[40:][query.indices])
    query = evaluation.ask()
    with Calls() as calls:
        evaluation.tell(query, y[40:][query.indices])
    yield "tell without a refit", calls
    with Calls() as calls:
        evaluation.estimate(metric="f1_macro")
    yield 'estimate(metric="f1_macro")', calls
    with Calls() as calls:
        evaluation.compare(others)
    yield "compare of two models", calls


def show(name, text):
    """Print a figure."""
    print(f"{name:32s}{text}")


def main():
    warnings.simplefilter("ignore")
    trees = {path: parsed(path) for path in sorted(PACKAGE.rglob("*.py"))}
    lines = {path: lines_of(path) for path in trees}
    n_code = sum(len(code) for code, _ in lines.values())
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    asked = Counter(
        node.func.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in QUESTIONS
    )
    users = importers(trees)
    small = [
        path
        for path, (code, _) in lines.items()
        if len(code) < SHORT and not path.stem.startswith("_" * 2)
    ]
    long = [
        node.name
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
        and len(lines[path][0] & set(range(node.lineno, node.end_lineno + 1)))
        > LONG_FUNCTION
    ]
    depth, deepest = max(chains())
    show("files", len(trees))
    show("lines of code", n_code)
    show("lines of docstrings", sum(len(text) for _, text in lines.values()))
    show("classes", sum(isinstance(node, ast.ClassDef) for node in nodes))
    show("deepest chain of classes", f"{depth} ({deepest})")
    show("modules with one importer", sum(count == 1 for count in users.values()))
    show(f"modules below {SHORT} lines of code", len(small))
    show(f"functions above {LONG_FUNCTION} lines", len(long))
    packed = sum(len(list(packed_tuples(tree))) for tree in trees.values())
    show("packed tuples", packed)
    per_thousand = 1000 * asked["isinstance"] / n_code
    show("isinstance per 1,000 lines", f"{per_thousand:.1f}")
    show(", ".join(QUESTIONS), asked.total())
    for name, calls in walks():
        show(name, calls)


if __name__ == "__main__":
    main()
