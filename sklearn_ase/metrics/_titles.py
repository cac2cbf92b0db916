"""Names of metrics for people who read a result."""

from sklearn_ase.metrics._label_share import LabelShare


def title_of(metric):
    """Return the name of a metric, with the label that it is about.

    Parameters
    ----------
    metric : BaseMetric

    Returns
    -------
    title : str
    """
    if isinstance(metric, LabelShare):
        return f"share of {metric.label}"
    about = getattr(metric, "pos_label", None)
    return metric.name if about is None else f"{metric.name} of {about}"
