"""Estimates of a mean from few labels and a judge's score of every row.

These are the methods that ``judges.py`` compares with. Each takes the values of all
rows (a label as a number), the judge's score of all rows, the number of labels and a
random generator. It picks its own labels, and returns an estimate with the ends of an
interval of 90 %.

The formulas are written here, so that the benchmark needs no other package. Run as a
script, this file compares them with the packages that are installed: ``ppi_py``
(``ppi-python``) and ``glide`` (``glide-py``).

    python benchmarks/judges/judge_methods.py
"""

import numpy as np
from scipy import stats

LEVEL = 0.9
N_STRATA = 4
# Least variance of a label that the active sampler expects. A judge is often sure and
# wrong; smaller values made the method worse on the pools of EVOUNA.
LEAST_VARIANCE = 0.15
_Z = stats.norm.ppf((1 + LEVEL) / 2)


def plain_sample(values, score, n_labels, rng):
    """Mean of a plain random sample; t interval with the factor for a finite pool."""
    picked = values[rng.choice(len(values), n_labels, replace=False)]
    left = 1 - n_labels / len(values)
    reach = stats.t.ppf((1 + LEVEL) / 2, n_labels - 1)
    reach *= np.sqrt(picked.var(ddof=1) / n_labels * left)
    return picked.mean(), picked.mean() - reach, picked.mean() + reach


def plain_sample_wilson(values, score, n_labels, rng):
    """Mean of a plain random sample; Wilson's interval, finite pool as more labels."""
    picked = values[rng.choice(len(values), n_labels, replace=False)]
    share, size = picked.mean(), n_labels / (1 - n_labels / len(values))
    middle = (share + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    reach = np.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    reach *= _Z / (1 + _Z**2 / size)
    return share, middle - reach, middle + reach


def ppi(values, score, n_labels, rng):
    """PPI++ with labels of a plain random sample."""
    picked = np.zeros(len(values), dtype=bool)
    picked[rng.choice(len(values), n_labels, replace=False)] = True
    mean, variance = ppi_mean(values[picked], score[picked], score[~picked])
    return _normal(mean, variance)


def ppi_finite(values, score, n_labels, rng):
    """PPI++ whose interval counts that the pool is finite."""
    mean, low, high = ppi(values, score, n_labels, rng)
    left = np.sqrt(1 - n_labels / len(values))
    return mean, mean + left * (low - mean), mean + left * (high - mean)


def ppi_mean(y, score, other_score):
    """Estimate and variance of PPI++ (Angelopoulos, Duchi and Zrnic, 2023).

    Parameters
    ----------
    y, score : ndarray of shape (n_labels,)
        Labels and scores of the labelled rows.
    other_score : ndarray of shape (n_others,)
        Scores of the other rows.

    Returns
    -------
    mean, variance : float
    """
    n_labels, n_others = len(y), len(other_score)
    scatter = np.concatenate([score, other_score]).var(ddof=1)
    together = np.mean((y - y.mean()) * (score - score.mean()))
    trust = 0.0
    if scatter > 0:
        trust = np.clip(together / ((1 + n_labels / n_others) * scatter), 0, 1)
    rest = y - trust * score
    variance = trust**2 * other_score.var() / n_others + rest.var() / n_labels
    return trust * other_score.mean() + rest.mean(), variance


def stratified_ppi(values, score, n_labels, rng):
    """PPI++ in each group of rows with a like score; labels in proportion to size."""
    strata = strata_of(score)
    sizes = np.bincount(strata)
    picked = np.zeros(len(values), dtype=bool)
    for stratum, size in enumerate(shared_out(n_labels, sizes)):
        rows = np.flatnonzero(strata == stratum)
        picked[rng.choice(rows, size, replace=False)] = True
    return _normal(*stratified_mean(values, score, strata, picked))


def stratified_mean(values, score, strata, picked):
    """Estimate and variance of stratified PPI++ (Fisch et al., 2024)."""
    mean = variance = 0.0
    for stratum in np.unique(strata):
        rows = strata == stratum
        y, known = values[rows & picked], score[rows & picked]
        others = score[rows & ~picked]
        scatter = np.concatenate([known, others]).var(ddof=1)
        # A judge that says the same of all rows of a stratum tells nothing there.
        trust = 0.0
        if scatter > 1e-12:
            trust = np.cov(y, known)[0, 1] / ((1 + len(y) / len(others)) * scatter)
        rest = y - trust * known
        share = rows.mean()
        mean += share * (trust * others.mean() + rest.mean())
        error = rest.var(ddof=1) / len(y) + trust**2 * others.var(ddof=1) / len(others)
        variance += share**2 * error
    return mean, variance


def strata_of(score):
    """Groups of about equal size of rows with a like score, numbered from 0."""
    edges = np.unique(np.quantile(score, np.arange(1, N_STRATA) / N_STRATA))
    groups = np.searchsorted(edges, score, side="right")
    return np.unique(groups, return_inverse=True)[1]


def shared_out(n_labels, sizes):
    """Labels of each stratum: in proportion to its size, two at least."""
    exact = n_labels * sizes / sizes.sum()
    found = np.floor(exact).astype(int)
    found[np.argsort(found - exact)[: n_labels - found.sum()]] += 1
    while (found < 2).any():
        found[np.argmin(found)] += 1
        found[np.argmax(found)] -= 1
    return found


def active(values, score, n_labels, rng):
    """Active statistical inference: more labels where the score is near one half."""
    unsure = np.sqrt(np.maximum(score * (1 - score), LEAST_VARIANCE))
    chance = chances(unsure, n_labels)
    order = rng.permutation(len(values))
    picked = rng.random(len(values)) < chance
    # Rows after the last label that may be bought count as if they were not there.
    last = np.searchsorted(np.cumsum(picked[order]), n_labels)
    seen = order[: last + 1]
    return _normal(*active_mean(values[seen], score[seen], picked[seen], chance[seen]))


def chances(unsure, n_labels):
    """Probability of each row: in proportion to `unsure`, at most 1, of this sum."""
    certain = np.zeros(len(unsure), dtype=bool)
    while True:
        left = n_labels - certain.sum()
        found = np.where(certain, 1.0, left * unsure / unsure[~certain].sum())
        if (found <= 1).all():
            return found
        certain |= found >= 1


def active_mean(values, score, picked, chance):
    """Estimate and variance of Zrnic and Candès (2024), with a tuned trust."""
    weight = picked / chance
    spread = np.cov(score * (weight - 1), values * weight)
    trust = spread[0, 1] / spread[0, 0]
    rectified = trust * score + weight * (values - trust * score)
    return rectified.mean(), rectified.var(ddof=1) / len(values)


def _normal(mean, variance):
    reach = _Z * np.sqrt(variance)
    return mean, mean - reach, mean + reach


def check(n_pools=200):
    """Print the greatest difference from each package that is installed."""
    rng = np.random.default_rng(0)
    differences = {"ppi_py": [], "glide, stratified": [], "glide, active": []}
    for _ in range(n_pools):
        score = rng.random(300).round(1)
        values = (rng.random(300) < score).astype(float)
        picked = np.zeros(300, dtype=bool)
        picked[:60] = True
        rng.shuffle(picked)
        known = np.where(picked, values, np.nan)
        strata = (score > 0.5).astype(int)
        chance = rng.uniform(0.1, 0.9, 300)
        active_pick = rng.random(300) < chance
        active_known = np.where(active_pick, values, np.nan)
        try:
            from ppi_py import ppi_mean_ci

            ours = _normal(*ppi_mean(values[picked], score[picked], score[~picked]))
            theirs = np.ravel(
                ppi_mean_ci(values[picked], score[picked], score[~picked], 1 - LEVEL)
            )
            differences["ppi_py"].append(np.abs(theirs - ours[1:]).max())
        except ImportError:
            pass
        try:
            from glide.estimators import ASIMeanEstimator, StratifiedPPIMeanEstimator
        except ImportError:
            continue
        pairs = [
            (
                "glide, stratified",
                stratified_mean(values, score, strata, picked),
                StratifiedPPIMeanEstimator().estimate(
                    known, score, strata, confidence_level=LEVEL
                ),
            ),
            (
                "glide, active",
                active_mean(values, score, active_pick, chance),
                ASIMeanEstimator().estimate(
                    active_known, score, chance, confidence_level=LEVEL
                ),
            ),
        ]
        for name, ours, theirs in pairs:
            interval = theirs.confidence_interval
            ends = [interval.lower_bound, interval.upper_bound]
            differences[name].append(
                np.abs(np.subtract(ends, _normal(*ours)[1:])).max()
            )
    for name, found in differences.items():
        text = f"{max(found):.1e}" if found else "not installed"
        print(f"{name}: {text}")


if __name__ == "__main__":
    check()
