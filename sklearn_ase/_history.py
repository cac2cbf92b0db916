"""What happened, label by label."""

import numpy as np

_COLUMNS = (
    "n_labels",
    "index",
    "label",
    "query_proba",
    "expected_loss",
    "loss",
    "risk",
    "standard_error",
    "refit",
)


class History:
    """One entry a label, with the estimate after it."""

    def __init__(self):
        self._entries = []

    def append(self, state, indices):
        """Add the labels of `indices`, told together."""
        place = {index: k for k, index in enumerate(state.indices.tolist())}
        for index in indices:
            k = place[int(index)]
            self._entries.append(
                {
                    "n_labels": len(self._entries) + 1,
                    "index": int(index),
                    "label": state.labels[k],
                    "query_proba": state.query_proba[k],
                    "expected_loss": state.query_expected_loss[k],
                    "loss": state.losses[k],
                    "risk": np.nan,
                    "standard_error": np.nan,
                    "refit": False,
                    "estimate": None,
                }
            )

    def update(self, n_last, risk, refit):
        """Put the estimate after the last labels behind them; None if there is none."""
        for entry in self._entries[max(len(self._entries) - n_last, 0) :]:
            if risk is not None:
                entry["risk"], entry["standard_error"] = risk.value, risk.standard_error
                entry["estimate"] = risk
        if self._entries:
            self._entries[-1]["refit"] = refit

    @property
    def last_risk(self):
        """The estimate after the last label; NaN if there is none."""
        return self._entries[-1]["risk"] if self._entries else np.nan

    def intervals(self, level, method):
        """Ends of the interval after each label; infinite where there was none."""
        ends = np.full((len(self._entries), 2), [-np.inf, np.inf])
        for place, entry in enumerate(self._entries):
            if entry["estimate"] is not None and not entry["estimate"].refusal:
                ends[place] = entry["estimate"].interval(level, method=method)
        return ends[:, 0], ends[:, 1]

    def as_arrays(self):
        """The columns as a dict of arrays, which ``pandas.DataFrame`` takes."""
        return {
            name: np.array([entry[name] for entry in self._entries])
            for name in _COLUMNS
        }
