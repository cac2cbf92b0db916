"""Turn what was typed for ``--metric`` into a metric."""

from sklearn_ase.metrics import LabelMean, LabelScore, LabelShare, as_metric

# Names for metrics that need no predictions.
FORMS = "share:LABEL, score:LABEL=NUMBER,LABEL=NUMBER, mean"


def metric_of(text, half=None, pos_label=None):
    """Return the metric that a text names.

    Parameters
    ----------
    text : str
        ``share:correct``, ``score:good=1,bad=-1``, ``mean``, or a name such as
        ``accuracy`` or ``f1``.
    half : str, default=None
        Label that counts one half, for a share.
    pos_label : str, default=None
        The label that metrics such as ``f1`` are about.

    Returns
    -------
    metric : BaseMetric
    """
    form, colon, rest = text.partition(":")
    if half is not None and form != "share":
        raise ValueError("--half belongs to --metric share:LABEL.")
    if form == "share":
        if not rest:
            raise ValueError("--metric share needs a label, as in share:correct.")
        return LabelShare(rest, half=half)
    if form == "score":
        return LabelScore(dict(map(_score, rest.split(","))))
    if colon:
        raise ValueError(f"--metric {text} is not known. Use {FORMS}, or accuracy.")
    if text == "mean":
        return LabelMean()
    metric = as_metric(text)
    if pos_label is None:
        return metric
    if "pos_label" not in metric.get_params():
        # The label of a single column of probabilities; the metric is about all labels.
        return metric
    return metric.set_params(pos_label=pos_label)


def other_metric(campaign, text, half=None, pos_label=None):
    """Return another metric than that of a campaign, for the same labels.

    Parameters
    ----------
    campaign : Campaign
    text, half, pos_label
        See :func:`metric_of`; the positive label may be that of the campaign.

    Returns
    -------
    metric : BaseMetric
    """
    goal = metric_of(text, half, pos_label or campaign.pos_label)
    if goal.task not in (None, campaign.goal.task):
        kinds = {"regression": "numbers", "classification": "names"}
        raise ValueError(
            f"--metric {text} is about {kinds[goal.task]}, but the labels of this "
            f"campaign are {kinds[campaign.goal.task]}."
        )
    return goal


def _score(part):
    label, _, number = part.rpartition("=")
    try:
        return label.strip(), float(number)
    except ValueError:
        raise ValueError(
            f"--metric score: {part!r} must be a label and its number, as in good=1."
        ) from None
