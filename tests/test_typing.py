"""The public API has type hints, and they say what users get."""

import importlib
import inspect
import pkgutil
from functools import cached_property
from pathlib import Path

import pytest
from mypy import api

import sklearn_ase

ROOT = Path(__file__).parents[1]
MODULES = ["sklearn_ase"] + [
    f"sklearn_ase.{found.name}"
    for found in pkgutil.iter_modules(sklearn_ase.__path__)
    if not found.name.startswith("_")
]
RIGHT = """
from typing import assert_type

import numpy as np

from sklearn_ase import (
    ActiveModelSelector, ActiveRiskEstimator, Comparison, Diagnosis, Evaluation,
    LabelLedger, ModelSelection, PoolState, Query, RiskCurveDisplay, SliceTable,
)
from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.losses import BaseLoss
from sklearn_ase.risk import Estimate
from sklearn_ase.stopping import TargetWidth

X, y = np.zeros((9, 2)), np.zeros(9, dtype=int)
evaluator = ActiveRiskEstimator(metric="f1", stop=TargetWidth(0.1), random_state=0)
evaluation = evaluator.start(X, predictions=y, known_labels={3: 0})
estimate = evaluation.estimate()
assert_type(evaluator.fit(X, y, predictions=y), ActiveRiskEstimator)
assert_type(evaluator.evaluation_, Evaluation)
assert_type(evaluator.stop_reason_, str)
with evaluator.start(X, predictions=["a", "b"], journal="f1.jsonl") as opened:
    assert_type(opened, Evaluation)
query = evaluation.ask(10)
assert_type(query, Query)
evaluation.tell(query, y[query.indices])
evaluation.tell([4, 2], ["cat", "dog"])
assert_type(estimate, Estimate)
assert_type(estimate.interval(0.9), tuple[float, float])
assert_type(estimate.value - estimate.standard_error, float)
assert_type(evaluation.estimate_by(y, level=0.8), SliceTable)
assert_type(evaluation.compare({"a": y, "b": y}), Comparison)
assert_type(evaluation.diagnose(), Diagnosis)
assert_type(evaluation.ledger, LabelLedger)
assert_type(RiskCurveDisplay.from_evaluation(evaluation), RiskCurveDisplay)
run = ActiveModelSelector().start(None, predictions={"a": y, "b": y})
assert_type(run, ModelSelection)
assert_type(run.best_name, str)


class Doubt(BaseAcquisition):
    is_uniform = False

    def score_samples(self, state: PoolState) -> np.ndarray:
        return 1.0 - state.belief.proba.max(axis=1)


class Huber(BaseLoss):
    task = "regression"

    def __call__(self, y_true, y_pred):
        return np.minimum(np.abs(y_true - y_pred), 1.0)


ActiveRiskEstimator(acquisition=Doubt(), loss=Huber())
ActiveRiskEstimator(loss=lambda y_true, y_pred: y_true != y_pred)
""".splitlines()
WRONG = [
    'ActiveRiskEstimator(n_labels="many")',
    'ActiveRiskEstimator(recalibrate="disk")',
    'evaluation.ask("two")',
    'estimate.interval(method="sometimes")',
    "evaluation.estimates",
    "evaluation.estimate().interval(0.9).low",
    'TargetWidth("narrow")',
]


def public_functions(module):
    """Functions and methods of a module by name, without those of scikit-learn."""
    for name in module.__all__:
        each = getattr(module, name)
        if inspect.isfunction(each):
            yield name, each
        for base in each.__mro__ if inspect.isclass(each) else ():
            if not base.__module__.startswith("sklearn_ase"):
                continue
            for attribute, value in vars(base).items():
                value = inner(value)
                is_read = attribute in ("__init__", "__call__", "__enter__")
                if inspect.isfunction(value) and (is_read or attribute[0] != "_"):
                    yield f"{base.__name__}.{attribute}", inspect.unwrap(value)


def inner(value):
    """The function in a property or another wrapper."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return getattr(value, "fn", value)  # Of available_if.


def missing_hints(function):
    """Parameters without a hint; "return" stands for what is returned."""
    signature = inspect.signature(function)
    hints = {name: each.annotation for name, each in signature.parameters.items()}
    hints["return"] = signature.return_annotation
    is_bare = [name for name, hint in hints.items() if hint is signature.empty]
    return [name for name in is_bare if name not in ("self", "cls")]


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_hints(name):
    if name == "sklearn_ase.neural":
        pytest.importorskip("torch")
    found = public_functions(importlib.import_module(name))
    missing = {each: missing_hints(function) for each, function in found}
    assert {each: names for each, names in missing.items() if names} == {}


@pytest.fixture(scope="module")
def wrong_lines(tmp_path_factory):
    """Lines of a user's code in which mypy finds an error."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "user.py").write_text("\n".join([*RIGHT, *WRONG]), encoding="utf-8")
    options = ["--follow-imports=silent", "--cache-dir", str(folder / "cache")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # The package is there, and the settings of mypy.
        told, failed, _ = api.run([*options, str(folder / "user.py")])
    assert not failed
    errors = [line for line in told.splitlines() if ": error: " in line]
    return {int(error.split("user.py:")[1].split(":")[0]): error for error in errors}


@pytest.mark.slow
def test_a_type_checker_sees_what_is_returned(wrong_lines):
    found = [error for line, error in wrong_lines.items() if line <= len(RIGHT)]
    assert found == []


@pytest.mark.parametrize("place", range(len(WRONG)), ids=WRONG)
def test_a_type_checker_finds_a_wrong_use(place, wrong_lines):
    assert len(RIGHT) + 1 + place in wrong_lines


def test_the_package_says_that_it_has_hints():
    assert (Path(sklearn_ase.__file__).parent / "py.typed").is_file()
