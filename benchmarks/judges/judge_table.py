"""Do the intervals of evaluation.judges() cover?

Made data of four kinds: right or wrong answers with four judges (a score with missing
entries, hard labels, an inverted score, a useless one); the same with one more judge,
who is nearly always right; wins with ties and two judges; numbers with two judges.
Each run draws the pool afresh and buys 100 of 1,000 labels, five at a time. Printed
are, for each judge and entry of the table: the truth, the error and the width of the
90 % interval (means over the runs), how often the interval covers, and how wide it
would have to be for a normal estimate with the errors seen.

    python benchmarks/judges/judge_table.py --runs 200 --jobs 2
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import cohen_kappa_score, recall_score

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelMean, LabelShare

SEED = 161803
N_SAMPLES, N_LABELS, BATCH = 1000, 100, 5


def answers(rng, n):
    """Right and wrong answers, four judges, and the metric."""
    proba = rng.beta(2.0, 1.5, n)
    y = np.where(rng.random(n) < proba, "right", "wrong")
    score = np.clip(proba + 0.15 + 0.1 * rng.normal(size=n), 0.0, 1.0)
    score[rng.random(n) < 0.1] = np.nan
    flipped = np.where(y == "right", "wrong", "right")
    experts = {
        "score": score,
        "hard": np.where(rng.random(n) < 0.85, y, flipped),
        "inverted": 1.0 - np.clip(proba + 0.1 * rng.normal(size=n), 0.0, 1.0),
        "useless": rng.random(n),
    }
    return y, experts, LabelShare("right")


def easy(rng, n):
    """The same with one more judge, who is right about 97 % of the rows."""
    y, experts, metric = answers(rng, n)
    flipped = np.where(y == "right", "wrong", "right")
    experts["close"] = np.where(rng.random(n) < 0.97, y, flipped)
    return y, experts, metric


def wins(rng, n):
    """Wins, ties and losses, two judges, and the metric."""
    names = np.array(["A", "B", "tie"])
    y = rng.choice(names, p=[0.5, 0.3, 0.2], size=n)
    said = np.where(rng.random(n) < 0.6, y, rng.choice(names, size=n)).astype(object)
    said[rng.random(n) < 0.05] = None
    score = np.where(y == "A", 0.9, 0.5) * rng.random(n)
    return y, {"hard": said, "score": score}, LabelShare("A", half="tie")


def numbers(rng, n):
    """Numbers, two judges, and the metric."""
    y = 3.0 + 2.0 * rng.normal(size=n)
    close = y + 1.5 * rng.normal(size=n) + 0.5
    close[rng.random(n) < 0.1] = np.nan
    experts = {"close": close, "weak": 0.3 * y + 2.0 * rng.standard_t(5, size=n)}
    return y, experts, LabelMean()


KINDS = {"answers": answers, "easy": easy, "wins": wins, "numbers": numbers}


def truths(y, said, metric):
    """The entries of the table if all labels are known, by independent code."""
    if isinstance(metric, LabelMean):
        rows = ~np.isnan(said)
        y, said = y[rows], said[rows]
        gap = said - y
        return {
            "bias": gap.mean(),
            "rmse": np.sqrt(np.mean(gap**2)),
            "correlation": np.corrcoef(said, y)[0, 1],
        }
    label = metric.label
    rows = ~pd.isna(said)
    y, said = y[rows], said[rows]
    z = metric.row_values(y)[:, 0]
    if said.dtype == float:
        score, positive = said, said >= 0.5
    else:
        said = said.astype(str)
        score, positive = metric.row_values(said)[:, 0], said == label
    is_true = y == label
    pair = (y, said) if said.dtype != float else (is_true, positive)
    return {
        "bias": score.mean() - z.mean(),
        "tpr": recall_score(is_true, positive),
        "tnr": recall_score(~is_true, ~positive),
        "agreement": np.mean(pair[0] == pair[1]),
        "kappa": cohen_kappa_score(*pair),
        "correlation": np.corrcoef(score, z)[0, 1],
    }


def run(kind, seed):
    """Rows of one evaluation: kind, judge, entry, truth, value, ends."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SEED, list(KINDS).index(kind), seed])
    y, experts, metric = KINDS[kind](rng, N_SAMPLES)
    evaluator = ActiveRiskEstimator(metric=metric, random_state=seed)
    evaluation = evaluator.start(None, experts=experts)
    while len(evaluation.ledger) < N_LABELS:
        query = evaluation.ask(BATCH)
        evaluation.tell(query, y[query.indices])
    table = evaluation.judges()
    lines = []
    for place, (judge, said) in enumerate(experts.items()):
        truth = truths(y, said, metric)
        n_labels = table["n_labels"][place]
        truth["effective_labels"] = n_labels / (1.0 - truth["correlation"] ** 2)
        for entry, value in truth.items():
            found = [table[entry + end][place] for end in ("", "_low", "_high")]
            lines.append((kind, judge, entry, value, *found))
    return lines


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    args = parser.parse_args(argv)
    for kind in args.kinds:
        seeds = range(args.first, args.first + args.runs)
        found = Parallel(n_jobs=args.jobs)(delayed(run)(kind, seed) for seed in seeds)
        print(report([line for lines in found for line in lines]), flush=True)


def report(lines):
    """Coverage, mean error and mean width for each entry, as text."""
    columns = ["kind", "judge", "entry", "truth", "value", "low", "high"]
    frame = pd.DataFrame(lines, columns=columns)
    frame["covers"] = frame.truth.between(frame.low, frame.high).astype(float)
    frame.loc[frame.low.isna(), "covers"] = np.nan
    frame["error"] = frame.value - frame.truth
    frame["width"] = frame.high - frame.low
    group = frame.groupby(["kind", "judge", "entry"], sort=False)
    found = group[["truth", "error", "width", "covers"]].mean()
    # Of a normal estimate the interval is 3.3 standard deviations wide.
    needed = 3.3 * group.error.std()
    found = found.assign(needed=needed, runs=group.covers.count())
    return found.round(3).to_string()


if __name__ == "__main__":
    main()
