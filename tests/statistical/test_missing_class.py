"""GuardedASE needs fewer labels than Monte Carlo and LURE when a class was missing.

As a script this prints the table for 30 seeds and default settings, which takes a few
minutes:

    python tests/statistical/test_missing_class.py

As a test it runs fewer seeds with few refits.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss, Uniform
from sklearn_ase.risk import ASE, LURE, CorrectedASE, MonteCarlo

STRATEGIES = {
    "Monte Carlo": {"acquisition": Uniform(), "risk": MonteCarlo()},
    "LURE": {"acquisition": ExpectedLoss(), "risk": LURE()},
    "GuardedASE": {},
}


def errors(seed, n_labels=50, names=tuple(STRATEGIES), **parameters):
    """Error of each estimate of the log loss, the class 7 missing from training.

    Also the variance of Monte Carlo, which is known exactly where all losses are.
    """
    X, y = load_digits(return_X_y=True)
    X_train, X_pool, y_train, y_pool = train_test_split(
        X, y, train_size=500, random_state=seed
    )
    X_train, y_train = X_train[y_train != 7], y_train[y_train != 7]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    found = {}
    for name in names:
        evaluator = ActiveRiskEstimator(
            FrozenEstimator(model),
            classes=np.arange(10),
            n_labels=n_labels,
            random_state=seed,
            **STRATEGIES[name],
            **parameters,
        )
        evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
        evaluation = evaluator.evaluation_
        losses = evaluation.loss_.observed(np.arange(len(y_pool)), y_pool)
        truth = losses.mean()
        found[name] = float(evaluator.risk_) - truth
    same = {"ASE": ASE(), "LURE": LURE(), "corrected ASE": CorrectedASE()}
    for name, risk in same.items():
        found[f"{name}, same labels"] = float(evaluation.estimate(risk)) - truth
    variance = losses.var(ddof=1) * (1 / n_labels - 1 / len(losses))
    return found, variance


@pytest.mark.slow
def test_guarded_beats_monte_carlo_and_lure_when_a_class_was_missing():
    # Monte Carlo's error is known exactly and need not be sampled.
    names, refit = ("LURE", "GuardedASE"), [5, 10, 20, 35]
    runs = [errors(seed, names=names, refit=refit) for seed in range(8)]
    monte_carlo = np.mean([variance for _, variance in runs])
    lure, guarded = (np.mean([run[name] ** 2 for run, _ in runs]) for name in names)
    assert guarded < monte_carlo / 5
    assert guarded < lure


if __name__ == "__main__":
    from joblib import Parallel, delayed

    runs = Parallel(n_jobs=-1)(delayed(errors)(seed) for seed in range(30))
    print("digits, class 7 missing from training, log loss, 50 labels, 30 seeds")
    print(f"{'':30} {'MSE':>8} {'/ Monte Carlo':>14} {'bias':>8}")
    reference = np.mean([variance for _, variance in runs])
    print(f"{'Monte Carlo, exact':30} {reference:8.4f} {1:14.3f} {0:8.3f}")
    for name in runs[0][0]:
        values = np.array([run[name] for run, _ in runs])
        mean_square = np.mean(values**2)
        print(
            f"{name:30} {mean_square:8.4f} {mean_square / reference:14.3f} "
            f"{values.mean():8.3f}"
        )
