"""One evaluation, label by label: the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._label_checks import check_oracle
from sklearn_ase._evaluation._loop import Limits, run_loop
from sklearn_ase._evaluation._plan import check_budget, check_n_labels
from sklearn_ase._evaluation._reporting import Reporting
from sklearn_ase._report._report import check_target, make_report
from sklearn_ase._utils._checks import check_verbose
from sklearn_ase._utils._typing import ByName, ManyModels, Oracle, StrPath

if TYPE_CHECKING:
    from sklearn_ase._report._report import Report
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.stopping import BaseStop


class Evaluation(Reporting):
    """Evaluation of one model on one pool, label by label.

    Made by :meth:`ActiveRiskEstimator.start`; ``fit`` is a loop over its methods.

    Parameters
    ----------
    problem : Problem
        The data and the model's predictions.
    plan : Plan
        How rows are picked, learned from and used.
    ledger : LabelLedger
        Every query and label; kept in a file if it is a journal.
    seed : int

    Attributes
    ----------
    risk : BaseRisk
        The risk estimator that is reported.
    surrogate : BaseSurrogate
        As it was fitted last.
    classes_ : ndarray of shape (n_classes,) or None
        Labels known so far, sorted; None for regression.
    loss_ : LossTable or PointLoss
        Loss of the model at each sample of the pool, for each label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase import ActiveRiskEstimator
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FrozenEstimator(GaussianNB().fit(X[::5], y[::5]))
    >>> evaluation = ActiveRiskEstimator(model, random_state=0).start(
    ...     X, X_train=X[::5], y_train=y[::5])
    >>> query = evaluation.ask(3)
    >>> evaluation.tell(query, y[query.indices])
    >>> evaluation.estimate().n_labels
    3
    """

    def run(
        self,
        oracle: ArrayLike | Oracle,
        n_labels: int,
        batch_size: int = 1,
        verbose: int = 0,
        *,
        stop: BaseStop | None = None,
        budget: float = np.inf,
        watch: Any = None,
    ) -> str:
        """Ask and tell until there are sufficient labels, then refit the surrogate.

        Open queries are answered first, so a run that was interrupted resumes.

        Parameters
        ----------
        oracle : callable or array-like of shape (n_samples,)
            ``oracle(indices)`` returns their labels.
        n_labels : int
            Labels in all, including those there are already.
        batch_size : int, default=1
        verbose : int, default=0
            Whether to show a progress bar with the running estimate and its interval.
        stop : stopping rule, default=None
            Of :mod:`sklearn_ase.stopping`; asked after every batch.
        budget : float, default=inf
            Cost of all labels; the label that reaches it is the last.
        watch : object with ``begin()`` and ``end()``, default=None
            Called around every batch; what ``end`` returns, if anything, is a reason
            to stop.

        Returns
        -------
        reason : str
            Why it ended.
        """
        oracle = check_oracle(oracle, self.problem, "oracle")
        check_n_labels(n_labels, batch_size, self.n_samples)
        check_budget(budget)
        check_verbose(verbose)
        if stop is not None:
            self._check_stop(stop)
        self._n_planned = n_labels
        limits = Limits(n_labels, batch_size, budget, stop)
        return run_loop(self, oracle, limits, self._so_far, watch, verbose)

    def report(
        self,
        path: StrPath | None = None,
        *,
        level: float = 0.9,
        by: ByName | None = None,
        metrics: str | BaseMetric | Sequence[str | BaseMetric] = (),
        compare: ManyModels | None = None,
        columns: ByName | None = None,
        title: str | None = None,
    ) -> Report:
        """Make a report that can be sent to others, and write it to a file.

        It shows the estimate with its intervals, how it ran, what was labelled, the
        judges, the diagnosis, how the number was made, and what it does not say. A
        section that is not possible gives the reason; the others are still there.

        Parameters
        ----------
        path : str or path, default=None
            File to write: ``.html`` for a page that loads nothing from the network,
            ``.md`` for Markdown. A report of this name is replaced, any other file is
            left as it is. None writes no file.
        level : float, default=0.9
            Of all intervals.
        by : array-like of shape (n_samples,), frame or dict of str to array-like, \
                default=None
            Groups of rows, such as their region, each with an estimate of its own.
        metrics : str, BaseMetric or list of these, default=()
            Other metrics to estimate from the same labels.
        compare : dict of str to model, default=None
            Models to compare; see :meth:`compare`. A choice between models compares
            its own.
        columns : frame or dict of str to array-like, default=None
            What to show of single rows, such as their text: one value per row of the
            pool. By default a report shows only the numbers of rows, because it may
            be sent to others.
        title : str, default=None
            None means the name of the metric.

        Returns
        -------
        report : Report
            A notebook shows it. ``to_html()`` and ``to_markdown()`` return it as text.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_ase import ActiveRiskEstimator
        >>> from sklearn_ase.metrics import LabelShare
        >>> rng = np.random.default_rng(0)
        >>> labels = np.where(rng.random(200) < 0.7, "correct", "wrong")
        >>> score = np.where(labels == "correct", 0.8, 0.3) + rng.normal(0, 0.1, 200)
        >>> evaluator = ActiveRiskEstimator(
        ...     metric=LabelShare("correct"), n_labels=40, random_state=0
        ... ).fit(None, labels, experts={"judge": score.clip(0, 1)})
        >>> report = evaluator.evaluation_.report(title="Answers in May")
        >>> print(report.to_markdown()[:16])
        # Answers in May
        """
        if path is not None:
            check_target(path)
        report = make_report(
            self,
            level=level,
            by=by,
            metrics=metrics,
            compare=compare,
            columns=columns,
            title=title,
        )
        if path is not None:
            report.save(path)
        return report

    def close(self) -> None:
        """Release the journal, so that it can be opened elsewhere."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
