"""Tasks, annotations and exports of a real server; see CONTRIBUTING.md."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.annotations import open_rows, write
from helpers.campaigns import campaign
from helpers.label_studio import find_label_studio, label_studio

pytestmark = pytest.mark.label_studio

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "annotators.md"
OTHERS = (
    '<Rating name="sure" toName="item"/><TextArea name="comment" toName="item"/></View>'
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    program = find_label_studio()
    if program is None:
        pytest.skip("label-studio is not installed")
    with label_studio(program, tmp_path_factory.mktemp("label_studio")) as server:
        yield server


def interface():
    """The labelling interface of the guide, with a rating and a comment added."""
    config = re.search(r"```xml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)[1]
    return config.replace("</View>", OTHERS)


def answer(kind, value, control="label"):
    key = {"textarea": "text"}.get(kind, kind)
    names = {"from_name": control, "to_name": "item"}
    return {**names, "type": kind, "value": {key: value}}


def choice(label):
    return answer("choices", [str(label)])


SURE, NOTE = answer("rating", 4, "sure"), answer("textarea", ["2"], "comment")


def send(server, evaluation, config, path, **options):
    """Export open rows, import them; returns the project and the tasks by row."""
    evaluation.export(evaluation.pending, path, **options)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    project, ids = server.add_project(config, tasks)
    rows = [task["data"]["row"] for task in tasks]
    return project, dict(zip(rows, ids, strict=True))


@pytest.mark.parametrize("kind", ["JSON", "JSON_MIN"])
def test_choices_of_two_annotators_come_back(server, tmp_path, kind):
    X = pd.DataFrame({"x": [np.nan, np.inf, -np.inf, 0.5] * 3, "town": "Zürich"})
    evaluation = campaign([0, 1, 2], X, is_closed=True)
    rows = evaluation.ask(7).indices.tolist()
    path = tmp_path / "tasks.json"
    project, tasks = send(
        server, evaluation, interface(), path, predictions=np.arange(12) % 3
    )
    second = server.add_user(f"second-{kind}".lower())
    server.annotate(tasks[rows[0]], [SURE, choice(2), NOTE])
    server.annotate(tasks[rows[1]], [choice(1)])
    server.annotate(tasks[rows[1]], [NOTE, choice(0), SURE], second)
    server.annotate(tasks[rows[2]], [choice(2)], second)
    server.annotate(tasks[rows[2]], [choice(0), SURE])
    server.annotate(tasks[rows[3]], [SURE, NOTE])
    server.annotate(tasks[rows[4]], [], was_cancelled=True)
    server.annotate(tasks[rows[5]], [], was_cancelled=True)
    server.annotate(tasks[rows[5]], [choice(1)], second)

    path = write(tmp_path / "export.json", server.export(project, kind))
    assert evaluation.import_answers(path) == 4
    assert evaluation.ledger.labels == {rows[0]: 2, rows[1]: 1, rows[2]: 2, rows[5]: 1}
    more = {row: list(some) for row, some in evaluation.ledger.more_labels.items()}
    assert more == {rows[1]: [0], rows[2]: [0]}
    # JSON-MIN leaves out what was skipped.
    skipped = [rows[4]] if kind == "JSON" else []
    assert evaluation.ledger.skipped == skipped
    waiting = [row for row in (rows[3], rows[4], rows[6]) if row not in skipped]
    assert open_rows(evaluation) == waiting
    assert evaluation.import_answers(path) == 0


@pytest.mark.parametrize("kind", ["JSON", "JSON_MIN"])
def test_numbers_come_back(server, tmp_path, kind):
    evaluation = campaign(None, np.arange(12.0)[:, None])
    rows = evaluation.ask(3).indices.tolist()
    number = '<Number name="label" toName="item"/>'
    config = re.sub(r"(?s)<Choices.*</Choices>", number, interface())
    guess = np.where(np.arange(12) == rows[0], np.nan, 0.5)
    path = tmp_path / "tasks.json"
    project, tasks = send(server, evaluation, config, path, predictions=guess)
    server.annotate(tasks[rows[0]], [SURE, answer("number", -0.1)])
    server.annotate(tasks[rows[1]], [answer("number", 3), NOTE])
    path = write(tmp_path / "export.json", server.export(project, kind))
    assert evaluation.import_answers(path) == 2
    assert evaluation.ledger.labels == {rows[0]: -0.1, rows[1]: 3.0}


@pytest.mark.parametrize("kind", ["JSON", "JSON_MIN"])
def test_classes_of_any_name_come_back(server, tmp_path, kind):
    names = ["nan", "None", "=1+1", 'Käse & "Wurst" <b>']
    evaluation = campaign(sorted(names), [f"text {i}, 東京" for i in range(12)])
    rows = evaluation.ask(4).indices.tolist()
    config = (
        '<View><Text name="item" value="$text"/>'
        '<Choices name="label" toName="item" choice="single"><Choice value="nan"/>'
        '<Choice value="None"/><Choice value="=1+1"/>'
        '<Choice value="Käse &amp; &quot;Wurst&quot; &lt;b&gt;"/></Choices></View>'
    )
    guess = np.array(names * 3)
    path = tmp_path / "tasks.json"
    project, tasks = send(server, evaluation, config, path, predictions=guess)
    for row, name in zip(rows, names, strict=True):
        server.annotate(tasks[row], [choice(name)])
    path = write(tmp_path / "export.json", server.export(project, kind))
    assert evaluation.import_answers(path) == 4
    assert evaluation.ledger.labels == dict(zip(rows, names, strict=True))
