"""A label that is perhaps a slip of the keyboard does not become a class."""

import pytest
from helpers.annotations import POOL, open_rows, write
from helpers.campaigns import campaign

from sklearn_ase._annotation._answers import refuse_slips
from sklearn_ase.exceptions import NewClassWarning


def _sheet(evaluation, path, labels):
    lines = [f"{row},{x}" for row, x in zip(open_rows(evaluation), labels, strict=True)]
    return write(path, "\n".join(["row,label", *lines]))


@pytest.mark.parametrize(
    ("classes", "slip", "meant"),
    [
        (["yes", "no"], "yess", "yes"),
        (["yes", "no"], "Yes", "yes"),
        (["correct", "wrong"], "corect", "correct"),
        (["correct", "wrong"], "wrnog", "wrong"),
        (["correct", "wrong"], "wrong answer", None),
        (["not sure", "sure"], "notsure", "not sure"),
        (["1", "2"], "1.0", "1"),
        (["class 1", "class 2"], "class 3", None),
        (["cat", "dog"], "bat", None),
    ],
)
def test_a_label_that_is_almost_a_class_is_refused(tmp_path, classes, slip, meant):
    evaluation = campaign(classes, POOL)
    rows = evaluation.ask(3).indices.tolist()
    path = _sheet(evaluation, tmp_path / "batch.csv", [classes[0], slip, classes[1]])
    if meant is None:
        with pytest.warns(NewClassWarning):
            assert evaluation.import_answers(path) == 3
        return
    words = rf"Row {rows[1]}: '{slip}' is none of.*Did you mean '{meant}'\?.*new_cl"
    with pytest.raises(ValueError, match=words):
        evaluation.import_answers(path)
    assert open_rows(evaluation) == rows
    with pytest.warns(NewClassWarning):
        assert evaluation.import_answers(path, new_classes=[slip]) == 3
    assert slip in evaluation.classes_.tolist()


@pytest.mark.parametrize("classes", [[0, 1, 2], [0.5, 1.5]])
def test_a_number_that_is_no_class_is_refused(tmp_path, classes):
    evaluation = campaign(classes, POOL)
    evaluation.ask(2)
    path = _sheet(evaluation, tmp_path / "batch.csv", [classes[1], 7])
    with pytest.raises(ValueError, match=r"7(\.0)? is none of the classes"):
        evaluation.import_answers(path)
    with pytest.warns(NewClassWarning):
        assert evaluation.import_answers(path, new_classes=[7]) == 2


def test_a_sign_without_a_letter_may_mean_that_nobody_can_tell(tmp_path, asked):
    labels = ["cat", "?", "", "", ""]
    path = _sheet(asked, tmp_path / "batch.csv", labels)
    with pytest.raises(ValueError, match=r"pass skip='\?'"):
        asked.import_answers(path)
    assert asked.import_answers(path, skip="?") == 1


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["pass", "pass", "Pass"], "pass"),
        (["good"] * 6 + ["godo"], "good"),
        (["good", "food"], None),
        (["good", "good", "gold", "gold"], None),
    ],
)
def test_new_classes_of_one_file_are_compared_with_each_other(words, meant):
    labels = list(enumerate(words))
    if meant is None:
        refuse_slips(labels, [])
        return
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        refuse_slips(labels, [])


def test_a_second_number_is_a_class_of_a_campaign_that_knows_one():
    assert refuse_slips([(0, 1), (1, 0)], [1]) is None  # Not refused.
    with pytest.raises(ValueError, match="2"):
        refuse_slips([(0, 2)], [0, 1])  # It is, if two numbers are known.
