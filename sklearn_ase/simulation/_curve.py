"""Many evaluations, one after the other or side by side."""

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklearn_ase._active_risk import ActiveRiskEstimator
from sklearn_ase._utils._progress import track
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.simulation._result import (
    COLUMNS,
    PLAIN,
    LabelEfficiency,
    append_rows,
    finished_rows,
)
from sklearn_ase.simulation._scenario import (
    Scenario,
    draw_labels,
    known_labels,
    training_rows,
    with_model,
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
        `random_state`. Runs are told by evaluator's name, seed and label counts: use
        another file for other settings.

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
    ['ASE', 'CorrectedASE', 'GuardedASE', 'LURE', 'Monte Carlo']
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
    rows = [] if path is None else finished_rows(path, counts, seeds)
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
            append_rows(path, new)
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


def _run(name, run, evaluator, scenario, seed, risks, counts, level):
    """All rows of one evaluation."""
    seed = int(seed)
    if not isinstance(scenario, Scenario):
        scenario = scenario(seed)
    evaluator = with_model(clone(evaluator).set_params(random_state=seed), scenario)
    evaluation = evaluator.start(scenario.X, **training_rows(scenario))
    rng = np.random.default_rng([seed, 2])
    y, losses, noise = draw_labels(evaluation, scenario, rng)
    if counts[-1] > len(losses):
        raise ValueError(
            f"n_labels={counts} goes beyond the pool, which has {len(losses)} rows."
        )
    truth = losses.mean()
    with known_labels():
        found = list(_watch(evaluation, y, truth, risks, counts, level))
    drawn = evaluation.task.loss_for(evaluation.task.classes_with(y))
    drawn = drawn.observed(np.arange(len(y)), y)[rng.permutation(len(y))]
    for count in counts:
        found.append((PLAIN, count, _plain_sample(drawn[:count], len(y), level)))
    return [
        (name, run, seed, key, count, *numbers, truth, _chance(losses, noise, count))
        for key, count, numbers in found
    ]


def _watch(evaluation, y, truth, risks, counts, level):
    """Buy labels one by one and report at the given counts.

    Yields
    ------
    risk : str
    count : int
    numbers : tuple
        Value, ends of the interval, whether the anytime interval has held so far and
        whether the diagnosis is bad.
    """
    risks = _usual_risks(evaluation) if risks is None else risks
    held = dict.fromkeys(risks, np.nan)
    for count in range(1, counts[-1] + 1):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
        if count in counts:
            evaluation.refit()
        if count < counts[0]:
            continue
        state = evaluation.state
        found = {
            key: risk.estimate(state)
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
        for key, risk in found.items():
            low, high = (-np.inf, np.inf) if risk.refusal else risk.interval(level)
            yield key, count, (float(risk), low, high, held[key], flagged)


def _usual_risks(evaluation):
    if not evaluation.selection.has_query_proba:
        return {"ASE": ASE()}
    risks = (GuardedASE(), ASE(), CorrectedASE(), LURE())
    return {type(risk).__name__: risk for risk in risks}


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
