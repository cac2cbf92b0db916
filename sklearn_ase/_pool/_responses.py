"""What metrics read of the predictions for a pool that is read in chunks."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._data._responses import refuse_labels, response_of
from sklearn_ase._data._rows import n_rows
from sklearn_ase._utils._progress import say
from sklearn_ase._utils._settings import same_settings
from sklearn_ase.metrics._ranking import BaseRanking


@dataclass(frozen=True, eq=False)
class ReadResponse:
    """Asks a model about some rows, and returns what a metric reads of it.

    Attributes
    ----------
    problem : Problem
        Without rows.
    asking : Asking
    classes : ndarray of shape (n_classes,) or None
    metric : BaseMetric, default=None
        That a call is about.
    """

    problem: object
    asking: object
    classes: np.ndarray | None
    metric: object = None

    @classmethod
    def of_pool(cls, problem, asking, classes):
        """Take of the problem only what is needed, for it is sent to workers.

        Parameters
        ----------
        problem : Problem
        asking : Asking
        classes : ndarray of shape (n_classes,) or None
        """
        names = "X predictions X_train y_train train_predictions cost sample_weight"
        names += " features train_features pool"
        return cls(replace(problem, **dict.fromkeys(names.split())), asking, classes)

    @property
    def may_be_labels(self):
        """Whether only all rows together tell probabilities from labels."""
        names = ["predict_proba"]
        if getattr(self.metric, "takes_scores", False):
            names.append("decision_function")
        knows = any(hasattr(self.problem.model, name) for name in names)
        return self.metric.response_method == "predict_proba" and not knows

    def __call__(self, rows, given):
        return self.of(rows, self.asking(rows, given), self.metric)

    def of(self, rows, predictions, metric):
        """What a metric reads of the predictions for some rows.

        Parameters
        ----------
        rows : array, sparse matrix, frame, list or torch dataset
        predictions : Predictions
        metric : BaseMetric

        Returns
        -------
        response : ndarray of shape (n_rows,) or (n_rows, n_classes), or None
        """
        problem = replace(self.problem, X=rows, predictions=predictions)
        found = response_of(problem, metric, self.classes, is_part=True)
        if isinstance(metric, BaseRanking) and found.ndim == 2:
            return found[:, metric.on_pool(found[:1], self.classes).column]
        return found


@dataclass(frozen=True, eq=False)
class ReadLimits:
    """Finds the least and the greatest value that a metric of one mean has at rows.

    And whether all probabilities of a row are 0 or 1, as those of labels are.

    Attributes
    ----------
    response : ReadResponse
        Of that metric.
    """

    response: ReadResponse

    def __call__(self, rows, given):
        metric, classes = self.response.metric, self.response.classes
        response = self.response(rows, given)
        bound = metric.on_pool(response, classes, n_samples=n_rows(rows))
        is_label = np.ones(n_rows(rows))
        if self.response.may_be_labels:
            is_label = np.isin(response, (0.0, 1.0)).all(axis=1)
        return np.stack([*bound.parts[0].limits(), is_label], axis=1)


class AskedColumns:
    """Columns that questions have read of the predictions for a pool.

    Parameters
    ----------
    parts : LocalParts or DaskParts
    """

    def __init__(self, parts):
        self._parts, self._found = parts, {}
        self._metrics = []  # That questions were about; their places are names.

    def name_of(self, metric):
        """A name that only metrics with the same parameters share.

        Parameters
        ----------
        metric : BaseMetric

        Returns
        -------
        name : str
        """
        for place, known in enumerate(self._metrics):
            if same_settings(known, metric):
                return f"metric {place}"
        self._metrics.append(metric)
        return f"metric {len(self._metrics) - 1}"

    def collected(self, response):
        """What a metric reads of the predictions for all rows; takes one pass.

        Parameters
        ----------
        response : ReadResponse

        Returns
        -------
        response : ndarray of shape (n_samples,) or (n_samples, n_classes), or None
        """
        metric, classes = response.metric, response.classes
        if metric.response_method is None:
            return None
        # Labels and values are the same for all metrics.
        if classes is None or metric.response_method == "predict":
            return self._once(("response",), response)
        found = self._once(("response", *self._key_of(response)), response)
        if response.may_be_labels:
            refuse_labels(found, metric)
        return found

    def limits_of(self, response):
        """Least and greatest value of a metric of one mean at all rows; one pass.

        Parameters
        ----------
        response : ReadResponse

        Returns
        -------
        least, most : ndarray of shape (n_samples,)
        """
        key = "limits", *self._key_of(response)
        least, most, is_label = self._once(key, ReadLimits(response)).T
        if response.may_be_labels and is_label.all():
            refuse_labels(is_label, response.metric)
        return least, most

    def _key_of(self, response):
        return self.name_of(response.metric), *response.classes.tolist()

    def _once(self, key, function):
        if key not in self._found:
            say("The pool is read once to ask the model.", self._parts.verbose)
            self._found[key] = self._parts.collect(function, "asking the model")
        return self._found[key]

    def forget(self):
        """Let go the columns that questions have read."""
        self._found.clear()
