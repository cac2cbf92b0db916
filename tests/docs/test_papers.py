"""The paper's experiments run from end to end, and resume where they were stopped."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE
from sklearn_ase.simulation import Scenario

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("papers")]


def fake_images(name, data_dir):
    """A few images of noise with a bright row that tells their class."""
    rng = np.random.default_rng(0)
    n_classes = 100 if name == "cifar100" else 10
    shape = (3, 32, 32) if "cifar" in name else (1, 28, 28)
    parts = []
    for _ in range(2):
        y = np.arange(200) % n_classes
        X = rng.random((200, *shape), dtype=np.float32)
        X[np.arange(200), :, y % shape[-1]] += 1
        parts += [X, y]
    return parts


def fake_votes(path):
    """Some votes for each of the test images, most of them right."""
    chances = np.full((200, 10), 0.03)
    chances[np.arange(200), np.arange(200) % 10] = 0.73
    rng = np.random.default_rng(0)
    np.savez(path, counts=[rng.multinomial(50, chance) for chance in chances])


def tear_last_line(path):
    """What a kill leaves of a file that is being written to."""
    path.write_bytes(path.read_bytes()[:-10])


def count_figures(monkeypatch, module):
    """Figures that would be drawn, which takes longer than all the rest."""
    drawn = []
    monkeypatch.setattr(module, "draw_curves", lambda *args, **_: drawn.append(args))
    return drawn


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("preset", "surrogate"),
    [("cpu", "trees"), ("paper", "trees"), ("paper", "ensemble"), ("paper", "radial")],
)
def test_distribution_shift(preset, surrogate, monkeypatch, tmp_path, capsys):
    import image_data
    import missing_class
    import missing_class_report

    monkeypatch.setattr(image_data, "read_images", fake_images)
    drawn = []
    if preset == "paper":
        drawn = count_figures(monkeypatch, missing_class_report)
    options = ["--preset", preset, "--surrogate", surrogate, "--out", str(tmp_path)]
    missing_class.main([*options, "--tiny"])
    assert "14 claims" in capsys.readouterr().out
    assert len(list(tmp_path.glob(f"{preset} tiny {surrogate} *.csv"))) == 3
    assert len([*drawn, *tmp_path.glob("*.png")]) == 26


@pytest.mark.filterwarnings("ignore")
def test_finished_runs_are_not_run_again_and_torn_ones_are(monkeypatch, tmp_path):
    import image_data
    import missing_class

    monkeypatch.setattr(image_data, "read_images", fake_images)
    monkeypatch.setattr(missing_class, "report", lambda args, preset: 0)
    options = ["--tiny", "--out", str(tmp_path)]
    missing_class.main(options)
    before = {path: path.read_text() for path in tmp_path.glob("*.csv")}
    tear_last_line(tmp_path / "cpu tiny trees arg max.csv")
    missing_class.main(options)
    assert {path: path.read_text() for path in before} == before
    monkeypatch.setattr(missing_class, "draw", None)
    missing_class.main(options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("preset", ["cpu", "paper"])
def test_networks_and_noisy_labels(preset, monkeypatch, tmp_path, capsys):
    import image_classifiers
    import image_classifiers_report
    import image_networks
    import noisy_labels

    monkeypatch.setattr(image_networks, "read_images", fake_images)
    drawn = []
    if preset == "paper":
        drawn = count_figures(monkeypatch, image_classifiers_report)
    fake_votes(tmp_path / "cifar10h.npz")
    out = ["--preset", preset, "--tiny", "--out", str(tmp_path)]
    options = [*out, "--data-dir", str(tmp_path)]
    data = ["cifar10", "cifar100"] if preset == "paper" else ["fashion_mnist"]
    image_classifiers.main([*options, "--data", *data])
    assert f"{20 * len(data)} claims" in capsys.readouterr().out
    assert len([*drawn, *tmp_path.glob("*.png")]) == 20 * len(data)
    noisy_labels.main(options)
    assert "10 claims" in capsys.readouterr().out
    count_figures(monkeypatch, image_classifiers_report)
    monkeypatch.setattr(image_networks, "make_ensemble", None)  # Kept predictions.
    image_classifiers.main([*options, "--data", data[0], "--runs", "2"])
    for path in tmp_path.glob("*.npz"):
        path.unlink()
    image_classifiers.main([*out, "--data", *data, "--report"])
    noisy_labels.main([*out, "--report"])


@pytest.mark.filterwarnings("ignore")
def test_f_is_kept_if_the_ensemble_is_killed(monkeypatch, tmp_path):
    import image_networks

    made = []

    def make(name, preset, n_members, seed):
        made.append(n_members)
        if made == [1, 2]:
            raise KeyboardInterrupt
        return ensemble(name, preset, n_members, seed)

    ensemble = image_networks.make_ensemble
    monkeypatch.setattr(image_networks, "read_images", fake_images)
    monkeypatch.setattr(image_networks, "make_ensemble", make)
    args = Namespace(
        preset="paper", tiny=True, epochs=None, out=tmp_path, data_dir=None
    )
    sizes = image_networks.preset_of(args)
    with pytest.raises(KeyboardInterrupt):
        image_networks.predictions(args, sizes, "cifar10", "train")
    proba, members, y = image_networks.predictions(args, sizes, "cifar10", "train")
    assert made == [1, 2, 2]
    assert proba.shape == (140, 10)  # 100 to evaluate on and 40 to calibrate on.
    assert members.shape == (2, 140, 10)
    assert y.shape == (140,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("surrogate", "n_counts"), [("trees", 2), ("radial", 1)])
def test_error_decomposition(surrogate, n_counts, monkeypatch, tmp_path, capsys):
    import error_decomposition
    import image_data

    monkeypatch.setattr(image_data, "read_images", fake_images)
    options = ["--preset", "paper", "--tiny", "--out", str(tmp_path)]
    options += ["--surrogate", surrogate]
    error_decomposition.main(options)
    (path,) = tmp_path.glob("*.csv")
    before = path.read_text()
    tear_last_line(path)
    error_decomposition.main([*options, "--runs", "2"])  # Goes on where it was.
    assert path.read_text().startswith(before)
    assert "2 runs" in capsys.readouterr().out
    runs = pd.read_csv(path)
    assert list(runs["run"]) == [0] * n_counts + [1] * n_counts
    parts = runs["finite_pool"] + runs["training"] + runs["expressiveness"]
    np.testing.assert_allclose(parts, runs["total"])


@pytest.mark.filterwarnings("ignore")
def test_the_parts_of_the_error_vanish_where_they_must():
    from error_decomposition import parts_of_error

    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[:100:5], y[:100:5])  # One class is missing.
    training = {"X_train": X[::5], "y_train": y[::5]}
    scenario = Scenario(X[1::2], y[1::2], model, **training)
    few = ActiveRiskEstimator(
        FrozenEstimator(model), surrogate=GaussianNB(), n_labels=10, random_state=0
    )
    every = clone(few).set_params(n_labels=75, batch_size=75, refit=[75])
    parts = parts_of_error(few, scenario, X[1::2], y[1::2])
    assert parts["finite_pool"] == pytest.approx(0.0, abs=1e-12)  # The pool itself.
    fitted = clone(few).fit(X[1::2], y[1::2], **training)
    truth = clone(every).fit(X[1::2], y[1::2], **training).evaluation_.state.losses
    error = float(fitted.evaluation_.estimate(ASE())) - truth.mean()
    assert parts["total"] == pytest.approx(error, abs=1e-6)
    parts = parts_of_error(every, scenario, X[::2], y[::2])
    assert parts["training"] == pytest.approx(0.0, abs=1e-12)  # Nothing left to learn.


def test_other_epochs_have_files_of_their_own(tmp_path):
    import common
    import image_networks
    import missing_class_models

    arguments = common.parser("A script.")
    arguments.set_defaults(surrogate="radial")
    given = ["--out", str(tmp_path)]
    usual, longer = map(arguments.parse_args, (given, [*given, "--epochs", "70"]))
    assert common.result_path(usual, "f.npz") == tmp_path / "cpu f.npz"
    assert common.result_path(longer, "f.npz") == tmp_path / "cpu 70 epochs f.npz"
    sizes = image_networks.preset_of(longer)
    assert (sizes.resnet_epochs, sizes.wide_epochs) == (70, 70)
    assert missing_class_models.preset_of(longer).max_epochs == 70
    assert missing_class_models.preset_of(usual).max_epochs == 20


def test_the_population_has_as_many_sevens_as_the_pool():
    from missing_class import split
    from missing_class_models import PRESETS

    y = np.random.default_rng(0).integers(10, size=70_000)
    pool, train, others = split(y, PRESETS["cpu", "trees"], 0)
    assert len(np.unique(np.concatenate([pool, train, others]))) > 69_000
    assert not np.any(y[train] == 7)
    assert np.mean(y[others] == 7) == pytest.approx(np.mean(y == 7), abs=0.001)
    with pytest.raises(ValueError, match="too few for a pool of 60000"):
        split(y[:61_000], PRESETS["paper", "trees"], 0)


@pytest.mark.parametrize("script", ["missing_class", "image_classifiers"])
def test_a_report_without_results_says_what_to_do(script, tmp_path):
    main = __import__(script).main
    with pytest.raises(SystemExit, match="run once without --report"):
        main(["--out", str(tmp_path), "--report"])


def test_too_few_images_are_an_error(monkeypatch, tmp_path):
    import image_classifiers
    import image_networks
    import noisy_labels

    monkeypatch.setattr(image_networks, "read_images", fake_images)
    options = ["--preset", "paper", "--out", str(tmp_path)]
    with pytest.raises(SystemExit, match="40000 images to train on are needed"):
        image_classifiers.main(options)
    with pytest.raises(SystemExit, match="has 200 beside 200 to evaluate on"):
        noisy_labels.main([*options, "--votes", "cifar10h.npz"])
    with pytest.raises(SystemExit, match="no public loader"):
        noisy_labels.main(options)


def test_votes_of_other_images_are_an_error(tmp_path):
    import noisy_labels

    path = tmp_path / "cifar10h.npz"
    fake_votes(path)
    right = np.arange(200) % 10
    assert noisy_labels.votes(path, right).sum(axis=1) == pytest.approx(1)
    for wrong in (right[::-1], right[1:]):
        with pytest.raises(SystemExit, match="not of these"):
            noisy_labels.votes(path, wrong)


@pytest.mark.parametrize("packed", [False, True])
def test_local_images(packed, tmp_path):
    import image_data
    from PIL import Image

    rng = np.random.default_rng(0)
    images = rng.integers(256, size=(250, 32, 32, 3), dtype=np.uint8)
    arrays = {"y_train": np.arange(230) % 10, "y_test": np.arange(20) % 10}
    if packed:
        blank = np.zeros((50, 32, 32, 3), dtype=np.uint8)
        for part, first in (("train", 0), ("test", 230)):
            lot = np.concatenate([images[first:], blank])[:200]
            lots = [lot, images[200:230]] if part == "train" else [lot]
            for number, each in enumerate(lots):
                fill = np.zeros((-len(each) % 100, 32, 32, 3), dtype=np.uint8)
                rows = np.concatenate([each, fill]).reshape(-1, 100, 32, 32, 3)
                picture = Image.fromarray(rows.swapaxes(1, 2).reshape(-1, 3200, 3))
                picture.save(tmp_path / "webp", format="webp", lossless=True)
                content = np.fromfile(tmp_path / "webp", dtype=np.uint8)
                arrays[f"X_{part}_webp_{number}"] = content
    else:
        arrays |= {"X_train": images[:230], "X_test": images[230:]}
    np.savez(tmp_path / "cifar10_20k.npz", **arrays)
    X_train, y_train, X_test, y_test = image_data.read_images("cifar10", tmp_path)
    X = images.transpose(0, 3, 1, 2) / np.float32(255)
    np.testing.assert_array_equal(X_train, X[:230])
    np.testing.assert_array_equal(X_test, X[230:])
    assert y_train[-1] == 9
    assert len(y_test) == 20
    with pytest.raises(SystemExit, match=r"no .*mnist\.npz\. Without --data-dir"):
        image_data.read_images("mnist", tmp_path)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "cifar10", "cifar100"])
def test_public_images(name, monkeypatch):
    import image_data

    public, n_images, shape, n_classes = image_data.PUBLIC[name]
    assert n_images in (60_000, 70_000)
    n_images = 10_100  # Fewer, for the sake of memory.
    monkeypatch.setitem(image_data.PUBLIC, name, (public, n_images, shape, n_classes))
    pixels = np.arange(np.prod(shape)) % 256
    labels = (np.arange(n_images) % n_classes).astype(str).astype(object)

    def fetch(found, return_X_y, as_frame):
        assert (found, return_X_y, as_frame) == (public, True, False)
        return np.tile(pixels, (n_images, 1)), labels

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    X_train, y_train, X_test, y_test = image_data.read_images(name, None)
    assert len(X_train) == len(y_train) == 100
    assert len(X_test) == len(y_test) == 10_000
    n_channels = 3 if "cifar" in name else 1
    expected = (pixels / 255).reshape(n_channels, *shape[-2:])
    np.testing.assert_allclose(X_test[-1], expected, rtol=1e-6)
    assert y_train.dtype == np.int64
    assert y_test[-1] == int(labels[-1])
    labels[:] = "0"
    with pytest.raises(ValueError, match=f"{n_classes} classes, but has .* in 1"):
        image_data.read_images(name, None)


def test_the_wide_network_is_trained_as_in_the_paper():
    import image_networks

    preset = image_networks.PRESETS["paper"]
    network = image_networks.make_ensemble("cifar100", preset, 10, 0).get_params()
    assert (network["module__width"], network["max_epochs"]) == (10, 200)
    schedule = network["schedule"].kwargs
    assert schedule == {"milestones": [60, 120, 160], "gamma": 0.2}
