"""Simulations run evaluations against known labels; they repeat and resume."""

import csv
import io
from contextlib import redirect_stderr

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss, Uniform
from sklearn_ase.risk import ASE, LURE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax
from sklearn_ase.simulation import LabelEfficiency, Scenario, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate

X, Y = load_iris(return_X_y=True)
TRAIN = np.arange(0, 150, 10)
POOL = np.setdiff1d(np.arange(150), TRAIN)
MODEL = GaussianNB().fit(X[TRAIN], Y[TRAIN])
SCENARIO = Scenario(
    X[POOL], Y[POOL], estimator=MODEL, X_train=X[TRAIN], y_train=Y[TRAIN]
)
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
EVALUATOR = ActiveRiskEstimator(surrogate=SURROGATE, acquisition=ExpectedLoss())


def simulate(evaluator=EVALUATOR, scenario=SCENARIO, n_runs=2, **options):
    options = {"n_labels": [6, 12], "random_state": 0, **options}
    return label_efficiency_curve(evaluator, scenario, n_runs=n_runs, **options)


def assert_same(first, second):
    assert list(first.columns) == list(second.columns)
    for name, column in first.columns.items():
        assert_array_equal(column, second.columns[name], err_msg=name)


def where(result, **values):
    """Columns of the rows that have these values."""
    kept = np.ones(len(result.columns["run"]), dtype=bool)
    for name, value in values.items():
        kept &= result.columns[name] == value
    return {name: column[kept] for name, column in result.columns.items()}


def draw_scenario(seed):
    rows = np.random.default_rng(seed).permutation(150)
    train, pool = rows[:30], rows[30:]
    model = GaussianNB().fit(X[train], Y[train])
    return Scenario(X[pool], Y[pool], model, X[train], Y[train])


@pytest.fixture(scope="module")
def four_runs():
    return simulate(n_runs=4)


def test_there_is_a_row_for_each_run_risk_and_label_count(four_runs):
    columns = four_runs.columns
    names = ["GuardedASE", "ASE", "CorrectedASE", "LURE", "Monte Carlo"]
    assert len(columns["run"]) == 4 * len(names) * 2
    assert set(columns["risk"].tolist()) == set(names)
    assert set(columns["n_labels"].tolist()) == {6, 12}
    assert set(columns["evaluator"].tolist()) == {"default"}
    assert (np.diff(columns["run"]) >= 0).all()


def test_the_estimates_are_those_of_the_evaluations(four_runs):
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=4)
    rows = {"X_train": X[TRAIN], "y_train": Y[TRAIN]}
    for run in (0, 3):
        evaluator = ActiveRiskEstimator(
            FrozenEstimator(MODEL),
            surrogate=SURROGATE,
            acquisition=ExpectedLoss(),
            n_labels=6,
            random_state=int(seeds[run]),
        )
        evaluation = evaluator.start(X[POOL], **rows)
        evaluation.run(lambda indices: Y[POOL][indices], 6)
        for name, risk in (
            ("ASE", ASE()),
            ("LURE", LURE()),
            ("GuardedASE", GuardedASE()),
        ):
            found = where(four_runs, run=run, risk=name, n_labels=6)["value"]
            assert found.tolist() == [evaluation.estimate(risk).value]


def test_runs_do_not_depend_on_the_number_of_jobs(four_runs):
    assert_same(simulate(n_runs=4, n_jobs=2), four_runs)


def test_evaluators_are_compared_on_the_same_pools():
    evaluators = {"one": EVALUATOR, "other": EVALUATOR}
    result = simulate(evaluators, draw_scenario, n_labels=[8])
    first, second = (where(result, evaluator=name) for name in evaluators)
    assert_array_equal(first["value"], second["value"])
    assert_array_equal(first["truth"], second["truth"])
    assert len(set(first["truth"].tolist())) == 2  # Each run has its own pool.


def test_the_truth_is_the_mean_loss_on_the_pool(four_runs):
    proba = MODEL.predict_proba(X[POOL])[np.arange(len(POOL)), Y[POOL]]
    truth = np.mean(-np.log(np.clip(proba, np.finfo(np.float32).eps, 1)))
    assert_allclose(four_runs.columns["truth"], truth, rtol=1e-6)


def test_mc_variance_is_the_variance_of_a_plain_sample():
    """Sampled many times over, as often as it takes to see it."""
    result = simulate(ActiveRiskEstimator(surrogate=SURROGATE, loss="zero_one"))
    wrong = MODEL.predict(X[POOL]) != Y[POOL]
    assert wrong.any()
    for n_labels in (6, 12):
        found = where(result, n_labels=n_labels)["mc_variance"]
        exact = wrong.var(ddof=1) * (1 / n_labels - 1 / len(POOL))
        assert_allclose(found, exact, rtol=1e-12)
    rng = np.random.default_rng(0)
    order = rng.permuted(np.tile(wrong, (20_000, 1)), axis=1)
    assert order[:, :12].mean(axis=1).var() == pytest.approx(exact, rel=0.05)


def test_monte_carlo_has_the_interval_of_a_plain_sample(four_runs):
    rows = where(four_runs, risk="Monte Carlo", n_labels=12)
    middle = (rows["low"] + rows["high"]) / 2
    assert_allclose(middle, rows["value"])
    assert np.isnan(rows["anytime"]).all()
    assert np.isnan(rows["flagged"]).all()


def test_intervals_are_given_from_25_labels_on():
    result = simulate(n_runs=1, n_labels=[24, 25], level=0.8)
    for risk in ("GuardedASE", "CorrectedASE", "LURE"):
        rows = where(result, risk=risk)
        assert np.isfinite(rows["low"]).tolist() == [False, True]
        assert np.isnan(rows["anytime"]).tolist() == [True, False]
    assert not np.isfinite(where(result, risk="ASE")["low"]).any()


def test_anytime_remembers_every_label_count():
    """Once it has missed the truth it has missed it."""
    risks = {"LURE": LURE()}
    for seed in range(20):
        result = simulate(
            n_runs=1, n_labels=[25, 40], level=0.3, risks=risks, random_state=seed
        )
        held = where(result, risk="LURE")["anytime"]
        assert held[1] <= held[0]
        if held[1] < held[0]:
            return
    pytest.fail("no run ever missed the truth on the way")


def test_an_interrupted_simulation_resumes(tmp_path, four_runs):
    path = tmp_path / "runs.csv"
    simulate(n_runs=2, path=path)
    before = path.read_text()
    assert_same(simulate(n_runs=4, path=path), four_runs)
    assert path.read_text().startswith(before)  # Nothing was run again.
    assert_same(simulate(n_runs=4, path=path), four_runs)
    assert_same(simulate(n_runs=2, path=path), simulate(n_runs=2))
    assert_same(LabelEfficiency.load(path), four_runs)


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_a_torn_last_line_is_dropped_and_run_again(tmp_path, four_runs, cut):
    """However many characters were not written any more."""
    path = tmp_path / "runs.csv"
    four_runs.save(path)
    path.write_text(path.read_text().rstrip()[:-cut])
    assert_same(simulate(n_runs=4, path=path), four_runs)
    assert_same(LabelEfficiency.load(path), four_runs)


def test_a_torn_line_that_ends_in_a_comma_is_dropped(tmp_path, four_runs):
    path = tmp_path / "runs.csv"
    four_runs.save(path)
    text = path.read_text()
    path.write_text(text[: text.rindex(",") + 1])
    assert_same(simulate(n_runs=4, path=path), four_runs)


@pytest.mark.parametrize("missing", [1, 2, 5, 9])
def test_the_first_run_cut_short_is_run_again(tmp_path, missing):
    """There is no finished run to compare it with."""
    path = tmp_path / "runs.csv"
    expected = simulate(n_runs=1, path=path)
    path.write_text("".join(lines_of(path)[:-missing]))
    assert_same(simulate(n_runs=1, path=path), expected)


@pytest.mark.parametrize("text", ["", "evaluator,run,se"])
def test_a_file_without_a_whole_line_is_started_again(tmp_path, text):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    assert_same(simulate(n_runs=1, path=path), simulate(n_runs=1))
    assert_same(LabelEfficiency.load(path), simulate(n_runs=1))


def test_other_label_counts_are_not_taken_from_the_file(tmp_path):
    path = tmp_path / "runs.csv"
    simulate(n_runs=1, n_labels=[6], path=path)
    result = simulate(n_runs=1, n_labels=[6, 12], path=path)
    assert set(result.columns["n_labels"].tolist()) == {6, 12}


def test_save_and_load_keep_every_digit(tmp_path, four_runs):
    path = tmp_path / "result.csv"
    for _ in range(2):  # Saving again replaces the file.
        four_runs.save(path)
        copy = LabelEfficiency.load(path)
        assert_same(copy, four_runs)
        for name, column in four_runs.columns.items():
            assert copy.columns[name].dtype.kind == column.dtype.kind
    with open(path, newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(four_runs.columns["run"])


def test_a_file_that_is_not_a_simulation_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("run,value\n1,2\n")
    with pytest.raises(
        ValueError, match=r"other.csv does not hold a simulation.*'truth'"
    ):
        LabelEfficiency.load(path)


def test_figures_of_the_summary_are_those_computed_by_hand():
    value = [1.0, 1.5, 3.0, 9.0]
    low, high = [0.0, 1.0, 2.5, -np.inf], [2.0, 3.0, 4.5, np.inf]
    result = LabelEfficiency(
        {
            "evaluator": np.array(["default"] * 4),
            "run": np.array([0, 1, 2, 0]),
            "seed": np.array([5, 6, 7, 5]),
            "risk": np.array(["LURE"] * 3 + ["ASE"]),
            "n_labels": np.array([30] * 4),
            "value": np.array(value),
            "low": np.array(low),
            "high": np.array(high),
            "anytime": np.array([1.0, 0.0, np.nan, np.nan]),
            "flagged": np.array([0.0, 1.0, 1.0, 0.0]),
            "truth": np.array([1.0, 2.0, 2.0, 8.0]),
            "mc_variance": np.array([0.5, 0.5, 1.0, 2.0]),
        }
    )
    summary = {name: column.tolist() for name, column in result.summary().items()}
    # Mean squared error 1.25 / 3 over a mean variance of 2 / 3, and the delta method.
    ratio = 1.25 / 2
    excess = [0.0 - 0.5 * ratio, 0.25 - 0.5 * ratio, 1.0 - ratio]
    expected = {
        "evaluator": ["default", "default"],
        "risk": ["LURE", "ASE"],
        "n_labels": [30, 30],
        "n_runs": [3, 1],
        "mean_squared_error": [1.25 / 3, 1.0],
        "median_squared_error": [0.25, 1.0],
        "bias": [0.5 / 3, 1.0],
        "ratio": [ratio, 0.5],
        "ratio_error": [stats.sem(excess) / (2 / 3), np.nan],
        "interval_rate": [1.0, 0.0],
        "coverage": [2 / 3, np.nan],
        "width": [2.0, np.nan],
        "anytime_coverage": [0.5, np.nan],
        "flagged": [2 / 3, 0.0],
    }
    assert list(summary) == list(expected)
    for name, column in expected.items():
        if isinstance(column[0], str):
            assert summary[name] == column
        else:
            assert summary[name] == pytest.approx(column, nan_ok=True), name


def test_a_simulation_without_runs_has_an_empty_summary():
    assert simulate(n_runs=0).summary() == {}


@pytest.fixture
def noisy():
    """Rows that the model gets right, each with its own chance of another label."""
    rng = np.random.default_rng(0)
    predicted = MODEL.predict(X[POOL])
    chance = rng.uniform(0.0, 0.4, size=len(POOL))
    proba = np.full((len(POOL), 3), 0.0)
    proba[np.arange(len(POOL)), predicted] = 1 - chance
    proba[np.arange(len(POOL)), (predicted + 1) % 3] += chance
    return chance, proba


def test_the_truth_of_noisy_labels_is_their_expected_loss(noisy):
    chance, proba = noisy
    scenario = Scenario(
        X[POOL], [0, 1, 2], MODEL, X[TRAIN], Y[TRAIN], label_proba=proba
    )
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, loss="zero_one")
    result = simulate(evaluator, scenario, n_runs=3, n_labels=[len(POOL)])
    assert_allclose(result.columns["truth"], chance.mean(), rtol=1e-12)
    noise = np.mean(chance * (1 - chance)) / len(POOL)
    assert_allclose(result.columns["mc_variance"], noise, rtol=1e-12)
    # With every row labelled all risks are the mean of the labels that were drawn.
    drawn = where(result, risk="LURE")["value"]
    assert_allclose(where(result, risk="Monte Carlo")["value"], drawn)
    assert len(set(drawn.tolist())) == 3
    assert (np.abs(drawn - chance.mean()) < 4 * np.sqrt(noise)).all()


def test_the_mc_variance_of_noisy_labels_counts_rows_and_noise(noisy):
    chance, proba = noisy
    scenario = Scenario(
        X[POOL], [0, 1, 2], MODEL, X[TRAIN], Y[TRAIN], label_proba=proba
    )
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, loss="zero_one")
    result = simulate(evaluator, scenario, n_runs=1, n_labels=[10])
    found = result.columns["mc_variance"]
    rng, n_samples = np.random.default_rng(0), len(POOL)
    rows = rng.permuted(np.tile(np.arange(n_samples), (20_000, 1)), axis=1)[:, :10]
    means = (rng.random(rows.shape) < chance[rows]).mean(axis=1)
    assert found[0] == pytest.approx(means.var(), rel=0.05)


def test_risks_can_be_chosen():
    risks = {"mine": MonteCarlo()}
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, acquisition=Uniform())
    result = simulate(evaluator, n_runs=1, risks=risks)
    assert set(result.columns["risk"].tolist()) == {"mine", "Monte Carlo"}


@pytest.mark.parametrize(
    ("options", "risk", "message"),
    [
        ({"selection": ArgMax()}, LURE(), "picked without one"),
        ({"acquisition": ExpectedLoss()}, MonteCarlo(), "unequal probabilities"),
    ],
)
def test_a_risk_that_the_picks_do_not_allow_is_refused(options, risk, message):
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, **options)
    with pytest.raises(ValueError, match=message):
        simulate(evaluator, n_runs=1, risks={"mine": risk})


@pytest.mark.parametrize(
    ("counts", "message"), [([6, 1000], "beyond the pool"), ([0, 6], ">= 1")]
)
def test_label_counts_that_cannot_be_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        simulate(n_runs=1, n_labels=counts)


def test_picks_without_probabilities_have_ase_alone():
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, selection=ArgMax())
    result = simulate(evaluator, n_runs=1)
    assert set(result.columns["risk"].tolist()) == {"ASE", "Monte Carlo"}
    assert np.isnan(result.columns["flagged"]).all()


def test_progress_is_drawn_only_when_asked_for():
    for verbose in (0, 1):
        drawn = io.StringIO()
        with redirect_stderr(drawn):
            simulate(n_runs=1, n_labels=[6], verbose=verbose)
        assert ("evaluations" in drawn.getvalue()) == bool(verbose)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_a_file_needs_seeds_that_can_be_repeated(tmp_path, random_state):
    with pytest.raises(ValueError, match=r"runs.csv.*give an int as random_state"):
        simulate(path=tmp_path / "runs.csv", random_state=random_state)


@pytest.mark.parametrize("evaluator", [GaussianNB(), {"good": EVALUATOR, "bad": "x"}])
def test_only_evaluators_can_be_simulated(evaluator):
    with pytest.raises(TypeError, match="must be an ActiveRiskEstimator"):
        simulate(evaluator)
