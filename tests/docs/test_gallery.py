"""Every script of the gallery runs and draws."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "plot_deep_ensemble": "skorch",
    "plot_pandas_pipeline": "pandas",
}


@pytest.fixture
def pyplot(tmp_path, monkeypatch):
    """Drawing without a screen, in a directory for what scripts write."""
    pytest.importorskip("matplotlib").use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    yield plt
    plt.close("all")


# Warnings that a reader should not see; the one about a missing screen is expected.
@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem
)
def test_the_script_draws_a_picture_and_warns_of_nothing(path, pyplot):
    pytest.importorskip(NEEDS.get(path.stem, "sklearn"))
    runpy.run_path(str(path), run_name="__main__")
    assert pyplot.get_fignums()
