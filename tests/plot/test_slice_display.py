"""The display of slices draws what the table says."""

import numpy as np
import pytest
from helpers.questions import GROUPS, buy, start

from sklearn_ase import SliceDisplay

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def evaluation():
    return buy(start(loss="zero_one"), 35)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("metric", [None, "f1", "roc_auc"])
def test_a_bar_for_each_group_with_an_interval(evaluation, metric):
    display = SliceDisplay.from_evaluation(evaluation, GROUPS, metric=metric)
    drawn = display.bars_.lines[0].get_xdata()
    assert drawn.tolist() == display.table["estimate"].tolist()
    ends = np.sort(display.bars_.lines[2][0].get_segments(), axis=1)[:, :, 0]
    assert ends[:, 0] == pytest.approx(display.table["low"])
    assert ends[:, 1] == pytest.approx(display.table["high"])
    assert display.overall == float(evaluation.estimate(metric=metric))


def test_a_group_without_an_interval_is_a_hollow_point(evaluation):
    display = SliceDisplay.from_evaluation(evaluation, evaluation.state.free)
    assert len(display.bars_.lines[0].get_xdata()) == 1
    assert len(display.points_.get_offsets()) == 1
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "too few labels for an interval" in texts


def test_names_and_label_counts_are_beside_the_groups(evaluation):
    display = SliceDisplay.from_evaluation(evaluation, GROUPS)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    counts = display.table["n_labels"]
    assert names[0] == f"high  ({counts[0]} labels)"


def test_it_draws_on_given_axes_and_passes_the_question_on(evaluation):
    _, ax = plt.subplots()
    display = SliceDisplay.from_evaluation(
        evaluation, GROUPS, ax=ax, metric="recall", level=0.5, simultaneous=True
    )
    assert display.ax_ is ax
    assert display.table.level == 0.5
    assert ax.get_xlabel() == "recall"
