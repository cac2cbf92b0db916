"""Record seeded evaluations, and compare two recordings to the last digit.

A change of the code that should not change results is checked in three steps:
``python benchmarks/same_results.py --out before.json`` with the old code, the same with
``--out after.json`` with the new code, and then
``python benchmarks/same_results.py --compare before.json after.json``. A change of the
order in which numbers are added moves last digits; ``--tolerance 1e-10`` allows that.
"""

import argparse
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator, acquisition, risk, selection
from sklearn_ase.losses import CustomLoss
from sklearn_ase.stopping import Plateau, TargetWidth
from sklearn_ase.surrogate import ClassifierSurrogate, RegressorSurrogate

# The names of version 0.1, so that recordings of it can be compared, too.
IS_OLD = hasattr(risk, "Guarded")
NO_CALIBRATION = False if IS_OLD else None
RISKS = (risk.Guarded if IS_OLD else risk.GuardedASE, risk.ASE, risk.CorrectedASE)
RISKS += (risk.LURE, risk.MonteCarlo)
TrustWeighted = acquisition.Trusted if IS_OLD else acquisition.TrustWeighted
N_LABELS = 30


def uniform_mixed(share):
    """ArgMax with a share of uniform picks."""
    if IS_OLD:
        return selection.Audited(selection.ArgMax(), share=share)
    return selection.UniformMixed(selection.ArgMax(), uniform_share=share)


def proportional(share):
    """Sampling in proportion to the score with a share of uniform picks."""
    name = "defensive" if IS_OLD else "uniform_share"
    return selection.Proportional(**{name: share})


def split(X, y, model, n_train=150, n_pool=300, leave_out=()):
    """Training rows without some classes, a pool, and a model of the former."""
    order = np.random.default_rng(0).permutation(len(y))
    train, pool = order[:n_train], order[n_train : n_train + n_pool]
    train = train[~np.isin(y[train], leave_out)]
    model = FrozenEstimator(model.fit(X[train], y[train]))
    rows = {"X_train": X[train], "y_train": y[train]}
    return model, X[pool], y[pool], rows


def digits(model=None, **options):
    """Digits as a task."""
    X, y = load_digits(return_X_y=True)
    return split(X, y, model or GaussianNB(var_smoothing=0.01), **options)


def diabetes(model=None):
    """The diabetes data as a task."""
    X, y = load_diabetes(return_X_y=True)
    return split(X, y, model or Ridge())


def frame():
    """A frame with numbers, text, a category and missing values."""
    rng = np.random.default_rng(3)
    n = 400
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "kind": rng.choice(["pear", "apple", "plum"], n),
            "grade": pd.Categorical(rng.choice(["a", "b"], n)),
        }
    )
    y = np.where(
        (X["size"] + (X["kind"] == "plum") + rng.normal(size=n)) > 0.3, "y", "n"
    )
    X.loc[::17, "size"] = np.nan
    return X, y


def fitted(evaluator, task, **options):
    """An evaluation after `fit`."""
    model, X, y, rows = task
    evaluator = ActiveRiskEstimator(
        model, **({"n_labels": N_LABELS, "random_state": 1} | evaluator)
    )
    return evaluator.fit(X, y, **rows, **options).evaluation_


def simple(evaluator, task, without_training=False, **options):
    """A function that runs an evaluation."""

    def run():
        model, X, y, rows = task()
        return fitted(
            evaluator, (model, X, y, {} if without_training else rows), **options
        )

    return run


def weighted_twice(y_true, y_pred):
    """A loss of the user's: half of the classes cost twice as much."""
    return (1.0 + np.asarray(y_true) % 2) * (y_true != y_pred)


def huber(y_true, y_pred):
    """A robust loss of the user's."""
    error = np.abs(y_true - y_pred)
    return np.where(error < 50, 0.5 * error**2, 50 * (error - 25))


def by_hand(journal=None, **options):
    """Batches, partial answers, skips, corrections, several answers for a row."""
    model, X, y, rows = digits(leave_out=(7,))
    evaluator = ActiveRiskEstimator(model, random_state=5, **options)
    known = {row: y[row] for row in range(0, 300, 11)}
    cost = 1.0 + (np.arange(300) % 5)
    evaluation = evaluator.start(
        X, **rows, known_labels=known, cost=cost, journal=journal
    )
    query = evaluation.ask(12)
    evaluation.tell(query.indices[6:], y[query.indices[6:]])
    evaluation.tell(query.indices[:3], np.stack([y[query.indices[:3]]] * 2, axis=1))
    wrong = int(query.indices[7])
    evaluation.correct(wrong, (y[wrong] + 1) % 10)
    evaluation.skip(query.indices[3:4])
    query = evaluation.ask(10)
    evaluation.tell(query, y[query.indices])
    evaluation.correct(wrong, y[wrong])
    evaluation.withdraw(int(query.indices[0]))
    evaluation.refit()
    query = evaluation.ask(8)
    evaluation.tell(query, y[query.indices])
    return evaluation


def without_skips():
    """Batches by hand in which the first rows stay open for a while."""
    model, X, y, rows = digits()
    evaluation = ActiveRiskEstimator(model, random_state=6).start(X, **rows)
    first = evaluation.ask(4)
    for _ in range(5):
        query = evaluation.ask(5)
        evaluation.tell(query, y[query.indices])
    evaluation.tell(first.indices[:3], y[first.indices[:3]])
    return evaluation


def with_frame():
    """A frame, a pipeline and text labels."""
    X, y = frame()
    encode = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=500)
    )
    model = FrozenEstimator(encode.fit(X.fillna(0)[:100], y[:100]))
    rows = {"X_train": X.fillna(0)[:100], "y_train": y[:100]}
    return fitted({"loss": "zero_one"}, (model, X.fillna(0)[100:], y[100:], rows))


def with_polars():
    """The same with polars and missing values; the model is its predictions."""
    import polars

    X, y = frame()
    X = polars.from_pandas(X.astype({"grade": str}))
    proba = pd.DataFrame({"n": [0.4] * 300, "y": [0.6] * 300})
    rows = {"X_train": X[:100], "y_train": y[:100]}
    return fitted({}, (None, X[100:], y[100:], rows), predictions=proba)


def with_text():
    """Texts as a list."""
    rng = np.random.default_rng(4)
    words = np.array(["sun", "rain", "snow", "wind", "fog", "calm"])
    texts = [" ".join(rng.choice(words, 5)) for _ in range(400)]
    y = np.array([text.count("sun") > text.count("rain") for text in texts]).astype(int)
    model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts[:80], y[:80])
    rows = {"X_train": texts[:80], "y_train": y[:80]}
    return fitted({}, (FrozenEstimator(model), texts[80:], y[80:], rows))


def with_sparse():
    """A sparse pool."""
    model, X, y, rows = digits(MultinomialNB())
    rows["X_train"] = sparse.csr_matrix(rows["X_train"])
    return fitted({"n_labels": 20}, (model, sparse.csr_matrix(X), y, rows))


def with_predictions(loss="zero_one"):
    """No model and no training rows, text labels that turn up on the way."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    y = names[y]
    predictions = np.where(X[:, 2] < 2.5, "setosa", "versicolor")
    return fitted({"loss": loss}, (None, X, y, {}), predictions=predictions)


def with_journal():
    """Written to a journal, and opened again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        by_hand(path).close()
        model, X, y, rows = digits(leave_out=(7,))
        evaluation = ActiveRiskEstimator(model).start(
            X, **rows, cost=1.0 + (np.arange(300) % 5), journal=path
        )
        query = evaluation.ask(5)
        evaluation.tell(query, y[query.indices])
        evaluation.close()
        return evaluation


def neural(kind, **options):
    """A network as surrogate."""

    def run():
        from sklearn_ase import neural

        network = getattr(neural, kind)(
            n_members=4, max_epochs=4, module__width=16, random_state=0, **options
        )
        model, X, y, rows = digits()
        rows["X_train"] = rows["X_train"] / 16
        X = X / 16
        model = FrozenEstimator(GaussianNB(var_smoothing=0.01).fit(*rows.values()))
        return fitted({"surrogate": network, "n_labels": 12}, (model, X, y, rows))

    return run


def on_device():
    """A surrogate whose members are reduced by torch."""
    from sklearn_ase.neural import DeviceSurrogate

    surrogate = DeviceSurrogate(RandomForestClassifier(10))
    return fitted({"surrogate": surrogate, "n_labels": 15}, digits())


def uncalibrated(estimator, kind=ClassifierSurrogate):
    """A surrogate without calibration."""
    return kind(estimator, calibration=NO_CALIBRATION)


def regression(surrogate=None, loss="squared_error", task=diabetes, **options):
    """An evaluation of a regressor."""
    return simple({"surrogate": surrogate, "loss": loss, **options}, task)


FROZEN = RandomForestClassifier(20, random_state=0)
FROZEN.fit(*digits()[3].values())
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
TREE.fit(*digits()[3].values())
DIGITS_WITHOUT_7 = lambda: digits(leave_out=(7,))  # noqa: E731
XWED_ARGMAX = {"acquisition": acquisition.XWED(), "selection": selection.ArgMax()}

CASES = {
    "log loss": simple({}, digits),
    "missing class": simple({"n_labels": 40}, DIGITS_WITHOUT_7),
    "missing class, zero-one": simple({"loss": "zero_one"}, DIGITS_WITHOUT_7),
    "closed classes": simple({"classes": list(range(10))}, DIGITS_WITHOUT_7),
    "brier": simple({"loss": "brier", "batch_size": 7}, digits),
    "custom loss": simple({"loss": weighted_twice}, digits),
    "custom loss of probabilities": simple(
        {
            "loss": CustomLoss(
                lambda y, p: 1.0 - p[np.arange(len(y)), y],
                "predict_proba",
                "classification",
            )
        },
        digits,
    ),
    "forest": simple({"surrogate": RandomForestClassifier(15)}, digits),
    "bagging": simple({"surrogate": BaggingClassifier(GaussianNB(), 8)}, digits),
    "bootstrap": simple({"surrogate": GaussianNB(), "n_labels": 15}, digits),
    "cross-fitted": simple(
        {"surrogate": ExtraTreesClassifier(15), "n_labels": 15}, digits
    ),
    "pipeline": simple(
        {
            "surrogate": make_pipeline(StandardScaler(), RandomForestClassifier(10)),
            "n_labels": 15,
        },
        digits,
    ),
    "pool weight": simple(
        {"surrogate": ClassifierSurrogate(RandomForestClassifier(10), pool_weight=4.0)},
        digits,
    ),
    "no calibration": simple(
        {"surrogate": uncalibrated(RandomForestClassifier(15))}, digits
    ),
    "frozen": simple({"surrogate": FrozenEstimator(FROZEN)}, digits),
    "frozen tree": simple({"surrogate": FrozenEstimator(TREE)}, digits),
    "no training rows": simple({"refit": 4}, digits, without_training=True),
    "no cross-fitting": simple({"cross_fit" if IS_OLD else "cv": 0}, digits),
    "XWED, ArgMax": simple({**XWED_ARGMAX, "refit": [5, 10, 20]}, digits),
    "BALD, mixed with uniform": simple(
        {"acquisition": acquisition.BALD(), "selection": uniform_mixed(0.3)}, digits
    ),
    "LURE": simple(
        {
            "acquisition": acquisition.ExpectedLoss(),
            "selection": proportional(0.1),
            "risk": risk.LURE(),
        },
        digits,
    ),
    "Monte Carlo": simple(
        {"acquisition": acquisition.Uniform(), "risk": risk.MonteCarlo()}, digits
    ),
    "variance reduction": simple(
        {"acquisition": TrustWeighted(acquisition.VarianceReduction())}, digits
    ),
    "mixture": simple(
        {
            "acquisition": acquisition.Mixture(
                [acquisition.BALD(), acquisition.LossSpread()], shares=[2, 1]
            )
        },
        digits,
    ),
    "target width": simple({"n_labels": 60, "stop": TargetWidth(0.9)}, digits),
    "plateau": simple({"n_labels": 60, "stop": Plateau(0.05, 10)}, digits),
    "budget": simple(
        {"n_labels": 60, "budget": 50.0}, digits, cost=1.0 + np.arange(300) % 3
    ),
    "all labelled": simple({"n_labels": 300, "batch_size": 60}, digits),
    "by hand": by_hand,
    "by hand, LURE": lambda: by_hand(risk=risk.LURE()),
    "open rows": without_skips,
    "journal": with_journal,
    "frame": with_frame,
    "polars": with_polars,
    "text": with_text,
    "sparse": with_sparse,
    "predictions": with_predictions,
    "regression": regression(),
    "absolute error": regression(loss="absolute_error"),
    "custom regression loss": regression(
        RandomForestRegressor(10), CustomLoss(huber, task="regression")
    ),
    "Bayesian ridge": regression(BayesianRidge()),
    "regression, bootstrap": regression(Ridge(), n_labels=15),
    "regression, no calibration": regression(
        uncalibrated(RandomForestRegressor(15), RegressorSurrogate)
    ),
    "regression, variance reduction": regression(
        acquisition=acquisition.VarianceReduction()
    ),
    "deep ensemble": neural("DeepEnsembleClassifier"),
    "deep ensemble, bootstrap": neural("DeepEnsembleClassifier", bootstrap=True),
    "dropout": neural("MCDropoutClassifier"),
    "device": on_device,
}


def shown(evaluation):
    """All numbers of an evaluation, as plain lists."""
    ledger, state = evaluation.ledger, evaluation.state
    columns = ("indices", "query_proba", "expected_loss", "free_expected_loss")
    columns += ("residual_moment", "loss_moment", "skipped", "refits")
    found = {name: np.ravel(getattr(ledger, name)).tolist() for name in columns}
    found["labels"] = [[int(row), str(label)] for row, label in ledger.labels.items()]
    if state.expected_loss is not None:
        found["g"] = state.expected_loss.tolist()
        found["variance of the loss"] = state.belief.loss_variance(state.loss).tolist()
        found["XWED"] = state.belief.weighted_disagreement(state.loss).tolist()
        found["member risk"] = state.belief.member_risk.tolist()
    for kind in RISKS:
        try:
            estimate = evaluation.estimate(kind())
        except ValueError:
            found[f"estimate {RISKS.index(kind)}"] = None
            continue
        ends = [[], []]
        if not estimate.refusal:
            ends = [estimate.interval(0.9, method=m) for m in ("fixed", "anytime")]
        numbers = [estimate.value, estimate.standard_error, estimate.n_labels, *ends]
        found[f"estimate {RISKS.index(kind)}"] = numbers
    history = evaluation.history
    found["history"] = [
        history[name].tolist() for name in ("risk", "standard_error", "refit")
    ]
    found["intervals"] = [ends.tolist() for ends in evaluation.intervals()]
    found["spent"] = evaluation.spent
    try:
        diagnosis = vars(evaluation.diagnose())
    except ValueError:
        diagnosis = {}
    names = (
        "distance",
        "skill",
        "trust",
        "effective_labels",
        "scarce_share",
        "verdict",
    )
    found["diagnosis"] = [diagnosis.get(name) for name in names]
    return found


def record(names):
    """Results of the named cases."""
    results = {}
    for name in names or CASES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results[name] = shown(CASES[name]())
        print(f"{name}: {results[name]['estimate 0'] or results[name]['estimate 1']}")
    return results


def differences(first, second, tolerance=0.0, path=""):
    """Places at which two recordings differ, with both values.

    Numbers may differ by the tolerance, relative to the greater one or to 1.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for name in {**first, **second}:
            pair = first.get(name), second.get(name)
            yield from differences(*pair, tolerance, f"{path}/{name}")
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            yield path, len(first), len(second)
            return
        for place, pair in enumerate(zip(first, second, strict=True)):
            yield from differences(*pair, tolerance, f"{path}[{place}]")
    elif not (first == second or (first != first and second != second)):
        are_numbers = isinstance(first, float) and isinstance(second, float)
        if not are_numbers or not _is_close(first, second, tolerance):
            yield path, first, second


def _is_close(first, second, tolerance):
    return abs(first - second) <= tolerance * max(abs(first), abs(second), 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="JSON file to write")
    parser.add_argument("--cases", nargs="*", choices=list(CASES), metavar="CASE")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--tolerance", type=float, default=0.0)
    arguments = parser.parse_args()
    if arguments.compare:
        texts = [Path(path).read_text(encoding="utf-8") for path in arguments.compare]
        before, after = map(json.loads, texts)
        common = [name for name in before if name in after]
        n_different = 0
        for name in common:
            pair = before[name], after[name]
            places = list(differences(*pair, arguments.tolerance))
            n_different += bool(places)
            for path, old, new in places[:5]:
                print(f"{name}{path}: {old!r} became {new!r}")
        print(f"{len(common)} evaluations compared, {n_different} differ")
        sys.exit(n_different > 0)
    Path(arguments.out).write_text(
        json.dumps(record(arguments.cases)), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
