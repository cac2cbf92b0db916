"""The command ``start``: check everything, then write the journal."""

from dataclasses import fields
from pathlib import Path

from sklearn_ase._cli._campaign import Campaign, config_path, is_started
from sklearn_ase._cli._metrics import FORMS
from sklearn_ase._cli._pool_file import read_pool
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics._titles import title_of


def start(args):
    """Start a campaign; nothing is written if anything is wrong.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    journal = Path(args.journal)
    if is_started(journal):
        raise ValueError(
            f"{journal} exists already. Go on with sklearn-ase ask {journal} 20 --out "
            "batch.csv, or choose another name."
        )
    if not journal.absolute().parent.is_dir():
        raise ValueError(f"The folder {journal.absolute().parent} does not exist.")
    is_there = journal.exists()
    options = {f.name for f in fields(Campaign)} & vars(args).keys()
    options = {name: getattr(args, name) for name in options - {"journal", "metric"}}
    campaign = Campaign(journal=journal, metric=_metric(args), **options)
    _check(campaign)
    campaign, columns = campaign.of_files()
    # First the options: a journal without them could not be continued.
    campaign.save()
    try:
        with campaign.open(columns) as evaluation:
            n_known = len(evaluation.ledger.known)
            n_samples = evaluation.n_samples
    except BaseException:
        config_path(journal).unlink(missing_ok=True)
        if not is_there and journal.exists() and not journal.stat().st_size:
            journal.unlink()
        raise
    return {
        "journal": str(journal),
        "metric": title_of(campaign.goal),
        "rows": n_samples,
        "known_labels": n_known,
    }


def _metric(args):
    for metric in (args.metric, args.loss):
        if metric is not None:
            return metric
    if args.prediction or args.proba:
        return "accuracy"
    raise ValueError(f"--metric is needed: {FORMS}; or accuracy with --prediction.")


def _check(campaign):
    """Refuse options that do not go together."""
    goal = campaign.goal
    if not campaign.text:
        raise ValueError(
            "--text is needed: name the columns that people read in order to label a "
            "row."
        )
    secret = [name for name in campaign.text if name in campaign.hidden()]
    if secret:
        raise ValueError(
            f"--text {secret[0]}: those who label a row should not see what a judge or "
            "a model says of it. Leave it out here; ask --show can show it."
        )
    if campaign.prediction and campaign.proba:
        raise ValueError("Give --prediction or --proba, not both.")
    if not (campaign.judge or campaign.features or _has_model(campaign)):
        raise ValueError(
            "Give --judge, --features or --prediction: something must tell rows apart."
        )
    if goal.response_method is not None and not _has_model(campaign):
        raise ValueError(
            f"--metric {campaign.metric} compares labels with the predictions of a "
            "model. Name their column with --prediction."
        )
    if goal.response_method == "predict_proba" and not campaign.proba:
        raise ValueError(
            f"--metric {campaign.metric} needs probabilities. Name their columns with "
            "--proba."
        )
    if campaign.loss and as_loss(campaign.loss).task != goal.task:
        raise ValueError(
            f"--loss {campaign.loss} does not go together with --metric "
            f"{campaign.metric}: one is about names and the other about numbers."
        )
    _check_train(campaign)
    _check_labels(campaign, goal)
    _check_words(campaign)


def _check_train(campaign):
    if campaign.train is None:
        for option in ("train_label", "train_format", "train_predictions"):
            if getattr(campaign, option):
                name = option.replace("_", "-")
                raise ValueError(f"--{name} belongs to --train FILE.")
        return
    if not campaign.features or campaign.train_label is None:
        raise ValueError(
            "--train needs --features, the columns to learn from, and --train-label, "
            "the column with the labels."
        )
    if campaign.train_predictions and not _has_model(campaign):
        raise ValueError("--train-predictions needs --prediction or --proba.")


def _check_labels(campaign, goal):
    if goal.task == "regression":
        if campaign.labels:
            raise ValueError(
                f"--metric {campaign.metric} is about numbers. Leave out --labels."
            )
        if campaign.proba:
            raise ValueError(
                f"--metric {campaign.metric} is about numbers. Use --prediction in "
                "place of --proba."
            )
        return
    labels = [label.strip() for label in campaign.labels]
    if len(set(labels)) < 2 or len(set(labels)) < len(labels) or "" in labels:
        raise ValueError(
            "--labels must name every label there may be, at least two different "
            f"ones, as in --labels correct wrong. {_seen(campaign)}".rstrip()
        )
    if labels != campaign.labels:
        raise ValueError("--labels must not start or end with blanks.")
    named = [*getattr(goal, "labels", []), campaign.pos_label]
    for label in named:
        if label is not None and label not in labels:
            raise ValueError(
                f"{label!r} is not one of the labels {', '.join(labels)}. Write it as "
                "in --labels."
            )


def _check_words(campaign):
    """Refuse words of a judge that stand for no label."""
    for each in campaign.judge_says:
        word, sign, label = each.partition("=")
        if not (word and sign and label in campaign.labels):
            raise ValueError(
                f"--judge-says {each} must have the form WORD=LABEL with one of the "
                f"labels {', '.join(campaign.labels)}."
            )
    if campaign.judge_says and not campaign.judge:
        raise ValueError("--judge-says belongs to --judge COL.")


def _seen(campaign):
    """Labels that the predictions have, as a hint."""
    if not campaign.prediction:
        return ""
    columns, _ = read_pool(campaign.pool, campaign.format)
    cells = columns.get(campaign.prediction, [])
    found = sorted({str(cell).strip() for cell in cells if cell is not None})
    return f"Column {campaign.prediction} has {', '.join(found[:20])}."


def _has_model(campaign):
    return bool(campaign.prediction or campaign.proba)
