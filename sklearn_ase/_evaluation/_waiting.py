"""Labels that do not count yet, because a row that was asked for before is open."""


def words_of_waiting(state, ledger):
    """Say which labels wait, and for what.

    Parameters
    ----------
    state : PoolState
    ledger : LabelLedger

    Returns
    -------
    text : str
        Empty if no label waits.
    """
    n_waiting = state.n_labels - state.settled.n_labels
    if not n_waiting:
        return ""
    labels = "1 label waits" if n_waiting == 1 else f"{n_waiting} labels wait"
    return (
        f"{labels} behind the open query of row {ledger.pending[0]}. Answer that row, "
        "or skip it if nobody can."
    )


def rows_that_count(state, risk):
    """Return the rows whose labels an estimate uses.

    Parameters
    ----------
    state : PoolState
    risk : BaseRisk

    Returns
    -------
    rows : ndarray of int of shape (n_labels,)
    """
    picks = state.settled if risk.needs_query_proba else state.picks
    return picks.indices[picks.answered]
