"""Several models, compared with the same labels."""

from html import escape

import numpy as np
from scipy import stats

from sklearn_ase._utils._checks import check_number

# Draws for quantiles of the greatest of several statistics.
_N_DRAWS = 4000


class Comparison:
    """Estimates of several models, their differences, and which may be the best.

    Attributes
    ----------
    names : list of str
    estimates : list of MetricEstimate
        One for each model.
    differences : list of MetricEstimate
        Value of the best model minus that of each; for the best itself 0. Greater is
        worse, also for losses.
    best_index : int
    reference : str or None
    to_reference : list of MetricEstimate or None
        Value of each model minus that of the reference.
    n_labels : int
    n_differing : ndarray of shape (n_models,)
        Labels at which the best model and this one predict differently. Only these say
        which is better.
    """

    def __init__(
        self,
        names,
        estimates,
        differences,
        correlation,
        best_index,
        n_differing,
        reference=None,
        to_reference=None,
    ):
        self.names = names
        self.estimates = estimates
        self.differences = differences
        self.best_index = best_index
        self.n_differing = n_differing
        self.reference = reference
        self.to_reference = to_reference
        self._correlation = correlation

    @property
    def best_name(self):
        """Name of the model with the best estimate."""
        return self.names[self.best_index]

    @property
    def n_labels(self):
        """Number of labels."""
        return self.estimates[0].n_labels

    def candidates(self, level=0.9):
        """Return the models that may be the best.

        The best model is among them with probability `level`.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        names : list of str
        """
        check_number(level, "level", 0, 1, ends="()")
        quantile = self._quantile(level)
        kept = []
        for place, (name, gap) in enumerate(
            zip(self.names, self.differences, strict=True)
        ):
            # Few labels at which two models differ say little: a wider quantile.
            degrees = max(self.n_differing[place] - 1, 1)
            usual = stats.t.ppf(level, max(self.n_labels - 1, 1))
            wider = stats.t.ppf(level, degrees) / usual
            least = gap.centre - quantile * wider * gap.standard_error
            is_proved = gap.bounds[0] > 0  # By labels alone.
            if place == self.best_index or not (least > 0 or is_proved):
                kept.append(name)
        return kept

    def probabilities(self):
        """Return the probability of each model to be the best, roughly.

        Returns
        -------
        probabilities : ndarray of shape (n_models,)
        """
        centre = np.array([gap.value for gap in self.differences])
        draws = self._draws() * self._errors() + centre
        draws[:, self.best_index] = 0.0
        return np.bincount(draws.argmin(axis=1), minlength=len(centre)) / len(draws)

    def describe(self, level=0.9):
        """Say in words which models may be the best.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        text : str
        """
        names = self.candidates(level)
        if len(names) == 1:
            return (
                f"{names[0]} is the best of {len(self.names)} models "
                f"({100 * level:g} %, {self.n_labels} labels)."
            )
        listed = ", ".join(names[:-1]) + f" and {names[-1]}"
        text = f"{listed} cannot be told apart with {self.n_labels} labels."
        more = self.labels_needed(level)
        if np.isfinite(more):
            text += f" About {more:.0f} more may tell the best from the second."
        return text

    def labels_needed(self, level=0.9):
        """Forecast how many more labels tell the best model from the second.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        n_more : float
            Infinite if the two are estimated to be equal.
        """
        others = [p for p in range(len(self.names)) if p != self.best_index]
        if not others:
            return 0.0
        second = min(others, key=lambda place: self.differences[place].value)
        gap = self.differences[second]
        if not gap.value > 0 or not np.isfinite(gap.standard_error):
            return np.inf
        needed = (self._quantile(level) * gap.standard_error / gap.value) ** 2
        return max(self.n_labels * (needed - 1.0), 0.0)

    def to_dict(self, level=0.9):
        """Return the comparison as columns, which ``pandas.DataFrame`` takes.

        Parameters
        ----------
        level : float, default=0.9

        Returns
        -------
        columns : dict of str to list
        """
        candidates = self.candidates(level)
        columns = {
            "model": list(self.names),
            "estimate": [float(e) for e in self.estimates],
        }
        ends = [_ends(e, level) for e in self.estimates]
        columns["low"], columns["high"] = map(list, zip(*ends, strict=True))
        columns["behind_best"] = [float(e) for e in self.differences]
        ends = [_ends(e, level) for e in self.differences]
        columns["behind_low"], columns["behind_high"] = map(
            list, zip(*ends, strict=True)
        )
        columns["may_be_best"] = [name in candidates for name in self.names]
        columns["probability"] = self.probabilities().tolist()
        return columns

    def __str__(self):
        rows = [[_text(v) for v in row] for row in self._rows()]
        head = [name.replace("_", " ") for name in self.to_dict()]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)
        ]
        return "\n".join([*lines, self.describe()])

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f"<th>{escape(name)}</th>" for name in self.to_dict())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_text(v))}</td>" for v in row) + "</tr>"
            for row in self._rows()
        )
        caption = f"<caption>{escape(self.describe())}</caption>"
        return f"<table>{caption}<tr>{head}</tr>{body}</table>"

    def _rows(self):
        return zip(*self.to_dict().values(), strict=True)

    def _errors(self):
        errors = np.array([gap.standard_error for gap in self.differences])
        return np.nan_to_num(errors)

    def _draws(self):
        rng = np.random.default_rng(0)  # The same question gets the same answer.
        values, vectors = np.linalg.eigh(self._correlation)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return rng.standard_normal((_N_DRAWS, len(self.names))) @ root.T

    def _quantile(self, level):
        """Quantile of the greatest t statistic of all differences."""
        draws = np.delete(self._draws(), self.best_index, axis=1)
        if not draws.shape[1]:
            return 0.0
        degrees = max(self.n_labels - 1, 1)
        rng = np.random.default_rng(1)
        scale = np.sqrt(rng.chisquare(degrees, len(draws)) / degrees)
        return float(np.quantile(draws.max(axis=1) / scale, level))


def _ends(estimate, level):
    return (np.nan, np.nan) if estimate.refusal else estimate.interval(level)


def _text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)
