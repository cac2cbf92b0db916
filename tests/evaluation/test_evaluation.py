"""One evaluation: what it reads, what it asks for, what it answers."""

import numpy as np
import pandas as pd
import pytest
from helpers import paper_formulas as paper
from helpers.iris_campaign import start_evaluation, tell
from helpers.journals import contents
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.metrics import mean_squared_error
from sklearn.naive_bayes import GaussianNB

from sklearn_ase.acquisition import BALD, XWED, LossSpread, Uniform
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax, UniformMixed
from sklearn_ase.surrogate import ClassifierSurrogate


def _tell(evaluation, query, y):
    evaluation.tell(query, y[query.indices])


def test_fit_reads_only_the_labels_it_asked_for(digits, evaluator, recording_oracle):
    oracle = recording_oracle(digits.y)
    evaluator.fit(digits.X, oracle)
    assert oracle.asked == evaluator.ledger_.indices
    assert len(set(oracle.asked)) == 12


def test_labels_that_were_not_asked_for_may_be_missing(diabetes, regression_evaluator):
    regression_evaluator.fit(diabetes.X, diabetes.y)
    gaps = np.full(len(diabetes.y), np.nan)
    asked = regression_evaluator.ledger_.indices
    gaps[asked] = diabetes.y[asked]
    expected = regression_evaluator.risk_
    assert regression_evaluator.fit(diabetes.X, gaps).risk_ == expected


@pytest.mark.parametrize(
    ("loss", "calls"),
    [
        ("log_loss", [("predict_proba", 120)]),
        ("zero_one", [("predict", 120), ("predict_proba", 120)]),
    ],
)
def test_each_response_of_the_model_is_called_once(
    digits, evaluator, counting_model, loss, calls
):
    evaluator.set_params(estimator=counting_model, loss=loss)
    evaluator.fit(digits.X, digits.y, **digits.training)
    assert counting_model.calls == calls


def test_probabilities_are_not_asked_for_where_nobody_reads_them(
    digits, evaluator, counting_model
):
    frozen = FrozenEstimator(evaluator.surrogate.fit(digits.X_train, digits.y_train))
    evaluator.set_params(estimator=counting_model, loss="zero_one", surrogate=frozen)
    evaluator.fit(digits.X, digits.y)
    assert counting_model.calls == [("predict", 120)]


def test_random_state_decides_the_run(digits, evaluator):
    first, again = (clone(evaluator).fit(digits.X, digits.y) for _ in range(2))
    other = clone(evaluator).set_params(random_state=1).fit(digits.X, digits.y)
    assert first.ledger_.indices == again.ledger_.indices
    assert first.risk_ == again.risk_
    assert first.ledger_.indices != other.ledger_.indices


def test_random_state_decides_the_run_of_a_model_that_is_random(digits, evaluator):
    # Copies of it are fitted to training rows, and must be seeded too.
    model = RandomForestClassifier(5).fit(digits.X_train, digits.y_train)
    evaluator.set_params(estimator=FrozenEstimator(model))
    first = evaluator.fit(digits.X, digits.y, **digits.training).risk_
    assert evaluator.fit(digits.X, digits.y, **digits.training).risk_ == first


def test_arrays_and_the_global_random_state_stay_as_they_were(digits, evaluator):
    model = RandomForestClassifier(5).fit(digits.X_train, digits.y_train)
    evaluator.set_params(estimator=FrozenEstimator(model))
    arrays = (digits.X, digits.y, digits.X_train, digits.y_train)
    copies = [array.copy() for array in arrays]
    before = np.random.get_state()  # noqa: NPY002
    evaluator.fit(digits.X, digits.y, **digits.training)
    evaluator.score(digits.X, digits.y)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    assert_array_equal(before[1], after[1])
    for array, copy in zip(arrays, copies, strict=True):
        assert_array_equal(array, copy)


def test_predictions_stand_in_for_the_model(digits, evaluator):
    proba = digits.model.predict_proba(digits.X)[:, ::-1]
    expected = evaluator.fit(digits.X, digits.y).risk_
    evaluator.set_params(estimator=None, classes=[3, 2, 1, 0])
    copy = proba.copy()
    assert evaluator.fit(digits.X, digits.y, predictions=proba).risk_ == expected
    assert_array_equal(proba, copy)


def test_by_hand_is_the_same_as_fit(digits, evaluator):
    evaluator.fit(digits.X, digits.y, **digits.training)
    evaluation = clone(evaluator).start(digits.X, **digits.training)
    for _ in range(12):
        _tell(evaluation, evaluation.ask(), digits.y)
    evaluation.finish()
    assert evaluation.ledger.indices == evaluator.ledger_.indices
    assert evaluation.estimate() == evaluator.risk_
    assert contents(evaluation.ledger) == contents(evaluator.ledger_)


def test_start_leaves_no_trace_on_the_evaluator(digits, evaluator):
    before = dict(vars(evaluator))
    evaluator.start(digits.X)
    assert vars(evaluator) == before


def test_three_asks_are_one_ask_of_three(digits, evaluator):
    evaluator.set_params(selection=ArgMax(), acquisition=BALD())
    first, second = (evaluator.start(digits.X, **digits.training) for _ in range(2))
    together = first.ask(3)
    apart = np.concatenate([second.ask().indices for _ in range(3)])
    assert_array_equal(together.indices, apart)
    assert_allclose(
        first.ledger.picks.free_expected_loss, second.ledger.picks.free_expected_loss
    )


def test_probabilities_of_a_batch_are_sequential(digits, evaluator):
    evaluation = evaluator.start(digits.X, **digits.training)
    scores = evaluation.plan.acquisition.score_samples(evaluation.state)
    query = evaluation.ask(4)
    free = np.ones(120, dtype=bool)
    for index, proba in zip(query.indices, query.proba, strict=True):
        share = scores[index] / scores[free].sum()
        assert proba == pytest.approx(0.7 * share + 0.3 / free.sum())
        free[index] = False


def test_open_queries_are_pending_and_answered_in_any_order(digits, evaluator):
    evaluation = evaluator.start(digits.X, **digits.training)
    query = evaluation.ask(4)
    assert_array_equal(evaluation.pending.indices, query.indices)
    assert_array_equal(evaluation.pending.proba, query.proba)
    for part in ([3], [1, 0]):
        rows = query.indices[part]
        evaluation.tell(rows, digits.y[rows])
    assert evaluation.pending.indices.tolist() == [query.indices[2]]
    assert evaluation.history["index"].tolist() == query.indices[[3, 1, 0]].tolist()
    assert set(evaluation.ask(3).indices).isdisjoint(query.indices)
    # Design-based risks take the labels before the first open query.
    assert evaluation.estimate(LURE()).n_labels == 2


def test_history_is_a_table_with_one_row_per_label(digits, evaluator):
    frame = pd.DataFrame(evaluator.fit(digits.X, digits.y, **digits.training).history_)
    assert len(frame) == 12
    assert frame["n_labels"].tolist() == list(range(1, 13))
    assert frame["index"].tolist() == evaluator.ledger_.indices
    assert_array_equal(frame["label"], digits.y[frame["index"]])
    assert frame["risk"].iloc[-1] == evaluator.risk_.value
    proba = digits.model.predict_proba(digits.X)[frame["index"], frame["label"]]
    assert_allclose(frame["loss"], -np.log(np.clip(proba, 1.2e-7, 1)), rtol=1e-3)
    assert {"query_proba", "expected_loss", "standard_error", "refit"} <= {*frame}


def test_picks_are_uniform_before_the_first_fit(digits, evaluator):
    history = evaluator.set_params(n_labels=10).fit(digits.X, digits.y).history_
    assert history["refit"].tolist()[:5] == [False] * 4 + [True]
    assert_allclose(history["query_proba"][:5], 1 / (120 - np.arange(5)))
    assert not np.allclose(history["query_proba"][5:], 1 / (115 - np.arange(5)))
    assert_array_equal(history["expected_loss"][:5], 0.0)
    # A random sample without surrogate: the guarded risk is its mean.
    means = np.cumsum(history["loss"][:4]) / np.arange(1, 5)
    assert_allclose(history["risk"][:4], means)


def test_ase_has_no_history_before_the_first_fit(digits, evaluator):
    evaluator.set_params(risk=ASE(), n_labels=7).fit(digits.X, digits.y)
    known = np.isfinite(evaluator.history_["risk"])
    assert known.tolist() == [False] * 4 + [True] * 3


@pytest.mark.parametrize(
    ("refit", "counts"),
    [(1.5, [5, 10]), (5, [5, 10, 12]), ([2, 7], [2, 7, 12]), ([], [12])],
)
def test_refits_follow_the_schedule(digits, evaluator, refit, counts):
    evaluator.set_params(refit=refit).fit(digits.X, digits.y, **digits.training)
    assert (np.flatnonzero(evaluator.history_["refit"]) + 1).tolist() == counts


def test_without_a_calibration_the_first_labels_are_learned_at_once(digits, evaluator):
    surrogate = ClassifierSurrogate(RandomForestClassifier(10), calibration=None)
    evaluator.set_params(surrogate=surrogate)
    evaluator.fit(digits.X, digits.y, **digits.training)
    refits = np.flatnonzero(evaluator.history_["refit"]) + 1
    assert refits.tolist() == [1, 2, 3, 5, 8, 12]


def test_every_estimate_comes_from_the_same_labels(digits, evaluator):
    evaluator.set_params(acquisition=Uniform()).fit(digits.X, digits.y)
    risks = [GuardedASE(), ASE(), ASE(use_observed=True), CorrectedASE()]
    risks += [LURE(), MonteCarlo()]
    estimates = [evaluator.evaluation_.estimate(risk) for risk in risks]
    assert [estimate.n_labels for estimate in estimates] == [12] * 6
    assert estimates[0] == evaluator.risk_
    mean = evaluator.history_["loss"].mean()
    assert_allclose([float(estimate) for estimate in estimates[4:]], mean)


def test_the_default_risk_is_guarded_where_labels_have_probabilities(digits, evaluator):
    assert isinstance(evaluator.start(digits.X).risk, GuardedASE)
    for selection in (ArgMax(), UniformMixed(uniform_share=0.0)):
        evaluation = evaluator.set_params(selection=selection).start(digits.X)
        assert isinstance(evaluation.risk, ASE)
    audited = evaluator.set_params(selection=UniformMixed()).start(digits.X)
    assert isinstance(audited.risk, GuardedASE)


def test_the_first_picks_are_by_xwed_and_loss_spread(digits, evaluator):
    """Before there is a label that could cost the surrogate its trust."""
    evaluation = evaluator.start(digits.X, **digits.training)
    parts = [part.score_samples(evaluation.state) for part in (XWED(), LossSpread())]
    expected = sum(
        share * part / part.sum() for share, part in zip((0.5, 0.5), parts, strict=True)
    )
    found = evaluation.plan.acquisition.score_samples(evaluation.state)
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_ledger_keeps_the_moments_that_the_belief_had(
    digits, evaluator, batch_size
):
    evaluator.set_params(acquisition=LossSpread())
    evaluation = evaluator.start(digits.X, **digits.training)
    slow, free = [], np.ones(120, dtype=bool)
    for _ in range(8 // batch_size):
        state = evaluation.state
        scores = evaluation.plan.acquisition.score_samples(state)
        query = evaluation.ask(batch_size)
        for index in query.indices:
            proba = evaluation.plan.selection.distribution(scores[free])
            moments = paper.step_moments(
                proba, state.belief.proba[free], state.loss.values[free]
            )
            slow.append(moments)
            free[index] = False
        _tell(evaluation, query, digits.y)
    ledger, state = evaluation.ledger, evaluation.state
    found = np.transpose([ledger.picks.residual_moment, ledger.picks.loss_moment])
    assert_allclose(found, slow, rtol=1e-9)
    assert_array_equal(state.picks.residual_moment, ledger.picks.residual_moment)
    assert_array_equal(state.picks.loss_moment, ledger.picks.loss_moment)


def test_nothing_is_believed_before_the_first_fit_or_without_probabilities(
    digits, evaluator
):
    evaluator.set_params(selection=ArgMax(), n_labels=8)
    ledger = evaluator.fit(digits.X, digits.y).ledger_
    for column in (ledger.picks.residual_moment, ledger.picks.loss_moment):
        assert np.isnan(column).all()


def test_a_surrogate_that_has_seen_all_labels_is_not_fitted_again(digits, evaluator):
    class Counted(GaussianNB):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Counted.fits += 1
            return super().fit(X, y, sample_weight)

    surrogate = ClassifierSurrogate(Counted(), n_members=2, calibration=None)
    evaluator.set_params(surrogate=surrogate).fit(digits.X, digits.y)
    evaluation, fits = evaluator.evaluation_, Counted.fits
    evaluation.refit()
    assert Counted.fits == fits > 0
    _tell(evaluation, evaluation.ask(), digits.y)
    evaluation.refit()
    assert Counted.fits > fits


def test_frozen_surrogate_estimates_without_labels(digits, evaluator):
    surrogate = RandomForestClassifier(10, random_state=0)
    surrogate.fit(digits.X_train, digits.y_train)
    evaluator.set_params(surrogate=FrozenEstimator(surrogate))
    evaluation = evaluator.start(digits.X)
    proba = surrogate.predict_proba(digits.X)
    loss = -np.log(np.clip(digits.model.predict_proba(digits.X), 1.2e-7, 1))
    zero_shot = evaluation.estimate(ASE())
    assert zero_shot.n_labels == 0
    assert zero_shot.value == pytest.approx((proba * loss).sum(axis=1).mean(), rel=1e-3)
    evaluation.run(lambda rows: digits.y[rows], 12)
    assert evaluation.estimate(ASE()).value == zero_shot.value
    assert not evaluation.history["refit"].any()


def test_score_is_minus_the_risk_or_minus_its_error(digits, evaluator):
    evaluator.set_params(loss="zero_one").fit(digits.X, digits.y)
    X, y = digits.X[:50], digits.y[:50]
    assert evaluator.score() == -evaluator.risk_.value
    assert evaluator.score(X) == pytest.approx(-evaluator.predict(X).mean())
    truth = np.mean(digits.model.predict(X) != y)
    error = abs(evaluator.predict(X).mean() - truth)
    assert evaluator.score(X, y) == pytest.approx(-error)


def test_predict_is_the_loss_the_surrogate_expects(digits, evaluator):
    evaluator.fit(digits.X, digits.y, **digits.training)
    expected = evaluator.evaluation_.state.expected_loss
    assert_allclose(evaluator.predict(digits.X[30:60]), expected[30:60], rtol=1e-10)


def test_predict_reads_columns_in_the_order_of_classes(digits, evaluator):
    order = [3, 1, 0, 2]
    evaluator.set_params(
        estimator=lambda X: digits.model.predict_proba(X)[:, order], classes=order
    )
    evaluator.fit(digits.X, digits.y)
    expected = evaluator.evaluation_.state.expected_loss
    assert_allclose(evaluator.predict(digits.X), expected, rtol=1e-10)


def test_classes_grow_with_the_labels(digits, evaluator):
    few = digits.y_train < 2
    model = GaussianNB().fit(digits.X_train[few], digits.y_train[few])
    evaluator.set_params(estimator=FrozenEstimator(model), n_labels=20)
    assert evaluator.start(digits.X).classes_.tolist() == [0, 1]
    with pytest.warns(NewClassWarning, match=r"labels \[[23]\]") as caught:
        evaluator.fit(digits.X, digits.y)
    assert len(caught) == 2
    assert {one.filename for one in caught} == {__file__}
    assert evaluator.classes_.tolist() == [0, 1, 2, 3]
    assert evaluator.risk_.value > 1  # The model rules out half of the labels.


def test_score_meets_a_new_label(digits, evaluator):
    evaluator.set_params(loss="zero_one").fit(digits.X, digits.y)
    y = np.where(digits.y == 1, 7, digits.y)
    truth = np.mean(digits.model.predict(digits.X) != y)
    error = abs(evaluator.predict(digits.X).mean() - truth)
    assert evaluator.score(digits.X, y) == pytest.approx(-error, abs=0.01)


@pytest.mark.parametrize("risk", [LURE(), CorrectedASE(), GuardedASE()])
def test_all_labels_give_the_exact_risk(diabetes, regression_evaluator, risk):
    regression_evaluator.set_params(
        risk=risk, n_labels=120, surrogate=BayesianRidge(), batch_size=10
    )
    regression_evaluator.fit(diabetes.X, diabetes.y)
    truth = mean_squared_error(diabetes.y, diabetes.model.predict(diabetes.X))
    assert regression_evaluator.risk_.value == pytest.approx(truth)
    assert regression_evaluator.risk_.standard_error == 0


def test_labels_of_object_dtype_are_text_like_any_other(digits, evaluator):
    names = np.array(["zero", "one", "two", "three"], dtype=object)
    y_train, y = names[digits.y_train], names[digits.y]
    model = GaussianNB(var_smoothing=0.01).fit(digits.X_train, y_train)
    evaluator.set_params(estimator=FrozenEstimator(model), classes=names)
    evaluator.fit(digits.X, y, X_train=digits.X_train, y_train=y_train)
    assert evaluator.classes_.tolist() == sorted(names)
    assert 0 <= float(evaluator.risk_) < 3


def test_copies_of_the_model_are_fitted_only_where_they_are_wanted(digits, evaluator):
    class Counted(GaussianNB):
        fits = 0

        def fit(self, X, y):
            Counted.fits += 1
            return super().fit(X, y)

    training = {"X_train": digits.X_train, "y_train": digits.y_train}
    model = FrozenEstimator(Counted().fit(digits.X_train, digits.y_train))
    evaluator.set_params(estimator=model)
    frozen = FrozenEstimator(evaluator.surrogate.fit(digits.X_train, digits.y_train))
    for parameters, expected in (
        ({"cv": 3}, 3),
        ({"cv": 0}, 0),
        ({"cv": 3, "surrogate": frozen}, 0),
    ):
        Counted.fits = 0
        evaluator.set_params(**parameters).start(digits.X, **training)
        assert Counted.fits == expected


def test_an_interrupted_fit_is_repeated_by_refit(monkeypatch):
    evaluation = start_evaluation(risk=ASE(), refit=[2])
    rows = evaluation.ask(2).indices
    expected = start_evaluation(risk=ASE(), refit=[2])
    expected.ask(2)
    tell(expected, rows)
    monkeypatch.setattr(evaluation.surrogate, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tell(evaluation, rows)
    monkeypatch.undo()
    evaluation.refit()
    assert evaluation.estimate().value == expected.estimate().value


def interrupt(*rows, **options):
    raise KeyboardInterrupt
