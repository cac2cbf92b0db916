"""Do several noisy answers a row narrow the interval, and does it still cover?

Made data of four kinds: the share of a label and the mean of a number without a model,
the zero-one loss of a classifier and the squared error of a regressor. The truth is the
mean over the pool of the expected answer (of its loss). Each run draws a pool of 600
rows afresh and labels 80 of them with one answer, and with three answers a row. Printed
are the mean width of the 90 % interval where there is one, how often it covers there,
and the mean squared error.

    python benchmarks/judges/several_answers.py --runs 100 --jobs 2
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelMean, LabelShare

SEED = 141421
N_SAMPLES, BATCHES = 600, (10, 10, 20, 40)


def share(rng, X):
    """Parameters of the evaluator, expected answers or losses, and a way to answer."""
    proba = 0.1 + 0.8 / (1.0 + np.exp(-1.5 * X[:, 0]))
    answers = (rng.random((len(X), 3)) < proba[:, None]).astype(int)
    return {"metric": LabelShare(1)}, proba, answers


def mean(rng, X):
    """The same for the mean of a number."""
    expected = X[:, 0] + X[:, 1]
    return (
        {"metric": LabelMean()},
        expected,
        expected[:, None] + rng.normal(size=(len(X), 3)),
    )


def zero_one(rng, X):
    """The same for the zero-one loss of a classifier."""
    _, proba, answers = share(rng, X)

    def model(rows):
        return (rows[:, 0] + 0.5 * rows[:, 1] > 0).astype(int)

    expected = np.where(model(X) == 1, 1.0 - proba, proba)
    return {"estimator": model, "loss": "zero_one"}, expected, answers


def squared_error(rng, X):
    """The same for the squared error of a regressor."""
    _, middle, answers = mean(rng, X)

    def model(rows):
        return 1.1 * rows[:, 0]

    expected = (middle - model(X)) ** 2 + 1.0
    return {"estimator": model, "loss": "squared_error"}, expected, answers


KINDS = {
    each.__name__.replace("_", " "): each
    for each in (share, mean, zero_one, squared_error)
}


def run(kind, seed):
    """Rows of one pool: kind, number of answers, truth, value, ends."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SEED, list(KINDS).index(kind), seed])
    X = rng.normal(size=(N_SAMPLES, 3))
    parameters, expected, answers = KINDS[kind](rng, X)
    lines = []
    for n_answers in (1, 3):
        evaluation = ActiveRiskEstimator(**parameters, random_state=seed).start(X)
        for n_queries in BATCHES:
            query = evaluation.ask(n_queries)
            evaluation.tell(query, answers[query.indices, :n_answers])
        found = evaluation.estimate()
        truth = expected.mean()
        lines.append((kind, n_answers, truth, float(found), *found.interval(0.9)))
    return lines


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args(argv)
    jobs = [(kind, seed) for kind in KINDS for seed in range(args.runs)]
    found = Parallel(n_jobs=args.jobs)(delayed(run)(*job) for job in jobs)
    columns = ["kind", "answers", "truth", "value", "low", "high"]
    frame = pd.DataFrame([line for lines in found for line in lines], columns=columns)
    frame["width"] = (frame.high - frame.low).replace(np.inf, np.nan)
    covers = frame.truth.between(frame.low, frame.high).astype(float)
    frame["covers"] = covers.where(frame.width.notna())
    frame["squared error"] = (frame.value - frame.truth) ** 2
    group = frame.groupby(["kind", "answers"], sort=False)
    print(group[["width", "covers", "squared error"]].mean().round(4).to_string())


if __name__ == "__main__":
    main()
