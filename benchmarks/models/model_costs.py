"""What do comparisons of models cost, in seconds of one processor core?

Printed are: 100 labels for one model (``ActiveRiskEstimator``); the comparison of 20
models from these labels; 100 labels for a choice between the 20 models
(``ActiveModelSelector``) with their comparison; and the time of one label in a choice
between 30 and 118 models without features. All pools have 10,000 rows. The models'
predictions are known beforehand: they cost the same in each case.

    python benchmarks/models/model_costs.py
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_classification

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator


def timed(function, *args, **kwargs):
    """Result of a function, and seconds of the processor that it took."""
    start = time.process_time()
    return function(*args, **kwargs), time.process_time() - start


def noisy_votes(y, n_models, rng):
    """Labels that models of different quality predict."""
    shares = rng.uniform(0.1, 0.3, n_models)
    wrong = rng.random((len(y), n_models)) < shares
    votes = np.where(wrong, 1 - y[:, None], y[:, None])
    return {f"model {place}": column for place, column in enumerate(votes.T)}


def with_features(n_rows, n_labels, rng):
    """One model, 20 models from its labels, and a choice between the 20."""
    X, y = make_classification(n_rows, random_state=0)
    votes = noisy_votes(y, 20, rng)
    evaluator = ActiveRiskEstimator(
        metric="accuracy", classes=[0, 1], n_labels=n_labels, random_state=0
    )
    selector = ActiveModelSelector(classes=[0, 1], n_labels=n_labels, random_state=0)
    one = {"predictions": votes["model 0"]}
    evaluator, of_one = timed(evaluator.fit, X, y, **one)
    _, of_table = timed(lambda: str(evaluator.evaluation_.compare(votes)))
    selector, of_choice = timed(selector.fit, X, y, predictions=votes)
    _, of_results = timed(lambda: str(selector.selection_.compare()))
    print(f"{n_rows} rows with features, {n_labels} labels")
    print(f"  evaluate one model          {of_one:6.2f} s")
    print(f"  compare 20 from its labels  {of_table:6.2f} s", end="")
    print(f", with these labels {(of_one + of_table) / of_one:.2f} times one model")
    print(f"  choose between 20 models    {of_choice:6.2f} s", end="")
    print(f", with a table {(of_choice + of_results) / of_one:.2f} times one model")


def without_features(n_rows, n_labels, n_models, rng):
    """Time of a label, of the candidates and of the whole table."""
    y = rng.integers(2, size=n_rows)
    selector = ActiveModelSelector(n_labels=n_labels, random_state=0)
    votes = noisy_votes(y, n_models, rng)
    _, seconds = timed(selector.fit, None, y, predictions=votes)
    comparison = selector.selection_.compare()
    _, of_set = timed(comparison.candidates)
    _, of_table = timed(comparison.to_dict)
    print(f"{n_rows} rows, {n_models} models, no features, {n_labels} labels")
    print(
        f"  a label {1000 * seconds / n_labels:.0f} ms, candidates {of_set:.2f} s",
        end="",
    )
    print(f", table of all models {of_table:.2f} s")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--labels", type=int, default=100)
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    with_features(args.rows, args.labels, rng)
    for n_models in (30, 118):
        without_features(args.rows, args.labels, n_models, rng)


if __name__ == "__main__":
    main()
