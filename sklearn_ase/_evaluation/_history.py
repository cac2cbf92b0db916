"""What happened, label by label."""

from dataclasses import asdict

import numpy as np

from sklearn_ase.risk import RiskEstimate


def note_estimate(ledger, estimate, refit=False):
    """Keep the estimate after the labels that came, or after the last one.

    Parameters
    ----------
    ledger : LabelLedger
        With a label at least.
    estimate : RiskEstimate or None
    refit : bool, default=False
        Whether the surrogate was fitted again.
    """
    rows = [index for index in ledger.labels if index not in ledger.notes]
    ledger.note(rows or list(ledger.labels)[-1:], _plain(estimate), bool(refit))


def last_risk(ledger):
    """What was noted after the last label; NaN if nothing was."""
    if not ledger.notes:
        return np.nan
    estimate = _read(ledger.notes[next(reversed(ledger.notes))]["estimate"])
    return np.nan if estimate is None else float(estimate)


def past_estimates(ledger):
    """The estimate after each label, in the order in which they came.

    Parameters
    ----------
    ledger : LabelLedger

    Returns
    -------
    estimates : list of RiskEstimate or None
    """
    return [_read(note["estimate"]) for note in ledger.notes.values()]


def history(ledger, state):
    """What happened as a dict of arrays, which ``pandas.DataFrame`` takes.

    Parameters
    ----------
    ledger : LabelLedger
    state : PoolState

    Returns
    -------
    history : dict of str to ndarray of shape (n_labels,)
    """
    order = {index: place for place, index in enumerate(state.indices.tolist())}
    places = np.array([order[index] for index in ledger.notes], dtype=int)
    estimates = past_estimates(ledger)
    return {
        "n_labels": np.arange(1, len(places) + 1),
        "index": state.indices[places],
        "label": state.labels[places],
        "query_proba": state.query_proba[places],
        "expected_loss": state.query_expected_loss[places],
        "loss": state.losses[places],
        "risk": np.array([np.nan if e is None else e.value for e in estimates]),
        "standard_error": np.array(
            [np.nan if e is None else e.standard_error for e in estimates]
        ),
        "refit": np.array([note["refit"] for note in ledger.notes.values()], bool),
    }


def past_intervals(ledger, level, method):
    """Ends of the interval after each label; infinite where there was none.

    Parameters
    ----------
    ledger : LabelLedger
    level : float
    method : {"fixed", "anytime"}

    Returns
    -------
    low, high : ndarrays of shape (n_labels,)
    """
    estimates = past_estimates(ledger)
    ends = np.full((len(estimates), 2), [-np.inf, np.inf])
    for place, estimate in enumerate(estimates):
        if estimate is not None and not estimate.refusal:
            ends[place] = estimate.interval(level, method=method)
    return ends[:, 0], ends[:, 1]


def _plain(estimate):
    """An estimate as plain values that a ledger can keep; None stays None."""
    if estimate is None:
        return None
    values = asdict(estimate)  # Risks of others may hold numbers of numpy.
    return {name: v.item() if hasattr(v, "item") else v for name, v in values.items()}


def _read(note):
    """The estimate of a note; a journal has numbers that JSON lacks as text."""
    if note is None:
        return None
    values = {
        name: float(value) if isinstance(value, str) and name != "refusal" else value
        for name, value in note.items()
    }
    return RiskEstimate(**values)
