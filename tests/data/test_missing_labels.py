"""Missing labels are refused, in whatever container they come."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.campaigns import campaign
from helpers.iris_campaign import X, make_evaluator

MISSING = {
    "list": ["cat", float("nan")],
    "none": ["cat", None],
    "object": np.array(["cat", np.nan], dtype=object),
    "series": pd.Series(["cat", np.nan]),
    "string": pd.Series(["cat", None], dtype="string"),
    "category": pd.Series(["cat", None], dtype="category"),
    "polars": pl.Series(["cat", None]),
    "numbers": pd.Series([1, None], dtype="Int64"),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused(labels):
    classes = [0, 1] if "Int64" in str(getattr(labels, "dtype", "")) else ["cat", "dog"]
    evaluation = campaign(classes, X)
    rows = evaluation.ask(2).indices
    message = rf"Missing labels.* in rows \[{rows[1]}\]\. .*evaluation\.skip"
    with pytest.raises(ValueError, match=message):
        evaluation.tell(rows, labels)
    assert evaluation.classes_.tolist() == classes
    with pytest.raises(ValueError, match=r"Missing y_train.* in rows \[1\]\. Leave"):
        make_evaluator().start(X, X_train=X[:2], y_train=labels)


def test_of_many_missing_labels_the_first_are_named():
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(8).indices
    with pytest.raises(ValueError, match=r"\] and 3 more\. "):
        evaluation.tell(rows, [None] * 8)
    with pytest.raises(ValueError, match=rf"rows \[{rows[1]}\]\. "):
        evaluation.tell(rows[:2], [["cat", "dog"], ["cat", np.nan]])
    evaluation.tell(rows[:1], ["cat"])
    with pytest.raises(ValueError, match=rf"rows \[{rows[0]}\]\. "):
        evaluation.correct(rows[0], ["cat", np.nan])


@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series])
def test_a_row_that_has_no_label_in_y_is_named(make):
    y = make([float("nan")] * len(X))
    evaluator = make_evaluator(n_labels=5)
    for batch_size, found in ((1, r"Row \d+ was"), (5, r"Rows \[\d+.*\d\] were")):
        evaluator.set_params(batch_size=batch_size)
        match = f"{found} asked for, but y has no label there. .*answer the rows that"
        with pytest.raises(ValueError, match=match):
            evaluator.fit(X, y)
