"""Labels drawn from a distribution: the human votes of CIFAR-10H.

Each run draws 2,000 test images of CIFAR-10 as pool and one vote for each of them; the
truth is the expected loss under all votes. The model is a logistic regression on
principal components, trained on 2,000 training images; the surrogate is the default.
"LURE" samples by expected loss, as in the paper.

    python benchmarks/trust/label_noise.py --data-dir DIR --out RUNS --runs 50
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss
from sklearn_ase.risk import LURE
from sklearn_ase.simulation import Scenario, label_efficiency_curve

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import read_cifar10_votes

SEED = 20261117
N_TRAIN, N_POOL = 2000, 2000


def scenario(data_dir, seed):
    """A training set, a model, and a pool whose labels are still to be drawn."""
    X, y, X_test, votes = read_cifar10_votes(data_dir)
    rng = np.random.default_rng(seed)
    train = rng.choice(len(y), N_TRAIN, replace=False)
    pool = rng.choice(len(X_test), N_POOL, replace=False)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
    return Scenario(
        X=X_test[pool],
        y=np.arange(10),
        estimator=model.fit(X[train], y[train]),
        X_train=X[train],
        y_train=y[train],
        label_proba=votes[pool] / votes[pool].sum(axis=1, keepdims=True),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    Path(args.out).mkdir(parents=True, exist_ok=True)
    for loss in ("log_loss", "zero_one"):
        result = label_efficiency_curve(
            {
                "default": ActiveRiskEstimator(loss=loss, refit=2.0),
                "LURE": ActiveRiskEstimator(
                    loss=loss, refit=2.0, acquisition=ExpectedLoss(), risk=LURE()
                ),
            },
            lambda seed: scenario(args.data_dir, seed),
            n_runs=args.runs,
            random_state=SEED,
            n_jobs=args.jobs,
            verbose=1,
            path=Path(args.out) / f"{loss}.csv",
        )
        figures = pd.DataFrame(result.summary())
        table = figures.pivot(
            index=["evaluator", "risk"], columns="n_labels", values="ratio"
        )
        errors = figures.pivot(
            index=["evaluator", "risk"], columns="n_labels", values="ratio_error"
        )
        print(f"\n{loss}, {figures['n_runs'].max()} runs")
        print("mean squared error / Monte Carlo's\n", table.round(3).to_string())
        print("its standard error\n", errors.round(3).to_string())
        cover = figures.pivot(
            index=["evaluator", "risk"], columns="n_labels", values="coverage"
        )
        print("coverage of 90 % intervals\n", cover.round(2).to_string())


if __name__ == "__main__":
    main()
