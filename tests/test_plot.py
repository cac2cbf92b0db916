"""Displays draw what they are given and nothing else."""

import numpy as np
import pytest

from sklearn_ase import LabelEfficiencyDisplay
from sklearn_ase.simulation import LabelEfficiency
from sklearn_ase.simulation._result import COLUMNS

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def _result():
    rng = np.random.default_rng(0)
    rows = [
        (
            "default",
            run,
            0,
            risk,
            count,
            value,
            value - 0.1,
            value + 0.1,
            1.0,
            0.0,
            0.3,
            1,
        )
        for run in range(4)
        for risk in ("ASE", "Guarded")
        for count in (10, 50)
        for value in [0.3 + rng.normal() / count]
    ]
    columns = zip(*rows, strict=True)
    return LabelEfficiency(
        {
            name: np.array(column, dtype=kind)
            for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)
        }
    )


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("figure", ["mean_squared_error", "coverage", "bias", "width"])
def test_a_line_for_each_risk_with_the_figures_of_the_summary(figure):
    result = _result()
    display = LabelEfficiencyDisplay.from_result(result, figure=figure)
    assert [line.get_label() for line in display.lines_] == ["ASE", "Guarded"]
    figures = result.summary()
    drawn = np.concatenate([line.get_ydata() for line in display.lines_])
    np.testing.assert_array_equal(drawn, figures[figure])
    assert display.ax_.get_xlabel() == "labels"


def test_draws_on_given_axes_and_only_the_risks_asked_for():
    _, ax = plt.subplots()
    display = LabelEfficiencyDisplay(_result().summary()).plot(ax, risks=["ASE"])
    assert display.ax_ is ax
    assert len(display.lines_) == 1


def test_an_unknown_figure_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="mean_squared_error"):
        LabelEfficiencyDisplay(_result().summary()).plot(figure="beauty")
