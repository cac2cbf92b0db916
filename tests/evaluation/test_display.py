"""Progress bars, and what notebooks show."""

import sys

from sklearn_ase._utils._html import html_table


def test_progress_is_shown_with_the_running_estimate(evaluator, digits, capsys):
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    assert capsys.readouterr().err == ""
    evaluator.set_params(verbose=1)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    shown = capsys.readouterr().err
    assert "12/12" in shown
    assert f"risk {evaluator.risk_.value:.4g}" in shown


def test_progress_needs_nothing_installed(evaluator, digits, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    evaluator.set_params(verbose=1)
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    shown = capsys.readouterr().err
    assert "labels: 12/12 (100 %) risk" in shown
    assert "refitting the surrogate" in shown


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


def test_what_is_shown_is_escaped():
    assert "&lt;b&gt;" in html_table("<b>", [("a", "<b>")])
