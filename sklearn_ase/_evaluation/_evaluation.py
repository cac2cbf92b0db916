"""One evaluation, label by label: the paper's Algorithm 1."""

import numpy as np

from sklearn_ase._data._label_checks import check_oracle
from sklearn_ase._evaluation._loop import Limits, run_loop
from sklearn_ase._evaluation._plan import check_budget, check_n_labels
from sklearn_ase._evaluation._reporting import Reporting
from sklearn_ase._utils._checks import check_verbose


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
        oracle,
        n_labels,
        batch_size=1,
        verbose=0,
        *,
        stop=None,
        budget=np.inf,
        watch=None,
    ):
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
            Whether to show a progress bar with the running estimate.
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
        oracle = check_oracle(oracle, self.n_samples, "oracle")
        check_n_labels(n_labels, batch_size, self.n_samples)
        check_budget(budget)
        check_verbose(verbose)
        if stop is not None:
            self._check_stop(stop)
        self._n_planned = n_labels
        limits = Limits(n_labels, batch_size, budget, stop)
        return run_loop(self, oracle, limits, watch, verbose)

    def close(self):
        """Release the journal, so that it can be opened elsewhere."""
        self.ledger.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
