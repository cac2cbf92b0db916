"""The command ``report``: what the labels say, as a page or as Markdown."""

from pathlib import Path

from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._columns import as_groups, pick_column
from sklearn_ase._cli._comparing import models_in
from sklearn_ase._cli._metrics import other_metric
from sklearn_ase._report._report import check_target, make_report
from sklearn_ase._utils._checks import check_number

_OPTIONS = {"html": (".html", ".htm"), "md": (".md",)}


def report(args):
    """Write a report, or return it as Markdown if no file is named.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    check_number(args.level, "--level", 0, 1, ends="()")
    paths = {name: getattr(args, name) for name in _OPTIONS}
    paths = {name: path for name, path in paths.items() if path is not None}
    for name, path in paths.items():
        _check_path(path, name)
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    by = {name: as_groups(pick_column(columns, name, "--by")) for name in args.by}
    compare_by = {
        name: as_groups(pick_column(columns, name, "--compare-by"))
        for name in args.compare_by
    }
    alike = None
    if args.groups is not None:
        alike = as_groups(pick_column(columns, args.groups, "--groups"))
    shown = {name: pick_column(columns, name, "--show") for name in args.show}
    metrics = [_metric(campaign, text, args) for text in args.metric]
    models = goal = None
    if args.compare:
        goal = next(filter(_is_of_model, [*metrics, campaign.goal]), campaign.goal)
        models = models_in(campaign, columns, args.compare, goal)
    if not (campaign.prediction or campaign.proba):  # Only for the comparison.
        metrics = [each for each in metrics if not (models and _is_of_model(each))]
    with campaign.open(columns) as evaluation:
        found = make_report(
            evaluation,
            level=args.level,
            by=by,
            metrics=metrics,
            compare=models,
            compare_metric=goal,
            compare_by=compare_by,
            groups=alike,
            columns=shown,
            title=args.title,
            origin={
                "journal": campaign.journal.name,
                "pool": Path(campaign.pool).name,
                "fingerprint of the columns": campaign.fingerprint,
            },
        )
    for path in paths.values():
        found.save(path)
    result = {name: paths.get(name) for name in _OPTIONS}
    return result | ({} if paths else {"markdown": found.to_markdown()})


def _is_of_model(metric):
    return metric.response_method is not None


def _check_path(path, name):
    if Path(path).suffix.lower() not in _OPTIONS[name]:
        raise ValueError(f"--{name} {path} must end in {_OPTIONS[name][0]}.")
    check_target(path)


def _metric(campaign, text, args):
    half = args.half if text.startswith("share:") else None
    return other_metric(campaign, text, half, args.pos_label)
