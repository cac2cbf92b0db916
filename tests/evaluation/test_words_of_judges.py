"""A judge who says other words than people is refused, or found out."""

import numpy as np
import pandas as pd
import pytest

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
VERDICTS = np.where(RNG.random(120) < 0.8, Y, 1 - Y)
WORDS = np.where(VERDICTS == 1, "pass", "fail")


def _fit(y, judge, metric, classes):
    evaluator = ActiveRiskEstimator(
        metric=metric, classes=classes, n_labels=40, random_state=0
    )
    return evaluator.fit(None, y, experts={"judge": judge}).evaluation_


@pytest.mark.parametrize("classes", [None, "all"])
@pytest.mark.parametrize("kind", [int, str])
def test_a_judge_with_none_of_the_labels_is_refused_with_how_to_translate_it(
    kind, classes
):
    y = Y.astype(kind)
    classes = None if classes is None else np.unique(y)
    share = LabelShare(y[Y == 1][0].item())
    with pytest.raises(ValueError, match=r"experts\['judge'\] holds.*map\(\{'fail'"):
        _fit(y, WORDS, share, classes)
    zero, one = np.unique(y).tolist()
    judge = pd.Series(WORDS).map({"fail": zero, "pass": one})
    verdict = _fit(y, judge, share, [zero, one]).judges()["verdict"][0]
    assert "labels each" in verdict


def test_a_judge_whose_words_nobody_uses_is_called_useless():
    names = np.array(["wrong", "correct"])
    classes = ["correct", "wrong", "pass", "fail"]
    found = _fit(names[Y], WORDS, LabelShare("correct"), classes).judges()
    words = "useless: it says ['fail', 'pass'] where people say ['correct', 'wrong']"
    assert found["verdict"][0].startswith(words)
    same = _fit(names[Y], names[VERDICTS], LabelShare("correct"), classes).judges()
    assert "useless" not in same["verdict"][0]
