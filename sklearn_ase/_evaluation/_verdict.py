"""The verdict of a diagnosis, and the advice in plain words."""

from sklearn_ase._inference._intervals import MIN_LABELS

FEW_OF_A_CLASS = 5
# With less skill the surrogate does not tell rows apart.
LEAST_SKILL = 0.1
# A label with a greater share of the variance decides too much.
MOST_OF_ONE_LABEL = 0.25
# A label that is worth fewer of a plain random sample saves little.
_LITTLE_WORTH = 1.5


def verdict_of(evidence, state, scarce, name, is_less):
    """The verdict on a surrogate and the advice, in plain words.

    Parameters
    ----------
    evidence : Evidence
    state : PoolState
    scarce : float
        Share of the risk that comes from classes with few known labels.
    name : str
        Of what is estimated.
    is_less : bool
        Whether the surrogate expects less than the labels show.

    Returns
    -------
    verdict : {"good", "unsure", "bad"}
    advice : str
    """
    n_labels, n_picks = state.settled.n_labels, len(state.settled)
    if n_picks == state.n_samples:
        which = "row" if n_labels == n_picks else "row that can be labelled"
        return "good", f"Every {which} is labelled: the {name} is known."
    n_skipped = n_picks - n_labels
    if n_skipped:
        return "unsure", (
            f"{n_skipped} row{'s' * (n_skipped > 1)} could not be labelled. The "
            "labels estimate the risk over the other rows, the surrogate that of the "
            "whole pool, so the two cannot be compared. GuardedASE() relies on the "
            "labels here."
        )
    if evidence.trust < 0.5:
        side = "smaller" if is_less else "greater"
        by_training_rows = evidence.distance <= 1 and abs(state.training_gap) > 0
        who = "training rows" if by_training_rows else "labels"
        return "bad", (
            f"The {who} contradict the surrogate: it expects a {side} {name} than they "
            "show. GuardedASE() and CorrectedASE() allow for that, ASE() does not. "
            "Better features, more training rows or calibration (on by default) would "
            "help the surrogate and make the estimate more precise."
        )
    if n_labels < MIN_LABELS:
        labels = "1 label is" if n_labels == 1 else f"{n_labels} labels are"
        text = f"{labels} too few to judge the surrogate. "
        if state.n_labels > n_labels:
            return "unsure", f"{text}Others wait behind a row that is open: answer it."
        return "unsure", f"{text}Label at least {MIN_LABELS} rows."
    if scarce > 0.25:
        return "unsure", (
            f"{scarce:.0%} of the risk is expected from classes with fewer than "
            f"{FEW_OF_A_CLASS} known labels. Label more rows before you rely on it."
        )
    return "good", "The labels agree with the surrogate."


def of_little_skill(name, worth):
    """The advice if the labels agree with a surrogate that is of little use.

    Parameters
    ----------
    name : str
        Of what is estimated.
    worth : float
        Labels of a plain random sample that a label is worth.

    Returns
    -------
    advice : str
    """
    rows = "have losses" if name == "risk" else f"change the {name}"
    saved = ", so it saves few labels" if worth < _LITTLE_WORTH else ""
    return (
        "The labels agree with the surrogate on average. But it did not tell which "
        f"rows {rows}{saved}."
    )


def of_one_label(share):
    """The advice if a single label carries a great share of the variance."""
    return (
        f"One label carries {100 * share:.0f} % of the variance: the interval and "
        "'as good as' are uncertain. Buy more labels."
    )
