"""When there are enough labels, by what was said at the start of a campaign."""

from sklearn_ase._cli._columns import numbers_of
from sklearn_ase._evaluation._history import recent_estimates
from sklearn_ase.stopping import Plateau, TargetWidth


def reason_to_stop(campaign, ledger, spent):
    """Return why no more labels are needed.

    Parameters
    ----------
    campaign : Campaign
    ledger : LabelLedger
    spent : float or None
        Cost of the labels so far; None if there is no budget.

    Returns
    -------
    reason : str
        Empty to go on.
    """
    if campaign.max_labels is not None and len(ledger) >= campaign.max_labels:
        return f"There are {len(ledger)} labels, of {campaign.max_labels} at most."
    if campaign.budget is not None and spent >= campaign.budget:
        return f"The budget of {campaign.budget:g} is spent."
    rules = []
    if campaign.until_width is not None:
        rules.append(TargetWidth(campaign.until_width, campaign.level))
    if campaign.plateau is not None:
        rules.append(Plateau(campaign.plateau))
    estimates = recent_estimates(ledger, campaign.goal) if rules else []
    # An estimate that waits to be made is not there yet.
    if not estimates or ledger.unnoted is not None:
        return ""
    return next(filter(None, (rule.reason(estimates) for rule in rules)), "")


def has_rules(campaign):
    """Return whether anything was said about when there are enough labels.

    Parameters
    ----------
    campaign : Campaign

    Returns
    -------
    has_rules : bool
    """
    rules = "until_width", "plateau", "budget", "max_labels"
    return any(getattr(campaign, rule) is not None for rule in rules)


def spent_on(campaign, ledger):
    """Return what the labels so far have cost, without opening the evaluation.

    Parameters
    ----------
    campaign : Campaign
    ledger : LabelLedger

    Returns
    -------
    spent : float
        Known labels are free. The pool is read only if rows have different costs.
    """
    settled = [*ledger.labels, *ledger.skipped]
    paid = [row for row in settled if row not in ledger.known]
    if campaign.cost is None:
        return float(len(paid))
    cost = numbers_of(campaign.columns()[campaign.cost], campaign.cost, True)
    return float(cost[paid].sum())


def pick_rows(campaign, evaluation, n):
    """Ask for rows, within what may still be spent.

    Parameters
    ----------
    campaign : Campaign
    evaluation : Evaluation
        Without open rows.
    n : int
    """
    room = (campaign.max_labels or 0) - len(evaluation.ledger)
    left = (campaign.budget or 0.0) - evaluation.spent
    if room > 0:  # Else there is no limit, or more are wanted in spite of it.
        n = min(n, room)
    if left <= 0:
        evaluation.ask(n)
        return
    for _ in range(n):
        rows = evaluation.pending.indices
        if evaluation.problem.cost_of(rows).sum() >= left:
            return
        evaluation.ask(1)
