"""Sections with tables: judges, slices, models; and the diagnosis."""

import numpy as np

from sklearn_ase._data._groups import group_name
from sklearn_ase._report._blocks import Facts, Items, Range, Table, Verdict, Words
from sklearn_ase._report._estimates import name_of, range_of
from sklearn_ase._report._text import counted, percent, roughly
from sklearn_ase._utils._unwrapping import unfrozen

MOST_GROUPS = 60
# More judges stand in lines, fewer side by side.
_SIDE_BY_SIDE = 4
_FIGURES = {
    "bias": ("bias", "what the judge says of the whole pool minus the truth"),
    "tpr": ("TPR", "share of the rows with {label} where the judge says so"),
    "tnr": ("TNR", "share of the rows without {label} where the judge says so"),
    "agreement": ("agreement", "share of the rows where judge and label agree"),
    "kappa": ("kappa", "the same beyond chance: 0 is chance, 1 is always"),
    "rmse": ("RMSE", "root of the mean squared error of the judge"),
    "correlation": ("correlation", "of what the judge says with the truth"),
    "effective_labels": (
        "labels as good as",
        "size of a plain random sample without this judge that would tell as much as "
        "one of the same number of labels with it",
    ),
}
_ENDS = ("", "_low", "_high")
_SURROGATE = (
    "The surrogate is a statistical model that guesses the label of every row. It "
    "says which rows to label. Each label then corrects it."
)


def judge_blocks(evaluation, level):
    """What each judge is worth.

    Parameters
    ----------
    evaluation : Evaluation
    level : float

    Yields
    ------
    block : block
    """
    table = evaluation.judges(level=level)
    shown = [name for name in _FIGURES if name in table]
    lines = []
    for place, judge in enumerate(table["judge"]):
        columns = [[table[name + end][place] for end in _ENDS] for name in shown]
        figures = [Range(*map(float, column)) for column in columns]
        counts = [int(table[name][place]) for name in ("n_samples", "n_labels")]
        lines.append([str(judge), *counts, *figures, str(table["verdict"][place])])
    head = ["judge", "rows", "labels", *(_FIGURES[name][0] for name in shown)]
    head.append("verdict")
    if len(lines) <= _SIDE_BY_SIDE:
        head, *lines = map(list, zip(head, *lines, strict=True))
    yield Words(
        f"How far each judge can be trusted, for the {table.name}. All figures are "
        f"estimates for the whole pool, with {percent(level)} intervals, each on its "
        "own."
    )
    yield Table(head, lines)
    label = "the label" if table.label is None else f"the label {table.label}"
    texts = [f"{_FIGURES[n][0]}: {_FIGURES[n][1].format(label=label)}." for n in shown]
    yield Items(texts)


def slice_blocks(evaluation, groups, level):
    """Estimates for groups of rows.

    Parameters
    ----------
    evaluation : Evaluation
    groups : array-like of shape (n_samples,)
    level : float

    Yields
    ------
    block : block
    """
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


def comparison_blocks(evaluation, models, metric, level):
    """How several models compare.

    Parameters
    ----------
    evaluation : Evaluation
    models : dict of str to model, or None
        None means the models of a choice between models.
    metric : metric or None
        None means that of the evaluation.
    level : float

    Yields
    ------
    block : block
    """
    if models is None:
        found = evaluation.compare()
    else:
        found = evaluation.compare(models, metric=metric)
    rows = yield from _compared(found, "model", level)
    own = [line for line in rows if line[0] in _own_names(models, evaluation.problem)]
    by_itself = range_of(evaluation.estimate(metric=metric), level) if own else None
    if any(str(line[1]) != str(by_itself) for line in own):
        names = ", ".join(line[0] for line in own)
        yield Words(
            f"By itself the model under test ({names}) has the "
            f"{found.metric_name} {by_itself}. Quote that number. The table "
            "estimates all models in one way, for their differences to be right, so "
            "its number for this model is slightly another."
        )


def group_comparison_blocks(evaluation, groups, metric, level):
    """How groups of rows compare, such as the answers of several systems.

    Parameters
    ----------
    evaluation : Evaluation
    groups : array-like of shape (n_samples,)
    metric : metric or None
        None means that of the evaluation.
    level : float

    Yields
    ------
    block : block
    """
    found = evaluation.compare_groups(groups, metric=metric)
    yield from _compared(found, "group", level)


def _compared(found, what, level):
    """The blocks of a comparison; returns the lines of its table."""
    table, rows = found.to_dict(level), []
    for place, name in enumerate(table["model"]):
        level_of, behind = (
            Range(*(table[part][place] for part in parts))
            for parts in (
                ("estimate", "low", "high"),
                ("behind_best", "behind_low", "behind_high"),
            )
        )
        is_best = place == found.best_index
        behind = "best so far" if is_best else behind
        may_be, proba = table["may_be_best"][place], table["probability"][place]
        rows.append([name, level_of, behind, may_be, roughly(proba)])
    sure = percent(level)
    head = [what, f"{found.metric_name} ({sure} interval)"]
    head += [f"behind the best ({sure} interval)", "may be the best", "probability"]
    words = found.describe(level)
    yield Words(words.replace(f"of {len(rows)} models", f"of {len(rows)} {what}s"))
    yield Table(head, rows, drawn=1)
    yield Words(
        f"Differences are better known than the {what}s by themselves. So two {what}s "
        "can be told apart although their own intervals overlap."
    )
    return rows


def _own_names(models, problem):
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


def diagnosis_blocks(evaluation):
    """Whether the labels agree with the surrogate, in plain words.

    Parameters
    ----------
    evaluation : Evaluation

    Yields
    ------
    block : block
    """
    found = evaluation.diagnose()
    yield Verdict(found.verdict, found.advice)
    yield Words(_SURROGATE)
    words = found.describe()
    if words:
        yield Facts(words)


def limits_blocks(evaluation, level, has_slices):
    """What the number does not say.

    Parameters
    ----------
    evaluation : Evaluation
    level : float
    has_slices : bool

    Yields
    ------
    block : block
    """
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
