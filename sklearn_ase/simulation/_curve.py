"""Run many evaluations against known labels, in a row or in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed

from sklearn_ase._utils._checks import (
    check_callable,
    check_integer,
    check_level,
    check_n_jobs,
    check_path,
    check_verbose,
    is_number,
    shown,
)
from sklearn_ase._utils._parallel import run_jobs
from sklearn_ase._utils._progress import track
from sklearn_ase._utils._seeding import check_seed
from sklearn_ase._utils._strategies import check_strategy
from sklearn_ase._utils._typing import Seed, StrPath
from sklearn_ase.risk import BaseRisk
from sklearn_ase.simulation._result import LabelEfficiency, columns_of
from sklearn_ase.simulation._run import Recording, run_evaluation
from sklearn_ase.simulation._run_file import Row, append_rows, finished_rows
from sklearn_ase.simulation._scenario import Scenario, check_evaluator

if TYPE_CHECKING:
    from sklearn_ase._active_risk import ActiveRiskEstimator


def label_efficiency_curve(
    evaluator: ActiveRiskEstimator | Mapping[str, ActiveRiskEstimator],
    scenario: Scenario | Callable[[int], Scenario],
    *,
    risks: Mapping[str, BaseRisk] | None = None,
    n_labels: Sequence[int] = (10, 25, 50, 100, 200),
    n_runs: int = 50,
    level: float = 0.9,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    path: StrPath | None = None,
) -> LabelEfficiency:
    """Run many evaluations against known labels.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator or dict of str to ActiveRiskEstimator
        What to simulate. A dict gives each evaluator a name and compares them.
    scenario : Scenario or callable
        A pool with known labels, or a function ``seed -> Scenario`` that draws new
        training rows, pool and model for every run.
    risks : dict of str to risk, default=None
        Risk estimators that are applied to the same labels, by name. None means
        GuardedASE, ASE, CorrectedASE and LURE, or ASE alone if the selection of the
        evaluator has no probabilities.
    n_labels : sequence of int, default=(10, 25, 50, 100, 200)
        Label counts at which estimates are recorded. The surrogate is refitted at each
        of them.
    n_runs : int, default=50
        Number of runs per evaluator.
    level : float, default=0.9
        Level of the intervals.
    random_state : int, RandomState instance or None, default=None
        Every run gets a seed that is drawn from it, the same for all evaluators.
    n_jobs : int, default=None
        Number of runs in parallel.
    verbose : int, default=0
        Whether to show a progress bar.
    path : str or path, default=None
        CSV file to which finished runs are added. Runs that it holds already are not
        repeated, so an interrupted simulation resumes; this needs an int as
        `random_state`. Runs are identified by the evaluator's name, seed and label
        counts: use another file for other settings.

    Returns
    -------
    result : LabelEfficiency
        It also has a risk named ``"Monte Carlo"``: the mean loss of plain random
        samples of the same pools.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> from sklearn_ase.simulation import Scenario, label_efficiency_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X[::5], y[::5]))
    >>> result = label_efficiency_curve(
    ...     ActiveRiskEstimator(model, surrogate=GaussianNB()),
    ...     Scenario(X, y, X_train=X[::5], y_train=y[::5]),
    ...     n_labels=[10], n_runs=2, random_state=0)
    >>> sorted(set(result.columns["risk"].tolist()))
    ['ASE', 'CorrectedASE', 'GuardedASE', 'LURE', 'Monte Carlo']
    """
    evaluators = evaluator if isinstance(evaluator, dict) else {"default": evaluator}
    _check(evaluators, scenario, risks, random_state, path)
    counts = _check_counts(n_labels)
    check_integer(n_runs, "n_runs")
    check_level(level)
    check_n_jobs(n_jobs)
    check_verbose(verbose)
    seeds = check_seed(random_state).randint(2**31 - 1, size=n_runs)
    rows = [] if path is None else finished_rows(path, counts, seeds)
    finished = {(row.evaluator, row.run) for row in rows}
    missing = [
        (name, run)
        for run in range(n_runs)
        for name in evaluators
        if (name, run) not in finished
    ]
    recording = Recording(risks, counts, level)
    jobs = (
        delayed(run_evaluation)(evaluators[name], scenario, int(seeds[run]), recording)
        for name, run in missing
    )
    results = run_jobs(jobs, n_jobs)
    results = track(results, len(missing), "evaluations", verbose)
    for (name, run), found in zip(missing, results, strict=True):
        new = [Row(evaluator=name, run=run, **each) for each in found]
        rows += new
        if path is not None:
            append_rows(path, new)
    # A file may hold more runs, and other evaluators.
    order = list(evaluators)
    rows = [row for row in rows if row.evaluator in order and row.run < n_runs]
    rows.sort(key=lambda row: (order.index(row.evaluator), row.run))
    return LabelEfficiency(columns_of(rows))


def _check(evaluators, scenario, risks, random_state, path):
    """Raise an error if the simulation cannot be run."""
    if not evaluators:
        raise ValueError("evaluator={} must be a dict with at least one evaluator.")
    for name, each in evaluators.items():
        check_evaluator(each, f"evaluator {name!r}")
    if not isinstance(scenario, Scenario):
        check_callable(scenario, "scenario", "seed -> Scenario, or a Scenario")
    if risks is not None:
        if not isinstance(risks, dict) or not risks:
            raise TypeError(
                f"risks={shown(risks)} must be a dict from name to risk estimator."
            )
        for name, risk in risks.items():
            check_strategy(risk, BaseRisk, ("estimate", "obstacle"), f"risks[{name!r}]")
    if path is not None:
        check_path(path)
    if path is not None and not isinstance(random_state, (int, np.integer)):
        raise ValueError(
            f"path={str(path)!r} can be continued only with the same seeds: give an "
            f"int as random_state, not {random_state!r}."
        )


def _check_counts(n_labels):
    """Return label counts, sorted and each once."""
    is_list = isinstance(n_labels, Iterable) and not isinstance(n_labels, (str, dict))
    counts = list(n_labels) if is_list else []
    if not counts or not all(
        isinstance(count, Integral) and is_number(count) and count >= 1
        for count in counts
    ):
        raise ValueError(
            f"n_labels={shown(n_labels)} must be a list of label counts, integers >= 1."
        )
    return sorted(set(map(int, counts)))
