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

    def append(self, state, indices, risk=None, refit=False):
        """Add the labels of `indices`, told together, and the estimate after them."""
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
                    **_numbers(risk),
                    "refit": refit,
                }
            )

    def update_last(self, risk):
        """Put the estimate of a refitted surrogate behind the last label."""
        if self._entries:
            self._entries[-1].update(**_numbers(risk), refit=True)

    def as_arrays(self):
        """The columns as a dict of arrays, which ``pandas.DataFrame`` takes."""
        return {
            name: np.array([entry[name] for entry in self._entries])
            for name in _COLUMNS
        }


def _numbers(risk):
    if risk is None:
        return {"risk": np.nan, "standard_error": np.nan}
    return {"risk": risk.value, "standard_error": risk.standard_error}
