"""The claims of the paper are checked against the results of the experiments."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("papers")


def test_claims_that_hold_do_not_or_are_undecided(capsys):
    from claims import Claims, below, error_gap, every, lesser, none_of

    assert below(0.5, 0.1, 1) is True
    assert below(1.5, 0.1, 1) is False
    assert below(0.9, 0.1, 1) is None
    assert below(0.5, np.nan, 1) is None
    assert (every([True, None, False]), every([True, None])) == (False, None)
    assert (none_of([None, True]), none_of([False, None])) == (False, None)
    assert every([True]) is none_of([False]) is True
    runs = pd.DataFrame(
        {
            "run": [0, 1, 2, 0, 1],
            "n_labels": 10,
            "method": [*"aaabb"],
            "squared_error": [1.0, 2.0, 99.0, 2.0, 5.0],
        }
    )
    assert error_gap(runs, 10, "a", "b") == (-2, 1)  # On the runs that both have.
    low, high = np.arange(10.0), np.arange(10.0) + [1, 2, 3, 4, 5, 6, 7, 8, 9, -0.5]
    assert (lesser(low, high), lesser(high, low)) == (True, False)
    assert lesser(low, low[::-1]) is None
    claims = Claims()
    for name, outcome in (("x", True), ("y", np.False_), ("z", None)):
        claims.check(name, "so it is", outcome, "1 < 2")
    assert claims.verdict() == 1
    lines = ["3 claims", "holds: 1 (x)", "DOES NOT HOLD: 1 (y)", "undecided: 1 (z)"]
    assert capsys.readouterr().out.splitlines()[3:] == lines


def test_the_bootstrap_error_of_a_difference_of_medians():
    from claims import median_gap

    rng = np.random.default_rng(0)
    found = []
    for _ in range(50):
        ours = rng.normal(1, 1, 100)
        theirs = ours / 2 + rng.normal(2, 1, 100)
        gap, error = median_gap(ours, theirs, times=0.5)
        assert gap == np.median(ours) - 0.5 * np.median(theirs)
        found.append((gap, error))
    gaps, errors = np.transpose(found)
    np.testing.assert_allclose(errors.mean(), gaps.std(), rtol=0.3)
    assert np.isnan(median_gap(ours[:1], theirs[:1])[1])


def test_the_jackknife_of_a_mean_is_its_standard_error():
    from claims import jackknife

    index = pd.MultiIndex.from_product([[1, 5], range(9)], names=["n_labels", "run"])
    values = pd.DataFrame(np.random.default_rng(0).normal(size=(18, 2)), index)
    found, error = jackknife(values.loc[5], lambda runs: runs.mean())
    np.testing.assert_allclose(found, values.loc[5].mean())
    np.testing.assert_allclose(error, values.loc[5].sem())
    _, error = jackknife(values.loc[5].iloc[:1], lambda runs: runs.mean())
    assert error.isna().all()


def errors_of(sizes, counts, column="squared_error", n_runs=12):
    """Runs in which each method has errors of some size, the first word its risk."""
    rng = np.random.default_rng(0)
    rows = [
        (method, count, run, size * rng.uniform(0.8, 1.2))
        for method, size in sizes.items()
        for count in counts
        for run in range(n_runs)
    ]
    return pd.DataFrame(rows, columns=["method", "n_labels", "run", column])


class Record:
    """Outcomes of claims by name."""

    def __init__(self):
        self.outcomes = {}

    def check(self, name, statement, outcome, numbers):
        self.outcomes[name] = outcome


def test_claims_on_images_follow_the_errors():
    from image_classifiers_report import check

    good = {"ASE": 2, "LURE": 8, "Monte Carlo": 9, "finite pool": 1}
    good |= {"ASE, recalibrated": 1, "GuardedASE, recalibrated": 3}
    bad = {**good, "ASE": 8.9, "ASE, recalibrated": 30, "GuardedASE, recalibrated": 9}
    outcomes = []
    for sizes in (good, bad):
        claims = Record()
        check(claims, "x", errors_of(sizes, (1, 10, 50)))
        outcomes.append([*claims.outcomes.values()])
    assert outcomes == [[True] * 5, [False] * 4 + [None]]


def test_claims_on_the_missing_class_follow_the_errors():
    from missing_class_claims import check_errors

    good = {"Monte Carlo": 1, "ASE XWED": 0.1, "ASE BALD": 0.5, "ASE ~E[loss]": 0.6}
    good |= {"ASE ~XWED": 0.3, "ASE ~BALD": 0.4, "LURE ~E[loss]": 0.7}
    good |= {"LURE ~XWED": 3, "LURE ~BALD": 4, "ASE constant ~E[loss]": 9}
    good |= {"LURE constant ~E[loss]": 9, "GuardedASE default": 0.5}
    good |= {"GuardedASE ~E[loss]": 0.5, "GuardedASE ~XWED": 0.5}
    bad = {method: 1 / size for method, size in good.items()}
    for sizes, outcome in ((good, True), (bad, False)):
        runs = errors_of(sizes, (10, 100))
        ratios = runs.groupby(["method", "n_labels"])["squared_error"]
        figures = pd.DataFrame({"ratio": ratios.mean(), "ratio_error": ratios.sem()})
        claims = Record()
        check_errors(claims, figures, runs)
        assert claims.outcomes == dict.fromkeys(claims.outcomes, outcome)
        assert len(claims.outcomes) == 13


def test_claims_on_noisy_labels_follow_the_errors():
    from noisy_labels import check_growth, check_noisy

    clean = errors_of({"ASE frozen": 1, "LURE frozen": 2}, (10, 50))
    noisy = errors_of({"ASE frozen": 1, "LURE frozen": 4}, (10, 50))
    parts = {"clean": clean, "noisy": noisy}
    index = ["n_labels", "run"]
    errors = {
        kind: part.pivot(index=index, columns="method", values="squared_error")
        for kind, part in parts.items()
    }
    errors = pd.concat(errors, names=["kind"])
    claims = Record()
    check_growth(claims, "right", errors, "ASE frozen", "LURE frozen")
    check_growth(claims, "wrong", errors, "LURE frozen", "ASE frozen")
    check_noisy(claims, "right", errors, "ASE frozen")
    swapped = {"ASE frozen": "LURE frozen", "LURE frozen": "ASE frozen"}
    check_noisy(claims, "wrong", errors.rename(columns=swapped), "ASE frozen")
    assert [*claims.outcomes.values()] == [True, False, True, False]


@pytest.mark.parametrize(
    ("training", "outcome"), [(1.0, True), (0.05, False), (0.5, None)]
)
def test_the_claim_on_parts_follows_them(training, outcome):
    from error_decomposition import check

    rng = np.random.default_rng(0)
    parts = pd.DataFrame({"finite_pool": 0.001, "expressiveness": 0.01}, range(20))
    parts["training"] = training * rng.uniform(0.5, 1.5, 20)
    parts["total"] = 1.0
    claims = Record()
    check(claims, parts.rename_axis("run"))
    assert claims.outcomes == {"section 5": outcome}


def test_images_are_compared_with_those_that_are_not_in_the_pool(tmp_path):
    import image_classifiers_report

    args = Namespace(preset="cpu", tiny=False, epochs=None, out=tmp_path)
    path, truth_path = image_classifiers_report.paths_of(args, "a", "train", "zero_one")
    truth_path.write_text("n_test,n_pool,risk\n5,2,0.4\n")
    names = "evaluator,run,seed,risk,n_labels,value,low,high,anytime,flagged"
    row = "frozen,0,1,ASE,1,0.9,0.1,0.9,nan,0.0"
    path.write_text(f"{names},truth,mc_variance\n{row},0.55,0.5\n")
    runs, risk = image_classifiers_report.read(args, "a", "train", "zero_one")
    assert risk == 0.4
    # 5 x .4 = 2 x .55 + 3 x .3
    found = dict(zip(runs["method"], runs["difference"], strict=True))
    assert found == pytest.approx({"ASE": 0.9 - 0.3, "finite pool": 0.55 - 0.3})
    np.testing.assert_allclose(runs["normalised_error"], runs["squared_error"] / 0.09)


@pytest.mark.parametrize(("noise", "outcome"), [(0.01, True), (0.5, None)])
def test_shares_of_few_noisy_runs_decide_nothing(noise, outcome):
    from missing_class_claims import bootstrap_outcome

    counts = pd.Index([10, 20, 40], name="n_labels")
    shares = {"XWED": [0.4, 0.5, 0.3], "BALD": [0.2, 0.2, 0.2], "~E[loss]": [0.3] * 3}
    shares = pd.DataFrame(shares, index=counts)
    rng = np.random.default_rng(0)
    runs = {run: shares + noise * rng.normal(size=(3, 3)) for run in range(8)}
    runs = pd.concat(runs, names=["run"]).swaplevel()
    assert bootstrap_outcome(runs, 4000) is outcome
    assert bootstrap_outcome(runs.loc[[(10, 0), (20, 0), (40, 0)]], 4000) is None
    if outcome:
        mistaken = runs.rename(columns={"XWED": "BALD", "BALD": "XWED"})
        assert bootstrap_outcome(mistaken, 4000) is False


def test_an_acquisition_that_focuses_and_then_diversifies():
    from missing_class_claims import focuses_then_diversifies, steps_of

    counts = pd.Index([10, 20, 40, 80])
    xwed = pd.Series([0.2, 0.5, 0.6, 0.4], counts)  # Of all labels so far.
    steps = steps_of(xwed, 4000)
    np.testing.assert_allclose(steps, [0.2, 0.8, 0.7, 0.2])
    assert focuses_then_diversifies(steps)
    bald = pd.Series([0.3, 0.2, 0.1, 0.1], counts)
    assert not focuses_then_diversifies(steps_of(bald, 4000))
    # All sevens are bought, so others must follow. This proves nothing.
    greedy = pd.Series([1.0, 1.0, 1.0, 0.7], counts)
    assert list(steps_of(greedy, 900).index) == [10, 20, 40]
    assert not focuses_then_diversifies(steps_of(greedy, 900))
