"""Sections of a report, as blocks; each calls the methods of the evaluation."""

from __future__ import annotations

import math
import platform
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._labels import group_name
from sklearn_ase._display._blocks import (
    Curve,
    Facts,
    Headline,
    Items,
    Range,
    Table,
    Verdict,
    Words,
    counted,
    ends,
    number,
    percent,
    roughly,
)
from sklearn_ase._evaluation._judges import title_of_column
from sklearn_ase._labels._fingerprint import fingerprint
from sklearn_ase._labels._journal import described
from sklearn_ase._utils._estimators import draw_seed, unfrozen, unwrap
from sklearn_ase._version import __version__
from sklearn_ase.metrics import LabelMean, LabelShare, MeanLoss, as_metric
from sklearn_ase.metrics._lookup import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._data._sampling import PoolSample
    from sklearn_ase._evaluation._compare import Comparison
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._utils._typing import Method
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._estimate import Estimate

# A picture shows no more points.
_MOST_POINTS = 400
_MOST_LINES = 12


def name_of(evaluation: Evaluation, metric: str | BaseMetric | None = None) -> str:
    """Return the name of a metric as the report shows it."""
    metric = evaluation.plan.metric if metric is None else metric
    if metric is None:
        return MeanLoss(evaluation.problem.loss).name
    return title_of(as_metric(metric))


def range_of(found: Estimate, level: float, method: Method = "fixed") -> Range:
    """Return an estimate with its interval."""
    if not has_interval(found):
        return Range(float(found))
    low, high = found.interval(level, method)
    return Range(float(found), low, high)


def has_interval(found: Estimate) -> bool:
    """Return whether an estimate has an interval."""
    return not found.refusal and math.isfinite(found.standard_error)


def estimate_blocks(
    evaluation: Evaluation, level: float, groups: Any = None
) -> Iterator[Any]:
    """The estimate with its intervals."""
    found, name = evaluation.estimate(groups=groups), name_of(evaluation)
    fixed, anytime = (range_of(found, level, how) for how in ("fixed", "anytime"))
    yield Headline(name, fixed, anytime, level)
    yield Words(_sentence(evaluation, found, name, fixed, level))
    if not has_interval(found):
        reason = found.refusal.removeprefix("No interval: ")
        reason = f"There is no interval. {reason[:1].upper()}{reason[1:]}"
        yield Words(reason.rstrip(), is_missing=True)
        return
    # All numbers of this section have the same decimals.
    facts = {} if fixed.is_known else _of_looks(found, fixed, anytime, level)
    facts |= _of_population(found, level, fixed.reach, groups is not None)
    facts["note"] = getattr(found, "note", "")
    if any(facts.values()):
        yield Facts(facts)


def metric_blocks(
    evaluation: Evaluation, metrics: list[str | BaseMetric], level: float
) -> Iterator[Any]:
    """Other metrics from the same labels; each that fails says why."""
    yield Words(
        "The same labels answer other questions about the same rows. The rows were "
        f"picked for {name_of(evaluation)}, so other metrics may be less precise."
    )
    rows = []
    for metric in metrics:
        try:
            found = evaluation.estimate(metric=metric)
            note = found.refusal or getattr(found, "note", "")
            rows.append([name_of(evaluation, metric), range_of(found, level), note])
        except Exception as error:
            name = getattr(metric, "name", metric)
            rows.append([str(name), math.nan, f"Not available: {error}"])
    head = ["metric", f"estimate ({percent(level)} interval)", "note"]
    if not any(row[2] for row in rows):
        head, rows = head[:2], [row[:2] for row in rows]
    yield Table(head, rows)


def curve_blocks(evaluation: Evaluation, level: float) -> Iterator[Any]:
    """The estimate as labels came."""
    columns = _curve(evaluation, level)
    if not len(columns["n_labels"]):
        raise ValueError("No label has an estimate yet.")
    name = name_of(evaluation)
    if len(columns["n_labels"]) > 1:
        yield Curve(name, level, _thinned(columns, _MOST_POINTS))
    else:
        n_labels = counted(int(columns["n_labels"][0]), "label")
        yield Words(f"There is one estimate so far, after {n_labels}.")
    forecast = _forecast(evaluation, level)
    if forecast:
        yield Words(forecast)
    points = _thinned(columns, _MOST_LINES)
    head = ["labels", f"{name} ({percent(level)} interval, for one look)"]
    looks, any_looks = _ranges(points, ""), _ranges(points, "anytime_")
    rows = zip(points["n_labels"].tolist(), looks, any_looks, strict=True)
    head.append("for any number of looks")
    yield Table(head, list(map(list, rows)), is_folded=True)


def _ranges(columns: dict[str, np.ndarray], prefix: str) -> list[Range]:
    """Estimates with those intervals that have two ends."""
    names = ("estimate", f"{prefix}low", f"{prefix}high")
    ranges = [Range(*each) for each in zip(*map(columns.get, names), strict=True)]
    return [each if each.has_ends else Range(each.value) for each in ranges]


def _sentence(
    evaluation: Any, found: Any, name: str, fixed: Range, level: float
) -> str:
    """The estimate in words."""
    problem, n_rows = evaluation.problem, evaluation.n_samples
    if problem.sample is not None:
        n_rows = problem.sample.n_source_rows
    rows = counted(n_rows, "row")
    weighted = " (weighted)" * (problem.sample_weight is not None)
    text = (
        f"The estimated {name} over all {rows} of the pool{weighted} is "
        f"{number(fixed.value, fixed.reach)}, from "
        f"{counted(found.n_labels, 'label')}."
    )
    if hasattr(evaluation, "models"):  # A choice between several.
        text += f" The model is {evaluation.best_name}, the best so far."
    if not found.n_labels:
        text += " No label counts in it yet: it is what the surrogate expects."
    if fixed.is_known:
        text += " It is known: every row that can be labelled has a label."
    elif fixed.has_ends:
        text += (
            f" With {percent(level)} confidence it lies between "
            f"{number(fixed.low, fixed.reach)} and {number(fixed.high, fixed.reach)}."
        )
    if found.n_skipped:
        skipped = counted(found.n_skipped, "row")
        text += f" It is about the rows that can be labelled: {skipped} could not."
    return text


def _of_looks(found: Any, fixed: Range, anytime: Range, level: float) -> dict[str, str]:
    """Both intervals, and when each of them holds."""
    often = "none: it has no end yet."
    if anytime.has_ends:
        often = (
            f"{ends(anytime.low, anytime.high, fixed.reach)}. It holds however often "
            "somebody looked before the labelling stopped."
        ) + _assumption(found)
    sure = percent(level)
    return {
        f"{sure} interval, for one look": f"{ends(fixed.low, fixed.high)}. It holds if "
        "the number of labels was chosen before anybody looked at the result.",
        f"{sure} interval, for any number of looks": often,
    }


def _assumption(found: Any) -> str:
    """What the interval for any number of looks rests on."""
    if found.uncertainty.bets is not None:
        return ""
    return " It assumes that the estimate is normally distributed."


def _of_population(
    found: Any, level: float, reach: float, in_groups: bool
) -> dict[str, str]:
    """The interval for new data, if there is one."""
    try:
        low, high = found.interval(level, target="population")
    except ValueError:  # The estimate does not say how much the pool varies.
        return {}
    if not (math.isfinite(low) and math.isfinite(high)):
        return {}
    each = "group by group" if in_groups else "row by row"
    text = (
        f"{ends(low, high, reach)}. It holds for the data that the pool was drawn "
        f"from, if it was drawn at random, {each}."
    )
    return {f"{percent(level)} interval, for new data": text}


def _curve(evaluation: Evaluation, level: float) -> dict[str, np.ndarray]:
    """Columns of the curve, with one point for each batch of labels."""
    history = evaluation.history
    columns = {
        "n_labels": history["n_labels"],
        "estimate": history["risk"],
        "refit": history["refit"],
    }
    columns["low"], columns["high"] = evaluation.intervals(level, "fixed")
    ends = evaluation.intervals(level, "anytime")
    columns["anytime_low"], columns["anytime_high"] = ends
    stays = np.array(evaluation.ledger.ends_of_batches, dtype=bool)
    stays &= np.isfinite(columns["estimate"])
    return {name: column[stays] for name, column in columns.items()}


def _thinned(columns: dict[str, Any], most: int) -> dict[str, np.ndarray]:
    """The columns with at most so many points, the last one among them."""
    n_points = len(columns["n_labels"])
    places = np.unique(np.linspace(0, n_points - 1, min(n_points, most)).round())
    places = places.astype(int)
    return {name: column[places] for name, column in columns.items()}


def _forecast(evaluation: Evaluation, level: float) -> str:
    """How many labels would halve the interval, in words; empty if nobody knows."""
    found = range_of(evaluation.estimate(), level)
    if not found.has_ends or found.is_known:
        return ""
    try:
        more = int(evaluation.labels_needed(found.reach, level))
    except ValueError:  # Some risks have no interval that labels narrow.
        return ""
    if not more:  # Labels that wait for an open row would do.
        return ""
    return (
        f"An interval of half the width would take about {more} more labels, if "
        "labels to come tell as much as those so far."
    )


# The section about the labels.


_MOST_CLASSES = 10
_MOST_ROWS = 10


def labelled_blocks(
    evaluation: Evaluation, level: float, columns: dict
) -> Iterator[Any]:
    """What was labelled."""
    ledger = evaluation.ledger
    yield Facts(_counts(evaluation))
    if not len(ledger):
        yield Words("No row is labelled yet.", is_missing=True)
        return
    yield from _of_labels(evaluation, level)
    if ledger.more_labels:
        yield from _agreement(evaluation, level)
    yield from _unexpected(evaluation, columns)


def _counts(evaluation: Evaluation) -> dict[str, str]:
    """How many rows have a label, could not have one, or wait for one."""
    ledger = evaluation.ledger
    facts = {"labels": f"{len(ledger)} of {counted(evaluation.n_samples, 'row')}"}
    for name, rows, noun in (
        ("known beforehand", ledger.known, "label"),
        ("could not be labelled", ledger.skipped, "row"),
        ("asked for, not answered yet", ledger.pending, "row"),
    ):
        if rows:
            facts[name] = counted(len(rows), noun)
    if evaluation.problem.cost is not None:
        facts["cost of the labels"] = number(evaluation.spent)
    return facts


def _of_labels(evaluation: Evaluation, level: float) -> Iterator[Any]:
    """How often each label was given, and its share in the pool; or the numbers."""
    labels = list(evaluation.ledger.labels.values())
    if evaluation.classes_ is None:
        values = np.array(labels, dtype=float)
        middle = f"{number(float(np.median(values)))} in the middle"
        span = f"{number(values.min())} to {number(values.max())}, {middle}"
        facts, mean = {"labels that were given": span}, _asked(evaluation, LabelMean())
        if mean is not None:
            name = f"mean label of the pool ({percent(level)} interval)"
            facts[name] = str(range_of(mean, level))
        yield Facts(facts)
        return
    counts = Counter(labels)
    for label in evaluation.classes_.tolist():
        counts.setdefault(label, 0)
    rows = []
    for label, count in counts.most_common(_MOST_CLASSES):
        found = _asked(evaluation, LabelShare(label))
        share = Range(math.nan) if found is None else range_of(found, level)
        rows.append([str(label), count, share])
    yield Words(
        "Rows were picked on purpose and not evenly, so the labels that were given do "
        "not show how frequent each label is. The last column estimates that."
    )
    head = ["label", "given", f"estimated share of the pool ({percent(level)})"]
    yield Table(head, rows, drawn=2)
    if len(counts) > _MOST_CLASSES:
        yield Words(f"{len(counts) - _MOST_CLASSES} rarer labels are not shown.")


def _asked(evaluation: Evaluation, metric: Any) -> Any:
    """An estimate; None if there is none."""
    try:
        return evaluation.estimate(metric=metric)
    except ValueError:
        return None


def _agreement(evaluation: Evaluation, level: float) -> Iterator[Any]:
    try:
        yield Facts(evaluation.agreement(level=level).describe())
    except ValueError as error:
        yield Words(str(error), is_missing=True)


def _unexpected(evaluation: Evaluation, columns: dict[str, Any]) -> Iterator[Any]:
    """The labels that differ most from what was expected."""
    history = evaluation.history
    surprise = np.abs(history["loss"] - history["expected_loss"])
    order = np.argsort(-np.nan_to_num(surprise, nan=-1.0), kind="stable")[:_MOST_ROWS]
    problem = evaluation.problem
    has_model = problem.model is not None or problem.predictions.expert is not None
    has_loss = has_model and not hasattr(evaluation, "models")  # There it is of one.
    rows = []
    for place in order:
        row = int(history["index"][place])
        of_row = int(problem.places_of([row])[0])
        cells = [_cell(column, of_row) for column in columns.values()]
        label = history["label"][place].item()
        line = [row, *cells, label if isinstance(label, float) else str(label)]
        if has_loss:
            line += [float(history[name][place]) for name in ("expected_loss", "loss")]
        rows.append(line)
    head = ["row", *columns, "label", *["expected loss", "loss"] * has_loss]
    which = f"The {len(rows)} labels" if len(rows) > 1 else "The label"
    yield Words(
        f"{which} that the surrogate expected least. If a label may be wrong, look at "
        "these rows first."
    )
    yield Table(head, rows)


def _cell(column: Any, row: int) -> str:
    value = column[row]
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else str(value)


# Sections about judges, slices and models, and the diagnosis.


MOST_GROUPS = 60
# More judges stand in lines, fewer side by side.
_SIDE_BY_SIDE = 4
_FIGURES = {
    "bias": "what the judge says of the whole pool minus the truth",
    "tpr": "share of the rows with {label} where the judge says so",
    "tnr": "share of the rows without {label} where the judge says so",
    "agreement": "share of the rows where judge and label agree",
    "kappa": "the same beyond chance: 0 is chance, 1 is always",
    "rmse": "root of the mean squared error of the judge",
    "correlation": "of what the judge says with the truth",
    "effective_labels": "size of a plain random sample without this judge that would "
    "tell as much as one of the same number of labels with it",
}
_SURROGATE = (
    "The surrogate is a statistical model that guesses the label of every row. It "
    "says which rows to label. Each label then corrects it."
)


def judge_blocks(evaluation: Evaluation, level: float) -> Iterator[Any]:
    """What each judge is worth."""
    judges = evaluation.judges(level=level)
    (table,) = judges.blocks(without=("threshold",))
    if len(table.rows) <= _SIDE_BY_SIDE:
        table = table.turned()
    yield Words(
        f"How far each judge can be trusted, for the {judges.name}. All figures are "
        f"estimates for the whole pool, with {percent(level)} intervals, each on its "
        "own."
    )
    yield table
    label = "the label" if judges.label is None else f"the label {judges.label}"
    yield Items(
        [
            f"{title_of_column(name)}: {meaning.format(label=label)}."
            for name, meaning in _FIGURES.items()
            if name in judges
        ]
    )


def slice_blocks(evaluation: Evaluation, groups: Any, level: float) -> Iterator[Any]:
    """Estimates for groups of rows."""
    n_groups = len({str(group) for group in groups})
    if n_groups > MOST_GROUPS:
        raise ValueError(
            f"There are {n_groups} groups, and a report shows at most {MOST_GROUPS}. "
            "Put some together, or call evaluation.estimate_by(groups)."
        )
    table = evaluation.estimate_by(groups, level=level)
    rows = []
    for group, n_samples, n_labels, effective, *found, verdict in zip(
        *table.values(), strict=True
    ):
        counts = f"{n_labels} of {n_samples}"
        good = "" if np.isnan(effective) else f"{effective:.0f}"
        rows.append(
            [group_name(group), Range(*map(float, found)), counts, good, verdict]
        )
    head = ["group", f"{name_of(evaluation)} ({percent(level)} interval)"]
    head += ["labels", "as good as", "verdict"]
    overall = float(evaluation.estimate())
    yield Table(head, rows, drawn=1, mark=overall)
    yield Words(
        "The line across the intervals is the estimate for all rows. Each interval "
        f"holds on its own: of ten groups about {10 * (1 - level):.2g} may lie outside "
        "theirs. So the best and the worst group look more extreme than they are. "
        "“As good as” is the size of a plain random sample that would tell as much."
    )


def comparison_blocks(
    evaluation: Any, models: dict | None, metric: BaseMetric | None, level: float
) -> Iterator[Any]:
    """How several models compare; without any, those of a choice."""
    if models is None:
        found = evaluation.compare()
    else:
        found = evaluation.compare(models, metric=metric)
    table = _comparison_table(found, level)
    yield from compared_blocks(found, level)
    own = _own_names(models, evaluation.problem)
    shown = [str(line[1]) for line in table.rows if line[0] in own]
    by_itself = range_of(evaluation.estimate(metric=metric), level) if own else None
    if any(each != str(by_itself) for each in shown):
        yield Words(
            f"By itself the model under test ({', '.join(own)}) has the "
            f"{found.metric_name} {by_itself}. Quote that number. The table "
            "estimates all models in one way, for their differences to be right, so "
            "its number for this model is slightly another."
        )


def group_comparison_blocks(
    evaluation: Evaluation, groups: Any, level: float
) -> Iterator[Any]:
    """How groups of rows compare, such as the answers of several systems."""
    found = evaluation.compare_groups(groups)
    yield from compared_blocks(found, level)


def compared_blocks(found: Comparison, level: float) -> Iterator[Any]:
    """What a comparison says, its table, and how to read it."""
    yield Words(found.describe(level))
    yield _comparison_table(found, level)
    yield Words(
        f"Differences are better known than the {found.what}s by themselves. So two "
        f"{found.what}s can be told apart although their own intervals overlap."
    )


def _comparison_table(found: Comparison, level: float) -> Table:
    """How good each model is, and how far it is behind the best."""
    columns, sure = found.to_dict(level), f"({percent(level)} interval)"
    values = (columns[name] for name in ("estimate", "low", "high"))
    gaps = (columns[name] for name in ("behind_best", "behind_low", "behind_high"))
    behind: list[Any] = [Range(*each) for each in zip(*gaps, strict=True)]
    behind[found.best_index] = "best so far"
    rows = zip(
        columns["model"],
        [Range(*each) for each in zip(*values, strict=True)],
        behind,
        columns["may_be_best"],
        map(roughly, columns["probability"]),
        strict=True,
    )
    head = [found.what, f"{found.metric_name} {sure}", f"behind the best {sure}"]
    head += ["may be the best", "probability"]
    return Table(head, [list(row) for row in rows], drawn=1)


def _own_names(models: Any, problem: Problem) -> list[str]:
    """Names of the models that are the one under test, or its predictions."""
    pairs = models.items() if hasattr(models, "items") else models or []
    said, names = getattr(problem.predictions, "response", None), []
    for name, model in pairs:
        if hasattr(model, "predict") or callable(model):
            is_own = problem.model is not None
            is_own = is_own and unfrozen(model) is unfrozen(problem.model)
        else:
            is_own = said is not None and np.array_equal(np.asarray(model), said)
        names += [str(name)] if is_own else []
    return names


def diagnosis_blocks(evaluation: Evaluation) -> Iterator[Any]:
    """Whether the labels agree with the surrogate, in plain words."""
    found = evaluation.diagnose()
    yield Verdict(found.verdict, found.advice)
    yield Words(_SURROGATE)
    words = found.describe()
    if words:
        yield Facts(words)


# The section about how the number was made.


_PACKAGES = ("scikit-learn", "numpy", "scipy")


def origin_blocks(
    evaluation: Evaluation, made: str, more: dict[str, str] | None = None
) -> Iterator[Any]:
    """How the number was made, so that others can make it again."""
    problem, plan, experts = evaluation.problem, evaluation.plan, []
    judges = ""
    if problem.experts is not None:
        experts = [one.values for one in problem.experts.each]
        values = np.hstack([each.reshape(len(each), -1) for each in experts])
        judges = fingerprint(values)
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    versions = [f"sklearn_ase {__version__}", *packages]
    names = [one.name for one in problem.experts.each] if experts else []
    yield Facts(
        {
            **(more or {}),
            "report made": made,
            "labels": f"{len(evaluation.ledger)} of {evaluation.n_samples} rows",
            "rows": "" if problem.sample is None else _drawn(problem.sample),
            "model under test": _model(problem, plan),
            "judges": ", ".join(names),
            "training rows": problem.n_training or "",
            "what is estimated": described(plan.metric or problem.loss),
            "how it is estimated": described(plan.risk),
            "surrogate": described(plan.surrogate),
            "which rows to label": f"{described(plan.acquisition)}, "
            f"{described(plan.selection)}",
            "surrogate fitted again": _refit(plan.refit),
            "weights of the rows": "none" if problem.sample_weight is None else "given",
            **_seed(plan.random_state, evaluation.seed),
            "fingerprint of the pool": _fingerprint(evaluation),
            "fingerprint of the judges": judges,
            "versions": ", ".join([*versions, f"Python {platform.python_version()}"]),
        }
    )


def _model(problem: Problem, plan: Plan) -> str:
    """What is evaluated."""
    if problem.model is not None:
        return type(unwrap(problem.model).last).__name__
    needs_none = getattr(plan.metric, "response_method", "") is None
    if problem.predictions.expert is None and needs_none:
        return "none: the labels themselves are counted"
    return "given by its predictions"


def _seed(random_state: Any, seed: int) -> dict[str, str]:
    """What repeats the picks: the number that was given, or the one that was drawn."""
    is_given = isinstance(random_state, int | np.integer)
    # A journal goes on with its own seed, whatever is given later.
    if is_given and draw_seed(random_state) == seed:
        return {"random_state": str(random_state)}
    return {"seed": f"{seed}, drawn by the evaluation"}


def _drawn(sample: PoolSample) -> str:
    """How the pool was drawn from its source, in words."""
    how = "with equal" if sample.is_uniform else "by a score, with known"
    return (
        f"{len(sample):,} of {sample.n_source_rows:,} rows of the source, drawn {how} "
        f"probabilities (seed {sample.seed}); intervals allow for the draw"
    )


def _refit(refit: Any) -> str:
    """When the surrogate is fitted again, in words."""
    if isinstance(refit, float):
        return f"whenever the number of labels has grown {refit:g} times"
    if isinstance(refit, int | np.integer):
        return f"after every {counted(int(refit), 'label')}"
    return f"at {described(list(refit))} labels"


def _fingerprint(evaluation: Evaluation) -> str:
    """Fingerprint of the pool; of the journal if there is one, which is faster."""
    header = getattr(evaluation.ledger, "header", None) or {}
    return header.get("pool") or fingerprint(evaluation.problem.X)


# The section about what the number does not say.


def limits_blocks(
    evaluation: Evaluation, level: float, has_slices: bool
) -> Iterator[Any]:
    """What the number does not say."""
    rows = counted(evaluation.n_samples, "row")
    texts = [
        f"It is about the {rows} of this pool. It says something about other data only "
        "if the pool was drawn from it at random.",
        "The labels count as the truth. If those who label make errors, the number has "
        "these errors, too, and the interval does not show them.",
        f"An interval of {percent(level)} misses the truth in about "
        f"{100 * (1 - level):.3g} of 100 evaluations.",
        "The interval for one look is too narrow if somebody looked at the result "
        "again and again, and stopped when they liked it.",
        "It says how good the result is, and not why.",
    ]
    if len(evaluation.ledger.skipped):
        texts.append(
            "Rows that could not be labelled are left out. If these are the hard ones, "
            "the number is too good."
        )
    if evaluation.problem.experts is not None:
        texts.append(
            "What is said of a judge holds for the rows of this pool, and may change "
            "with other rows, another prompt or another version of the judge."
        )
    if has_slices:
        texts.append(
            "Groups that differ do not show what causes the difference, and groups "
            "with few labels may differ by chance."
        )
    yield Items(texts)
