"""Print figures about the structure of the installed package.

``python benchmarks/structure.py`` counts modules, lines and arguments, and follows one
``tell`` without a refit, and one ``fit`` with 20 labels, through the functions of the
package. Run it with another version of the package on ``PYTHONPATH`` to compare.
"""

import ast
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

import sklearn_ase
from sklearn_ase import ActiveRiskEstimator

PACKAGE = Path(sklearn_ase.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Where the settled picks are put together: version 0.1, and now.
SETTLED = {"design_of", "settled"}
STATES = {"pool_state"}


def positional_arguments(path):
    """Name and number of the positional arguments of each function of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, FUNCTIONS):
            arguments = [*node.args.posonlyargs, *node.args.args]
            names = [a.arg for a in arguments if a.arg not in ("self", "cls")]
            yield len(names), f"{path.relative_to(PACKAGE)}:{node.name}"


def code_lines(path):
    """Lines that are neither blank, comments nor docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#")
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines -= set(range(first.lineno, first.end_lineno + 1))
    return len(lines)


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

    def of(self, names):
        """Number of calls of functions with one of these names."""
        last = {key: key[1].rpartition(".")[2] for key in self.count}
        return sum(n for key, n in self.count.items() if last[key] in names)


def evaluator(**options):
    """An evaluator of a model on digits, with the arguments of its start."""
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X[:300], y[:300])
    given = {"X_train": X[:300], "y_train": y[:300]}
    found = ActiveRiskEstimator(FrozenEstimator(model), random_state=0, **options)
    return found, X[300:], y[300:], given


def main():
    warnings.simplefilter("ignore")
    files = sorted(PACKAGE.rglob("*.py"))
    private = [p for p in PACKAGE.glob("_*.py") if p.stem != "__init__"]
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in files}
    longest = max(lengths, key=lengths.get)
    most, where = max(pair for path in files for pair in positional_arguments(path))
    print(f"private modules at the top    {len(private)}")
    print(f"files                         {len(files)}")
    print(f"longest file                  {lengths[longest]} lines, {longest.name}")
    print(f"lines, of which code          {sum(lengths.values())}, ", end="")
    print(sum(code_lines(path) for path in files))
    print(f"most positional arguments     {most}, {where}")
    found, X, y, given = evaluator()
    evaluation = found.start(X, **given)
    for _ in range(6):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
    for verb in ("ask", "tell"):
        with Calls() as calls:
            query = evaluation.ask() if verb == "ask" else query
            if verb == "tell":
                evaluation.tell(query, y[query.indices])
        n_files = len({file for file, _ in calls.count})
        print(f"{verb} without a refit            ", end="")
        print(f"{len(calls.count)} functions in {n_files} files, ", end="")
        print(f"{calls.count.total()} calls")
    found, X, y, given = evaluator(n_labels=20)
    with Calls() as calls:
        found.fit(X, y, **given)
    print(f"fit, 20 labels: settled picks {calls.of(SETTLED)} times ", end="")
    print(f"for {calls.of(STATES)} states")
    forest = RandomForestClassifier(20, random_state=0).fit(*given.values())
    found, X, y, given = evaluator(surrogate=FrozenEstimator(forest), n_labels=400)
    seconds = []
    for _ in range(5):
        evaluation = found.start(X, **given)
        start = time.process_time()
        evaluation.run(lambda rows: y[rows], 400)
        seconds.append(time.process_time() - start)
    print(f"400 labels, frozen surrogate  {np.median(seconds):.2f} s CPU, median of 5")


if __name__ == "__main__":
    main()
