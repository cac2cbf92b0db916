"""Statements of the paper: they hold, do not hold, or the runs do not tell."""

import numpy as np
from scipy.stats import bootstrap, wilcoxon

WORDS = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}


def below(value, error, bound):
    """Whether a figure is below a bound; None if two standard errors do not tell."""
    if not abs(value - bound) > 2 * error:  # Nor does an error of NaN, of one run.
        return None
    return bool(value < bound)


def every(outcomes):
    """Whether all hold; None if that hangs on undecided ones."""
    outcomes = list(outcomes)
    if False in outcomes:
        return False
    return None if None in outcomes else True


def none_of(outcomes):
    """Whether none holds; None if that hangs on undecided ones."""
    return every(None if each is None else not each for each in outcomes)


def error_gap(runs, n_labels, method, other):
    """Difference of two mean squared errors, and its standard error.

    Parameters
    ----------
    runs : DataFrame
        With columns `run`, `n_labels`, `method`, `squared_error`.
    n_labels : int
    method, other : str
        Compared on the runs that both have.

    Returns
    -------
    gap, error : floats
        Below 0 if `method` has the lesser error.
    """
    runs = runs[runs["n_labels"] == n_labels]
    errors = runs.pivot(index="run", columns="method", values="squared_error")
    gap = (errors[method] - errors[other]).dropna()
    return gap.mean(), gap.sem()


def median_gap(errors, others, times=1):
    """Difference of two medians, and its standard error by the bootstrap over runs.

    Parameters
    ----------
    errors, others : Series of errors of the same runs
    times : float, default=1
        What the median of `others` is multiplied by.

    Returns
    -------
    gap, error : floats
        Below 0 if `errors` has the lesser median.
    """

    def gap(ours, theirs, axis=-1):
        return np.median(ours, axis) - times * np.median(theirs, axis)

    samples = np.asarray(errors), np.asarray(others)
    if len(errors) == 1:
        return gap(*samples), np.nan
    resampled = bootstrap(
        samples,
        gap,
        paired=True,
        n_resamples=999,
        method="percentile",
        random_state=0,
    )
    return gap(*samples), resampled.standard_error


def jackknife(runs, figure):
    """A figure of all runs, and its standard error by leaving out one at a time.

    Parameters
    ----------
    runs : DataFrame
        With a level `run` in its index.
    figure : callable
        Figure or Series of figures of such a table.

    Returns
    -------
    found, error
        As `figure` has them; the error of one run is NaN.
    """
    numbers = runs.index.get_level_values("run")
    n_runs = numbers.nunique()
    if n_runs == 1:
        return figure(runs), figure(runs) * np.nan
    left_out = [figure(runs[numbers != number]) for number in numbers.unique()]
    return figure(runs), np.std(left_out, axis=0) * np.sqrt(n_runs - 1)


def lesser(errors, others):
    """Whether errors tend to be less than others of the same runs, by signed ranks.

    None if the test does not tell at the level of two standard errors, 5 %.
    """
    if wilcoxon(errors, others).pvalue > 0.05:
        return None
    return bool(wilcoxon(errors, others, alternative="less").pvalue < 0.5)


def listed(gaps):
    """Differences with their standard errors as text."""
    return ", ".join(f"{gap:.2g} ± {error:.2g}" for gap, error in gaps)


class Claims:
    """Statements that are checked one by one and counted."""

    def __init__(self):
        self.outcomes = {}

    def check(self, name, statement, outcome, numbers):
        """Print one statement, its outcome and the numbers behind it.

        Parameters
        ----------
        name, statement : str
        outcome : bool or None
            None if the runs do not tell.
        numbers : str
        """
        self.outcomes[name] = outcome = None if outcome is None else bool(outcome)
        print(f"({name}) {statement}: {WORDS[outcome]} [{numbers}]")

    def verdict(self):
        """Print how many hold and which; how many do not is the exit code."""
        print(f"{len(self.outcomes)} claims")
        for kind, word in WORDS.items():
            names = [name for name, each in self.outcomes.items() if each is kind]
            print(f"{word}: {len(names)}" + bool(names) * f" ({'; '.join(names)})")
        return list(self.outcomes.values()).count(False)
