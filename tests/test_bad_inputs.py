"""Every bad input is refused: by an error that names the argument, before any label.

The tables have one line for each argument, with the bad values that are tried. A word
is a value of `BAD`; anything else is read as Python.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

import sklearn_ase
from sklearn_ase import ActiveRiskEstimator, annotate
from sklearn_ase.acquisition import BALD, Mixture, TrustWeighted, Uniform
from sklearn_ase.losses import Brier, CustomLoss, LogLoss
from sklearn_ase.metrics import LabelMean, LabelShare
from sklearn_ase.risk import Estimate, GuardedASE
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed
from sklearn_ase.simulation import (
    LabelEfficiency,
    Scenario,
    label_efficiency_curve,
)
from sklearn_ase.stopping import Plateau, TargetWidth
from sklearn_ase.surrogate import (
    BootstrapClassifier,
    ClassifierSurrogate,
    GaussianStack,
    LogLinearStack,
    RegressorSurrogate,
)

N = 30
X, Y = (part[::5] for part in load_iris(return_X_y=True))
X_TRAIN, Y_TRAIN = (part[1::5] for part in load_iris(return_X_y=True))
TARGET, TARGET_TRAIN = X[:, 0], X_TRAIN[:, 0]
MODEL = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))
REGRESSOR = FrozenEstimator(LinearRegression().fit(X_TRAIN[:, 1:], TARGET_TRAIN))
PROBA = MODEL.predict_proba(X)
TRAINING = {"X_train": X_TRAIN, "y_train": Y_TRAIN}

BAD = {
    # Single values.
    "nan": np.nan,
    "inf": np.inf,
    "text": "three",
    "complex": 1j,
    "date": np.datetime64("2026-11-18"),
    "class": GaussianNB,
    "object": object(),
    "generator": (i for i in range(3)),
    "Generator": np.random.default_rng(0),
    "rows": np.zeros((N, 2)),
    "KFold": KFold(3),
    "unfitted": GaussianNB(),
    "acquisition": Uniform(),
    "selection": ArgMax(),
    # Arrays with one entry per row of the pool, and others.
    "empty": [],
    "nans": np.full(N, np.nan),
    "infs": np.full(N, np.inf),
    "Nones": np.full(N, None),
    "zeros": np.zeros(N),
    "negatives": np.full(N, -1.0),
    "scores": np.linspace(0.01, 0.99, N),
    "texts": np.full(N, "three"),
    "mixed": np.array(["three"] * (N - 1) + [3], dtype=object),
    "lists": [[1], [1, 2]] * (N // 2),
    "complexes": np.full(N, 1j),
    "dates": np.full(N, np.datetime64("2026-11-18")),
    "masked": np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3),
    "short": np.zeros(N - 1),
    "cube": np.zeros((N, 2, 2)),
    "one-hot": np.eye(3)[Y],
    "bytes": np.full(N, b"a"),
    "Series": pd.Series(Y),
    "pairs": list(enumerate(Y.tolist())),
    "dict": dict(enumerate(Y.tolist())),
    # Tables with one row per row of the pool.
    "nan_table": np.where(X[0] == X, np.nan, X),
    "inf_table": np.where(X[0] == X, np.inf, X),
    "text_table": np.full((N, 4), "three"),
    "object_table": np.full((N, 4), None),
    "complex_table": X * 1j,
    "date_table": np.full((N, 4), np.datetime64("2026-11-18")),
    "masked_table": np.ma.masked_array(X, mask=X[0] == X),
    "short_table": X[:7],
    "narrow_table": X[:, :2],
    "no_columns": X[:, :0],
    "no_rows": X[:0],
    "frame": pd.DataFrame(X),
    # Tables of probabilities.
    "logits": np.log(PROBA + 1e-9),
    "percent": 100 * PROBA,
    "nan_proba": np.where(PROBA.max() == PROBA, np.nan, PROBA),
    "text_proba": PROBA.astype(str),
    "complex_proba": PROBA * 1j,
    "masked_proba": np.ma.masked_array(PROBA, mask=PROBA > 0.9),
    "two_columns": PROBA[:, :2],
    "short_proba": PROBA[:7],
    "named_frame": pd.DataFrame(PROBA, columns=["a", "b", "c"]),
    "twice_named": pd.DataFrame(PROBA, columns=[0, 1, 1]),
    # Answers for three rows.
    "3_nan": [0, np.nan, 1],
    "3_None": [0, None, 1],
    "3_complex": [0, 1j, 1],
    "3_dates": np.full(3, np.datetime64("2026-11-18")),
    "3_masked": np.ma.masked_array([0, 1, 2], mask=[0, 1, 0]),
    "3_mixed": [0, "one", 2],
    "3_one-hot": np.eye(3)[[0, 2, 1]],
    "3_ragged": [[0], [1, 2], [0]],
    "3_dicts": [{}, {}, {}],
    "3_sets": [{0}, {1}, {2}],
    "3_cube": np.zeros((3, 2, 2)),
    "3_texts": ["one", "two", "three"],
    "3_infinite": [0.0, np.inf, 1.0],
}
NUMBER = "nan text True complex [1,2] {} date class object"
COUNT = f"{NUMBER} inf 2.5 -1"
NAME = "3 True nan ['a'] {} class object text"
FLAG = "text nan 3 [] object"
STRATEGY = "text 3 class [] {} object True"
MASK = (
    "text 3 {} {0} object generator [] [True] nans infs Nones mixed complexes dates "
    "short cube rows lists bytes"
)
GROUPS = "text 3 True {} {0} object generator [] short cube rows lists masked"
LEVEL = f"{NUMBER} None inf 0 1 -1 90"
POSITIONS = (
    "None text 0.5 [0.5] nan [nan] [-1] [99] ['a'] [[0,1]] [None] [1j] True [True] {} "
    "{0} date class object generator [0,0] [0,'a']"
)
POSITION = "None text 0.5 nan -1 99 'a' [0,1] [[0]] 1j True {} date class object []"
LABELS = (
    "None text [0,1] [] 3_nan 3_None 3_complex 3_dates 3_masked 3_mixed "
    "3_one-hot 3_ragged 3_dicts 3_sets 3_cube 3_texts 3_infinite object "
    "class {} {0,1,2} generator"
)


def make(**parameters):
    """A fast evaluator, with one parameter that is bad."""
    usual = {"surrogate": ClassifierSurrogate(GaussianNB(), n_members=2), "cv": 0}
    return ActiveRiskEstimator(
        **{"estimator": MODEL, "n_labels": 6, "random_state": 0} | usual | parameters
    )


def make_regression(**parameters):
    return make(
        estimator=lambda rows: REGRESSOR.predict(rows[:, 1:]),
        surrogate=RegressorSurrogate(LinearRegression(), n_members=2),
        loss="squared_error",
    ).set_params(**parameters)


def never(rows):
    pytest.fail("A label was read.")


@cache
def labelled():
    """An evaluation with 26 labels, for reports."""
    evaluation = make().start(X, **TRAINING)
    evaluation.run(lambda rows: Y[rows], 26, batch_size=26)
    return evaluation


@cache
def fitted():
    return make(loss="zero_one").fit(X, Y, **TRAINING)


def on_estimator(argument, value):
    make(**{argument: value}).fit(X, never, **TRAINING)


def on_fit(argument, value):
    training = {} if argument in ("X", "predictions") else TRAINING
    arguments = {"X": X, "y": never, **training, argument: value}
    if argument == "train_predictions":
        arguments["predictions"] = PROBA
    classes = range(3) if "predictions" in argument else None
    make(classes=classes).fit(**arguments)


def on_share(argument, value):
    evaluator = ActiveRiskEstimator(metric=LabelShare(1), random_state=0)
    evaluator.fit(**{"X": X, "y": never, argument: value})


def on_mean(argument, value):
    evaluator = ActiveRiskEstimator(metric=LabelMean(), random_state=0)
    evaluator.fit(**{"X": X, "y": never, argument: value})


def on_regression(argument, value):
    training = {"X_train": X_TRAIN, "y_train": TARGET_TRAIN}
    make_regression().fit(**{"X": X, "y": never, **training, argument: value})


def on_start(argument, value):
    make().start(**{"X": X, **TRAINING, argument: value})


def _unchanged(evaluation, call):
    """Call a verb that must leave the ledger as it is, whatever happens."""
    before = evaluation.ledger.n_changes, dict(evaluation.ledger.labels)
    try:
        call()
    finally:
        assert (evaluation.ledger.n_changes, evaluation.ledger.labels) == before


def on_verb(verb, *needed, **usual):
    """Call a verb of an evaluation with a label and three open rows."""

    def call(argument, value):
        evaluation = make().start(X, **TRAINING)
        first, *rows = evaluation.ask(4).indices.tolist()
        evaluation.tell([first], [0])
        given = {"query": rows, "index": first, **usual}
        arguments = {name: given[name] for name in needed} | {argument: value}
        _unchanged(evaluation, lambda: getattr(evaluation, verb)(**arguments))

    return call


def tell_regression(argument, value):
    evaluation = make_regression().start(X, X_train=X_TRAIN, y_train=TARGET_TRAIN)
    arguments = {"query": evaluation.ask(3), "labels": [5.0, 6.0, 7.0]}
    _unchanged(evaluation, lambda: evaluation.tell(**arguments | {argument: value}))


def on_report(verb, **usual):
    return lambda argument, value: getattr(labelled(), verb)(
        **usual | {argument: value}
    )


def on_fitted(method):
    def call(argument, value):
        usual = {"X": X, "y": Y} if method == "score" else {"X": X}
        getattr(fitted(), method)(**usual | {argument: value})

    return call


def on_interval(argument, value):
    Estimate.of_mean(0.3, 0.1, 50).interval(**{argument: value})


def on_strategy(parameter, strategy, **usual):
    def call(argument, value):
        part = strategy(**usual | {argument: value})
        make(**{parameter: part}).fit(X, never, **TRAINING)

    return call


def on_loss(loss, **usual):
    def call(argument, value):
        make(loss=loss(**usual | {argument: value})).fit(X, never)

    return call


def on_regression_loss(argument, value):
    loss = CustomLoss(lambda y, f: abs(y - f), task="regression", n_nodes=value)
    make_regression(loss=loss).fit(X, never, X_train=X_TRAIN, y_train=TARGET_TRAIN)


def on_surrogate(argument, value):
    surrogate = ClassifierSurrogate(GaussianNB(), n_members=2)
    make(surrogate=surrogate.set_params(**{argument: value})).fit(X, never)


def on_regression_surrogate(argument, value):
    surrogate = RegressorSurrogate(LinearRegression(), n_members=2)
    make_regression(surrogate=surrogate.set_params(**{argument: value})).fit(X, never)


def on_stack(stack):
    def call(argument, value):
        fit = make if stack is LogLinearStack else make_regression
        surrogate = fit().surrogate.set_params(calibration=stack(**{argument: value}))
        fit(surrogate=surrogate).fit(X, never)

    return call


def on_bootstrap(argument, value):
    BootstrapClassifier(GaussianNB(), **{argument: value}).fit(X, Y)


def on_scenario(argument, value):
    arguments = {"X": X, "y": Y, **TRAINING, argument: value}
    label_efficiency_curve(
        make(), Scenario(**arguments), n_labels=[6], n_runs=1, random_state=0
    )


def on_curve(argument, value):
    usual = {"evaluator": make(), "scenario": Scenario(X, Y), "n_runs": 1}
    usual |= {"n_labels": [6], "random_state": 0}
    label_efficiency_curve(**usual | {argument: value})


def on_annotate(argument, value):
    usual = {"evaluation": labelled(), "n_labels": 27, "read": never, "write": len}
    annotate(**usual | {argument: value})


PROBABILITIES = (
    "text 3 {} {0} object generator [] nans Nones texts mixed complexes dates masked "
    "short cube scores bytes lists logits percent nan_proba text_proba complex_proba "
    "masked_proba two_columns short_proba named_frame twice_named"
)
TABLE = (
    "text 3 {} {0} object class generator [] scores nan_table "
    "inf_table object_table complex_table date_table masked_table no_rows "
    "no_columns lists"
)
TRAIN_LABELS = (
    "text 3 {} {0} object generator [] nans Nones texts mixed complexes dates masked "
    "short cube one-hot lists bytes"
)
RANDOM_STATE = "text -1 2.5 nan complex {} object Generator class [] [[1,2]] True"

# One line for each argument: the bad values that are tried.
CASES = [
    ("ActiveRiskEstimator", on_estimator, {
        "estimator": "text 3 True [] {} object class unfitted",
        "surrogate": "text 3 True [] {} object class",
        "loss": "text 3 nan [] {} class object unfitted True",
        "metric": "text 3 True nan [] {} class object acquisition",
        "acquisition": f"{STRATEGY} selection",
        "selection": f"{STRATEGY} acquisition",
        "risk": f"{STRATEGY} acquisition",
        "stop": f"{STRATEGY} selection",
        "n_labels": f"{COUNT} None 31",
        "batch_size": f"{COUNT} None 0",
        "budget": f"{NUMBER} 0 -1",
        "refit": "None nan inf text True complex {} [0,3] [2.5] [nan] ['a'] [True] 0 "
        "0.9 -1 -1.5 date class object [[1,2]]",
        "cv": f"{COUNT} None 1 KFold",
        "classes": "text 3 [] [0] [0,0,1,2] [[0,1,2]] [0,1,None] [0,1,nan] complexes "
        "dates masked {0,1,2} {} object class generator [0,1,'a'] ['a','b','c'] True",
        "random_state": RANDOM_STATE,
        "verbose": "None text nan 2.5 [] {} complex object class -1",
    }),
    ("fit", on_fit, {
        "X": f"None {TABLE} narrow_table",
        "y": "None text 3 True [] {} {0} dict object short one-hot masked complexes "
        "dates cube generator class",
        "X_train": f"None {TABLE} short_table narrow_table frame cube",
        "y_train": f"None {TRAIN_LABELS}",
        "predictions": PROBABILITIES,
        "train_predictions": PROBABILITIES,
        "ledger": "text 3 True [] {} object class",
        "journal": "3 True 2.5 [] {} object class nan",
        "known_labels": "text 3 True [0,1] Series zeros pairs {-1:0} {99:0} "
        "{0.5:0} {'a':0} {0:None} {0:'a'} {0:1j} {0:[0,1]} {None:0} {0:{}} {True:1} "
        "object class",
        "cost": "text 3 True {} {0} object [] nans infs Nones zeros negatives texts "
        "mixed complexes dates masked short cube rows generator lists",
        "sample_weight": "text 3 True {} {0} object [] nans infs Nones zeros "
        "negatives texts mixed complexes dates masked short cube rows generator lists",
        "groups": "None scores",
        "weights": "None",
    }),
    ("fit, regression", on_regression, {
        "y_train": TRAIN_LABELS,
        "predictions": "text 3 {} object [] nans infs Nones texts mixed complexes "
        "dates masked short rows cube bytes lists",
    }),
    ("fit, experts", on_share, {
        "experts": "text 3 True {} {0} object [] nans infs Nones negatives texts mixed "
        "complexes dates short cube one-hot bytes lists logits percent rows "
        "generator class {'a':3} {'a':None} {'a':[]} {'a':'text'}",
    }),
    ("fit, experts of numbers", on_mean, {
        "experts": "text 3 {} {0} object [] nans infs Nones texts mixed complexes "
        "dates short cube rows bytes lists generator class",
    }),
    ("start", on_start, {
        "known_labels": "text {99:0} {0:None}",
        "cost": "zeros",
        "sample_weight": "zeros",
        "groups": "scores",
    }),
    ("ask", on_verb("ask"), {
        "n_queries": f"{COUNT} None 0 99",
    }),
    ("tell", on_verb("tell", "query", "labels", labels=[0, 1, 2]), {
        "query": POSITIONS,
        "labels": LABELS,
    }),
    ("tell, regression", tell_regression, {"labels": LABELS.replace("3_one-hot", "")}),
    ("skip", on_verb("skip", "query"), {"query": POSITIONS}),
    ("correct", on_verb("correct", "index", "label", label=1), {
        "index": POSITION,
        "label": "None nan text 1j date [] {} {0} object class [0,'a'] [0,None]",
    }),
    ("withdraw", on_verb("withdraw", "index"), {"index": POSITION}),
    ("estimate", on_report("estimate"), {
        "risk": STRATEGY,
        "metric": "text 3 True nan [] {} class object acquisition",
        "where": f"{MASK} zeros negatives scores texts masked",
        "sample_weight": f"{MASK} True zeros negatives texts masked",
        "groups": f"{GROUPS} zeros texts",
    }),
    ("estimate_by", on_report("estimate_by", groups=Y), {
        "groups": f"None {GROUPS}",
        "metric": "text 3 True nan [] {} class object acquisition",
        "risk": STRATEGY,
        "sample_weight": f"{MASK} True zeros negatives texts masked",
        "level": LEVEL,
        "simultaneous": f"None {FLAG}",
    }),
    ("stop_reason", on_report("stop_reason"), {"stop": f"None {STRATEGY}"}),
    ("labels_needed", on_report("labels_needed", width=0.1), {
        "width": f"{NUMBER} None 0 -1 inf",
        "level": LEVEL,
        "method": f"None {NAME}",
    }),
    ("intervals", on_report("intervals"), {"level": LEVEL, "method": f"None {NAME}"}),
    ("interval", on_interval, {"level": LEVEL, "method": f"None {NAME}"}),
    ("export", on_verb("export", "query", "path", path="rows.csv"), {
        "query": "None text 0.5 [-1] [99] ['a'] [[0,1]] [None] {} {0} object",
        "path": "None 3 text [] {} object",
        "predictions": "text 3 {} object [] short cube rows masked",
    }),
    ("import_answers", on_verb("import_answers", "path", path="rows.csv"), {
        "path": "None 3 text [] {} object",
        "skip": "3 True [] {} object",
    }),
    ("run", on_verb("run", "oracle", "n_labels", oracle=never, n_labels=6), {
        "oracle": "None text 3 short {0} object",
        "n_labels": f"{COUNT} None 31",
        "batch_size": f"{COUNT} None 0",
        "budget": f"{NUMBER} None 0 -1",
        "stop": STRATEGY,
        "verbose": "None text nan",
    }),
    ("predict", on_fitted("predict"), {"X": f"None {TABLE} narrow_table"}),
    ("score", on_fitted("score"), {
        "X": "None 3 nan_table narrow_table short_table",
        "y": TRAIN_LABELS,
    }),
    ("LogLoss", on_loss(LogLoss), {"eps": f"{NUMBER} None 0 1 -1 inf"}),
    ("Brier", on_loss(Brier), {"scale_by_half": "None text 3 nan [] object"}),
    ("CustomLoss", on_loss(CustomLoss, function=len, task="classification"), {
        "function": "None text 3 [] class",
        "response_method": "None text 3 nan [] 'decision_function'",
        "task": "text 3 nan [] True",
    }),
    ("CustomLoss, regression", on_regression_loss, {
        "n_nodes": f"{COUNT} None 0 351",
    }),
    ("GuardedASE", on_strategy("risk", GuardedASE), {"worth": f"{NUMBER} None -1"}),
    ("Proportional", on_strategy("selection", Proportional), {
        "uniform_share": f"{NUMBER} None -1 2 inf",
    }),
    ("UniformMixed", on_strategy("selection", UniformMixed), {
        "selection": f"{STRATEGY} acquisition",
        "uniform_share": f"{NUMBER} None -1 2 inf",
    }),
    ("Mixture", on_strategy("acquisition", Mixture, acquisitions=[BALD(), BALD()]), {
        "acquisitions": "text 3 [] {} [3] ['a'] class object generator",
        "shares": "text 3 [] {} [1] [1,2,3] [0,0] [-1,1] [nan,1] ['a','b'] [1,None] "
        "[1,1j] [1,inf] object class",
    }),
    ("TrustWeighted", on_strategy("acquisition", TrustWeighted), {
        "acquisition": f"{STRATEGY} selection",
    }),
    ("TargetWidth", on_strategy("stop", TargetWidth, width=0.1), {
        "width": f"{NUMBER} None 0 -1 inf",
        "level": LEVEL,
        "method": f"None {NAME}",
    }),
    ("Plateau", on_strategy("stop", Plateau, tolerance=0.1), {
        "tolerance": f"{NUMBER} None -1 inf",
        "n_labels": f"{COUNT} None 1",
    }),
    ("ClassifierSurrogate", on_surrogate, {
        "estimator": "text 3 [] class object True",
        "n_members": f"{COUNT} None 0",
        "calibration": "text 3 True False class [] object",
        "pool_weight": f"{NUMBER} None inf 0 -1",
        "rows_per_acquired": f"{NUMBER} None -1",
        "prior_mass": f"{NUMBER} None -1 1 inf",
        "cv": f"{COUNT} None 1",
        "min_rows": f"{COUNT} None 0",
        "n_jobs": "text nan 2.5 [] 0 object",
    }),
    ("RegressorSurrogate", on_regression_surrogate, {
        "estimator": "text 3 class",
        "n_members": f"{COUNT} None 0",
        "calibration": "text 3 True False",
        "pool_weight": f"{NUMBER} None 0 -1",
        "rows_per_acquired": f"{NUMBER} None -1",
        "cv": f"{COUNT} None 1",
        "min_rows": f"{COUNT} None 0",
    }),
    ("LogLinearStack", on_stack(LogLinearStack), {
        "use_estimator": f"None {FLAG}",
        "ridge": f"{NUMBER} None -1 inf",
        "smoothing": f"{NUMBER} None -1 2",
    }),
    ("GaussianStack", on_stack(GaussianStack), {
        "use_estimator": f"None {FLAG}",
        "ridge": f"{NUMBER} None -1 inf",
    }),
    ("BootstrapClassifier", on_bootstrap, {
        "n_members": f"{COUNT} None 0",
        "random_state": RANDOM_STATE,
        "n_jobs": "text nan 2.5 [] 0",
    }),
    ("Scenario", on_scenario, {
        "X": "None text 3 no_rows nan_table masked_table",
        "y": f"None {TRAIN_LABELS}",
        "estimator": "text 3 class unfitted",
        "X_train": "text 3 short_table narrow_table",
        "y_train": "None short nans texts",
        "train_predictions": "text short logits",
        "label_proba": "text 3 {} [] short nan_proba text_proba complex_proba logits "
        "two_columns short_proba negatives masked_proba",
        "surrogate": "text 3 class",
    }),
    ("label_efficiency_curve", on_curve, {
        "evaluator": "None text 3 [] {} class unfitted",
        "scenario": "None text 3 [] {} object",
        "risks": "text 3 [] {'a':3} {'a':'b'} {} class",
        "n_labels": "None text 3 [] [0] [-1] [2.5] [nan] ['a'] [31] {} [True] [None]",
        "n_runs": f"{COUNT} None",
        "level": LEVEL,
        "random_state": RANDOM_STATE,
        "n_jobs": "text nan 2.5 [] 0",
        "verbose": "None text nan",
        "path": "3 [] {} object True",
    }),
    ("annotate", on_annotate, {
        "evaluation": "None text 3 unfitted",
        "n_labels": f"{COUNT}",
        "stop": STRATEGY,
        "class_names": "3 [] ['a'] text object",
        "show": "text 3 []",
        "read": "None text 3",
        "write": "None text 3",
    }),
    ("LabelLedger.save", lambda _, path: start().ledger.save(path), {
        "path": "None 3 [] {} object",
    }),
    ("LabelEfficiency.load", lambda _, path: LabelEfficiency.load(path), {
        "path": "None 3 [] {} object",
    }),
]  # fmt: skip


# What an argument holds names it, too.
ALSO_CALLED = {"query": "query|rows?", "index": "index|rows?", "label": "labels?"}
ALSO_CALLED |= {"X": "X|pool"}


def _value(word):
    return BAD[word] if word in BAD else eval(word, {"nan": np.nan, "inf": np.inf})


def _all_cases():
    for place, call, table in CASES:
        for argument, words in table.items():
            for word in words.split():
                name = f"{place}-{argument}-{word}"
                yield pytest.param(call, argument, word, id=name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "argument", "word"), list(_all_cases()))
def test_a_bad_input_is_refused_by_name_before_a_label(
    call, argument, word, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError, FileNotFoundError)) as caught:
        call(argument, _value(word))
    name = ALSO_CALLED.get(argument, argument)
    assert re.search(rf"\b({name})\b", str(caught.value), re.IGNORECASE)
    raised_in = Path(str(caught.traceback[-1].path))
    ours = Path(sklearn_ase.__file__).parent
    theirs = Path(sklearn.__file__).parent / "utils"
    assert ours in raised_in.parents or theirs in raised_in.parents
    assert not list(tmp_path.iterdir())


def test_the_sweep_is_large():
    assert len(list(_all_cases())) >= 300


# What people do on the first day, with a frame as the pool. Each mistake is told what
# to do: in the message, or in a note below it.

FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"]).set_index(np.arange(N)[::-1] + 9)
LABELLED = pd.Series(Y, FRAME.index)
ROWS = {"X_train": pd.DataFrame(X_TRAIN, columns=[*"abcd"]), "y_train": Y_TRAIN}
NAMED = GaussianNB().fit(ROWS["X_train"], Y_TRAIN)


def start(**given):
    return make(estimator=FrozenEstimator(NAMED)).start(**{"X": FRAME, **ROWS, **given})


def fit(parameters=(), **given):
    given = {"X": FRAME, "y": LABELLED, **ROWS, **given}
    parameters = {"estimator": FrozenEstimator(NAMED), **dict(parameters)}
    return make(**parameters).fit(**given)


def tell(labels, rows=None):
    evaluation = start()
    query = evaluation.ask(3)
    if rows == "first twice":
        rows = query.indices[[0, 0, 1, 2]]
    evaluation.tell(query if rows is None else rows, labels)


def estimate(*risk, **question):
    evaluation = start()
    evaluation.run(LABELLED, 3)
    return evaluation.estimate(*risk, **question)


def tell_again():
    evaluation = start()
    query = evaluation.ask(7)
    for _ in range(2):
        evaluation.tell(query, Y[query.indices])


def compare(models):
    evaluation = start()
    evaluation.run(LABELLED, 3)
    return evaluation.compare(models)


def half_known():
    return LABELLED.astype(float).where(np.arange(N) % 2 == 0)


FIRST_DAY = {
    "a typing error in a name": (
        lambda: fit(X_trian=1), "no argument X_trian. Did you mean X_train?"),
    "the name of something else": (
        lambda: fit(target=1), "take X, y and X_train, cost, experts"),
    "a parameter of the evaluator in fit": (
        lambda: fit(n_labels=9), r"ActiveRiskEstimator\(..., n_labels=...\)"),
    "a parameter of the evaluator in start": (
        lambda: start(classes=[0, 1]), r"ActiveRiskEstimator\(..., classes=...\)"),
    "no labels": (lambda: fit(y=None), "to label by hand use start"),
    "the name of a column": (lambda: fit(y="d"), "give the column itself"),
    "a dict of labels": (
        lambda: fit(y={9: 0}), r"known_labels=\{row: label\}"),
    "a Series of known labels": (
        lambda: start(known_labels=LABELLED[:3]), r"must be a dict \{row: label\}"),
    "labels in another order": (
        lambda: fit(y=LABELLED[::-1]), r"y.loc\[X.index\]"),
    "labels as texts": (
        lambda: fit(y=LABELLED.astype(str)), "as the model was trained on them"),
    "labels of more rows": (
        lambda: fit(y=np.zeros(99)), "99 labels, but the pool has 30 rows"),
    "labels with gaps": (
        lambda: fit([("n_labels", 25)], y=half_known()), "y has no label there"),
    "training rows without labels": (
        lambda: fit(y_train=None), "X_train was given without y_train"),
    "training labels without rows": (
        lambda: fit(X_train=None), "y_train was given without X_train"),
    "training labels as texts": (
        lambda: fit(y_train=Y_TRAIN.astype(str)), "as the model was trained on them"),
    "a model that is not fitted": (
        lambda: fit([("estimator", GaussianNB())]), r"FrozenEstimator\(model\)"),
    "a class of models": (
        lambda: fit([("estimator", GaussianNB)]), "must be a fitted model"),
    "a regression and a loss of classes": (
        lambda: fit([("estimator", REGRESSOR), ("loss", "zero_one")]),
        "Use loss='squared_error'"),
    "more labels than rows": (
        lambda: fit([("n_labels", 99)]), "n_samples = 30. Ask for at most that many"),
    "columns in another order": (
        lambda: fit(X=FRAME[[*"dcba"]]), r"X\[model.feature_names_in_\], in this"),
    "a column too many": (
        lambda: fit(X=FRAME.assign(e=1.0)), r"X\[model.feature_names_in_\]"),
    "a column too few": (
        lambda: fit(X=FRAME[["a"]]), "Give the pool with these columns"),
    "a metric as a loss": (
        lambda: fit([("loss", "f1")]), "are given as metric="),
    "a loss that is one number": (
        lambda: fit([("loss", lambda y, f: 1 / 0)]), "one value per row, for any rows"),
    "a metric as a risk": (lambda: estimate("f1"), "Give it as metric='f1'"),
    "a class as a risk": (
        lambda: estimate(GuardedASE), r"Make an instance: risk=GuardedASE\("),
    "a name as a risk": (
        lambda: estimate("guarded"), "to choose from are in sklearn_ase.risk"),
    "a typing error in a metric": (
        lambda: estimate(metric="f1_makro"), "Did you mean 'f1_macro'"),
    "a frame of groups": (
        lambda: estimate(groups=FRAME[["a"]]), "Give one column of it"),
    "numbers of rows as a mask": (
        lambda: estimate(where=[1, 2]), r"where=numpy.isin\(numpy.arange"),
    "a level in percent": (lambda: estimate().interval(90), "For 90 % give 0.9"),
    "answers before a question": (
        lambda: start().tell([1, 2], [0, 1]), r"no row is open. Call ask\(\)"),
    "answers for other rows": (
        lambda: tell([0, 1], [0, 1]), r"Call ask\(\), and answer the rows that it ret"),
    "labels of the index as rows": (
        lambda: tell([0], [38]), "their places in the pool, from 0"),
    "answers for all rows": (
        lambda: tell(LABELLED), r"y.iloc\[query.indices\] of a Series"),
    "one answer too few": (
        lambda: tell([0, 1]), "Give one label for each of these rows"),
    "answers in a dict": (
        lambda: tell({1: 0, 2: 0, 3: 0}), r"tell\(list\(labels\), list\(labels.values"),
    "answers that are missing": (
        lambda: tell([0, None, 1]), r"evaluation.skip\(rows\) records that nobody"),
    "probabilities as answers": (
        lambda: tell([0.2, 0.7, 0.1]), "Give the label itself"),
    "answers of other rows": (
        lambda: tell(LABELLED.iloc[[0, 1, 2]]), r"labels.to_numpy\(\) if the order"),
    "a result before fit": (lambda: make().estimate_, "not fitted yet. Call 'fit'"),
    "an evaluator in place of an evaluation": (
        lambda: annotate(make()), r"evaluator.evaluation_ after fit\(\)"),
    "a journal in a folder that is not there": (
        lambda: start(journal="nowhere/labels.jsonl"), "does not exist. Make it first"),
    "a path in place of a ledger": (
        lambda: start(ledger="labels.jsonl"), r"start\(..., journal=path\)"),
    "a name in another case": (
        lambda: start(x_train=X_TRAIN), "Did you mean X_train?"),
    "training rows and labels that are swapped": (
        lambda: start(X_train=pd.Series(Y_TRAIN), y_train=ROWS["X_train"]),
        r"X_train is one column \(a Series\).*X_train and y_train swapped"),
    "a frame as the pool and an array of training rows": (
        lambda: start(X_train=ROWS["X_train"].astype(object).to_numpy()),
        "X_train is an array and the pool a DataFrame. Give both as frames"),
    "an array as the pool and a frame of training rows": (
        lambda: start(X=np.full((N, 4), "red", dtype=object)),
        "X_train is a DataFrame and the pool an array. Give both as frames"),
    "a pool with gaps": (
        lambda: start(X=FRAME.where(FRAME > 1)),
        "The model under test refuses the pool: .* comes from GaussianNB.predict_p"),
    "an array with gaps": (
        lambda: make().start(np.where(X > 1, X, np.nan)),
        "The model under test refuses the pool: GaussianNB takes no missing values"),
    "an array with gaps and a surrogate that takes none": (
        lambda: make(estimator=lambda X: Y, surrogate=GaussianNB(), classes=[0, 1, 2],
                     loss="zero_one").start(np.where(X > 1, X, np.nan)),
        "The surrogate takes no missing values. Give another one as surrogate="),
    "a pool that a function cannot read": (
        lambda: make(estimator=lambda X: X["e"], classes=[0, 1, 2]).start(FRAME),
        "The model under test refuses the pool"),
    "a comparison with a model that is not fitted": (
        lambda: compare({"a": NAMED, "b": GaussianNB()}),
        r"The model 'b', GaussianNB, is not fitted.*compare\(\{'b': model.fit"),
    "a number as a stopping rule": (
        lambda: start().stop_reason(0.1), r"stop=0.1.*Give TargetWidth\(0.1\)"),
    "a number as a stopping rule of fit": (
        lambda: fit([("stop", 0.1)]), r"stop=0.1.*Give TargetWidth\(0.1\)"),
    "the same answers again": (
        lambda: tell_again(), r"^Rows \[\d+(, \d+){4}\] and 2 more have a label alr"),
    "one row twice": (
        lambda: tell([0, 0, 1, 2], "first twice"), "are answered twice in this call"),
    "training rows without a name": (
        lambda: make().fit(X, Y, X_TRAIN, Y_TRAIN),
        r"got 4 arguments.*Name the others: fit\(X, y, X_train=..., y_train=...\)"),
    "labels at the start": (
        lambda: make().start(X, Y), r"start got 2 arguments.*Labels come by tell\(\)"),
    "predictions as the model": (
        lambda: make(estimator=np.zeros(N)).start(FRAME),
        r"For predictions pass start\(..., predictions=...\)"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mistake", FIRST_DAY)
def test_a_mistake_of_the_first_day_is_told_what_to_do(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, cure = FIRST_DAY[mistake]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    says = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert re.search(cure, " ".join(says), re.DOTALL)
