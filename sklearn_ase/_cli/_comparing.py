"""Compare models, or groups of rows, with the labels of a campaign."""

from sklearn_ase._cli._columns import pick_column
from sklearn_ase._cli._estimates import ends_of
from sklearn_ase._cli._opening import predictions_in
from sklearn_ase.metrics._titles import title_of


def compared_models(evaluation, campaign, columns, goal, where, args):
    """Compare columns of predictions.

    Parameters
    ----------
    evaluation : Evaluation
    campaign : Campaign
    columns : dict of str to list
    goal : BaseMetric
    where : ndarray of bool of shape (n_samples,) or None
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    models = models_in(campaign, columns, args.compare, goal)
    found = evaluation.compare(
        models, metric=goal, where=where, reference=args.reference
    )
    return _described(found, goal, args.level, "model")


def models_in(campaign, columns, names, goal):
    """Read columns of predictions that are to be compared.

    Parameters
    ----------
    campaign : Campaign
    columns : dict of str to list
    names : list of str
        Of the columns.
    goal : BaseMetric

    Returns
    -------
    models : dict of str to list or ndarray
    """
    for name in names:
        pick_column(columns, name, "--compare")
    if goal.response_method is None:
        raise ValueError(
            f"--compare: {title_of(goal)} does not depend on predictions. Name a "
            "metric that does, such as --metric accuracy."
        )
    if len(set(names)) < 2:
        raise ValueError("--compare needs two different columns, or more.")
    return {name: predictions_in(campaign, columns, name, goal) for name in names}


def compared_groups(evaluation, groups, goal, args):
    """Compare groups of rows.

    Parameters
    ----------
    evaluation : Evaluation
    groups : list of str
        Group of each row.
    goal : BaseMetric
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    found = evaluation.compare_groups(groups, metric=goal, reference=args.reference)
    result = _described(found, goal, args.level, args.compare_by)
    n_groups = len(found.names)
    words = result["verdict"].replace(f"of {n_groups} models", f"of {n_groups} groups")
    return result | {"verdict": words}


def _described(found, goal, level, what):
    """A comparison as plain values, with the difference of each pair that matters."""
    table = found.to_dict(level)
    rows = [
        dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)
    ]
    base = found.reference or found.best_name
    others = [name for name in found.names if name != base]
    return {
        "compared": what,
        "metric": title_of(goal),
        "labels": found.n_labels,
        "level": level,
        "best": found.best_name,
        "candidates": found.candidates(level),
        "verdict": found.describe(level),
        "table": rows,
        "differences": [_difference(found, base, name, level) for name in others],
    }


def _difference(found, first, second, level):
    gap = found.difference(first, second)
    low, high = ends_of(gap, level, "fixed")
    anytime_low, anytime_high = ends_of(gap, level, "anytime")
    return {
        "better": first,
        "than": second,
        "by": float(gap),
        "low": low,
        "high": high,
        "anytime_low": anytime_low,
        "anytime_high": anytime_high,
    }
