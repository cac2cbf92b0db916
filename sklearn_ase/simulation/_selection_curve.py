"""Choose models again and again against known labels, to see the regret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

import numpy as np
from joblib import delayed
from sklearn.base import clone

from sklearn_ase._data._predictions import response_of
from sklearn_ase._selector import ActiveModelSelector
from sklearn_ase._utils._checks import (
    check_callable,
    check_integer,
    check_n_jobs,
    check_path,
    is_number,
    shown,
)
from sklearn_ase._utils._estimators import check_seed, run_jobs
from sklearn_ase._utils._typing import ByName, Seed, StrPath
from sklearn_ase.simulation._scenario import Scenario, ignore_new_classes


@dataclass(frozen=True, eq=False)
class SelectionCurve:
    """Regret of many choices, label by label.

    Attributes
    ----------
    regret : ndarray of shape (n_runs, n_labels)
        How much worse the chosen model is than the best one, after each label, in units
        of the metric; at least 0.
    random : ndarray of shape (n_runs, n_labels)
        The same for the model that is best on as many random labels. Ties count with
        their mean; NaN where the metric is not defined for any model.
    holds_best : ndarray of shape (n_runs,), dtype bool
        Whether the best model was among the candidates at the end.
    n_candidates : ndarray of int of shape (n_runs,)

    Examples
    --------
    See :func:`selection_curve`.
    """

    regret: np.ndarray
    random: np.ndarray
    holds_best: np.ndarray
    n_candidates: np.ndarray

    def summary(self) -> dict[str, float]:
        """Cumulative regret after the last label, as a dict of numbers.

        Returns
        -------
        figures : dict of str to float
            Mean, standard error and greatest of the runs; of random labels the mean and
            the greatest; share of the runs whose candidates hold the best model; mean
            number of candidates.
        """
        total, plain = self.regret.sum(axis=1), np.nansum(self.random, axis=1)
        return {
            "regret": float(total.mean()),
            "standard_error": float(total.std() / max(len(total) - 1, 1) ** 0.5),
            "worst": float(total.max()),
            "random": float(plain.mean()),
            "random_worst": float(plain.max()),
            "holds_best": float(self.holds_best.mean()),
            "n_candidates": float(self.n_candidates.mean()),
        }


def selection_curve(
    selector: ActiveModelSelector,
    scenario: Scenario | Callable[[int], Scenario],
    *,
    predictions: ByName | None = None,
    n_labels: int = 100,
    n_runs: int = 20,
    random_state: Seed = None,
    n_jobs: int | None = None,
    path: StrPath | None = None,
) -> SelectionCurve:
    """Choose a model many times against known labels.

    Parameters
    ----------
    selector : ActiveModelSelector
    scenario : Scenario or callable
        A pool with known labels, of which ``X`` and ``y`` are used, or a function
        ``seed -> Scenario``. ``X`` may be None if there are `predictions`.
    predictions : dict, frame or array, default=None
        See :meth:`ActiveModelSelector.start`.
    n_labels : int, default=100
        Labels of each run.
    n_runs : int, default=20
    random_state : int, RandomState instance or None, default=None
        Every run gets a seed that is drawn from it.
    n_jobs : int, default=None
        Number of runs in parallel.
    path : str or path, default=None
        File (``.npz``) that keeps finished runs. An interrupted simulation resumes;
        this needs an int as `random_state`. Use another file for other settings.

    Returns
    -------
    curve : SelectionCurve

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveModelSelector
    >>> from sklearn_ase.simulation import Scenario, selection_curve
    >>> y = np.arange(100) % 2
    >>> curve = selection_curve(
    ...     ActiveModelSelector(), Scenario(None, y), n_labels=10, n_runs=3,
    ...     predictions={"good": y, "poor": np.zeros(100, int)}, random_state=0)
    >>> curve.regret.shape
    (3, 10)
    """
    if not isinstance(selector, ActiveModelSelector):
        raise TypeError(
            f"selector must be an ActiveModelSelector, but is {shown(selector)}."
        )
    if not isinstance(scenario, Scenario):
        check_callable(scenario, "scenario", "seed -> Scenario, or a Scenario")
    check_integer(n_labels, "n_labels", 1)
    check_integer(n_runs, "n_runs", 1)
    check_n_jobs(n_jobs)
    seeds = check_seed(random_state).randint(2**31 - 1, size=n_runs).tolist()
    rows = {}
    if path is not None:
        path = Path(check_path(path))
        if not (isinstance(random_state, Integral) and is_number(random_state)):
            raise ValueError(
                f"path={str(path)!r} can be continued only with the same seeds: give "
                f"an int as random_state, not {random_state!r}."
            )
        rows = _read(path, n_labels)
    missing = [seed for seed in seeds if seed not in rows]
    jobs = (
        delayed(_run)(selector, scenario, predictions, n_labels, seed)
        for seed in missing
    )
    results = run_jobs(jobs, n_jobs)
    for seed, found in zip(missing, results, strict=True):
        rows[seed] = found
        if path is not None:
            _write(path, rows)
    table = np.array([rows[seed] for seed in seeds])
    parts = np.split(table, [n_labels, 2 * n_labels, 2 * n_labels + 1], axis=1)
    holds, count = parts[2][:, 0] > 0, parts[3][:, 0].astype(int)
    return SelectionCurve(parts[0], parts[1], holds, count)


def _run(selector, scenario, predictions, n_labels, seed):
    """Regret by both rules after each label, and what is known at the end."""
    if not isinstance(scenario, Scenario):
        scenario = scenario(seed)
    selector = clone(selector).set_params(random_state=seed)
    with (
        ignore_new_classes(),
        selector.start(scenario.X, predictions=predictions) as run,
    ):
        run.problem.order.check(y=scenario.y)
        y = run.problem.check_labels(scenario.y, name="y")
        if len(y) != run.n_samples:
            raise ValueError(
                f"y has {len(y)} labels, but the pool has {run.n_samples} rows. Give "
                "one for each row."
            )
        truth = _gains(run, y, np.arange(len(y)))
        order = np.random.default_rng([seed, 1]).permutation(len(y))
        regret, random = np.empty((2, n_labels))
        for count in range(n_labels):
            query = run.ask()
            run.tell(query, y[query.indices])
            regret[count] = np.nanmax(truth) - truth[run.best_index]
            plain = _gains(run, y, order[: count + 1])
            is_best = plain == np.nanmax(plain) if np.isfinite(plain).any() else []
            chosen = truth[is_best] if len(is_best) else np.array([np.nan])
            random[count] = np.nanmax(truth) - chosen.mean()
        may_be_best = np.isin(run.names, run.candidates)
        holds = (may_be_best & (truth == np.nanmax(truth))).any()
    return np.array([*regret, *random, float(holds), may_be_best.sum()])


def _gains(run, y, rows):
    """Metric of each model on some rows whose labels are known; greater is better."""
    classes, metric = run.problem.classes_with(y), run.models.metric
    labels, known, found = y[rows], None, []
    if classes is not None:
        known = (labels[:, None] == classes).astype(float)
    for problem in run.models.problems:
        prediction = response_of(problem, metric, classes)[rows]
        near = metric.on_pool(prediction, classes=classes).at(known)
        places = np.arange(len(rows))
        means = [part.observed(places, labels).mean() for part in near.parts]
        found.append(near.value(np.array(means)))
    return run.models.sign * np.array(found)


def _read(path, n_labels):
    if not path.exists():
        return {}
    with np.load(path) as file:
        seeds, table = file["seeds"].tolist(), file["table"]
    if table.shape[1] != 2 * n_labels + 2:
        n_found = (table.shape[1] - 2) // 2
        raise ValueError(f"{path} holds runs with {n_found} labels, not {n_labels}.")
    return dict(zip(seeds, table, strict=True))


def _write(path, rows):
    with open(path, "wb") as file:
        np.savez(file, seeds=np.array(list(rows)), table=np.array(list(rows.values())))
