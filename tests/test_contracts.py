"""Every strategy passes the public checks, and the checks find what is wrong."""

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import (
    BayesianRidge,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase.acquisition import (
    BALD,
    XWED,
    BaseAcquisition,
    ExpectedLoss,
    LossSpread,
    Mixture,
    TrustWeighted,
    Uniform,
    VarianceReduction,
)
from sklearn_ase.losses import (
    AbsoluteError,
    BaseLoss,
    Brier,
    CustomLoss,
    LogLoss,
    SquaredError,
    ZeroOne,
)
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax, BaseSelection, Proportional, UniformMixed
from sklearn_ase.stopping import BaseStop, Plateau, TargetWidth
from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    LogLinearStack,
    RegressorSurrogate,
)
from sklearn_ase.testing import (
    check_acquisition,
    check_loss,
    check_risk,
    check_selection,
    check_stopping,
    check_surrogate,
)

ACQUISITIONS = [
    XWED(),
    BALD(),
    ExpectedLoss(),
    LossSpread(),
    Uniform(),
    VarianceReduction(),
    TrustWeighted(BALD()),
]
CLASSIFIERS = [
    None,
    RandomForestClassifier(10),
    RandomForestClassifier(10, bootstrap=False),
    BaggingClassifier(GaussianNB(), n_estimators=10, max_features=2),
    GradientBoostingClassifier(n_estimators=5),
    make_pipeline(StandardScaler(), RandomForestClassifier(10)),
    make_pipeline(StandardScaler(), LogisticRegression()),
    RidgeClassifier(),
    ClassifierSurrogate(GaussianNB(), n_members=5, calibration=None),
    ClassifierSurrogate(
        DecisionTreeClassifier(), calibration=LogLinearStack(use_estimator=False)
    ),
]
REGRESSORS = [
    None,
    RandomForestRegressor(10),
    ExtraTreesRegressor(10),
    BaggingRegressor(Ridge(), n_estimators=10),
    make_pipeline(StandardScaler(), Ridge()),
    BayesianRidge(),
    make_pipeline(StandardScaler(), BayesianRidge()),
    GaussianProcessRegressor(RBF() + WhiteKernel(0.1)),
    RegressorSurrogate(Ridge(), n_members=5, calibration=None),
]


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=repr)
def test_acquisitions_meet_the_contract(acquisition):
    check_acquisition(acquisition)


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.IntervalWarning")
@pytest.mark.parametrize(
    "risk",
    [
        MonteCarlo(),
        LURE(),
        ASE(),
        ASE(use_observed=True),
        CorrectedASE(),
        GuardedASE(),
        GuardedASE(worth=0),
        GuardedASE(worth=np.inf),
    ],
    ids=repr,
)
def test_risks_meet_the_contract(risk):
    check_risk(risk)


@pytest.mark.parametrize("surrogate", CLASSIFIERS, ids=repr)
def test_classifiers_meet_the_contract_of_surrogates(surrogate):
    check_surrogate(surrogate)


@pytest.mark.parametrize("surrogate", REGRESSORS, ids=repr)
def test_regressors_meet_the_contract_of_surrogates(surrogate):
    check_surrogate(surrogate, "regression")


def capped(y_true, y_pred):
    """A loss of the user's, for classes and for numbers."""
    return np.minimum(np.abs(y_true - y_pred), 1.0)


def gap(y_true, y_pred):
    """A loss of probabilities, for the labels 0, 1, 2, ..."""
    return 1.0 - y_pred[np.arange(len(y_true)), y_true]


@pytest.mark.parametrize(
    "loss",
    [
        LogLoss(),
        Brier(),
        Brier(scale_by_half=True),
        ZeroOne(),
        SquaredError(),
        AbsoluteError(),
        CustomLoss(capped, task="regression"),
        CustomLoss(capped, task="classification"),
        CustomLoss(gap, response_method="predict_proba", task="classification"),
        "log_loss",
        "absolute_error",
    ],
    ids=lambda loss: getattr(type(loss), "__name__", loss),
)
def test_losses_meet_the_contract(loss):
    check_loss(loss)


def test_the_contract_of_a_function_needs_its_task():
    check_loss(capped, task="regression")
    check_loss(capped, task="classification", classes=[3, 7])
    check_loss("zero_one", classes=["ant", "bee", "cat"])
    with pytest.raises(AssertionError, match="set the class attribute task"):
        check_loss(capped)


@pytest.mark.parametrize(
    "selection",
    [
        ArgMax(),
        Proportional(),
        Proportional(uniform_share=0),
        Proportional(uniform_share=1),
        UniformMixed(),
        UniformMixed(Proportional(0.1), uniform_share=0),
        UniformMixed(uniform_share=0),
    ],
    ids=repr,
)
def test_selections_meet_the_contract(selection):
    check_selection(selection)


@pytest.mark.parametrize(
    "stop",
    [TargetWidth(0.1), TargetWidth(1.0, 0.8, "fixed"), Plateau(0.01), Plateau(1, 2)],
    ids=repr,
)
def test_stopping_rules_meet_the_contract(stop):
    check_stopping(stop)


# What the contracts find.


class Negative(BaseAcquisition):
    def score_samples(self, state):
        return -np.ones(state.n_samples)


class Moody(BaseAcquisition):
    def score_samples(self, state):
        return np.random.default_rng().random(state.n_samples)


class Uneven(Uniform):
    def score_samples(self, state):
        return np.arange(state.n_samples, dtype=float)


class NearLabels(BaseAcquisition):
    """Scores that depend on the labels."""

    def score_samples(self, state):
        shift = state.losses.mean() if state.n_labels else 0.0
        return np.abs(state.expected_loss - shift)


class ZeroWhereAsked(BaseAcquisition):
    """Scores of rows that were asked for are never used, so they may change."""

    def score_samples(self, state):
        return np.where(state.free, state.expected_loss, 0.0)


class Greedy(LURE):
    def estimate(self, state):
        return float(super().estimate(state))


class Loss(BaseLoss):
    task = "regression"

    def __call__(self, y_true, y_pred):
        return (y_true - y_pred) ** 2


class NegativeLoss(Loss):
    def __call__(self, y_true, y_pred):
        return y_true - y_pred


class MeanLoss(Loss):
    """The mean over rows, as in most metrics."""

    def __call__(self, y_true, y_pred):
        return np.mean((y_true - y_pred) ** 2)


class RelativeToTheGreatest(Loss):
    def __call__(self, y_true, y_pred):
        error = np.abs(y_true - y_pred)
        return error / max(error.max(), 1e-9)


class Writing(Loss):
    def __call__(self, y_true, y_pred):
        y_pred -= y_true
        return y_pred**2


class WrongFormula(Loss):
    def expected(self, prediction, mean, variance):
        return (mean - prediction) ** 2


class ForgetsMembers(Loss):
    def expected(self, prediction, mean, variance):
        return ((mean - prediction) ** 2 + variance).reshape(-1)[: len(prediction)]


class WrongCurvature(Loss):
    def curvature(self, prediction, mean, variance):
        return -2.0 * variance


class Jump(Loss):
    def __call__(self, y_true, y_pred):
        return (np.abs(y_true - y_pred) > 1.0).astype(float)


class FineJump(Jump):
    n_nodes = 300


class WrongMax(Loss):
    max_loss = 1.0


class WrongTable(ZeroOne):
    def tabulate(self, prediction, classes):
        return super().tabulate(prediction, classes)[:, ::-1]


class Shuffled(ArgMax):
    """Not a distribution."""

    def distribution(self, scores):
        return np.ones(len(scores))


class NoZeros(BaseSelection):
    def distribution(self, scores):
        with np.errstate(invalid="ignore"):
            return scores / scores.sum()


class Winner(ArgMax):
    """Claims probabilities, but gives most candidates none."""

    has_query_proba = True


class OwnPick(Proportional):
    """Reports the first distribution for all picks."""

    def pick(self, scores, candidates, n_queries, rng):
        query = super().pick(scores, candidates, n_queries, rng)
        proba = self.distribution(scores[candidates])
        places = [candidates.tolist().index(index) for index in query.indices]
        return type(query)(query.indices, proba[places])


class Twice(Proportional):
    def pick(self, scores, candidates, n_queries, rng):
        query = super().pick(scores, candidates, 1, rng)
        return type(query)(
            np.repeat(query.indices, n_queries), np.repeat(query.proba, n_queries)
        )


class OwnGenerator(Proportional):
    def pick(self, scores, candidates, n_queries, rng):
        rng = np.random.default_rng()
        return super().pick(scores, candidates, n_queries, rng)


class Stop(BaseStop):
    def reason(self, estimates):
        return "Small." if estimates[-1].value < 0.1 else ""


class Silent(BaseStop):
    def reason(self, estimates):
        return estimates[-1].value < 0.1


class LooksBack(BaseStop):
    def reason(self, estimates):
        return "Better." if estimates[-1].value < estimates[-5].value else ""


class Emptying(BaseStop):
    def reason(self, estimates):
        estimates.pop()
        return ""


class SumOfSquares(BaseAcquisition):
    """For classification only."""

    def score_samples(self, state):
        return (state.belief.proba**2).sum(axis=1)


@pytest.mark.parametrize("tasks", ["classification", ["classification"]])
def test_a_strategy_may_be_for_one_task(tasks):
    check_acquisition(SumOfSquares(), tasks)
    with pytest.raises(AssertionError, match=r"work for regression.*AttributeError"):
        check_acquisition(SumOfSquares())


@pytest.mark.parametrize("tasks", ["c", ["ranking"], []])
def test_other_tasks_are_refused(tasks):
    with pytest.raises(ValueError, match=r"must be some of \('classification'"):
        check_acquisition(BALD(), tasks)


@pytest.mark.parametrize(
    ("check", "strategy", "message"),
    [
        (check_acquisition, Negative(), "finite scores >= 0"),
        (check_acquisition, Moody(), "same state"),
        (check_acquisition, Uneven(), "is_uniform"),
        (check_risk, Greedy(), "Estimate"),
        (check_acquisition, LogisticRegression(), "is_uniform.*BaseAcquisition"),
        (check_selection, LogisticRegression(), "has_query_proba.*BaseSelection"),
        (check_stopping, LogisticRegression(), "needs_interval.*BaseStop"),
        (check_acquisition, SumOfSquares(), "tasks='classification'"),
        (check_loss, NegativeLoss(), "negative or not finite"),
        (check_loss, MeanLoss(), r"one value per row, .* \(20,\).*shape \(\)"),
        (check_loss, RelativeToTheGreatest(), "must not depend on other rows"),
        (check_loss, Writing(), "must not change"),
        (check_loss, WrongFormula(), "expected must agree.*check the formula"),
        (check_loss, ForgetsMembers(), r"shape of the mean, \(3, 20\)"),
        (check_loss, WrongCurvature(), "curvature must agree.*check the formula"),
        (check_loss, Jump(), "must agree.*use more n_nodes"),
        (check_loss, WrongMax(), "its max_loss is 1. Correct max_loss"),
        (check_loss, WrongTable(), "table must agree with direct calls"),
        (check_selection, Shuffled(), "sum to 1"),
        (check_selection, NoZeros(), "finite.*scores that are all 0"),
        (check_selection, Winner(), "each candidate with a positive score"),
        (check_selection, OwnPick(), "given the picks before"),
        (check_selection, Twice(), "distinct candidates"),
        (check_selection, OwnGenerator(), "draw from rng only"),
        (check_stopping, Silent(), "must return a str"),
        (check_stopping, LooksBack(), "must work for 1 estimates.*IndexError"),
        (check_stopping, Emptying(), "must work|must not change"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_contracts_refuse_what_does_not_meet_them(check, strategy, message):
    with pytest.raises(AssertionError, match=message):
        check(strategy)


@pytest.mark.parametrize(
    ("check", "strategy"),
    [
        (check_acquisition, NearLabels()),
        (check_acquisition, Mixture([NearLabels(), BALD()])),
        (check_acquisition, ZeroWhereAsked()),
        (check_loss, Loss()),
        (check_loss, FineJump()),
        (check_stopping, Stop()),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_contracts_accept_what_works(check, strategy):
    check(strategy)


def test_a_quadrature_that_is_less_exact_can_be_accepted():
    check_loss(Jump(), rtol=0.2)


@pytest.mark.parametrize(
    "stop", [TargetWidth(-1.0), TargetWidth(0.1, level=90), Plateau(0.1, n_labels=1)]
)
def test_the_contract_of_a_rule_checks_its_parameters(stop):
    with pytest.raises(ValueError, match="must"):
        check_stopping(stop)
