"""Diagnosis: the labels say whether the surrogate can be trusted."""

import warnings

import numpy as np
import pytest
from helpers.states import plain_sample
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase._evaluation._diagnosis import diagnose, scarce_share
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._evidence import weigh_evidence
from sklearn_ase.acquisition import Uniform
from sklearn_ase.exceptions import SurrogateWarning
from sklearn_ase.risk import ASE, GuardedASE
from sklearn_ase.selection import ArgMax
from sklearn_ase.surrogate import ClassifierSurrogate


def _without(data, label):
    """Training rows without a class, and a model that has never met it."""
    kept = data.y_train != label
    X_train, y_train = data.X_train[kept], data.y_train[kept]
    model = FrozenEstimator(GaussianNB(var_smoothing=0.01).fit(X_train, y_train))
    return model, {"X_train": X_train, "y_train": y_train}


@pytest.fixture
def stump():
    """A surrogate that tells two groups apart and takes that for certain."""
    return ClassifierSurrogate(DecisionTreeClassifier(max_depth=1), calibration=None)


@pytest.fixture
def silent():
    """Raises where there is a warning about the surrogate."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SurrogateWarning)
        yield


@pytest.mark.parametrize("seed", range(2))
def test_labels_agree_with_a_good_surrogate(digits, evaluator, silent, seed):
    evaluator.set_params(
        surrogate=RandomForestClassifier(30), n_labels=40, random_state=seed
    )
    evaluation = evaluator.fit(digits.X, digits.y, **digits.training).evaluation_
    assert evaluation.diagnose().verdict in ("good", "unsure")
    assert not evaluation.diagnose().is_bad


@pytest.mark.parametrize("seed", range(2))
def test_labels_contradict_a_bad_surrogate_and_fit_says_so(
    digits, evaluator, stump, seed
):
    evaluator.set_params(surrogate=stump, n_labels=40, random_state=seed)
    with pytest.warns(SurrogateWarning, match="The labels contradict the surrogate"):
        evaluator.fit(digits.X, digits.y, **digits.training)
    diagnosis = evaluator.evaluation_.diagnose()
    assert diagnosis.verdict == "bad"
    assert diagnosis.is_bad
    assert diagnosis.trust < 0.5
    assert "expects a greater risk than they show" in diagnosis.advice
    assert "calibration (on by default)" in diagnosis.advice


def test_a_bad_surrogate_costs_the_guarded_estimate_little(digits, evaluator, stump):
    evaluator.set_params(surrogate=stump, n_labels=60)
    with pytest.warns(SurrogateWarning):
        evaluator.fit(digits.X, digits.y, **digits.training)
    evaluation = evaluator.evaluation_
    truth = evaluation.loss_.observed(np.arange(120), digits.y).mean()
    errors = [abs(evaluation.estimate(r).value - truth) for r in (GuardedASE(), ASE())]
    assert errors[0] < errors[1] / 3


def test_the_warning_points_to_who_called_fit(digits, evaluator, stump):
    evaluator.set_params(surrogate=stump, n_labels=40)
    with pytest.warns(SurrogateWarning) as caught:
        evaluator.fit(digits.X, digits.y, **digits.training)
    assert caught[0].filename == __file__


def test_labels_without_probabilities_cannot_judge(digits, evaluator, silent):
    evaluator.set_params(selection=ArgMax()).fit(digits.X, digits.y, **digits.training)
    with pytest.raises(ValueError, match=r"\(ArgMax\).*Proportional"):
        evaluator.evaluation_.diagnose()


def test_there_is_nothing_to_diagnose_without_labels(digits, evaluator):
    evaluation = evaluator.start(digits.X, **digits.training)
    with pytest.raises(
        ValueError,
        match=r"diagnose\(\) needs a fitted surrogate.*needs at least one label",
    ):
        evaluation.diagnose()
    query = evaluation.ask(2)
    evaluation.tell(query.indices[1:], digits.y[query.indices[1:]])
    with pytest.raises(ValueError, match=r"open queries"):
        evaluation.diagnose()


def test_there_is_nothing_to_diagnose_before_the_first_fit(digits, evaluator):
    evaluation = evaluator.start(digits.X)
    query = evaluation.ask(3)
    evaluation.tell(query, digits.y[query.indices])
    with pytest.raises(ValueError, match="surrogate has not been fitted"):
        evaluation.diagnose()


def test_fit_does_not_diagnose_what_cannot_be(digits, evaluator, silent):
    """An estimate is not lost because the surrogate cannot be judged."""
    rows = digits.training
    evaluator.set_params(risk=ASE(), selection=ArgMax())
    ledger = evaluator.fit(digits.X, digits.y, **rows).ledger_
    evaluator.set_params(selection=None, n_labels=14)
    assert evaluator.fit(digits.X, digits.y, ledger=ledger, **rows).risk_.n_labels == 14
    evaluator.set_params(n_labels=0)
    assert evaluator.fit(digits.X, digits.y, **rows).risk_.n_labels == 0
    assert evaluator.fit(digits.X, digits.y, **rows).score() < 0


def test_few_labels_leave_it_unsure(digits, evaluator, silent):
    evaluation = evaluator.fit(digits.X, digits.y, **digits.training).evaluation_
    diagnosis = evaluation.diagnose()
    assert diagnosis.verdict == "unsure"
    assert "12 labels are too few" in diagnosis.advice
    assert diagnosis.interval == (-np.inf, np.inf)
    assert diagnosis.inside
    assert f", no interval (surrogate {diagnosis.distance:.1f} " in str(diagnosis)


@pytest.mark.parametrize("n_labels", [5, 6, 30])
def test_a_model_without_errors_does_not_count_against_the_surrogate(
    digits, evaluator, silent, n_labels
):
    """Not even if all it has to learn from are these labels."""
    perfect = GaussianNB(var_smoothing=0.01).fit(digits.X, digits.y)
    y = perfect.predict(digits.X)
    evaluator.set_params(
        estimator=FrozenEstimator(perfect), loss="zero_one", n_labels=n_labels
    )
    assert not evaluator.fit(digits.X, y).evaluation_.diagnose().is_bad


def test_the_report_shows_what_it_found(digits, evaluator):
    evaluator.set_params(n_labels=30).fit(digits.X, digits.y, **digits.training)
    diagnosis = evaluator.evaluation_.diagnose()
    report = str(diagnosis)
    assert report.startswith(f"verdict: {diagnosis.verdict}. {diagnosis.advice}")
    for line in (
        f"labels                    30, as good as {diagnosis.effective_labels:.0f} of "
        "a plain random sample, for the interval",
        f"risk by the surrogate     {diagnosis.surrogate_risk:.4g}",
        f"corrected estimate        {diagnosis.corrected_risk:.4g}",
        f"trust in the surrogate    {diagnosis.trust:.2f}",
        f"risk from scarce classes  {diagnosis.scarce_share:.1%}",
        f"skill {diagnosis.skill:.2f}",
    ):
        assert line in report


def test_the_report_is_that_of_the_same_labels(digits, evaluator):
    evaluator.set_params(n_labels=30).fit(digits.X, digits.y, **digits.training)
    evaluation = evaluator.evaluation_
    diagnosis, state = evaluation.diagnose(), evaluation.state
    corrected = evaluation.estimate(GuardedASE(worth=0))
    assert diagnosis.n_labels == 30
    assert diagnosis.surrogate_risk == pytest.approx(float(evaluation.estimate(ASE())))
    assert diagnosis.corrected_risk == corrected.value
    assert diagnosis.interval == corrected.interval(0.9)
    low, high = diagnosis.interval
    assert diagnosis.inside == (low <= diagnosis.surrogate_risk <= high)
    assert diagnosis.trust == weigh_evidence(state).trust
    weights = _kernels.lure_weights(state.picks.query_proba, 120)
    greatest = weights.max() / weights.sum()
    assert diagnosis.weight_concentration == pytest.approx(greatest)


def test_plain_samples_have_equal_weights(digits, evaluator):
    evaluator.set_params(acquisition=Uniform(), n_labels=30)
    evaluator.fit(digits.X, digits.y, **digits.training)
    diagnosis = evaluator.evaluation_.diagnose()
    assert diagnosis.weight_concentration == pytest.approx(1 / 30)
    state = evaluator.evaluation_.state
    assert diagnosis.observed_loss == pytest.approx(state.losses.mean())
    expected = state.picks.expected_loss.mean()
    assert diagnosis.expected_loss == pytest.approx(expected)


def test_effective_labels_are_those_of_a_plain_sample_with_this_error():
    chance = np.repeat([0.02, 0.5], 100)[np.random.default_rng(0).permutation(200)]
    state = plain_sample(chance, np.random.default_rng(1).random(200) < chance, 50)
    diagnosis = diagnose(state)
    error = GuardedASE(worth=0).estimate(state).standard_error
    scatter = state.losses.var()
    found = scatter * (1 / diagnosis.effective_labels - 1 / 200)
    assert found == pytest.approx(error**2, rel=0.05)


def test_a_surrogate_that_foresees_makes_labels_worth_more():
    rng = np.random.default_rng(0)
    chance = rng.permutation(np.repeat([0.02, 0.98], 100))
    losses = rng.random(200) < chance
    foreseen = diagnose(plain_sample(chance, losses, 50)).effective_labels
    constant = diagnose(plain_sample(np.full(200, 0.5), losses, 50)).effective_labels
    assert constant == pytest.approx(50, rel=0.05)
    assert foreseen > 100


def test_a_class_without_labels_is_scarce(digits, evaluator):
    model, rows = _without(digits, 3)
    evaluator.set_params(estimator=model, classes=range(4), acquisition=Uniform())
    scarce_of = []
    for y in (digits.y, np.where(digits.y == 3, 1, digits.y)):
        evaluation = evaluator.start(digits.X, **rows)
        evaluation.run(lambda indices, y=y: y[indices], 50)
        state = evaluation.state
        parts = (state.belief.proba * state.loss.values).sum(axis=0)
        scarce_of.append((evaluation.diagnose(), parts[3] / parts.sum()))
    met, (missing, share) = scarce_of[0][0], scarce_of[1]
    assert met.scarce_share == 0  # It was met five times and more.
    assert 0 < missing.scarce_share == pytest.approx(share)


def test_scarce_classes_leave_it_unsure():
    state = plain_sample(np.full(200, 0.2), np.tile([0, 0, 0, 0, 1], 40), 30)
    assert diagnose(state, scarce_share(state, np.array([24, 5]))).verdict == "good"
    diagnosis = diagnose(state, scarce_share(state, np.array([26, 4])))
    assert diagnosis.scarce_share == 1  # All loss comes from the second class.
    assert diagnosis.verdict == "unsure"
    assert "100% of the risk is expected from classes with fewer" in diagnosis.advice


def test_names_of_classes_are_counted_like_numbers(digits, evaluator):
    names = np.array(["zero", "one", "two", "three"])
    model = GaussianNB(var_smoothing=0.01).fit(digits.X_train, names[digits.y_train])
    evaluator.set_params(estimator=FrozenEstimator(model), n_labels=40)
    evaluation = evaluator.start(digits.X)
    evaluation.run(lambda rows: names[digits.y[rows]], 40)
    assert evaluation.diagnose().scarce_share == 0


def test_a_regression_has_no_scarce_classes(diabetes, regression_evaluator):
    regression_evaluator.set_params(surrogate=BayesianRidge(), n_labels=30)
    regression_evaluator.fit(diabetes.X, diabetes.y, **diabetes.training)
    diagnosis = regression_evaluator.evaluation_.diagnose()
    assert diagnosis.scarce_share == 0
    assert "risk from scarce classes  0.0%" in str(diagnosis)


def test_a_pool_that_is_fully_labelled_needs_no_surrogate(
    diabetes, regression_evaluator, silent
):
    regression_evaluator.set_params(
        surrogate=BayesianRidge(), n_labels=120, batch_size=20
    )
    regression_evaluator.fit(diabetes.X, diabetes.y)
    diagnosis = regression_evaluator.evaluation_.diagnose()
    assert diagnosis.verdict == "good"
    assert "Every row is labelled" in diagnosis.advice


def test_losses_at_labelled_rows_stand_for_the_pool(digits, evaluator):
    """With every row labelled each of them stands for itself."""
    evaluator.set_params(n_labels=120, batch_size=20)
    evaluation = evaluator.fit(digits.X, digits.y, **digits.training).evaluation_
    observed = evaluation.diagnose().observed_loss
    assert observed == pytest.approx(evaluation.state.losses.mean())


def test_labels_behind_an_open_query_are_named(digits, evaluator):
    evaluation = evaluator.start(digits.X, **digits.training)
    query = evaluation.ask(4)
    evaluation.tell(query.indices[[0, 2, 3]], digits.y[query.indices[[0, 2, 3]]])
    refusal = evaluation.estimate(GuardedASE()).refusal
    assert f"2 labels wait behind the open query of row {query.indices[1]}" in refusal


def test_a_surrogate_that_foresees_no_loss_saves_few_labels():
    losses = np.random.default_rng(0).random(200) < 0.3
    diagnosis = diagnose(plain_sample(np.full(200, 0.3), losses, 60))
    assert diagnosis.verdict == "good"
    assert diagnosis.skill < 0.1
    assert diagnosis.advice == (
        "The labels agree with the surrogate on average. But it did not tell which "
        "rows have losses, so it saves few labels."
    )
    foreseen = diagnose(plain_sample(np.where(losses, 0.9, 0.1), losses, 60))
    assert foreseen.advice == "The labels agree with the surrogate."


@pytest.mark.parametrize("n_errors", [1, 15])
def test_a_label_that_decides_alone_is_told(n_errors):
    losses = np.zeros(200)
    losses[:n_errors] = 1.0
    diagnosis = diagnose(plain_sample(np.full(200, 0.05), losses, 60))
    share = diagnosis.largest_step
    told = f"One label carries {100 * share:.0f} % of the variance: the interval and"
    assert (told in diagnosis.advice) == (share > 0.25) == (n_errors == 1)
