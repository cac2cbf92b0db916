"""Estimates in words."""


def labels_of(found):
    """Which labels an estimate uses, as its ``repr`` says it.

    Parameters
    ----------
    found : RiskEstimate or MetricEstimate

    Returns
    -------
    text : str
    """
    text = f"n_labels={found.n_labels}"
    n_inside = getattr(found, "n_inside", None)
    if n_inside is not None:
        text += f" ({n_inside or 'none'} in these rows)"
    if found.n_skipped:
        text += f", n_skipped={found.n_skipped}"
    return f"{text}, note={found.note!r}" if found.note else text
