"""Tasks of the benchmarks are what they say; their scripts run and print."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import label_efficiency_curve

pytestmark = pytest.mark.usefixtures("benchmarks")
N_ROWS = 1200
EVOUNA = [("NQ", "gpt4"), ("NQ", "newbing"), ("TQ", "chatgpt"), ("NQ", "chatgpt")]
EVOUNA += [("NQ", "fid")]


def numbers(data_dir):
    """Rows of noise whose class is that of their second feature, ten of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    return X, np.digitize(X[:, 1], np.linspace(-1, 1, 9))


def write(frame, path):
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        frame.to_csv(file, index=False)


@pytest.fixture
def data_dir(tmp_path):
    """Made-up rows with the columns of the real files."""
    rng = np.random.default_rng(0)
    hours = np.arange(N_ROWS)

    def number(n_rows=N_ROWS):
        return rng.random(n_rows)

    from frame_tasks import ADULT_TEXT

    adult = {name: rng.choice(["None", "Yes", "?"], N_ROWS) for name in ADULT_TEXT}
    income = np.where(number() < 0.3, ">50K", "<=50K")
    adult |= {"age": number(), "split": "train", "class": income}
    write(pd.DataFrame(adult), tmp_path / "tabular" / "adult.csv.gz")
    bikes = {"day": hours // 24 + 1, "hr": hours % 24, "bikers": rng.poisson(9, N_ROWS)}
    bikes |= {name: number() for name in ("holiday", "temp", "atemp", "hum")}
    bikes |= {"windspeed": number(), "weathersit": rng.choice(["fog", "sun"], N_ROWS)}
    write(pd.DataFrame(bikes), tmp_path / "tabular" / "bikeshare.csv.gz")
    prices = {"period": hours % 48 / 47, "nswprice": number(), "class": hours // 5 % 2}
    write(pd.DataFrame(prices), tmp_path / "evals" / "elec2.csv.gz")
    judged = [
        {
            "set": collection,
            "item": item,
            "model": system,
            "question": f"who was number {item}",
            "gold": f"person {item}",
            "answer": None if item == 0 else f"it was person {item % 7}",
            "human": [np.nan, 1, 1, 0][item % 4],
            "lexical_match": item % 2,
            "exact_match": item % 2,
            "token_f1": item % 2 / 2,
            "improper": int(item == 1),
        }
        for collection, system in EVOUNA
        for item in range(400)
    ]
    write(pd.DataFrame(judged), tmp_path / "evals" / "evouna.csv.gz")
    return str(tmp_path)


def test_the_main_study_has_none_of_the_tasks_that_are_held_out():
    from held_out_tasks import HELD_OUT
    from tasks import TASKS

    assert len(TASKS.keys() - HELD_OUT.keys()) == 20
    for name in ("digits noisy log_loss", "phoneme drift zero_one", "diabetes"):
        assert name in HELD_OUT
    for name, (_, loss) in HELD_OUT.items():
        assert loss == "squared_error" or name.endswith(f" {loss}")


@pytest.mark.parametrize(
    "name", ["digits noisy 15", "digits noisy", "digits noisy 40", "cancer"]
)
def test_a_seed_gives_the_same_task_again(name):
    from held_out_tasks import HELD_OUT

    sample, _ = HELD_OUT[f"{name} log_loss"]
    first, again, other = sample(None, 3), sample(None, 3), sample(None, 4)
    for part in ("X", "y", "X_train", "y_train"):
        assert_array_equal(getattr(first, part), getattr(again, part))
    proba = [each.estimator.predict_proba(first.X) for each in (first, again)]
    assert_array_equal(*proba)
    assert not np.array_equal(first.X, other.X)


def test_wrong_labels_are_a_share_of_the_training_labels():
    from tasks import linear, sampler

    sizes = {"n_train": 1000, "n_pool": 500}
    clean = sampler(numbers, linear, **sizes)(None, 0)
    noisy = sampler(numbers, linear, noise=0.4, **sizes)(None, 0)
    assert_array_equal(clean.X_train, noisy.X_train)
    assert_array_equal(clean.y, noisy.y)
    # A label that is drawn again may be right by chance.
    assert 0.25 < np.mean(clean.y_train != noisy.y_train) < 0.4


def test_drift_stays_within_its_part_of_the_pool():
    from tasks import linear, sampler

    sizes = {"n_train": 1000, "n_pool": 500}
    clean = sampler(numbers, linear, **sizes)(None, 0)
    drift = sampler(numbers, linear, drift=0.2, **sizes)(None, 0)
    changed = clean.y != drift.y
    assert 0.1 < changed.mean() <= 0.2
    assert clean.X[changed, 0].min() > np.quantile(clean.X[:, 0], 0.8)
    assert_array_equal(np.sort(clean.y), np.sort(drift.y))
    assert_array_equal(clean.y_train, drift.y_train)


def test_a_rare_class_has_its_share():
    from tasks import against_the_rest, linear, sampler

    rng = np.random.default_rng(0)
    X, y = against_the_rest(*numbers(None), rng, label=4, share=0.03)
    assert len(X) == len(y)
    assert y.mean() == pytest.approx(0.03, abs=0.0005)
    sample = sampler(numbers, linear, rare=(4, 0.03), n_train=1000, n_pool=2000)
    runs = [sample(None, seed) for seed in range(10)]
    assert np.mean([run.y for run in runs]) == pytest.approx(0.03, abs=0.003)
    assert np.mean([run.y_train for run in runs]) == pytest.approx(0.03, abs=0.004)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("adult frame log_loss", "O"),
        ("evouna frame zero_one", "O"),
        ("bikeshare frame", "OM"),
        ("elec2 frame log_loss", "M"),
    ],
)
def test_models_and_evaluations_get_frames_as_they_are(name, kinds, data_dir):
    from frame_tasks import FRAME_TASKS

    sample, loss = FRAME_TASKS[name]
    scenario = sample(data_dir, 0)
    assert list(scenario.estimator.feature_names_in_) == list(scenario.X.columns)
    found = {scenario.X[name].to_numpy().dtype.kind for name in scenario.X}
    assert set(kinds) <= found
    assert not scenario.X.isna().any(axis=None)
    result = label_efficiency_curve(
        ActiveRiskEstimator(loss=loss),
        lambda seed: sample(data_dir, seed),
        n_labels=[25],
        n_runs=1,
        random_state=0,
    )
    assert np.isfinite(result.columns["value"]).all()


def test_dates_are_those_of_the_rows(data_dir):
    from frame_tasks import is_early, read_bikeshare, read_elec2

    when = read_bikeshare(data_dir)[0]["when"]
    assert when[25] == pd.Timestamp("2011-01-02 01:00")
    X, y = read_elec2(data_dir)
    assert X["when"][3] == pd.Timestamp("1996-05-07 01:30")
    assert_array_equal(is_early(X, y), np.arange(N_ROWS) < N_ROWS / 2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["accepted", "judge"])
def test_judges_need_no_training_rows(kind, data_dir):
    from judge_tasks import JUDGE_TASKS

    sample, loss = JUDGE_TASKS[f"evouna NQ gpt4 {kind} zero_one"]
    scenario = sample(data_dir, 0)
    assert scenario.X_train is None
    assert len(scenario.y) == 299  # 400 less 100 without a label and one improper.
    said = 1 if kind == "accepted" else scenario.X[:, 0]
    result = label_efficiency_curve(
        ActiveRiskEstimator(loss=loss),
        scenario,
        n_labels=[25],
        n_runs=1,
        random_state=0,
    )
    assert result.columns["truth"][0] == pytest.approx(np.mean(scenario.y != said))


def cells(**columns):
    """Figures of the guarded estimate, a line for each cell."""
    usual = {"risk": "GuardedASE", "task": "some", "n_labels": 50, "ratio_error": 0.1}
    return pd.DataFrame({**columns, **usual, "interval_rate": 1.0})


def test_the_report_tells_what_is_certain_from_what_is_not():
    from trust_report import limits

    few = cells(ratio=[1.0, 1.4, 1.6], coverage=[0.9, 0.8, 0.5], n_runs=10)
    text = "\n".join(limits(few))
    assert "2 of 3 cells, for certain (by two standard errors) 1" in text
    assert "1.60, standard error 0.10" in text
    assert "GuardedASE's 90 % interval covers less than 0.85: 2 of 3" in text
    assert "for certain 1\n  some at 50: 0.80\n  some at 50: 0.50, for certain" in text
    many = limits(cells(ratio=[1.0], coverage=[0.8], n_runs=500))
    assert many[-1] == "  some at 50: 0.80, for certain"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_trust_study_runs_and_is_printed_beside_a_baseline(tmp_path, capsys):
    import trust

    options = ["--out", str(tmp_path), "--runs", "2", "--held-out", "--jobs", "1"]
    options += ["--tasks", "diabetes"]
    trust.main(options)
    printed = capsys.readouterr().out
    assert "Geometric mean over the tasks (default: 1)" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["diabetes.csv"]
    options += ["--baseline", str(tmp_path)]
    trust.main([*options, "--report"])
    assert "runs of each in the baseline: 2 to 2" in capsys.readouterr().out
    trust.main([*options, "--markdown"])
    same = " / ".join(["1.00"] * 5)
    assert f"| default | {same} | {same} |" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rare_classes_are_counted(monkeypatch, capsys):
    import rare_classes
    from tasks import classification, linear

    tasks = classification(
        "numbers", numbers, linear, rare=(4, 0.03), n_train=500, n_pool=600
    )
    monkeypatch.setattr(rare_classes, "RARE_TASKS", tasks)
    rows = [rare_classes.run("numbers log_loss", k, None, (0, 25)) for k in range(2)]
    frame = pd.DataFrame([row for each in rows for row in each])
    assert (frame["believed"] > 0).all()
    assert frame[frame["n_labels"] == 25]["variance"].gt(0).all()
    rare_classes.report(frame, 2)
    printed = capsys.readouterr().out
    assert "2 runs of each task, seeds 161803 to 161804" in printed
    assert "believed at 25" in printed
    rare_classes.markdown(frame)
    assert "| believed at 0 / 25 |" in capsys.readouterr().out


@pytest.mark.slow
def test_the_coverage_of_intervals_is_printed(tmp_path, capsys, monkeypatch):
    import interval_coverage

    monkeypatch.setattr(interval_coverage, "COUNTS", (5, 10))
    options = ["--out", str(tmp_path), "--runs", "2", "--jobs", "1"]
    interval_coverage.main([*options, "--tasks", "rate 40"])
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if line.startswith("| error rate")]
    assert [line.split(" | ")[1] for line in lines] == ["default", "poor"]
    assert all(" | 1.00 / 1.00 | " in line for line in lines)  # All have intervals.


def test_an_interval_that_is_refused_is_not_wrong():
    from interval_coverage import COUNTS, figures

    ends = {"run 0": (0.0, 1.0), "run 1": (0.6, 1.0), "run 2": (-np.inf, np.inf)}
    common = {"truth": 0.5, "value": 0.7, "anytime": 1.0}
    runs = [
        {"risk": risk, "n_labels": count, "low": low, "high": high} | common
        for risk in ("GuardedASE", "Monte Carlo")
        for count in COUNTS
        for low, high in ends.values()
    ]
    found = figures(pd.DataFrame(runs), "squared_error")
    assert found["covers"] == [0.5] * len(COUNTS)
    assert found["wrong"] == pytest.approx([1 / 3] * len(COUNTS))


@pytest.mark.slow
def test_intervals_by_betting_are_printed_beside_ours(tmp_path, capsys):
    import betting_intervals

    options = ["--out", str(tmp_path), "--runs", "2", "--tasks", "10.0%"]
    betting_intervals.main([*options, "--every"])
    printed = capsys.readouterr().out
    assert "2 runs of each task, seed 602214" in printed
    for draw in ("plain", "weighted"):
        rows = [line for line in printed.splitlines() if f"| {draw} | zero-one" in line]
        methods = [line.split(" | ")[2] for line in rows]
        assert {"Wilson", "ours", "betting", "STaR-Bets"} <= set(methods)
        ours = rows[methods.index("ours")]
        assert ours.endswith(" 1.00 / 1.00 / 1.00 / 1.00 |")
    betting_intervals.main([*options, "--development", "--report"])
    assert "seed 137035" in capsys.readouterr().out


@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_intervals_by_betting_cover_and_those_for_one_look_are_narrower(rate):
    from betting_intervals import COUNTS, hedged_ends, plain_state, star_ends

    from sklearn_ase._inference._steps import limits_of_steps, steps_with_power

    rng, found = np.random.default_rng(0), {hedged_ends: [], star_ends: []}
    for _ in range(100):
        losses = (rng.random(500) < rate).astype(float)
        state = plain_state(losses, COUNTS[1], rng)
        steps = steps_with_power(state, 0.0)
        limits = limits_of_steps(state, steps.power)
        for ends, runs in found.items():
            low, high = ends(steps.values, *limits, 0.9)
            runs.append((low <= losses.mean() <= high, high - low))
    covers, widths = np.mean(list(found.values()), axis=1).T
    assert (covers >= 0.85).all()
    assert widths[1] < 0.9 * widths[0]


def test_wrong_predictions_have_the_rate_of_their_task():
    from interval_tasks import rare_errors

    scenario = rare_errors(0.1)(0)
    wrong = scenario.estimator.predict(scenario.X) != scenario.y
    assert wrong.mean() == pytest.approx(0.1, abs=0.02)
    # Training rows show no error.
    assert (scenario.estimator.predict(scenario.X_train) == scenario.y_train).all()


@pytest.mark.slow
def test_choices_of_models_are_counted_beside_random_labels(tmp_path, capsys):
    import model_selection

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    wrong = rng.random((200, 15)) < np.linspace(0.1, 0.5, 15)
    (tmp_path / "evals").mkdir()
    np.savez(
        tmp_path / "evals" / "model_selection.npz",
        glue_sst2_predictions=np.where(wrong, 1 - y[:, None], y[:, None]),
        glue_sst2_labels=y,
    )
    options = ["--out", str(tmp_path / "runs"), "--tasks", "glue_sst2-clones"]
    model_selection.main([*options, "--data-dir", str(tmp_path), "--runs", "2"])
    model_selection.main([*options, "--report"])
    printed = capsys.readouterr().out
    assert "regret" in printed
    assert "holds 100" in printed


@pytest.mark.slow
def test_judges_are_compared_with_plain_samples(
    data_dir, tmp_path, capsys, monkeypatch
):
    import judges

    monkeypatch.setattr(judges, "COUNTS", (15, 30))
    monkeypatch.setattr(judges, "PAIR_LABELS", 30)
    options = ["--out", str(tmp_path / "runs"), "--runs", "2", "--jobs", "1"]
    pools = ["evouna NQ gpt4", "permuted NQ gpt4", "chatgpt against fid, 500 questions"]
    judges.main([*options, "--data-dir", data_dir, "--pools", *pools])
    capsys.readouterr()
    judges.main([*options, "--report"])
    printed = capsys.readouterr().out
    assert "'evouna NQ gpt4': 2, 'permuted NQ gpt4': 2" in printed
    same = "1.00 / 1.00"
    assert f"| plain sample | {same} |" in printed
    assert "error <= .7 of PPI++'s in the median pool" in printed
    assert "chatgpt against fid, 500 questions, 2 runs; truth" in printed
    judges.main([*options, "--markdown"])
    assert "2 runs of each pool" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["plain_sample", "plain_sample_wilson", "ppi", "stratified_ppi", "active"]
)
def test_intervals_of_other_methods_cover(name):
    import judge_methods

    method = getattr(judge_methods, name)
    rng = np.random.default_rng(0)
    score = rng.random(2000)
    values = (rng.random(2000) < 0.2 + 0.6 * score).astype(float)
    truth = values.mean()
    found = np.array([method(values, score, 100, rng) for _ in range(2000)])
    value, low, high = found.T
    assert value.mean() == pytest.approx(truth, abs=0.005)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.9, abs=0.025)
    if "plain" not in name:
        # The judge's correlation is .35: its labels are worth 1.13 of plain ones.
        exact = values.var() / 100
        assert value.var() < (1.2 if name == "active" else 1.0) * exact


def test_an_active_sampler_takes_as_many_rows_as_it_may():
    from judge_methods import chances, shared_out

    unsure = np.r_[np.full(3, 10.0), np.full(97, 0.1)]
    found = chances(unsure, 20)
    assert found.sum() == pytest.approx(20)
    assert (found[:3] == 1).all()
    assert_array_equal(shared_out(20, np.array([500, 490, 10])), [9, 9, 2])


def test_hidden_errors_are_among_the_answers_that_the_judge_accepts(data_dir):
    from judge_pools import evouna, hidden, permuted

    usual = evouna("NQ", "gpt4")(data_dir, np.random.default_rng(0))
    wrong = hidden("NQ", "gpt4")(data_dir, np.random.default_rng(0))
    changed = usual.y != wrong.y
    assert 0 < changed.sum() <= 0.05 * usual.judge.sum()
    assert (usual.judge[changed] == 1).all()
    assert (wrong.y[changed] == 0).all()
    other = permuted("NQ", "gpt4")(data_dir, np.random.default_rng(0))
    assert_array_equal(usual.y, other.y)
    assert_array_equal(other.experts["match"], other.judge)
    assert not np.array_equal(usual.judge, other.judge)


@pytest.mark.slow
def test_differences_of_models_are_counted_beside_a_plain_sample(
    tmp_path, capsys, monkeypatch
):
    import model_differences

    monkeypatch.setattr(model_differences, "TABLES", {"noise": _two_classes})
    cell = ("noise", "linear", "bayes", "zero_one")
    monkeypatch.setattr(model_differences, "CELLS", [cell])
    monkeypatch.setattr(model_differences, "COUNTS", (10, 150))
    monkeypatch.setattr(model_differences, "N_POOL", 150)
    options = ["--out", str(tmp_path), "--runs", "2"]
    model_differences.main([*options, "--data-dir", str(tmp_path)])
    model_differences.main([*options, "--data-dir", str(tmp_path)])  # Nothing is left.
    runs = pd.read_csv(tmp_path / "model_differences.csv")
    assert len(runs) == 4
    # With all labels the difference is that of the losses computed apart from it.
    last = runs[runs["n_labels"] == 150]
    assert last["value"].to_numpy() == pytest.approx(last["truth"].to_numpy())
    assert "median pair" in capsys.readouterr().out


def _two_classes(data_dir):
    X, y = numbers(data_dir)
    return pd.DataFrame(X), (y > 4).astype(int)


@pytest.mark.slow
def test_costs_of_comparisons_are_printed(capsys):
    import model_costs

    model_costs.main(["--rows", "300", "--labels", "12"])
    text = capsys.readouterr().out
    assert "300 rows, 118 models, no features, 12 labels" in text
