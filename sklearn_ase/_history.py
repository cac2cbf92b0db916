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
                }
            )

    def update(self, n_last, risk, refit):
        """Put the estimate after the last labels behind them; None if there is none."""
        for entry in self._entries[max(len(self._entries) - n_last, 0) :]:
            if risk is not None:
                entry["risk"], entry["standard_error"] = risk.value, risk.standard_error
        if self._entries:
            self._entries[-1]["refit"] = refit

    def as_arrays(self):
        """The columns as a dict of arrays, which ``pandas.DataFrame`` takes."""
        return {
            name: np.array([entry[name] for entry in self._entries])
            for name in _COLUMNS
        }
