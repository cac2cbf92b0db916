"""Record seeded evaluations, and compare two recordings to the last digit.

A change of the code that should not change results is checked in three steps:
``python benchmarks/same_results.py --out before.json`` with the old code, the same with
``--out after.json`` with the new code, and then
``python benchmarks/same_results.py --compare before.json after.json``. A change of the
order in which numbers are added moves last digits; ``--tolerance 1e-10`` allows that,
and ``--numbers`` allows other words. A case that fails is recorded as its error.

A case returns an evaluation, a choice between models, or a dict of anything that can be
asked of them; `plain` writes all of it as lists. Only public names are used, so that
the recording survives a change of everything behind them.
"""

import argparse
import json
import re
import sys
import tempfile
import textwrap
import time
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    load_iris,
    make_classification,
)
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
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ase import (
    ActiveModelSelector,
    ActiveRiskEstimator,
    Comparison,
    Diagnosis,
    Evaluation,
    JudgeTable,
    LabelForecast,
    ModelSelection,
    SliceTable,
    acquisition,
    risk,
    selection,
)
from sklearn_ase.losses import CustomLoss
from sklearn_ase.metrics import (
    BaseMetric,
    ConfusionMetric,
    FBeta,
    LabelMean,
    LabelScore,
    LabelShare,
    MeanLoss,
    Precision,
    RootMeanSquaredError,
)
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.stopping import OneCandidate, Plateau, RegretBelow, TargetWidth
from sklearn_ase.surrogate import ClassifierSurrogate, RegressorSurrogate

RISKS = (risk.GuardedASE, risk.ASE, risk.CorrectedASE, risk.LURE, risk.MonteCarlo)
METHODS = ("fixed", "anytime")
N_LABELS = 30


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
    return kind(estimator, calibration=None)


def regression(surrogate=None, loss="squared_error", task=diabetes, **options):
    """An evaluation of a regressor."""
    return simple({"surrogate": surrogate, "loss": loss, **options}, task)


def synthetic(n_classes=2, names=None, **options):
    """Rows of two or three classes, and a linear model of them."""
    X, y = make_classification(
        450,
        n_features=8,
        n_informative=4,
        n_classes=n_classes,
        flip_y=0.05,
        random_state=7,
        **{"weights": [0.75] if n_classes == 2 else None, **options},
    )
    y = y if names is None else np.array(names)[y]
    return split(X, y, LogisticRegression(max_iter=500))


def three():
    """Rows of three classes."""
    return synthetic(3)


def parts_of(X):
    """The group of each row; the last one is small, and has few labels."""
    ranks = np.argsort(np.argsort(X[:, 2], kind="stable"))
    return np.select([ranks > 0.4 * len(X), ranks > 8], ["high", "low"], "odd")


def weights_of(n_samples):
    """A weight for each row; some are 0."""
    return (np.arange(n_samples) % 4).astype(float)


def models_of(X_train, y_train, is_class=True):
    """Models to compare, the last two the same."""
    models = {"linear": LogisticRegression(max_iter=500), "bayes": GaussianNB()}
    if not is_class:
        models = {"linear": Ridge(), "bayesian": BayesianRidge()}
    tree = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    models |= {name: tree(max_depth=2, random_state=0) for name in ("tree", "twin")}
    return {name: model.fit(X_train, y_train) for name, model in models.items()}


class Misses(BaseMetric):
    """A metric of the user's: the share of the positives that is missed."""

    task = "classification"
    bounds = (0.0, 1.0)
    greater_is_better = False

    def row_values(self, y_true, y_pred):
        """Rows that are missed, and rows that could be."""
        return np.column_stack([(y_true == 1) & (y_pred != 1), y_true == 1])

    def value(self, means):
        """The share."""
        return means[0] / means[1]


def off_diagonal(matrix):
    """A cost of the confusion matrix, the user's."""
    return 3.0 * np.tril(matrix, -1).sum() + np.triu(matrix, 1).sum()


OWN = [Misses(), ConfusionMetric(off_diagonal, bounds=(0, 3))]
BINARY_METRICS = ["f1", "accuracy", "recall", Precision(pos_label=1), "specificity"]
BINARY_METRICS += ["jaccard", FBeta(beta=2), "balanced_accuracy", "matthews_corrcoef"]
BINARY_METRICS += ["cohen_kappa", "roc_auc", "average_precision", "log_loss"]
BINARY_METRICS += ["neg_brier_score", "zero_one", LabelShare(1), *OWN]
CLASS_METRICS = ["f1_macro", "f1_weighted", "precision_macro", "recall_micro"]
CLASS_METRICS += ["jaccard_macro", "balanced_accuracy", "matthews_corrcoef"]
CLASS_METRICS += ["cohen_kappa", "accuracy", "log_loss", LabelShare(2), OWN[1]]
CLASS_METRICS += ["f1"]  # Refused: there are three classes.
NUMBER_METRICS = ["r2", "explained_variance", "neg_root_mean_squared_error"]
NUMBER_METRICS += [RootMeanSquaredError(), "neg_mean_absolute_error", LabelMean()]
NUMBER_METRICS += [MeanLoss(CustomLoss(huber, task="regression")), "accuracy"]


def name_of(metric):
    """A name without addresses of functions."""
    return metric if isinstance(metric, str) else type(metric).__name__


def questions(metrics, evaluator, task, metrics_by_risk=1, **data):
    """A function that runs an evaluation, and asks for other metrics later."""

    def run():
        evaluation = fitted(evaluator, task(), **data)
        found = {"evaluation": evaluation}
        for place, metric in enumerate(metrics):
            found[f"{place} {name_of(metric)}"] = attempt(
                evaluation.estimate, metric=metric
            )
            for kind in RISKS[1:] if place < metrics_by_risk else ():
                name = f"{place} {name_of(metric)} by {kind.__name__}"
                found[name] = attempt(evaluation.estimate, kind(), metric=metric)
        return found

    return run


def parts(metrics, evaluator, task=synthetic):
    """A function that asks for groups of rows, masks, weights and blocks of rows."""

    def run():
        _, X, *_ = made = task()
        evaluation = fitted(evaluator, made)
        groups, weight = parts_of(X), weights_of(len(X))
        found = {"evaluation": evaluation}
        for place, metric in enumerate(metrics):
            of = {"metric": metric}
            verbs = {"estimate": evaluation.estimate, "by": evaluation.estimate_by}
            asked = {
                "where": ("estimate", (), {"where": groups == "high"}),
                "small": ("estimate", (), {"where": groups == "odd"}),
                "weighted": ("estimate", (), {"sample_weight": weight}),
                "blocks": ("estimate", (None, np.arange(len(X)) // 3), {}),
                "groups": ("by", (groups,), {}),
                "at once": ("by", (groups,), {"simultaneous": True, "level": 0.8}),
                "weighted groups": ("by", (groups,), {"sample_weight": weight}),
                "by labels": ("by", (groups,), {"risk": risk.CorrectedASE()}),
            }
            for name, (verb, given, options) in asked.items():
                shown = attempt(verbs[verb], *given, **options, **of)
                found[f"{place} {name_of(metric)} {name}"] = shown
        both = {"where": groups == "low", "sample_weight": weight}
        found["both"] = attempt(evaluation.estimate, metric=metrics[-1], **both)
        return found

    return run


def weighted(metric, task=synthetic):
    """A function that buys labels for rows that do not count the same."""

    def run():
        _, X, *_ = made = task()
        evaluation = fitted(
            {"metric": metric}, made, sample_weight=weights_of(len(X)) + 0.5
        )
        same = np.ones(len(X))
        found = {"evaluation": evaluation}
        found["equal weights"] = attempt(evaluation.estimate, sample_weight=same)
        found["groups"] = attempt(evaluation.estimate_by, parts_of(X))
        found["groups, equal weights"] = attempt(
            evaluation.estimate_by, parts_of(X), sample_weight=same
        )
        return found

    return run


def compared(metrics, evaluator, task=synthetic, is_class=True):
    """A function that compares models with the labels of one of them."""

    def run():
        _, X, _, rows = made = task()
        evaluation, models = (
            fitted(evaluator, made),
            models_of(*rows.values(), is_class),
        )
        found = {"ledger": ledger_of(evaluation)}
        for place, metric in enumerate(metrics):
            given = {"metric": metric}
            if place == 0:
                given |= {"reference": "bayes" if is_class else "bayesian"}
            found[f"{place} {name_of(metric)}"] = attempt(
                evaluation.compare, models, **given
            )
        part = {"metric": metrics[0], "where": parts_of(X) == "low"}
        weight = {"metric": metrics[-1], "sample_weight": weights_of(len(X))}
        found["part"] = attempt(evaluation.compare, models, **part)
        found["weighted"] = attempt(evaluation.compare, models, **weight)
        found["by labels"] = attempt(
            evaluation.compare, models, metric=metrics[0], risk=risk.CorrectedASE()
        )
        arrays = {name: model.predict(X) for name, model in models.items()}
        found["predictions"] = attempt(evaluation.compare, arrays, metric=metrics[0])
        return found

    return run


def groups_compared(metrics, evaluator, task=synthetic):
    """A function that compares groups of rows."""

    def run():
        _, X, *_ = made = task()
        evaluation, groups = fitted(evaluator, made), parts_of(X)
        found = {"ledger": ledger_of(evaluation)}
        for place, metric in enumerate(metrics):
            compare = evaluation.compare_groups
            found[f"{place} {name_of(metric)}"] = attempt(
                compare, groups, metric=metric, reference="low"
            )
            found[f"{place} {name_of(metric)}, weighted"] = attempt(
                compare, groups, metric=metric, sample_weight=weights_of(len(X))
            )
        return found

    return run


def choice(selector, task=synthetic, is_class=True, with_training=True, **data):
    """A function that chooses one of several models."""

    def run():
        _, X, y, rows = task()
        models = models_of(*rows.values(), is_class)
        models = [(name, FrozenEstimator(model)) for name, model in models.items()]
        options = {"n_labels": N_LABELS, "random_state": 2} | selector
        chooser = ActiveModelSelector(models, **options)
        chooser.fit(X, y, **(rows if with_training else {}), **data)
        names = ("best_name_", "best_score_", "candidates_", "stop_reason_")
        found = {name: getattr(chooser, name) for name in names}
        found["results_"] = plain(chooser.results_)
        found["predictions"] = chooser.predict(X[:20])
        run = chooser.selection_
        found["by labels"] = attempt(run.compare, risk=risk.CorrectedASE())
        if is_class:
            found["f1_macro"] = attempt(run.compare, metric="f1_macro")
        return {**found, "run": run}

    return run


def choice_by_hand(journal=None, metric="accuracy", **options):
    """A choice with predictions alone, skips, corrections, withdrawals and costs."""
    _, X, y, rows = synthetic()
    models = models_of(*rows.values())
    chooser = ActiveModelSelector(metric=metric, random_state=3, **options)
    predictions = {name: model.predict(X) for name, model in models.items()}
    run = chooser.start(
        None,
        predictions=predictions,
        cost=1.0 + (np.arange(len(X)) % 3),
        known_labels={row: y[row] for row in range(0, 300, 30)},
        journal=journal,
    )
    query = run.ask(10)
    run.tell(query.indices[4:], y[query.indices[4:]])
    run.skip(query.indices[:2])
    run.tell(query.indices[2:4], y[query.indices[2:4]])
    wrong = int(query.indices[5])
    run.correct(wrong, 1 - y[wrong])
    for _ in range(2):
        query = run.ask(8)
        run.tell(query, y[query.indices])
    run.correct(wrong, y[wrong])
    run.withdraw(int(query.indices[0]))
    run.skip(run.ask(2))
    return run


def choice_one_by_one():
    """A choice that asks for one row after the other, with stopping rules."""
    _, X, y, rows = synthetic()
    models = models_of(*rows.values())
    models = [(name, FrozenEstimator(model)) for name, model in models.items()]
    run = ActiveModelSelector(models, metric="f1", random_state=4).start(X, **rows)
    reasons, bests = [], []
    for _ in range(16):
        query = run.ask()
        run.tell(query, y[query.indices])
        bests.append([run.best_name, *run.candidates])
        reasons.append([run.stop_reason(stop) for stop in (OneCandidate(), CLOSE)])
    return {"best": bests, "reasons": reasons, "run": run}


def choice_with_journal():
    """A choice written to a journal, and opened again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "choice.jsonl"
        choice_by_hand(path).close()
        _, X, y, rows = synthetic()
        models = models_of(*rows.values())
        predictions = {name: model.predict(X) for name, model in models.items()}
        cost = 1.0 + (np.arange(len(X)) % 3)
        run = ActiveModelSelector().start(
            None, predictions=predictions, cost=cost, journal=path
        )
        query = run.ask(5)
        run.tell(query, y[query.indices])
        run.close()
        return run


def metric_by_hand(metric, journal=None, task=synthetic, **options):
    """A metric with batches, skips, corrections, withdrawals, several answers."""
    model, X, y, rows = task()
    evaluator = ActiveRiskEstimator(model, metric=metric, random_state=8, **options)
    known = {row: y[row] for row in range(0, len(X), 40)}
    evaluation = evaluator.start(X, **rows, known_labels=known, journal=journal)
    query = evaluation.ask(14)
    evaluation.tell(query.indices[6:], y[query.indices[6:]])
    evaluation.tell(query.indices[:3], np.stack([y[query.indices[:3]]] * 2, axis=1))
    wrong, other = (int(row) for row in query.indices[7:9])
    evaluation.correct(wrong, y[other] if y[other] != y[wrong] else y[query.indices[9]])
    evaluation.skip(query.indices[3:6])
    query = evaluation.ask(12)
    evaluation.tell(query, y[query.indices])
    between = attempt(evaluation.estimate)
    evaluation.correct(wrong, y[wrong])
    evaluation.withdraw(int(query.indices[0]))
    evaluation.refit()
    query = evaluation.ask(10)
    evaluation.tell(query.indices[1:], y[query.indices[1:]])  # One stays open.
    return evaluation, between


def metrics_by_hand(metric, later, **options):
    """A function that does that, and asks for other metrics then."""

    def run():
        evaluation, between = metric_by_hand(metric, **options)
        found = {"evaluation": evaluation, "between": between}
        for name in later:
            found[name] = attempt(evaluation.estimate, metric=name)
        where = np.arange(evaluation.n_samples) % 2 == 0
        found["part"] = attempt(evaluation.estimate, where=where)
        found["groups"] = attempt(evaluation.estimate_by, where)
        return found

    return run


def metric_with_journal(metric, later, task=synthetic):
    """A function that writes a metric to a journal, and opens it again."""

    def run():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.jsonl"
            metric_by_hand(metric, path, task)[0].close()
            model, X, y, rows = task()
            evaluator = ActiveRiskEstimator(model, metric=metric)
            evaluation = evaluator.start(X, **rows, journal=path)
            found = {"at once": attempt(evaluation.estimate)}
            query = evaluation.ask(5)
            evaluation.tell(query, y[query.indices])
            evaluation.close()
            found["evaluation"] = evaluation
            for name in later:
                found[name] = attempt(evaluation.estimate, metric=name)
            evaluator.set_params(metric=later[-1])
            evaluation = evaluator.start(X, **rows, journal=path)
            found["started with another metric"] = attempt(evaluation.estimate)
            evaluation.close()
            return found

    return run


def early():
    """Too few labels for an interval, and a model that never predicts a class."""
    model, X, y, rows = synthetic()
    evaluation = ActiveRiskEstimator(model, metric="f1", random_state=1).start(
        X, **rows
    )
    found = {"no label": attempt(evaluation.estimate)}
    for n_labels in (1, 2, 9):
        query = evaluation.ask(n_labels)
        evaluation.tell(query, y[query.indices])
        for metric in ("f1", "accuracy", "roc_auc", "log_loss", LabelShare(1)):
            shown = attempt(evaluation.estimate, metric=metric)
            found[f"{len(evaluation.ledger)} {name_of(metric)}"] = shown
    silent = np.zeros(len(X), int)
    options = {"metric": "f1", "classes": [0, 1], "random_state": 0}
    options["n_labels"] = N_LABELS
    evaluator = ActiveRiskEstimator(**options)
    evaluator.fit(X, y, predictions=silent, **rows)
    found["silent"] = evaluator.evaluation_
    for metric in ("precision", "recall", "matthews_corrcoef", "roc_auc"):
        found[metric] = attempt(evaluator.evaluation_.estimate, metric=metric)
    return found


def loss_at_rows():
    """The expected loss at rows, the score, and the run by hand after `fit`."""
    model, X, y, rows = synthetic()
    evaluator = ActiveRiskEstimator(model, n_labels=20, random_state=3)
    evaluator.fit(X, y, **rows)
    found = {"rows": evaluator.predict(X[:50]), "scores": []}
    found["scores"] = [evaluator.score(), evaluator.score(X, y)]
    reason = evaluator.evaluation_.run(y, 30, batch_size=4, stop=TargetWidth(0.01))
    return {**found, "reason": reason, "evaluation": evaluator.evaluation_}


def judged(seed=0, n_samples=300):
    """Features, labels of people, and what judges say about them."""
    rng = np.random.default_rng(seed)
    length, difficulty, noise = rng.normal(size=(3, n_samples))
    is_right = rng.random(n_samples) < 1 / (1 + np.exp(1.6 * difficulty - 0.6))
    score = 1 / (1 + np.exp(-0.3 - 2.6 * is_right - 1.5 * length - noise))
    strict = np.where(is_right & (rng.random(n_samples) < 0.8), "right", "wrong")
    strict = strict.astype(object)
    strict[rng.random(n_samples) < 0.3] = None
    experts = {"score": score.round(2), "strict": strict}
    experts["coin"] = rng.random(n_samples).round(2)
    X = pd.DataFrame({"words": length, "topic": rng.choice(["a", "b"], n_samples)})
    stars = np.clip(np.round(3 - difficulty + 0.5 * noise), 1, 5)
    points = {"points": 60 - 15 * difficulty + 10 * length + 5 * noise}
    gaps = np.where(rng.random(n_samples) < 0.2, np.nan, stars + rng.normal(size=300))
    return (
        X,
        np.where(is_right, "right", "wrong"),
        experts,
        stars,
        {
            **points,
            "gaps": gaps,
        },
    )


def judges(metric, of_stars=False, with_features=True, names=None, **options):
    """A function that evaluates by what judges say."""

    def run():
        X, y, experts, stars, points = judged()
        y, experts = (stars, points) if of_stars else (y, experts)
        experts = {name: experts[name] for name in names or experts}
        evaluator = ActiveRiskEstimator(
            metric=metric, **{"n_labels": N_LABELS, "random_state": 3} | options
        )
        evaluator.fit(X if with_features else None, y, experts=experts)
        evaluation = evaluator.evaluation_
        found = {"evaluation": evaluation, "judges": attempt(evaluation.judges)}
        found["judges 0.8"] = attempt(evaluation.judges, level=0.8)
        if not of_stars:
            other = {"metric": LabelShare("wrong")}
            found["other"] = attempt(evaluation.estimate, **other)
            found["other judges"] = attempt(evaluation.judges, **other)
        topic = X["topic"].to_numpy()
        found["groups"] = attempt(evaluation.estimate_by, topic)
        found["systems"] = attempt(evaluation.compare_groups, topic)
        return found

    return run


def win_rate():
    """Verdicts on pairs with ties, and a score of each verdict."""
    rng = np.random.default_rng(1)
    strength = 0.4 + rng.normal(size=300)
    wins = np.select([strength > 0.5, strength < -0.5], ["A", "B"], "tie")
    heard = strength + rng.normal(size=300)
    verdict = np.select([heard > -0.5, heard < -1.0], ["A", "B"], "tie")
    found = {}
    for metric in (LabelShare("A", half="tie"), LabelScore({"A": 1, "B": -1})):
        evaluator = ActiveRiskEstimator(metric=metric, n_labels=25, random_state=3)
        evaluator.fit(None, wins, experts={"verdict": verdict})
        found[name_of(metric)] = evaluator.evaluation_
        found[f"judges of {name_of(metric)}"] = attempt(evaluator.evaluation_.judges)
    return found


def judged_model():
    """A model under test, and judges who say what the label may be."""
    model, X, y, rows = synthetic()
    rng = np.random.default_rng(2)
    judge = np.where(rng.random(len(y)) < 0.85, y, 1 - y)
    evaluator = ActiveRiskEstimator(model, metric="f1", n_labels=30, random_state=0)
    evaluation = evaluator.fit(X, y, experts={"judge": judge}).evaluation_
    found = {"evaluation": evaluation, "judges": attempt(evaluation.judges)}
    found["accuracy"] = attempt(evaluation.estimate, metric="accuracy")
    models = models_of(*rows.values())
    found["comparison"] = attempt(evaluation.compare, models, metric="accuracy")
    return found


def reports():
    """Reports in words, without their date and the versions of packages."""
    _, X, _, rows = task = synthetic()
    evaluation = fitted({"metric": "f1"}, task)
    about = {"by": parts_of(X), "metrics": ["recall", "accuracy"]}
    about["compare"] = models_of(*rows.values())
    found = {"F1": evaluation.report(**about, columns={"first": X[:, 0]})}
    X, y, experts, *_ = judged()
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("right"), n_labels=N_LABELS, random_state=3
    )
    evaluator.fit(None, y, experts=experts)
    found["judges"] = evaluator.evaluation_.report(by=X[["topic"]])
    found["choice"] = choice_by_hand().report(level=0.8, title="Choice")
    return {
        name: [
            line
            for line in report.to_markdown().splitlines()
            if not line.startswith(("- report made", "- versions"))
        ]
        for name, report in found.items()
    }


def several_answers(metric, of_numbers=False):
    """A function in which three people answer for each row."""

    def run():
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 2))
        proba = 0.1 + 0.8 / (1.0 + np.exp(-2.0 * X[:, 0]))
        answers = np.where(rng.random((300, 3)) < proba[:, None], "good", "bad")
        options = {"classes": ["bad", "good"]}
        if of_numbers:
            answers = X[:, :1] + 0.5 * rng.normal(size=(300, 3))
            options = {}
        evaluator = ActiveRiskEstimator(metric=metric, random_state=0, **options)
        evaluation = evaluator.start(X)
        for n_answers in (3, 2, 3):
            query = evaluation.ask(12)
            evaluation.tell(query, answers[query.indices, :n_answers])
        row = int(query.indices[0])
        evaluation.correct(row, answers[row, 0])
        found = {"evaluation": evaluation}
        for level in (0.9, 0.5):
            found[f"agreement {level}"] = attempt(evaluation.agreement, level=level)
        found["groups"] = attempt(evaluation.estimate_by, X[:, 1] > 0)
        return found

    return run


def curves():
    """Errors of estimates in simulations, for a loss and a metric."""
    model, X, y, rows = synthetic()
    surrogate = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
    scenario = Scenario(X[:120], y[:120], estimator=model, **rows)
    counts = {"n_labels": [10, 26], "n_runs": 2, "random_state": 0}
    found = {}
    for name, about in {"loss": {"loss": "zero_one"}, "F1": {"metric": "f1"}}.items():
        evaluator = ActiveRiskEstimator(surrogate=surrogate, refit=[20], **about)
        curve = label_efficiency_curve(evaluator, scenario, **counts)
        found[name] = [curve.columns, curve.summary()]
    return found


CLOSE = RegretBelow(0.02)


MIXED = selection.UniformMixed(selection.ArgMax(), uniform_share=0.3)
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
    "no cross-fitting": simple({"cv": 0}, digits),
    "XWED, ArgMax": simple({**XWED_ARGMAX, "refit": [5, 10, 20]}, digits),
    "BALD, mixed with uniform": simple(
        {"acquisition": acquisition.BALD(), "selection": MIXED}, digits
    ),
    "LURE": simple(
        {
            "acquisition": acquisition.ExpectedLoss(),
            "selection": selection.Proportional(0.1),
            "risk": risk.LURE(),
        },
        digits,
    ),
    "Monte Carlo": simple(
        {"acquisition": acquisition.Uniform(), "risk": risk.MonteCarlo()}, digits
    ),
    "variance reduction": simple(
        {"acquisition": acquisition.TrustWeighted(acquisition.VarianceReduction())},
        digits,
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
    "F1": questions(BINARY_METRICS, {"metric": "f1"}, synthetic),
    "zero-one, other metrics": questions(
        BINARY_METRICS, {"loss": "zero_one"}, synthetic, metrics_by_risk=2
    ),
    "macro F1": questions(CLASS_METRICS, {"metric": "f1_macro"}, three),
    "log loss, other metrics": questions(CLASS_METRICS, {"n_labels": 35}, three, 2),
    "macro F1, missing class": questions(
        ["accuracy", "balanced_accuracy"], {"metric": "f1_macro"}, DIGITS_WITHOUT_7
    ),
    "weighted F1 of texts": simple(
        {"metric": "f1_weighted", "batch_size": 6},
        lambda: synthetic(3, names=["apple", "pear", "plum"]),
    ),
    "ROC AUC": questions(["f1", "roc_auc"], {"metric": "roc_auc"}, synthetic, 0),
    "average precision": simple({"metric": "average_precision"}, synthetic),
    "recall": simple({"metric": "recall", "n_labels": 40}, synthetic),
    "precision of a text": simple(
        {"metric": Precision(pos_label="bad")},
        lambda: synthetic(names=["good", "bad"]),
    ),
    "balanced accuracy": simple({"metric": "balanced_accuracy"}, three),
    "kappa": simple({"metric": "cohen_kappa", "batch_size": 10}, three),
    "Matthews": simple({"metric": "matthews_corrcoef"}, synthetic),
    "accuracy": simple({"metric": "accuracy", "batch_size": 7}, synthetic),
    "negative Brier": simple({"metric": "neg_brier_score"}, three),
    "label share": simple({"metric": LabelShare(1)}, synthetic),
    "own metric": simple({"metric": OWN[0]}, synthetic),
    "own metric of the confusion matrix": simple({"metric": OWN[1]}, three),
    "F1, LURE": simple({"metric": "f1", "risk": risk.LURE()}, synthetic),
    "F1, no training rows": simple({"metric": "f1"}, synthetic, without_training=True),
    "F1, target width": simple(
        {"metric": "f1", "n_labels": 60, "stop": TargetWidth(0.5)}, synthetic
    ),
    "F1, all labelled": simple(
        {"metric": "f1", "n_labels": 300, "batch_size": 150}, synthetic
    ),
    "F1, uniform picks": simple(
        {"metric": "f1", "acquisition": acquisition.Uniform()}, synthetic
    ),
    "R2": questions(NUMBER_METRICS, {"metric": "r2"}, diabetes),
    "RMSE": simple({"metric": RootMeanSquaredError(), "n_labels": 40}, diabetes),
    "squared error, other metrics": questions(
        NUMBER_METRICS, {"loss": "squared_error"}, diabetes, metrics_by_risk=2
    ),
    "label mean": simple({"metric": LabelMean()}, diabetes),
    "parts, loss": parts([None, "f1", "roc_auc"], {"loss": "zero_one"}),
    "parts, log loss": parts([None, "accuracy"], {}, three),
    "parts, F1": parts([None, "accuracy", "log_loss"], {"metric": "f1"}),
    "parts, macro F1": parts([None], {"metric": "f1_macro"}, three),
    "parts, regression": parts(
        [None, "r2", "neg_root_mean_squared_error"],
        {"loss": "squared_error"},
        diabetes,
    ),
    "weights, F1": weighted("f1"),
    "weights, accuracy": weighted("accuracy", three),
    "weights, RMSE": weighted("neg_root_mean_squared_error", diabetes),
    "models by a loss": compared([None, "accuracy"], {"loss": "log_loss"}),
    "models by accuracy": compared([None, "log_loss"], {"metric": "accuracy"}, three),
    "models by F1": compared(["f1", "recall"], {"metric": "f1"}),
    "models by AUC": compared(["roc_auc", "average_precision"], {"loss": "zero_one"}),
    "models by macro F1": compared(["f1_macro"], {"loss": "zero_one"}, three),
    "regressors": compared(
        [None, "r2", "absolute_error"], {"loss": "squared_error"}, diabetes, False
    ),
    "groups compared": groups_compared(
        ["accuracy", "f1", LabelShare(1)], {"loss": "zero_one"}
    ),
    "groups of numbers compared": groups_compared(
        [None, LabelMean()], {"loss": "squared_error"}, diabetes
    ),
    "choice": choice({}),
    "choice of three classes": choice({"batch_size": 5}, three),
    "choice by F1": choice({"metric": "f1"}),
    "choice by AUC": choice({"metric": "roc_auc"}),
    "choice by log loss": choice({"metric": "log_loss", "n_labels": 25}, three),
    "choice by squared error": choice({"metric": "squared_error"}, diabetes, False),
    "choice without training rows": choice({"level_share": 0.2}, with_training=False),
    "choice until one is left": choice({"stop": OneCandidate(), "n_labels": 45}),
    "choice with weights": choice({}, sample_weight=1.0 + np.arange(300) % 3),
    "choice by hand": choice_by_hand,
    "choice by hand, F1": lambda: choice_by_hand(metric="f1"),
    "choice one by one": choice_one_by_one,
    "choice, journal": choice_with_journal,
    "F1 by hand": metrics_by_hand("f1", ["recall", "accuracy", "log_loss"]),
    "AUC by hand": metrics_by_hand("roc_auc", ["f1"]),
    "macro F1 by hand": metrics_by_hand("f1_macro", ["accuracy"], task=three),
    "RMSE by hand": metrics_by_hand(
        "neg_root_mean_squared_error", ["r2"], task=diabetes
    ),
    "F1, journal": metric_with_journal("f1", ["accuracy", "roc_auc"]),
    "label mean, journal": metric_with_journal(LabelMean(), ["r2"], diabetes),
    "few labels": early,
    "loss at rows": loss_at_rows,
    "judges": judges(LabelShare("right")),
    "judges without features": judges(LabelShare("right"), with_features=False),
    "one judge": judges(
        LabelShare("right"), with_features=False, names=["strict"], batch_size=8
    ),
    "judges of numbers": judges(LabelMean(), of_stars=True),
    "judges of numbers without features": judges(
        LabelMean(), of_stars=True, with_features=False
    ),
    "win rate": win_rate,
    "judges and a model": judged_model,
    "several answers": several_answers(LabelShare("good")),
    "several answers of numbers": several_answers(LabelMean(), of_numbers=True),
    "reports": reports,
    "curves": curves,
}


def plain(value):
    """Anything that comes out of the package, as numbers, texts, lists and dicts."""
    for kind, shown in SHOWN.items():
        if isinstance(value, kind):
            return shown(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):  # Tuples, too: a file has lists only.
        return [plain(each) for each in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"No way to record {value!r}.")


def attempt(verb, *given, **options):
    """What a verb returns, or its error: a refusal is a result, too."""
    try:
        return plain(verb(*given, **options))
    except Exception as error:
        return {"error": [type(error).__name__, str(error)]}


def shown_estimate(estimate):
    """An estimate with its intervals of every kind."""
    names = ("value", "standard_error", "n_labels", "n_skipped", "refusal", "note")
    found = {name: plain(getattr(estimate, name)) for name in names}
    found["words"] = estimate.describe()
    for method in METHODS:
        found[f"{method} refusal"] = estimate.refusal_of(method)
        levels = (0.8, 0.95) if method == "fixed" else (0.9,)
        for level in levels:
            found[f"{method} {level}"] = list(estimate.interval(level, method=method))
    for method in METHODS:
        found[f"{method} population"] = attempt(
            estimate.interval, 0.9, method=method, target="population"
        )
    return found


def shown_comparison(comparison):
    """A table of models with all that can be asked of it."""
    names = ("names", "best_index", "metric_name", "n_labels")
    names += ("estimates", "differences", "to_reference")
    found = {name: plain(getattr(comparison, name)) for name in names}
    found["probabilities"] = plain(comparison.probabilities())
    found["labels needed"] = plain(comparison.labels_needed())
    found["same as best"] = plain(comparison.same_as_best())
    for method in METHODS:
        for verb in ("candidates", "regret", "describe", "to_dict"):
            shown = attempt(getattr(comparison, verb), 0.8, method)
            found[f"{method} {verb}"] = shown
    first, *_, last = comparison.names
    found["last to first"] = plain(comparison.difference(last, first))
    found["text"] = str(comparison)
    return found


def shown_table(table):
    """A table of groups or of judges."""
    return {"columns": plain(dict(table)), "text": str(table)}


def shown_fields(result):
    """A dataclass, with what it says in words."""
    values = {f.name: plain(getattr(result, f.name)) for f in fields(result)}
    return {**values, "text": str(result)}


def ledger_of(evaluation):
    """What was asked and answered, with what was known before."""
    ledger, picks = evaluation.ledger, evaluation.ledger.picks
    columns = ("indices", "query_proba", "expected_loss", "free_expected_loss")
    columns += ("residual_moment", "loss_moment")
    found = {name: np.ravel(getattr(picks, name)).tolist() for name in columns}
    found |= {"skipped": plain(ledger.skipped), "refits": plain(ledger.refits)}
    for name in ("labels", "more_labels", "known"):
        answers = getattr(ledger, name)
        found[name] = [[int(row), str(label)] for row, label in answers.items()]
    found["pending"] = plain(evaluation.pending.indices)
    return found


def course_of(evaluation):
    """History, intervals on the way, forecasts and diagnosis."""
    history = evaluation.history
    names = ("n_labels", "index", "query_proba", "expected_loss", "loss")
    names += ("risk", "standard_error", "refit")
    found = {name: plain(history[name]) for name in names}
    for method in METHODS:
        found[f"{method} intervals"] = plain(evaluation.intervals(method=method))
        for width in (0.05, 0.3):
            forecast = attempt(evaluation.labels_needed, width, method=method)
            found[f"{method} labels for {width}"] = forecast
    found["spent"] = plain(evaluation.spent)
    found["diagnosis"] = attempt(evaluation.diagnose)
    return found


def belief_of(evaluation):
    """What the surrogate says of each row."""
    state = evaluation.state
    if state.expected_loss is None:
        return None
    return {
        "g": state.expected_loss.tolist(),
        "variance of the loss": state.belief.loss_variance(state.loss).tolist(),
        "XWED": state.belief.weighted_disagreement(state.loss).tolist(),
        "member risk": plain(state.belief.member_risk),
    }


def shown_evaluation(evaluation):
    """All numbers of an evaluation."""
    found = {"ledger": ledger_of(evaluation), "belief": attempt(belief_of, evaluation)}
    found["classes"] = plain(evaluation.classes_)
    found["estimate"] = attempt(evaluation.estimate)
    for kind in RISKS:
        found[f"by {kind.__name__}"] = attempt(evaluation.estimate, kind())
    return {**found, "course": course_of(evaluation)}


def shown_choice(run):
    """All numbers of a choice between models."""
    found = {"ledger": ledger_of(run), "course": course_of(run)}
    for name in ("names", "best_name", "probabilities", "candidates", "results"):
        found[name] = plain(getattr(run, name))
    found["estimate"] = attempt(run.estimate)
    for name in run.names:
        found[f"estimate of {name}"] = attempt(run.estimate_of, name)
    return {**found, "comparison": attempt(run.compare)}


# The first that fits: a choice may be an evaluation.
SHOWN = {
    ModelSelection: shown_choice,
    Evaluation: shown_evaluation,
    risk.Estimate: shown_estimate,
    Comparison: shown_comparison,
    SliceTable: shown_table,
    JudgeTable: shown_table,
    Diagnosis: shown_fields,
    LabelForecast: shown_fields,
}


def record(names):
    """Results of the named cases."""
    results = {}
    for name in names or CASES:
        begin = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results[name] = found = attempt(CASES[name])
        ours = [each for each in caught if "sklearn_ase" in each.category.__module__]
        # Journals lie in a temporary folder.
        texts = {re.sub(r"\S+/(\w+\.jsonl)", r"\1", str(w.message)) for w in ours}
        found["warnings"] = sorted(texts)
        seconds = time.process_time() - begin
        print(f"{name}: {_summary(found)} ({seconds:.1f} s)", flush=True)
    return results


def _summary(found):
    """A few words about a case: its error, or its first value."""
    if "error" in found:
        return "ERROR " + ": ".join(found["error"])
    n_errors = json.dumps(found).count('"error": ')
    values = list(_values(found))
    first = f"{values[0]:.6g}" if values else "no estimate"
    return f"{first}, {len(values)} estimates, {n_errors} refusals"


def _values(found):
    """Values of all estimates of a recording."""
    for name, each in found.items():
        if name == "value" and isinstance(each, float):
            yield each
        elif isinstance(each, dict):
            yield from _values(each)


def differences(first, second, tolerance=0.0, path="", only_numbers=False):
    """Places at which two recordings differ, with both values.

    Numbers may differ by the tolerance, relative to the greater one or to 1.
    """
    about = {"tolerance": tolerance, "only_numbers": only_numbers}
    if isinstance(first, dict) and isinstance(second, dict):
        for name in {**first, **second}:
            pair = first.get(name), second.get(name)
            yield from differences(*pair, path=f"{path}/{name}", **about)
    elif isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if len(first) != len(second):
            yield path, len(first), len(second)
            return
        for place, pair in enumerate(zip(first, second, strict=True)):
            yield from differences(*pair, path=f"{path}[{place}]", **about)
    elif isinstance(first, str) and isinstance(second, str):
        if first != second and not only_numbers:
            yield path, first, second
    elif not (first == second or (first != first and second != second)):
        are_numbers = _is_number(first) and _is_number(second)
        if not are_numbers or not _is_close(first, second, tolerance):
            yield path, first, second


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_close(first, second, tolerance):
    return abs(first - second) <= tolerance * max(abs(first), abs(second), 1.0)


def compare(before, after, tolerance=0.0, only_numbers=False):
    """Print where two recordings differ; return the number of cases that do."""
    common = [name for name in before if name in after]
    n_different = 0
    for name in common:
        pair = before[name], after[name]
        about = {"tolerance": tolerance, "only_numbers": only_numbers}
        places = list(differences(*pair, **about))
        n_different += bool(places)
        for path, old, new in places[:5]:
            old, new = (textwrap.shorten(repr(each), 200) for each in (old, new))
            print(f"{name}{path}: {old} became {new}")
        if len(places) > 5:
            print(f"{name}: {len(places)} differences in all")
    for name in [*before, *after]:
        if name not in common:
            print(f"{name}: only in one of the two")
    print(f"{len(common)} evaluations compared, {n_different} differ")
    return n_different


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="JSON file to write")
    parser.add_argument("--cases", nargs="*", choices=list(CASES), metavar="CASE")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--numbers", action="store_true", help="compare no words")
    arguments = parser.parse_args()
    if arguments.compare:
        texts = [Path(path).read_text(encoding="utf-8") for path in arguments.compare]
        recordings = map(json.loads, texts)
        sys.exit(compare(*recordings, arguments.tolerance, arguments.numbers) > 0)
    if not arguments.out:
        parser.error("give --out, or --compare")
    Path(arguments.out).write_text(
        json.dumps(record(arguments.cases)), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
