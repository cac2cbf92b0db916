"""Rows of pandas in another order are refused, wherever there is one value per row."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import (
    AcquisitionDisplay,
    ActiveModelSelector,
    ActiveRiskEstimator,
    TrainingRows,
)
from sklearn_ase._data._rows import RowOrder
from sklearn_ase.metrics import FBeta, LabelShare, RocAuc, RootMeanSquaredError
from sklearn_ase.simulation import (
    Scenario,
    label_efficiency_curve,
)
from sklearn_ase.surrogate import ClassifierSurrogate

N = 60
RNG = np.random.default_rng(0)
# Labels of rows, as train_test_split leaves them.
INDEX = RNG.permutation(300)[:N]
LABELS = np.where(RNG.random(N) < 0.5, "no", "yes")
X = pd.DataFrame(
    {"a": RNG.normal(size=N) + (LABELS == "yes"), "b": RNG.normal(size=N)}, INDEX
)
Y = pd.Series(LABELS, INDEX)
NUMBERS = pd.Series(RNG.random(N), INDEX)
X_TRAIN = X.iloc[:30].set_axis(range(1000, 1030))
Y_TRAIN = Y.iloc[:30].set_axis(range(1000, 1030))
MODEL = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))
OTHER = FrozenEstimator(LogisticRegression().fit(X_TRAIN, Y_TRAIN))
PROBA = pd.DataFrame(MODEL.predict_proba(X), INDEX, columns=["no", "yes"])
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=2)
TRAINING = {"X_train": X_TRAIN, "y_train": Y_TRAIN}


def _evaluator(estimator=MODEL, **parameters):
    usual = {"surrogate": SURROGATE, "loss": "zero_one", "cv": 0, "n_labels": 25}
    return ActiveRiskEstimator(estimator, random_state=0, **usual | parameters)


def _shuffled(rows):
    """The same rows and labels of the index, in another order."""
    return rows.iloc[::-1]


def _refused(name):
    says = rf"{re.escape(name)}.* in another order.*\.to_numpy\(\)"
    return pytest.raises(ValueError, match=f"(?s){says}")


def _never(rows):
    pytest.fail("A label was read.")


AT_START = {
    "predictions": PROBA,
    "train_predictions": PROBA.iloc[:30].set_axis(X_TRAIN.index),
    "y_train": Y_TRAIN,
    "cost": 1 + NUMBERS,
    "sample_weight": NUMBERS,
}


@pytest.mark.parametrize("name", list(AT_START))
def test_an_argument_of_start_in_another_order_is_refused_before_a_label(name):
    model = None if name == "predictions" else MODEL
    good = {**TRAINING, name: AT_START[name]}
    assert len(_evaluator(model).fit(X, Y, **good).ledger_) == 25
    with _refused(name):
        _evaluator(model).fit(X, _never, **good | {name: _shuffled(AT_START[name])})


def test_labels_in_another_order_are_refused():
    assert len(_evaluator().fit(X, Y, **TRAINING).ledger_) == 25
    with _refused("y"):
        _evaluator().fit(X, _shuffled(Y), **TRAINING)
    evaluation = _evaluator().start(X, **TRAINING)
    with _refused("oracle"):
        evaluation.run(_shuffled(Y), 10)
    assert not evaluation.ledger.indices


def test_the_error_shows_the_first_row_that_differs_and_what_to_do():
    y = pd.Series(["a", "c", "b"], [10, 30, 20])
    order = RowOrder.of(X=pd.DataFrame(index=[10, 20, 30]))
    with pytest.raises(ValueError, match="At position 1 X has 20 and y has 30") as told:
        order.check(y=y)
    assert "y.loc[X.index]" in str(told.value)
    order.check(y=y.loc[[10, 20, 30]])
    order.check(y=y.to_numpy())


def test_training_rows_in_their_container_are_compared_too():
    with _refused("y_train"):
        _evaluator().start(X, X_train=TrainingRows(X_TRAIN, _shuffled(Y_TRAIN)))


@pytest.mark.parametrize("form", ["a dict", "a frame", "a list"])
def test_each_expert_is_compared_with_the_pool(form):
    good = pd.DataFrame({"judge": NUMBERS, "other": NUMBERS**2})
    experts = {
        "a dict": {"judge": NUMBERS, "other": _shuffled(NUMBERS)},
        "a frame": _shuffled(good),
        "a list": [NUMBERS, _shuffled(NUMBERS)],
    }[form]
    evaluator = ActiveRiskEstimator(metric=LabelShare("yes"), random_state=0)
    evaluator.start(X, experts=good)
    name = {"a dict": "experts['other']", "a frame": "experts", "a list": "experts[1]"}
    with _refused(name[form]):
        evaluator.start(X, experts=experts)


def test_without_features_everything_is_compared_with_the_first_expert():
    evaluator = ActiveRiskEstimator(metric=LabelShare("yes"), random_state=0)
    both = {"judge": NUMBERS, "other": _shuffled(NUMBERS)}
    with _refused("experts['other']"):
        evaluator.start(None, experts=both)
    with _refused("y"):
        evaluator.fit(None, _shuffled(Y), experts={"judge": NUMBERS})
    evaluator.set_params(n_labels=5).fit(None, Y, experts={"judge": NUMBERS})


def test_what_a_function_returns_is_compared_with_the_rows_it_got():
    _evaluator(lambda rows: PROBA.loc[rows.index]).start(X)
    with _refused("predictions"):
        _evaluator(lambda rows: _shuffled(PROBA.loc[rows.index])).start(X)


@pytest.fixture(scope="module")
def evaluation():
    return _evaluator().fit(X, Y, **TRAINING).evaluation_


GROUPS = pd.Series(np.where(RNG.random(N) < 0.5, "north", "south"), INDEX)
QUESTIONS = {
    "estimate": {
        "where": GROUPS == "north",
        "sample_weight": NUMBERS,
        "groups": GROUPS,
    },
    "estimate_by": {"groups": GROUPS, "sample_weight": NUMBERS},
    "compare_groups": {"groups": GROUPS, "sample_weight": NUMBERS},
    "compare": {"where": GROUPS == "north", "sample_weight": NUMBERS},
    "report": {"by": GROUPS, "columns": pd.DataFrame({"text": LABELS}, INDEX)},
}


@pytest.mark.parametrize(
    ("verb", "name"), [(verb, name) for verb in QUESTIONS for name in QUESTIONS[verb]]
)
def test_a_question_with_rows_in_another_order_is_refused(evaluation, verb, name):
    needed = {"groups": GROUPS} if verb in ("estimate_by", "compare_groups") else {}
    if verb == "compare":
        needed = {"models": {"bayes": MODEL, "linear": OTHER}}
    values, ask = QUESTIONS[verb][name], getattr(evaluation, verb)
    ask(**needed | {name: values})
    with _refused(name):
        ask(**needed | {name: _shuffled(values)})


def test_models_given_by_predictions_are_compared_with_the_pool(evaluation):
    models = {"bayes": MODEL, "linear": pd.Series(OTHER.predict(X), INDEX)}
    evaluation.compare(models)
    with _refused("models['linear']"):
        evaluation.compare(models | {"linear": _shuffled(models["linear"])})


def test_a_choice_between_models_compares_them_too():
    said = pd.DataFrame({"bayes": MODEL.predict(X), "linear": OTHER.predict(X)}, INDEX)
    selector = ActiveModelSelector(n_labels=5, random_state=0)
    selector.fit(X, Y, predictions=said)
    selector.fit(None, Y, predictions=said)
    with _refused("predictions['bayes']"):
        selector.start(X, predictions=_shuffled(said))
    mixed = {"bayes": said["bayes"], "linear": _shuffled(said["linear"])}
    with _refused("predictions['linear']"):
        selector.start(None, predictions=mixed)
    with _refused("y"):
        selector.fit(X, _shuffled(Y), predictions=said)
    with _refused("y_train"):
        train = {"X_train": X_TRAIN, "y_train": _shuffled(Y_TRAIN)}
        selector.start(X, predictions=said, **train)


def test_other_arrays_with_one_row_per_row_of_the_pool_are_compared(
    evaluation, tmp_path
):
    said = pd.Series(MODEL.predict(X), INDEX)
    with _refused("predictions"):
        evaluation.export([1, 2], tmp_path / "rows.csv", predictions=_shuffled(said))
    with _refused("predictions"):
        evaluation.ask(2).to_frame(X, predictions=_shuffled(said))
    evaluator = _evaluator().fit(X, Y, **TRAINING)
    evaluator.score(X, Y)
    with _refused("y"):
        evaluator.score(X, _shuffled(Y))


def test_metrics_and_simulations_compare_their_arrays():
    truth, said = Y, pd.Series(MODEL.predict(X), INDEX)
    number = pd.Series(np.arange(N), INDEX)
    for metric, y_true, y_pred in (
        (FBeta(pos_label="yes"), truth, said),
        (RocAuc(pos_label="yes"), truth, NUMBERS),
        (RootMeanSquaredError(), number, NUMBERS),
    ):
        metric(y_true, y_pred, NUMBERS)
        with _refused("y_pred"):
            metric(y_true, _shuffled(y_pred))
        with _refused("sample_weight"):
            metric(y_true, y_pred, _shuffled(NUMBERS))
    with _refused("y"):
        label_efficiency_curve(
            _evaluator(), Scenario(X, _shuffled(Y)), n_labels=[5], n_runs=1
        )
    proba = Scenario(X, ["no", "yes"], label_proba=_shuffled(PROBA))
    with _refused("label_proba"):
        label_efficiency_curve(_evaluator(), proba, n_labels=[5], n_runs=1)


# Answers to a query.


def test_answers_are_compared_with_the_rows_that_were_asked_for():
    evaluation = _evaluator().start(X, **TRAINING)
    query = evaluation.ask(4)
    asked = Y.iloc[query.indices]
    with _refused("labels"):
        evaluation.tell(query, _shuffled(asked))
    other = Y.iloc[np.setdiff1d(np.arange(N), query.indices)[:4]]
    with pytest.raises(ValueError, match="names other rows"):
        evaluation.tell(query, other)
    assert not evaluation.ledger.labels
    evaluation.tell(query, asked)
    assert list(evaluation.ledger.labels.values()) == asked.tolist()


def test_rows_and_answers_of_one_sheet_are_told_in_its_order():
    evaluation = _evaluator().start(X, **TRAINING)
    query = evaluation.ask(6)
    # Lines of a sheet, of which some have no answer yet; labels of the pool by chance.
    sheet = pd.DataFrame({"row": query.indices, "label": LABELS[query.indices]})
    sheet = sheet.set_index(INDEX[:6]).iloc[[4, 0, 3]]
    with _refused("labels"):
        evaluation.tell(sheet["row"], _shuffled(sheet["label"]))
    evaluation.tell(sheet["row"], sheet["label"])
    assert all(label == LABELS[row] for row, label in evaluation.ledger.labels.items())
    rest = query.indices[[1, 2, 5]]
    evaluation.tell(pd.Series(rest), pd.DataFrame({"first": LABELS[rest]}))


def test_labels_looked_up_by_the_number_of_the_row_are_refused():
    # A frame that was shuffled as a whole: each number of a row is a label, too.
    order = RNG.permutation(N)
    shuffled, y = X.set_axis(order), Y.set_axis(order)
    evaluation = _evaluator().start(shuffled, **TRAINING)
    query = evaluation.ask(3)
    with pytest.raises(ValueError, match="names other rows"):
        evaluation.tell(query, y[query.indices])
    evaluation.tell(query, y.iloc[query.indices])


@pytest.mark.parametrize("pool", [X, X.to_numpy(), X.reset_index(drop=True)])
def test_answers_may_be_indexed_by_the_numbers_of_the_rows_in_their_order(pool):
    away = pool.set_axis(range(900, 900 + N)) if pool is X else pool
    training = {"X_train": X_TRAIN, "y_train": Y_TRAIN}
    if not hasattr(pool, "columns"):
        training["X_train"] = X_TRAIN.to_numpy()
    evaluation = _evaluator().start(away, **training)
    query = evaluation.ask(4)
    answers = pd.Series(LABELS[query.indices], query.indices)
    with pytest.raises(ValueError, match="in another order"):
        evaluation.tell(query, _shuffled(answers))
    evaluation.tell(query, answers)
    assert list(evaluation.ledger.labels.values()) == LABELS[query.indices].tolist()


def test_a_function_that_returns_a_series_may_use_any_right_lookup():
    for read in (
        lambda rows: Y.iloc[rows],
        lambda rows: Y.loc[X.index[rows]],
        lambda rows: pd.Series(LABELS[rows]),
    ):
        found = _evaluator(n_labels=6).fit(X, read, **TRAINING).ledger_
        assert all(label == LABELS[row] for row, label in found.labels.items())


# What is read by position.


@pytest.mark.parametrize(
    "given",
    [
        Y.to_numpy(),
        Y.tolist(),
        Y.reset_index(drop=True),
        Y.set_axis(range(5000, 5000 + N)),
        Y.set_axis([f"row {n}" for n in range(N)]),
        Y.set_axis(pd.MultiIndex.from_product([range(N), ["a"]])),
        pl.Series(Y.to_list()),
    ],
    ids=["array", "list", "default", "disjoint", "texts", "levels", "polars"],
)
def test_an_index_that_says_nothing_about_the_pool_is_read_by_position(given):
    found = _evaluator().fit(X, given, **TRAINING).ledger_.labels
    assert all(label == LABELS[row] for row, label in found.items())
    plain = X.reset_index(drop=True)
    found = _evaluator().fit(plain, Y, **TRAINING).ledger_.labels
    assert all(label == LABELS[row] for row, label in found.items())


def test_two_samples_of_one_table_are_refused():
    other = Y.set_axis(np.r_[INDEX[1:], 777])
    with pytest.raises(ValueError, match="shares labels with it, but names other rows"):
        _evaluator().fit(X, other, **TRAINING)


def test_an_index_with_labels_several_times_is_compared_one_by_one():
    twice = np.repeat(np.arange(100, 100 + N // 2), 2)
    pool, y = X.set_axis(twice), Y.set_axis(twice)
    _evaluator().fit(pool, y, **TRAINING)
    with _refused("y"):
        _evaluator().fit(pool, Y.set_axis(np.roll(twice, 1)), **TRAINING)
    # As pd.concat leaves it: not the default index, and not its order.
    again = Y.set_axis(np.r_[0 : N // 2, 0 : N // 2])
    _evaluator().fit(X.reset_index(drop=True), again, **TRAINING)


@pytest.mark.parametrize("missing", [np.nan, pd.NA, pd.NaT])
def test_missing_labels_of_an_index_are_the_same(missing):
    own = pd.Index([missing, "b", "c", missing], dtype=object)
    order = RowOrder.of(X=pd.DataFrame(index=own))
    order.check(y=pd.Series([1, 2, 3, 4], own))
    with pytest.raises(ValueError, match="At position 1 X has 'b' and y has 'c'"):
        order.check(y=pd.Series([1, 2, 3, 4], own[[0, 2, 1, 3]]))


def test_a_pool_of_texts_has_an_order_too():
    texts = pd.Series(
        [f"{label} word {n % 7}" for n, label in enumerate(LABELS)], INDEX
    )
    said = pd.Series(LABELS, INDEX)
    evaluator = ActiveRiskEstimator(loss="zero_one", random_state=0)
    evaluator.start(texts, predictions=said)
    with _refused("predictions"):
        evaluator.start(texts, predictions=_shuffled(said))


def test_displays_compare_their_arrays(evaluation):
    places = X[["a", "b"]]
    AcquisitionDisplay.from_evaluation(evaluation, positions=places)
    with _refused("positions"):
        AcquisitionDisplay.from_evaluation(evaluation, positions=_shuffled(places))


def test_nothing_of_the_caller_is_changed():
    before = X.copy(), Y.copy()
    _evaluator().fit(X, Y, **TRAINING)
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(Y, before[1])
