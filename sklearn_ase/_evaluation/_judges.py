"""Judges: what the experts on the label are worth, by the labels of an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ase._display._blocks import Range, Table, percent
from sklearn_ase._evaluation._questions import (
    Question,
    metric_and_weight,
    pool_metric,
)
from sklearn_ase._evaluation._slices import ColumnTable
from sklearn_ase._inference._questions import BeliefColumns
from sklearn_ase._utils._checks import check_level
from sklearn_ase._utils._typing import Label
from sklearn_ase.metrics import (
    Accuracy,
    CohenKappa,
    LabelMean,
    LabelShare,
    Recall,
    RootMeanSquaredError,
    Specificity,
)
from sklearn_ase.metrics._agreement import (
    AgreementOnOne,
    KappaOnOne,
    score_bias,
    score_correlation,
)

# A score counts as the label from this value on.
_SAYS = 0.5
# With so many labels some of them are among those that the expert says.
_LEAST_WORDS = 5
_OF_CLASSES = ("bias", "tpr", "tnr", "agreement", "kappa", "correlation")
_OF_NUMBERS = ("bias", "rmse", "correlation")
_TITLES = {
    "n_samples": "rows",
    "n_labels": "labels",
    "tpr": "TPR",
    "tnr": "TNR",
    "rmse": "RMSE",
    "effective_labels": "labels as good as",
}


class JudgeTable(ColumnTable):
    """What experts on the label are worth: a dict of columns, one entry per expert.

    ``pandas.DataFrame(table)`` makes a frame of it. A notebook shows it as a table.

    Attributes
    ----------
    level : float
        Of the intervals.
    name : str
        Of the metric that bias and correlation are about.
    label : label or None
        The label that TPR and TNR are about.

    Notes
    -----
    The columns:

    * ``judge``: name of the expert;
    * ``n_samples``, ``n_labels``: rows about which it says something, and labels there.
      All figures are about these rows;
    * ``threshold``: with a correlation below ``1 / sqrt(n_labels - 2)`` no expert
      helps;
    * ``verdict``: what can be made of it, in words.

    The figures. Each comes with two more columns, ``..._low`` and ``..._high``, the
    ends of its interval. They are NaN where there is no interval.

    * ``bias``: value of the metric according to the expert, minus the true value;
    * ``tpr``, ``tnr``: of the rows with the label, the share where the expert says so;
      of the other rows, the share where it says otherwise;
    * ``agreement``, ``kappa``: share of the rows where expert and label agree, and
      Cohen's kappa;
    * ``rmse``: root of the mean squared error (regression, in place of the last four);
    * ``correlation``: of what the expert says of the metric at a row with the truth;
    * ``effective_labels``: number of labels of a plain random sample that are worth as
      much as a plain sample of ``n_labels`` together with this expert alone:
      ``n_labels / (1 - correlation²)``.

    A score counts as the label from 0.5 on. Several probabilities count as the most
    probable label.
    """

    def __init__(
        self, columns: dict[str, Any], level: float, name: str, label: Label = None
    ) -> None:
        super().__init__(columns)
        self.level, self.name, self.label = level, name, label
        about = "" if label is None else f"; TPR and TNR of {label!r}"
        self.title = f"Judges of {name}{about}; {percent(level)} intervals"

    def blocks(self, without: tuple[str, ...] = ()) -> list[Table]:
        """The table, with each figure and its interval in one cell."""
        ends = {f"{name}{end}" for name in self for end in ("_low", "_high")}
        columns = [name for name in self if name not in {*ends, *without}]
        lines = zip(*map(self._cells, columns), strict=True)
        return [Table([title_of_column(n) for n in columns], list(map(list, lines)))]

    def _cells(self, name: str) -> list[Any]:
        """Numbers of a column with their intervals, or its texts."""
        if f"{name}_low" not in self:
            return self[name].tolist()
        ends = (self[name + end].tolist() for end in ("", "_low", "_high"))
        return [Range(*three) for three in zip(*ends, strict=True)]


def title_of_column(name: str) -> str:
    """The name of a column as it is shown."""
    return _TITLES.get(name, name)


def judge_table(evaluation, metric, level):
    """Say what each expert is worth; see :meth:`Evaluation.judges`."""
    check_level(level)
    experts = evaluation.problem.experts
    if experts is None:
        raise ValueError(
            "judges() needs experts, but the evaluation was started without any. Pass "
            "what each judge says about the labels to fit or start, as in "
            'experts={"judge": scores}.'
        )
    evaluation.risk.check(evaluation.state)
    if not evaluation.state.settled.n_labels:
        raise ValueError(
            "judges() needs labels to compare the experts with. Call ask() and tell() "
            "first, and answer the first open query."
        )
    about = _metric_of_a_mean(evaluation, metric)
    label = _label_of(about, evaluation.classes_)
    lines = [_line(evaluation, expert, about, label, level) for expert in experts.each]
    columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
    return JudgeTable(columns, level, about.name, label)


def _metric_of_a_mean(evaluation, metric):
    """The metric that is asked for, or the closest one that is a mean."""
    asked, _ = metric_and_weight(evaluation, metric, None, None)
    classes = evaluation.classes_
    if _mean_of(evaluation, asked) is not None:
        return asked
    label = _label_of(asked, classes)
    if metric is None and classes is None:
        return LabelMean()
    if metric is None and label is not None:
        return LabelShare(label)
    raise ValueError(
        f"judges() needs a metric that is a mean over the rows, but {asked.name} is "
        "none. Pass metric=LabelShare(label), metric=LabelMean() or metric='accuracy'."
    )


def _mean_of(evaluation, metric):
    """Values whose mean is the metric, and its slope; None if there are none."""
    found = pool_metric(evaluation.problem, metric, evaluation.classes_)
    curve = found.curve() if hasattr(found, "parts") else None
    if curve is None or curve[2] != 1.0:
        return None
    return found.parts[0], curve[1]


def _label_of(metric, classes):
    """The label that a metric is about; None if there is none."""
    label = getattr(metric, "label", getattr(metric, "pos_label", None))
    if label is None and classes is not None and len(classes) == 2:
        label = classes[1].item()
    return label


def _line(evaluation, expert, metric, label, level):
    """The figures of one expert, by name."""
    present, classes = expert.is_present, evaluation.classes_
    _, weight = metric_and_weight(evaluation, metric, present, None)
    n_labels = int(present[evaluation.state.indices].sum())
    values, slope = _mean_of(evaluation, metric)
    score = np.nan_to_num(_score(expert, values, metric, classes))
    asked = {"bias": score_bias(values, score, weight, slope)}
    if classes is None:
        asked["rmse"] = RootMeanSquaredError().on_pool(
            np.nan_to_num(expert.values), weight=weight
        )
    else:
        asked |= _counts_of(expert, label, classes, weight)
    has_spread = np.ptp(score[weight > 0]) > 0
    if has_spread:
        centre = values.observed(evaluation.state.indices, evaluation.state.labels)
        asked["correlation"] = score_correlation(values, score, weight, centre.mean())
    line = {"judge": expert.name, "n_samples": int(present.sum()), "n_labels": n_labels}
    for name in _OF_NUMBERS if classes is None else _OF_CLASSES:
        found = np.full(3, np.nan)
        if name in asked and n_labels:
            found = _answer(evaluation, asked[name], weight, level)
        for end, value in zip(("", "_low", "_high"), found, strict=True):
            line[name + end] = value
    ends = line["correlation"], line["correlation_low"], line["correlation_high"]
    worth = _worth(*ends)
    for end, each in zip(("", "_low", "_high"), worth, strict=True):
        line[f"effective_labels{end}"] = n_labels * each
    line["threshold"] = (n_labels - 2) ** -0.5 if n_labels > 2 else np.inf
    line["verdict"] = _verdict(ends, worth, line["threshold"], has_spread)
    if classes is not None and n_labels >= _LEAST_WORDS:
        told = evaluation.state.labels[present[evaluation.state.indices]]
        line["verdict"] = _of_other_words(expert, told) or line["verdict"]
    return line


def _of_other_words(expert, told):
    """Say that an expert and people have no label in common; empty if they have."""
    said = expert.columns[np.nanmax(expert.values, axis=0) > 0]
    if len(expert.columns) == 1 or np.isin(told, said).any():
        return ""
    said, told = said[:3].tolist(), np.unique(told)[:3].tolist()
    return f"useless: it says {said} where people say {told}; map its labels to theirs"


def _score(expert, values, metric, classes):
    """What the expert says of the values at each row; NaN where it says nothing."""
    if classes is None:
        word = BeliefColumns(mean=expert.values, variance=np.zeros(len(expert.values)))
    elif expert.columns.tolist() == [getattr(metric, "label", None)]:
        return expert.values[:, 0]  # A score is about the metric itself.
    else:
        word = BeliefColumns(classes, proba=expert.proba_for(classes))
    return values.moments(word)[0]


def _counts_of(expert, label, classes, weight):
    """Metrics that count what the expert says, as a dict of PoolMetric."""
    values, columns = np.nan_to_num(expert.values), expert.columns
    is_score, knows_all = len(columns) == 1, len(columns) > 1 or len(classes) == 2
    if is_score:
        other = classes[classes != columns[0]][0]
        said = np.where(values[:, 0] >= _SAYS, columns[0], other)
    else:
        said = columns[values.argmax(axis=1)]
    if knows_all:
        metrics = {"agreement": Accuracy(), "kappa": CohenKappa()}
    else:  # A score of one of many labels says nothing about the others.
        metrics = {
            "agreement": AgreementOnOne(columns[0]),
            "kappa": KappaOnOne(columns[0]),
        }
    if label is not None and (knows_all or label == columns[0]):
        metrics |= {"tpr": Recall(label), "tnr": Specificity(label)}
    return {
        name: metric.on_pool(said, classes, weight).without_idle_parts()
        for name, metric in metrics.items()
    }


def _answer(evaluation, metric, weight, level):
    """Value and interval of a metric of the pool; NaN where there is none."""
    if not metric.parts:
        return metric.value(np.empty(0)), np.nan, np.nan
    question = Question(metric, None, weight)
    found = evaluation.answer(evaluation.risk, question, evaluation.state)
    if found.refusal:
        return found.value, np.nan, np.nan
    return found.value, *found.interval(level)


def _worth(value, low, high):
    """Labels of a plain sample that a label with this judge is worth, with ends."""
    squares = np.array([value, low, high]) ** 2
    least = 0.0 if low <= 0 <= high else squares[1:].min()
    with np.errstate(divide="ignore"):
        found = 1.0 / (1.0 - np.array([squares[0], least, squares[1:].max()]))
    return np.where(np.isnan(squares), np.nan, np.abs(found))


def _verdict(correlation, worth, threshold, has_spread):
    value, low, high = correlation
    if not has_spread:
        return "useless: it says the same of every row"
    if np.isnan(low):
        return "not known: no interval for its correlation yet"
    if low <= 0 <= high and low < high:
        return "useless so far: its correlation may be 0"
    if abs(value) < threshold:
        return "too weak to help with so few labels"
    words = f"worth {worth[0]:.2g} labels each"
    return f"says the opposite: turned around, {words}" if value < 0 else words
