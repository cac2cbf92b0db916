"""Progress bars, and what notebooks show."""

import math
import re
import sys
from types import SimpleNamespace

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveModelSelector
from sklearn_ase._display import _html
from sklearn_ase._display._blocks import Facts, Table, Words
from sklearn_ase._utils._display import progress

_CELLS = []  # Each test is a cell of its own.


class Box:
    """What a notebook shows in one place: every picture, the last one last."""

    def __init__(self, html):
        self.pictures = [html]

    def update(self, html):
        self.pictures.append(html)


@pytest.fixture
def notebook(monkeypatch):
    """The boxes below a cell; a stand-in for a kernel of Jupyter."""
    boxes = []

    def display(html, display_id):
        assert display_id is True  # Without one it could not be rewritten.
        boxes.append(Box(html))
        return boxes[-1]

    kernel = SimpleNamespace(kernel="a kernel", execution_count=len(_CELLS))
    _CELLS.append(kernel)
    shell = SimpleNamespace(get_ipython=lambda: kernel)
    module = SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return boxes


def test_progress_is_shown_with_the_running_estimate(evaluator, digits, capsys):
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    assert capsys.readouterr().err == ""
    evaluator.set_params(verbose=1)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    shown = capsys.readouterr().err
    assert "12/12" in shown
    assert f"risk {evaluator.risk_.value:.4g}" in shown


def test_a_line_with_an_interval_fits_into_a_terminal(evaluator, digits, capsys):
    evaluator.set_params(verbose=1, n_labels=30, metric="f1_macro")
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    lines = capsys.readouterr().err.strip("\r\n").split("\r")
    low, high = evaluator.estimate_.interval(0.9)
    assert lines[-1].rstrip().endswith(f"90 % interval {low:.4g} to {high:.4g}")
    assert {len(line) for line in lines} == {79}  # Each covers the one before.
    assert any("refitting the surrogate" in line for line in lines)


def test_a_notebook_shows_where_an_evaluation_stands(evaluator, digits):
    html = evaluator.start(digits.X)._repr_html_()
    assert "0 labels of a pool of 120" in html
    assert "queries" not in html  # None was asked, none is open.
    rows = {"X_train": digits.X_train, "y_train": digits.y_train}
    fresh = evaluator.start(digits.X, **rows)
    assert f"{fresh.estimate():.4g}" in fresh._repr_html_()
    assert "zero-shot" in fresh._repr_html_()
    evaluator.set_params(n_labels=30)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    evaluation = evaluator.evaluation_
    query = evaluation.ask(2)
    html = evaluation._repr_html_()
    low, high = evaluator.risk_.interval(0.9)
    last = evaluator.history_["index"][-1]
    for words in (
        "30 of 30 labels",
        f"{evaluator.risk_.value:.4g}",
        f"{low:.4g} to {high:.4g}",
        evaluation.diagnose().advice,
        f"row {last}: {digits.y[last]}",
        f"row {query.indices[0]}: open",
    ):
        assert words in html
    value = evaluator.risk_.value
    assert (
        repr(evaluation) == f"<Evaluation: 30 of 30 labels, 2 open, risk {value:.4g}>"
    )


def test_a_notebook_shows_an_estimate_and_why_it_has_no_interval(evaluator, digits):
    risk = evaluator.fit(
        digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train
    ).risk_
    html = risk._repr_html_()
    assert "none. No interval from 12 labels" in html
    assert f"{risk.value:.4g}" in html


def test_a_notebook_shows_one_box_with_the_running_estimate(
    evaluator, digits, notebook, capsys
):
    evaluator.set_params(verbose=1, n_labels=30)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    (box,) = notebook
    assert "labels: 0 of 30" in box.pictures[1]  # The first one is empty.
    assert any("refitting the surrogate" in picture for picture in box.pictures)
    low, high = evaluator.risk_.interval(0.9)
    estimate = f"risk {evaluator.risk_.value:.4g}"
    assert f"{estimate}, 90 % interval {low:.4g} to {high:.4g}" in box.pictures[-1]
    assert "labels: 30 of 30" in box.pictures[-1]
    assert "left" not in box.pictures[-1]
    assert capsys.readouterr() == ("", "")


def test_the_box_of_a_choice_names_the_best_model(digits, notebook):
    X, y = digits.X_train, digits.y_train
    models = {
        "bayes": GaussianNB().fit(X, y),
        "stump": DecisionTreeClassifier(max_depth=1).fit(X, y),
    }
    selector = ActiveModelSelector(models, n_labels=20, random_state=0, verbose=1)
    selector.fit(digits.X, digits.y)
    words = f"best model {selector.best_name_}, accuracy {selector.best_score_:.4g}"
    assert words in notebook[0].pictures[-1]
    html = selector.selection_._repr_html_()
    assert "<b>ModelSelection</b>" in html
    assert re.search(rf"best model</th><td[^>]*>{selector.best_name_}<", html)


def test_the_time_that_is_left_is_shown(capsys, monkeypatch):
    clock = iter([0, 0, 60, 300, 7300])
    # Not the clock of everybody: other threads look at that one.
    only_here = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("sklearn_ase._utils._display.time", only_here)
    with progress(12, "steps", verbose=1, start=2) as show:
        show(7)
        show(8, "a text")
        # It ends early, as with a stopping rule.
    lines = [line.rstrip() for line in capsys.readouterr().err.split("\r")[1:]]
    assert lines == [
        "steps: 2/12",
        "steps: 7/12, 60 s left",  # The first two took no time.
        "steps: 8/12, 3 min left, a text",
        "steps: 8/12, 2 h, a text",
    ]


def test_an_oracle_that_fails_leaves_the_line_complete(evaluator, digits, capsys):
    def oracle(indices):
        raise OSError("nobody is there")

    evaluator.set_params(verbose=1)
    with pytest.raises(OSError, match="nobody"):
        evaluator.fit(digits.X, oracle)
    assert capsys.readouterr().err.endswith("\n")


def test_a_box_is_not_redrawn_more_often_than_can_be_seen(notebook):
    with progress(10_000, "steps", verbose=1) as show:
        for done in range(1, 10_001):
            show(done)
    (box,) = notebook
    assert len(box.pictures) < 100
    assert "steps: 10000 of 10000" in box.pictures[-1]


def test_a_notebook_shows_a_diagnosis_in_words(evaluator, digits):
    evaluator.set_params(n_labels=30)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    diagnosis = evaluator.evaluation_.diagnose()
    html = diagnosis._repr_html_()
    for words in (diagnosis.advice, *diagnosis.describe().values()):
        assert words in html


def test_numbers_of_a_table_stand_below_each_other():
    html = _html.notebook("t", Table(["name", "value"], [["a", 0.5], ["b", math.nan]]))
    sides = re.findall(r'<t[hd] style="text-align:(\w+)">', html)
    assert sides == ["left", "right"] * 3


def test_what_is_shown_is_escaped():
    assert _html.notebook("<b>", Facts({"<b>": "<b>"})).count("&lt;b&gt;") == 3
    html = _html.notebook("<b>", Table(["<b>"], [["<b>"]]), Words("<b>"))
    assert html.count("&lt;b&gt;") == 4


def test_a_table_without_rows_has_its_names():
    assert "name" in _html.notebook("t", Table(["name"], []))
