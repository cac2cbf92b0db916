"""Many evaluations against known labels: how good is an estimate, how honest?

The instrument behind every table of the documentation. Results are plain columns that
can be saved, continued and drawn later.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from sklearn_ase._active_risk import ActiveRiskEstimator
from sklearn_ase._progress import track
from sklearn_ase._rows import n_rows
from sklearn_ase.risk import ASE, LURE, CorrectedASE, Guarded

__all__ = [
    "ErrorDecomposition",
    "LabelEfficiency",
    "Scenario",
    "error_decomposition",
    "label_efficiency_curve",
]

PLAIN = "Monte Carlo"
COLUMNS = {
    "evaluator": str,
    "run": int,
    "seed": int,
    "risk": str,
    "n_labels": int,
    "value": float,
    "low": float,
    "high": float,
    "anytime": float,
    "flagged": float,
    "truth": float,
    "chance": float,
}


@dataclass(frozen=True, eq=False)
class Scenario:
    """A pool whose labels are known, and the model to be evaluated on it.

    Attributes
    ----------
    X : array, sparse matrix, frame or list of shape (n_samples, n_features)
        The pool.
    y : array-like of shape (n_samples,)
        Its labels; with `label_proba` the classes of its columns.
    estimator : fitted estimator or callable, default=None
        The model under test; None means that of the evaluator.
    X_train, y_train : rows the surrogate may also learn from, default=None
    label_proba : array-like of shape (n_samples, n_classes), default=None
        Distribution of each label, from which one is drawn afresh in every run. The
        truth is then the expected loss, whatever was drawn.

    Examples
    --------
    >>> from sklearn_ase.simulation import Scenario
    >>> Scenario(X=[[0.0], [1.0]], y=["cat", "dog"]).estimator is None
    True
    """

    X: object
    y: object
    estimator: object = None
    X_train: object = None
    y_train: object = None
    label_proba: object = None


@dataclass(frozen=True, eq=False)
class LabelEfficiency:
    """Estimates of many runs, one entry for each run, risk and label count.

    Attributes
    ----------
    columns : dict of str to ndarray
        ``evaluator``, ``run``, ``seed``, ``risk``, ``n_labels``; the ``value`` of the
        estimate and its interval ``low``, ``high`` (infinite where none was given);
        ``anytime``, whether the anytime interval held at every label count from the
        first reported one on (NaN without one); ``flagged``, whether
        ``evaluation.diagnose()`` warned; the ``truth``; and ``chance``, the exact
        variance of a Monte Carlo estimate with as many labels.

    Examples
    --------
    See :func:`label_efficiency_curve`.
    """

    columns: dict

    def summary(self):
        """Figures over the runs, one entry for each evaluator, risk and label count.

        Returns
        -------
        figures : dict of str to ndarray
            ``mean_squared_error``, ``median_squared_error``, ``bias``; ``ratio`` of the
            first to Monte Carlo's mean squared error, which is known exactly, and its
            standard error ``ratio_error``; ``coverage`` and ``width`` (median) of the
            intervals that were given, ``given``, their share; ``anytime_coverage``;
            ``flagged``. ``pandas.DataFrame(figures)`` makes a table of it.
        """
        data = self.columns
        keys = list(zip(data["evaluator"], data["risk"], data["n_labels"], strict=True))
        groups = {}
        for place, key in enumerate(keys):
            groups.setdefault(key, []).append(place)
        lines = [
            {
                "evaluator": evaluator,
                "risk": risk,
                "n_labels": n_labels,
                **_figures({name: column[places] for name, column in data.items()}),
            }
            for (evaluator, risk, n_labels), places in groups.items()
        ]
        names = lines[0] if lines else []
        return {name: np.array([line[name] for line in lines]) for name in names}

    def save(self, path):
        """Write all columns as a CSV file."""
        _rewrite(path, zip(*self.columns.values(), strict=True))

    @classmethod
    def load(cls, path):
        """Read what :meth:`save` wrote, or what a simulation has finished so far."""
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = set(COLUMNS) - set(reader.fieldnames or ())
            if missing:
                raise ValueError(
                    f"{path} holds no simulation: columns {sorted(missing)} are "
                    "missing. Read files that LabelEfficiency.save wrote."
                )
            rows = list(reader)
        # A run that was killed while it wrote leaves a torn last line.
        if not _ends_with_a_line(path):
            del rows[-1:]
        return cls(
            {
                name: np.array([row[name] for row in rows]).astype(kind)
                for name, kind in COLUMNS.items()
            }
        )


def label_efficiency_curve(
    evaluator,
    scenario,
    *,
    risks=None,
    n_labels=(10, 25, 50, 100, 200),
    n_runs=50,
    level=0.9,
    random_state=None,
    n_jobs=None,
    verbose=0,
    path=None,
):
    """Run many evaluations against known labels.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator or dict of str to ActiveRiskEstimator
        What is compared, by name.
    scenario : Scenario or callable
        Known labels, or a function ``seed -> Scenario`` that draws training rows,
        pool and model afresh in every run.
    risks : dict of str to risk, default=None
        Estimates from the same labels. None means guarded, plain and corrected ASE
        and LURE, as far as the evaluator's selection allows.
    n_labels : sequence of int, default=(10, 25, 50, 100, 200)
        Label counts at which estimates are recorded; the surrogate is refitted there.
    n_runs : int, default=50
    level : float, default=0.9
        Of the intervals.
    random_state : int, RandomState instance or None, default=None
        Every run has its own seed, the same for all evaluators.
    n_jobs : int, default=None
        Runs at a time.
    verbose : int, default=0
        Whether to show a progress bar.
    path : str or path, default=None
        CSV file that finished runs are added to. Runs that it holds already are not
        run again, so a simulation that was cut short goes on; that needs an int as
        `random_state`.

    Returns
    -------
    result : LabelEfficiency
        With a risk named ``"Monte Carlo"``, plain random samples of the same pools.

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
    ['ASE', 'CorrectedASE', 'Guarded', 'LURE', 'Monte Carlo']
    """
    evaluators = evaluator if isinstance(evaluator, dict) else {"default": evaluator}
    for name, each in evaluators.items():
        if not isinstance(each, ActiveRiskEstimator):
            raise TypeError(f"evaluator {name!r} must be an ActiveRiskEstimator.")
    if path is not None and not isinstance(random_state, (int, np.integer)):
        raise ValueError(
            f"path={str(path)!r} can be continued only with the same seeds: give an "
            f"int as random_state, not {random_state!r}."
        )
    counts = sorted({int(count) for count in n_labels})
    if not counts or counts[0] < 1:
        raise ValueError(f"n_labels={n_labels} must be label counts >= 1.")
    seeds = check_random_state(random_state).randint(2**31 - 1, size=n_runs)
    rows = [] if path is None else _finished_rows(path, counts, seeds)
    finished = {row[:2] for row in rows}
    plans = [
        (name, run)
        for run in range(n_runs)
        for name in evaluators
        if (name, run) not in finished
    ]
    jobs = (
        delayed(_run)(
            name, run, evaluators[name], scenario, seeds[run], risks, counts, level
        )
        for name, run in plans
    )
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for new in track(parallel(jobs), len(plans), "evaluations", verbose):
        rows += new
        if path is not None:
            _append(path, new)
    order = list(evaluators)
    rows = [row for row in rows if row[0] in evaluators and row[1] < n_runs]
    rows.sort(key=lambda row: (order.index(row[0]), row[1]))
    columns = zip(*rows, strict=True) if rows else [[] for _ in COLUMNS]
    return LabelEfficiency(
        {
            name: np.array(column, dtype=kind)
            for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
        }
    )


@dataclass(frozen=True)
class ErrorDecomposition:
    """Where the error of ASE comes from; the parts have signs and add up to `total`.

    Attributes
    ----------
    finite_pool : float
        (I): mean expected loss on the pool minus that on the population.
    training : float
        (IIB): mean expected loss on the population, by the surrogate minus by the
        best surrogate of its kind.
    expressiveness : float
        (IIA): mean expected loss on the population by the best surrogate, minus the
        true risk.
    total : float
        ASE minus the true risk.
    """

    finite_pool: float
    training: float
    expressiveness: float
    total: float


def error_decomposition(evaluator, scenario, X_population, y_population):
    """Split the error of ASE into pool, training and expressiveness.

    Parameters
    ----------
    evaluator : ActiveRiskEstimator
        Buys its `n_labels` labels.
    scenario : Scenario
        With a model that can be asked about other rows.
    X_population : array, sparse matrix, frame or list of shape (n_rows, n_features)
        Many rows from where the pool comes from, none of them in the pool.
    y_population : array-like of shape (n_rows,)

    Returns
    -------
    decomposition : ErrorDecomposition
        The best surrogate of its kind is taken to be the one that has seen every
        label of the pool.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, section 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> from sklearn_ase.simulation import Scenario, error_decomposition
    >>> X, y = load_iris(return_X_y=True)
    >>> scenario = Scenario(
    ...     X[1::3], y[1::3], GaussianNB().fit(X[::9], y[::9]), X[::9], y[::9])
    >>> evaluator = ActiveRiskEstimator(n_labels=10, random_state=0)
    >>> parts = error_decomposition(evaluator, scenario, X[2::3], y[2::3])
    >>> total = parts.finite_pool + parts.training + parts.expressiveness
    >>> bool(abs(total - parts.total) < 1e-12)
    True
    """
    evaluator = _with_model(clone(evaluator), scenario)
    rows = {"X_train": scenario.X_train, "y_train": scenario.y_train}
    n_samples = n_rows(scenario.X)
    best = clone(evaluator).set_params(
        n_labels=n_samples, batch_size=n_samples, refit=[n_samples]
    )
    means = []
    for each in (evaluator, best):
        each.fit(scenario.X, scenario.y, **rows)
        expected, observed = each._both_losses(X_population, y_population)
        means.append(expected.mean())
    pool, truth = float(evaluator.evaluation_.estimate(ASE())), observed.mean()
    return ErrorDecomposition(
        finite_pool=float(pool - means[0]),
        training=float(means[0] - means[1]),
        expressiveness=float(means[1] - truth),
        total=float(pool - truth),
    )


def _with_model(evaluator, scenario):
    """The evaluator, with the scenario's model if it brings one."""
    model = scenario.estimator
    if model is None:
        return evaluator
    model = FrozenEstimator(model) if hasattr(model, "predict") else model
    return evaluator.set_params(estimator=model)


def _finished_rows(path, counts, seeds):
    """Rows of the runs that a file holds in full; one that was cut short is dropped."""
    if not Path(path).exists():
        return []
    columns = LabelEfficiency.load(path).columns
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    runs = {}
    for row in rows:
        runs.setdefault(row[:3], []).append(row)
    # The plain samples are written last, in the order of their counts.
    plain = {
        key: [row[4] for row in run if row[3] == PLAIN] for key, run in runs.items()
    }
    torn = [key for key, met in plain.items() if met != counts]
    known = dict(enumerate(seeds.tolist()))
    other = [key for key in runs if known.get(key[1], key[2]) != key[2]]
    if (
        other
        or len(torn) > 1
        or any(met != counts[: len(met)] for met in plain.values())
    ):
        raise ValueError(
            f"{path} holds another simulation, with other seeds or label counts. Use "
            "the same random_state and n_labels, or another file."
        )
    kept = [row for row in rows if row[:3] not in torn]
    if len(kept) < len(rows) or not _ends_with_a_line(path):
        _rewrite(path, kept)
    return kept


def _run(name, run, evaluator, scenario, seed, risks, counts, level):
    """All rows of one evaluation."""
    seed = int(seed)
    if not isinstance(scenario, Scenario):
        scenario = scenario(seed)
    evaluator = clone(evaluator).set_params(random_state=seed)
    evaluator = _with_model(evaluator, scenario)
    evaluation = evaluator.start(
        scenario.X, X_train=scenario.X_train, y_train=scenario.y_train
    )
    rng = np.random.default_rng([seed, 2])
    y, losses, noise = _labels(evaluation, scenario, rng)
    truth = losses.mean()
    if counts[-1] > len(losses):
        raise ValueError(
            f"n_labels={counts} goes beyond the pool, which has {len(losses)} rows."
        )
    if risks is None:
        risks = {"Guarded": Guarded(), "ASE": ASE()}
        risks |= {"CorrectedASE": CorrectedASE(), "LURE": LURE()}
        if not evaluation.selection.has_query_proba:
            risks = {"ASE": ASE()}
    held = dict.fromkeys(risks, np.nan)
    rows = []
    for count in range(1, counts[-1] + 1):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
        if count in counts:
            evaluation.refit()
        if count < counts[0]:
            continue
        found = {
            key: evaluation.estimate(risk)
            for key, risk in risks.items()
            if evaluation.is_fitted or not risk.needs_belief
        }
        for key, risk in found.items():
            if not risk.refusal:
                low, high = risk.interval(level, method="anytime")
                held[key] = float(held[key] != 0.0 and low <= truth <= high)
        if count not in counts:
            continue
        flagged = np.nan
        if evaluation.can_diagnose:
            flagged = float(evaluation.diagnose().is_bad)
        chance = _chance(losses, noise, count)
        for key, risk in found.items():
            low, high = (-np.inf, np.inf) if risk.refusal else risk.interval(level)
            estimate = (risk.value, low, high, held[key], flagged)
            numbers = (*map(float, estimate), truth, chance)
            rows.append((name, run, seed, key, count, *numbers))
    drawn = evaluation.task.loss_for(evaluation.task.classes_with(y))
    drawn = drawn.observed(np.arange(len(y)), y)[rng.permutation(len(y))]
    for count in counts:
        chance = _chance(losses, noise, count)
        estimate = _plain_sample(drawn[:count], len(y), level)
        rows.append((name, run, seed, PLAIN, count, *estimate, truth, chance))
    return rows


def _labels(evaluation, scenario, rng):
    """Labels for this run, the expected loss of each row and its noise."""
    task = evaluation.task
    if scenario.label_proba is None:
        y = task.check_labels(scenario.y)
        loss = task.loss_for(task.classes_with(y))
        losses = loss.observed(np.arange(len(y)), y)
        return y, losses, np.zeros(len(y))
    classes = task.check_labels(scenario.y)
    proba = np.asarray(scenario.label_proba, dtype=float)
    proba = proba / proba.sum(axis=1, keepdims=True)
    edges = np.cumsum(proba, axis=1)
    codes = (rng.random((len(proba), 1)) > edges[:, :-1]).sum(axis=1)
    table = task.loss_for(task.classes_with(classes))
    columns = [
        table.observed(np.arange(len(proba)), np.full(len(proba), label))
        for label in classes
    ]
    values = np.stack(columns, axis=1)
    losses = np.einsum("nc,nc->n", proba, values)
    noise = np.einsum("nc,nc->n", proba, (values - losses[:, None]) ** 2)
    return classes[codes], losses, noise


def _chance(losses, noise, count):
    """Exact variance of the mean loss of a random sample."""
    finite = 1.0 - count / len(losses)
    return (losses.var(ddof=1) * finite + noise.mean()) / count


def _plain_sample(losses, n_samples, level):
    """Mean of a random sample, its t interval, and nothing else."""
    count, value = len(losses), losses.mean()
    reach = np.inf
    if count > 1:
        error = losses.std(ddof=1) * np.sqrt((1.0 - count / n_samples) / count)
        reach = stats.t.ppf((1 + level) / 2, count - 1) * error
    return value, value - reach, value + reach, np.nan, np.nan


def _figures(part):
    error = part["value"] - part["truth"]
    chance = max(np.mean(part["chance"]), np.finfo(float).tiny)
    ratio = np.mean(error**2) / chance
    excess = error**2 - ratio * part["chance"]
    given = np.isfinite(part["low"])
    inside = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
    width = (part["high"] - part["low"])[given]
    return {
        "n_runs": len(error),
        "mean_squared_error": np.mean(error**2),
        "median_squared_error": np.median(error**2),
        "bias": np.mean(error),
        "ratio": ratio,
        "ratio_error": _standard_error(excess) / chance,
        "given": np.mean(given),
        "coverage": np.mean(inside[given]) if given.any() else np.nan,
        "width": np.median(width) if given.any() else np.nan,
        "anytime_coverage": _mean_of_known(part["anytime"]),
        "flagged": _mean_of_known(part["flagged"]),
    }


def _standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def _mean_of_known(values):
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan


def _ends_with_a_line(path):
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _rewrite(path, rows):
    """Replace a file at once, so that nothing is lost if it is cut short."""
    fresh = Path(f"{path}.new")
    fresh.unlink(missing_ok=True)
    _append(fresh, rows)
    fresh.replace(path)


def _append(path, rows):
    path = Path(path)
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows(rows)
