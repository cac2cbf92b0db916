"""The page of a report is whole, loads nothing, and shows any text as text."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.reports import (
    REGION,
    Page,
    chosen,
    classified,
    complete,
    judged,
    models,
    regressed,
)

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._display._blocks import Range, number, plain
from sklearn_ase.metrics import LabelShare

HOSTILE = [
    "<script>alert('x')</script>",
    "</td></table><img src=https://evil.example/x.png onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "]]><style>@import url(//evil.example)</style>",
    "=HYPERLINK(1)|`tick` *star* _line_ [x](https://evil.example) ![](x)",
    "\x1b[31mred\x07 \x00 \u202edlrow\u2066",
    "two\nlines\r\n\u2028three",
    "\udc80 half",
    "x" * 5000,
]
ALPHABETS = ["Ответ 答え", "جواب 12 صحيح", "می\u200cخواهم", "नमस्ते", "👩\u200d💻 é"]


def hostile():
    """An evaluation in which every name is hostile."""
    rng = np.random.default_rng(0)
    label = HOSTILE[0] + HOSTILE[5]
    labels = np.where(rng.random(150) < 0.6, label, HOSTILE[3])
    experts = {HOSTILE[2]: rng.random(150), HOSTILE[4]: rng.random(150)}
    evaluator = ActiveRiskEstimator(metric=LabelShare(label), random_state=0)
    evaluation = evaluator.start(None, experts=experts)
    evaluation.run(labels, 40)
    texts = [*HOSTILE, *ALPHABETS]
    columns = [texts[row % len(texts)] for row in range(150)]
    return evaluation.report(
        by={HOSTILE[1]: columns}, columns={HOSTILE[5]: columns}, title=HOSTILE[1]
    )


REPORTS = {
    "judged": lambda: judged().report(by=REGION),
    "classified": lambda: classified().report(compare=models(), metrics=["f1", "r2"]),
    "regressed": lambda: regressed(40).report(),
    "empty": lambda: regressed(0).report(),
    "one": lambda: regressed(1).report(),
    "complete": lambda: complete().report(),
    "chosen": lambda: chosen().report(),
    "hostile": hostile,
}


@pytest.fixture(params=REPORTS, scope="module")
def report(request):
    return REPORTS[request.param]()


def test_every_tag_is_closed(report):
    assert Page(report.to_html()).problems == []
    assert Page(report._repr_html_()).problems == []


def test_nothing_is_loaded_and_nothing_runs(report):
    page = Page(report.to_html())
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"script", "img", "link", "iframe", "object", "a", "base"})
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in attributes if name.startswith("on")]
    assert attributes.isdisjoint({"src", "href", "xlink:href", "srcset", "action"})
    (policy,) = [a["content"] for _, a in page.tags if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    styles = re.findall(r"<style>(.*?)</style>", report.to_html(), re.DOTALL)
    assert len(styles) == 2
    assert not re.search(r"url\(|@import|http", "".join(styles))


def test_both_forms_have_the_same_sections(report):
    html, text = report.to_html(), report.to_markdown()
    assert html.count("<h2>") == text.count("\n## ") == len(report.sections)
    assert html.count("<h1>") == 1
    assert text.startswith("# ")


def test_a_notebook_gets_the_same_without_the_head_of_a_page(report):
    shown = report._repr_html_()
    assert shown in report.to_html()
    assert "<html" not in shown


def test_hostile_text_is_shown_as_text():
    report = hostile()
    html = report.to_html()
    page = Page(html)
    text = page.text
    for word in HOSTILE[:5]:
        assert plain(word) in text
    assert "\\x1b[31mred\\x07" in text
    assert "\\u202edlrow\\u2066" in text
    assert "\\udc80 half" in text
    assert "two lines three" in text
    assert "x" * 199 + "…" in text
    assert "x" * 200 not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", html)
    for word in ALPHABETS:
        assert word in text
    assert f"<bdi>{ALPHABETS[1]}</bdi>" in html


def test_hostile_text_is_no_markup_in_markdown():
    text = hostile().to_markdown()
    assert "<" not in text.replace("&lt;", "")
    assert "](" not in text.replace("\\](", "")
    assert "https://" not in text
    assert "\\`tick\\` \\*star\\* \\_line\\_" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1
    for word in ALPHABETS:
        assert word in text


@pytest.mark.parametrize("ending", ["html", "htm", "md"])
def test_a_file_is_written_as_a_whole(tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    judged().report(path, title="before")
    report = judged().report(path)
    expected = report.to_markdown() if ending == "md" else report.to_html()
    assert path.read_text(encoding="utf-8") == expected
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    before = judged().report(path).to_html()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        judged().report(path)
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_frames_and_series_name_groups_and_columns():
    frame = pd.DataFrame({"region": REGION, "note": np.arange(200.0)})
    report = judged().report(by=frame["region"], columns=frame)
    assert "By region" in repr(report)
    assert "| row | region | note | label |" in report.to_markdown()


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.7243, 0.67, 0.772), "0.724 (0.670 to 0.772)"),
        ((4569.2, 3716.0, 6305.0), "4569 (3716 to 6305)"),
        ((0.12, -0.001, 0.22), "0.12 (0.00 to 0.22)"),
        ((0.5, np.nan, np.nan), "0.5"),
        ((1.0, 1.0, 1.0), "1"),
        ((1e-7, 0.0, 2e-7), "1e-07 (0 to 2e-07)"),
    ],
)
def test_numbers_have_the_decimals_that_their_interval_supports(numbers, text):
    assert str(Range(*numbers)) == text


def test_no_number_is_an_empty_text():
    assert number(np.nan) == ""
