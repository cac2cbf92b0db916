"""The paper's claims that ``missing_class.py`` checks, and those we add."""

import numpy as np
from claims import below, error_gap, every, lesser, none_of

SEVENS = 0.104  # Their share of all images.
PLAIN = "Monte Carlo"
# Of figure 2.
ACQUISITIONS = ("XWED", "BALD", "~E[loss]", "Uniform")
# What guarded is checked with; "default" has a surrogate of its own beside networks.
GUARDED = ("default", "~E[loss]", "~XWED")
AGAINST_PLAIN = {
    "b": (
        "LURE sampling by XWED or BALD is no better than Monte Carlo",
        none_of,
        ["LURE ~XWED", "LURE ~BALD"],
    ),
    "c": (
        "with a constant surrogate neither is better than Monte Carlo",
        none_of,
        ["ASE constant ~E[loss]", "LURE constant ~E[loss]"],
    ),
    "figure 3a": (
        "ASE is below Monte Carlo by XWED, BALD and ~E[loss]",
        every,
        ["ASE XWED", "ASE BALD", "ASE ~E[loss]"],
    ),
    "B3": (
        "ASE sampling by XWED or BALD is below Monte Carlo",
        every,
        ["ASE ~XWED", "ASE ~BALD"],
    ),
}
AGAINST_OTHERS = {
    "figure 3a, best": (
        "XWED is the best acquisition for ASE",
        "ASE XWED",
        ["ASE BALD", "ASE ~E[loss]"],
    ),
    "B3, best": (
        "ASE by the maximum of XWED is below ASE that samples",
        "ASE XWED",
        ["ASE ~XWED", "ASE ~BALD"],
    ),
    "figure 3b, best": (
        "expected loss is the best acquisition for LURE",
        "LURE ~E[loss]",
        ["LURE ~XWED", "LURE ~BALD"],
    ),
}


def against_plain(figures, methods, count):
    """Of each method whether it is below Monte Carlo, and the numbers."""
    ratio, error = figures["ratio"], figures["ratio_error"]
    outcomes = [below(ratio[m, count], error[m, count], 1) for m in methods]
    numbers = [f"{m} {ratio[m, count]:.2g} ± {error[m, count]:.2g}" for m in methods]
    return outcomes, ", ".join(numbers) + " of Monte Carlo's error"


def ranks_against_plain(runs, methods, count):
    """The same by signed ranks, which one run with a huge weight does not sway."""
    errors = runs[runs["n_labels"] == count]
    errors = errors.pivot(index="run", columns="method", values="squared_error")
    outcomes, numbers = [], []
    for method in methods:
        outcomes.append(lesser(errors[method], errors[PLAIN]))
        share = np.mean(errors[method] > errors[PLAIN])
        numbers.append(f"{method} is above in {share:.2f} of the runs")
    return outcomes, ", ".join(numbers)


def against_others(runs, method, others, count):
    """Of each other method whether the first is below it, and the numbers."""
    gaps = [error_gap(runs, count, method, other) for other in others]
    numbers = [
        f"{gap:.2g} ± {error:.2g} from {other}'s"
        for other, (gap, error) in zip(others, gaps, strict=True)
    ]
    return [below(*gap, 0) for gap in gaps], ", ".join(numbers)


def check_errors(claims, figures, runs):
    """The paper's claims on errors at the last label count; then what we add."""
    last = runs["n_labels"].max()
    below_plain, ratios = against_plain(figures, ["ASE XWED"], last)
    below_lure, gaps = against_others(runs, "ASE XWED", ["LURE ~E[loss]"], last)
    claims.check(
        "a",
        f"at {last} labels, once the shift is learned, ASE XWED is below LURE and "
        "Monte Carlo",
        every(below_plain + below_lure),
        f"{ratios}, {gaps}",
    )
    for name, (statement, quantifier, methods) in AGAINST_PLAIN.items():
        outcomes, ratios = against_plain(figures, methods, last)
        claims.check(name, f"{statement} at {last}", quantifier(outcomes), ratios)
    for name in ("b", "c"):
        statement, quantifier, methods = AGAINST_PLAIN[name]
        outcomes, shares = ranks_against_plain(runs, methods, last)
        statement = f"by ranks, {statement} at {last}"
        claims.check(f"{name}, ranks", statement, quantifier(outcomes), shares)
    for name, (statement, method, others) in AGAINST_OTHERS.items():
        outcomes, gaps = against_others(runs, method, others, last)
        claims.check(name, f"{statement} at {last}", every(outcomes), gaps)
    for name in GUARDED:
        check_guarded(claims, figures, f"GuardedASE {name}")


def check_guarded(claims, figures, method):
    """What we add: guarded is never worse than Monte Carlo."""
    counts = [count for count in figures.loc[method].index if count >= 10]
    outcomes = [against_plain(figures, [method], count)[0][0] for count in counts]
    worst = max(counts, key=lambda count: figures["ratio"][method, count])
    claims.check(
        f"better, {method}",
        "it is below Monte Carlo at every label count from 10 on",
        every(outcomes),
        f"at {worst} {against_plain(figures, [method], worst)[1]}",
    )


def check_shares(claims, shares, n_pool):
    """Figure 2: which acquisition buys sevens, and for how long."""
    means = shares.groupby("n_labels").mean()
    steps = {name: steps_of(means[name], n_pool) for name in ACQUISITIONS}
    claims.check(
        "d",
        "XWED acquires sevens first and then diversifies, BALD and E[loss] do not",
        bootstrap_outcome(shares, n_pool),
        "; ".join(f"{name} {step.round(2).to_dict()}" for name, step in steps.items()),
    )


def bootstrap_outcome(shares, n_pool, n_resamples=200):
    """Whether (d) holds in nearly all, nearly none or some of the resampled runs."""
    by_run = shares.unstack("run")
    runs = by_run.columns.unique("run")
    rng = np.random.default_rng(0)
    found = []
    for drawn in rng.choice(runs, (n_resamples, len(runs))):
        xwed, *others = (
            focuses_then_diversifies(steps_of(by_run[name][drawn].mean(axis=1), n_pool))
            for name in ("XWED", "BALD", "~E[loss]")
        )
        found.append(xwed and not any(others))
    share = np.mean(found)
    if len(runs) == 1 or 0.025 < share < 0.975:
        return None
    return bool(share > 0.5)


def steps_of(shares, n_pool):
    """Share of sevens among the labels bought since the count before.

    Only while no more than half of the pool's sevens are bought: after that an
    acquisition that wants nothing else has to diversify, too.
    """
    counts = shares.index.to_series()
    bought = shares * counts
    steps = bought.diff().fillna(bought) / counts.diff().fillna(counts)
    return steps[bought <= SEVENS * n_pool / 2]


def focuses_then_diversifies(steps):
    """Whether sevens are most of the labels at some time, and last half as many."""
    return steps.max() > 0.5 and steps.iloc[-1] < steps.max() / 2
