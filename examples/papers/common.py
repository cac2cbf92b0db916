"""What the scripts of the paper share: arguments, files of results, figures."""

import argparse
from pathlib import Path

import numpy as np


def parser(description):
    """Arguments that every script has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--preset", choices=["cpu", "paper"], default="cpu")
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="a few dozen images, one epoch, one run: does it run?",
    )
    parser.add_argument("--data-dir", help="local files; downloads without")
    parser.add_argument("--out", required=True, help="directory of results, continued")
    parser.add_argument("--runs", type=int, help="instead of the preset's")
    parser.add_argument(
        "--epochs", type=int, help="of networks, instead of the preset's"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--report", action="store_true", help="only read the results")
    return parser


def result_path(args, *words):
    """Path of a result; the name tells the preset, tiny runs and epochs apart."""
    epochs = [f"{args.epochs} epochs"] if args.epochs else []
    words = [args.preset, *["tiny"] * args.tiny, *epochs, *words]
    return Path(args.out) / " ".join(words)


def finished(path):
    """The same path, if there is such a file."""
    if not Path(path).exists():
        raise SystemExit(f"There is no {path}: run once without --report.")
    return path


def write_csv(table, path):
    """Write a table as a CSV file, whole or not at all."""
    partial = path.with_suffix(".part")
    table.to_csv(partial, index=False)
    partial.replace(path)


STYLES = ["k:", "C0--", "C1-", "C2-.", "C4--", "C5:", "C3-"]
LIMIT = "finite pool"  # In grey, as in the paper.


def draw_curves(curves, path, label, log=True, paper=None, bands=None):
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
    bands : dict of str to DataFrame, default=None
        Lower and upper ends of a shaded band about each curve.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    others = [name for name in curves if name != LIMIT]
    styles = {**dict(zip(others, STYLES, strict=False)), LIMIT: "C7-"}
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
    for name, band in (bands or {}).items():
        color = styles[name].rstrip("-.:")
        axes[-1].fill_between(
            band.index, *band.T.to_numpy(), color=color, alpha=0.15, lw=0
        )
    handles, names = axes[-1].get_legend_handles_labels()
    fig.legend(handles, names, frameon=False, loc="outside right upper")
    fig.savefig(path, dpi=100)
    plt.close(fig)
