"""Every strategy passes the public contract, ours and theirs alike."""

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
    Uniform,
    VarianceReduction,
)
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    LogLinearStack,
    RegressorSurrogate,
)
from sklearn_ase.testing import check_acquisition, check_risk, check_surrogate

ACQUISITIONS = [
    XWED(),
    BALD(),
    ExpectedLoss(),
    LossSpread(),
    Uniform(),
    VarianceReduction(),
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
    ClassifierSurrogate(GaussianNB(), n_members=5, calibration=False),
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
    RegressorSurrogate(Ridge(), n_members=5, calibration=False),
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


class Negative(BaseAcquisition):
    def score_samples(self, state):
        return -np.ones(state.n_samples)


class Moody(BaseAcquisition):
    def score_samples(self, state):
        return np.random.default_rng().random(state.n_samples)


class Uneven(Uniform):
    def score_samples(self, state):
        return np.arange(state.n_samples, dtype=float)


class Greedy(LURE):
    def estimate(self, state):
        return float(super().estimate(state))


@pytest.mark.parametrize(
    ("check", "strategy", "message"),
    [
        (check_acquisition, Negative(), "non-negative"),
        (check_acquisition, Moody(), "same state"),
        (check_acquisition, Uneven(), "is_uniform"),
        (check_risk, Greedy(), "RiskEstimate"),
        (check_acquisition, LogisticRegression(), "is_uniform"),
    ],
)
def test_contracts_refuse_what_does_not_meet_them(check, strategy, message):
    with pytest.raises(AssertionError, match=message):
        check(strategy)
