"""The paper's experiments run from end to end, and go on where they were stopped."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAPERS = Path(__file__).parents[1] / "examples" / "papers"

pytest.importorskip("torch")
pytest.importorskip("matplotlib")


@pytest.fixture
def papers(monkeypatch):
    """The folder of the scripts, as Python sees it when one of them is run."""
    monkeypatch.syspath_prepend(str(PAPERS))
    yield
    for path in PAPERS.glob("*.py"):
        sys.modules.pop(path.stem, None)


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("surrogate", ["trees", "ensemble", "radial"])
def test_distribution_shift(papers, monkeypatch, tmp_path, surrogate, capsys):
    import common
    import missing_class

    monkeypatch.setattr(common, "read_images", fake_images)
    options = ["--preset", "tiny", "--surrogate", surrogate, "--out", str(tmp_path)]
    missing_class.main(options)
    assert "of 5 claims hold" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.csv"))) == 3
    assert len(list(tmp_path.glob("*.png"))) == 16
    before = {path: path.read_text() for path in tmp_path.glob("*.csv")}
    monkeypatch.setattr(missing_class, "draw", None)  # Nothing is run again.
    missing_class.main(options)
    assert {path: path.read_text() for path in before} == before


@pytest.mark.filterwarnings("ignore")
def test_networks_and_noisy_labels(papers, monkeypatch, tmp_path, capsys):
    import image_classifiers
    import noisy_labels

    monkeypatch.setattr(image_classifiers, "read_images", fake_images)
    votes = np.random.default_rng(0).multinomial(50, np.full(10, 0.1), size=200)
    np.savez(tmp_path / "cifar10h.npz", counts=votes)
    options = ["--preset", "tiny", "--out", str(tmp_path), "--data-dir", str(tmp_path)]
    image_classifiers.main([*options, "--data", "cifar10", "cifar100"])
    assert "of 32 claims hold" in capsys.readouterr().out
    monkeypatch.setattr(image_classifiers, "make_ensemble", None)  # Kept predictions.
    image_classifiers.main([*options, "--data", "cifar10"])
    noisy_labels.main(options)
    assert "of 6 claims hold" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_error_decomposition(papers, monkeypatch, tmp_path, capsys):
    import common
    import error_decomposition

    monkeypatch.setattr(common, "read_images", fake_images)
    options = ["--preset", "tiny", "--out", str(tmp_path)]
    error_decomposition.main([*options, "--runs", "1"])
    error_decomposition.main(options)  # Goes on where it was.
    assert "2 runs" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.csv")
    runs = pd.read_csv(path)
    assert list(runs["run"]) == [0, 0, 1, 1]
    parts = runs["finite_pool"] + runs["training"] + runs["expressiveness"]
    np.testing.assert_allclose(parts, runs["total"])
