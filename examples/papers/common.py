"""What the scripts of the paper share: images, arguments, figures, claims."""

import argparse
import runpy
from functools import lru_cache
from pathlib import Path

import numpy as np

NAMES = {
    "mnist": ("mnist.npz", "mnist_784"),
    "fashion_mnist": ("fashion_mnist.npz", "Fashion-MNIST"),
    "cifar10": ("cifar10_20k.npz", "CIFAR_10"),
    "cifar100": ("cifar100_20k.npz", "cifar-100"),
}


def read_images(name, data_dir):
    """Images as float32 in [0, 1], of shape (n, channels, height, width), and labels.

    Parameters
    ----------
    name : key of `NAMES`
    data_dir : path or None
        Directory of local files; None downloads from openml.org.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarrays
        Of a download the last 10,000 images are the test set.
    """
    file, public = NAMES[name]
    if data_dir is None:
        from sklearn.datasets import fetch_openml

        X, y = fetch_openml(public, return_X_y=True, as_frame=False)
        X = X.reshape(len(X), 3, 32, 32) if "cifar" in name else X.reshape(-1, 28, 28)
        parts = X[:-10_000], y[:-10_000], X[-10_000:], y[-10_000:]
    else:
        load = runpy.run_path(str(Path(data_dir) / "load_data.py"))["load"]
        data = load(Path(data_dir) / file)
        parts = [data[key] for key in ("X_train", "y_train", "X_test", "y_test")]
    X_train, y_train, X_test, y_test = parts
    return (
        channels_first(X_train),
        np.asarray(y_train).astype(np.int64),
        channels_first(X_test),
        np.asarray(y_test).astype(np.int64),
    )


@lru_cache
def all_mnist(data_dir):
    """All images of MNIST, training and test set together."""
    X_train, y_train, X_test, y_test = read_images("mnist", data_dir)
    return np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])


@lru_cache
def mnist_components(data_dir):
    """The same on 30 principal components."""
    from sklearn.decomposition import PCA

    X, y = all_mnist(data_dir)
    return PCA(30, random_state=0).fit_transform(X.reshape(len(X), -1)), y


def channels_first(X):
    """Images as networks read them, (n_samples, n_channels, height, width)."""
    X = np.asarray(X, dtype=np.float32) / 255
    if X.ndim == 3:
        return X[:, None]
    return np.ascontiguousarray(X.transpose(0, 3, 1, 2)) if X.shape[-1] == 3 else X


def parser(description, presets):
    """Arguments that every script has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--preset", choices=presets, default="cpu")
    parser.add_argument("--data-dir", help="local files; downloads without")
    parser.add_argument("--out", required=True, help="directory of results, continued")
    parser.add_argument("--runs", type=int, help="instead of the preset's")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--report", action="store_true", help="only read the results")
    return parser


class Claims:
    """Statements of the paper, checked one by one and counted."""

    def __init__(self):
        self.held = {}

    def check(self, name, statement, holds, numbers):
        """Print one statement with the numbers behind it, and whether it holds."""
        self.held[name] = bool(holds)
        word = "holds" if holds else "DOES NOT HOLD"
        print(f"({name}) {statement}: {word} [{numbers}]")

    def verdict(self):
        """Print how many hold; the exit code of the script."""
        failed = [name for name, held in self.held.items() if not held]
        print(f"{len(self.held) - len(failed)} of {len(self.held)} claims hold", end="")
        print(f"; not: {', '.join(failed)}" if failed else "")
        return len(failed)


STYLES = ["k:", "C0--", "C1-", "C2-.", "C4--", "C5:", "C7-"]


def draw_curves(curves, path, label, log=True, paper=None):
    """Draw one line for each method against the number of labels.

    Parameters
    ----------
    curves : dict of str to Series
        Indexed by the number of labels.
    path : path of the picture
    label : str
        Of the vertical axis.
    log : bool, default=True
    paper : dict of str to dict of int to float, default=None
        Some of these curves as the paper has them, drawn beside ours.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    styles = dict(zip(curves, STYLES, strict=False))
    panels = {"here": {name: dict(curve) for name, curve in curves.items()}}
    if paper:
        shown = {name: paper[name] for name in curves if name in paper}
        panels = {"the paper (read off its figure)": shown, **panels}
    fig, axes = plt.subplots(
        1,
        len(panels),
        figsize=(5 * len(panels) + 1, 4),
        layout="constrained",
        sharex=True,
        sharey=True,
    )
    axes = np.ravel(axes)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for name, line in lines.items():
            marker = "o" if len(line) == 1 else ""
            ax.plot(*zip(*line.items(), strict=True), marker + styles[name], label=name)
        ax.set(xlabel="labels", ylabel=label.replace("_", " "), xscale="log")
        if log:
            ax.set_yscale("log")
        if paper:
            ax.set_title(title)
    handles, names = axes[-1].get_legend_handles_labels()
    fig.legend(handles, names, frameon=False, loc="outside right upper")
    fig.savefig(path, dpi=100)
    plt.close(fig)
