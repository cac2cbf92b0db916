"""Members of a forest of classifiers, read through the leaves that rows fall into.

Most leaves of a fully grown tree hold one class only. Then a member is known by one
class for each row, and nothing of the size (n_members, n_samples, n_classes) is needed.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from sklearn_ase._data._class_columns import align_columns
from sklearn_ase._utils._unwrapping import unwrap
from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.belief._namespace import to_numpy

_FORESTS = ExtraTreesClassifier, RandomForestClassifier


class ForestLeaves:
    """What the leaves of a fitted forest of classifiers say.

    Parameters
    ----------
    estimator : fitted estimator
        A forest, or a pipeline that ends with one.
    classes : ndarray of shape (n_classes,)
        Columns of the probabilities; all classes of the forest and perhaps others.
    """

    def __init__(self, estimator, classes):
        unwrapped = unwrap(estimator)
        self._transform, self._forest = unwrapped.transform, unwrapped.last
        forest = self._forest
        self._trees = [tree.tree_ for tree in forest.estimators_]
        self._classes, self.n_classes = (forest.classes_, classes), len(classes)
        columns = align_columns(np.eye(len(forest.classes_)), *self._classes)
        columns = columns.argmax(axis=1)
        self._codes, self._is_pure = [], []
        for tree in self._trees:
            shares = tree.value[:, 0]
            is_pure = shares.max(axis=1) == 1.0
            # Mixed leaves get a column of their own, behind those of the classes.
            codes = columns[shares.argmax(axis=1)]
            self._codes.append(np.where(is_pure, codes, self.n_classes))
            is_leaf = tree.children_left < 0
            self._is_pure.append(bool(is_pure[is_leaf].all()))

    @classmethod
    def of(cls, estimator, classes):
        """Leaves of a forest of classifiers; None if the estimator is something else.

        Parameters
        ----------
        estimator : fitted classifier
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        leaves : ForestLeaves or None
        """
        is_forest = isinstance(unwrap(estimator).last, _FORESTS)
        return cls(estimator, classes) if is_forest else None

    @property
    def n_trees(self):
        """Number of members."""
        return len(self._trees)

    def at(self, X):
        """Return the members at some rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)

        Returns
        -------
        members : LeafMembers
        """
        X = as_tree_input(self._transform(X))
        n_rows = X.shape[0]
        places = np.empty((self.n_trees, n_rows), dtype=np.intp)
        mixed = []
        for number, tree in enumerate(self._trees):
            leaves = tree.apply(X)
            np.take(self._codes[number], leaves, out=places[number])
            if not self._is_pure[number]:
                rows = np.flatnonzero(places[number] == self.n_classes)
                shares = tree.value[leaves[rows], 0]
                mixed.append((number, rows, align_columns(shares, *self._classes)))
        places += np.arange(n_rows) * (self.n_classes + 1)
        return LeafMembers(places, mixed, n_rows, self.n_classes)

    def out_of_bag(self, X):
        """Predict each row of the fit by the trees that did not learn from it.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
            The rows that the forest was fitted on, in the same order.

        Returns
        -------
        mean : ndarray of shape (n_rows, n_classes), or None
            NaN for rows that every tree learned from. None without bootstrap samples,
            or if every tree learned from every row.
        """
        if not self._forest.bootstrap:
            return None
        X = as_tree_input(self._transform(X))
        n_rows, n_trees = X.shape[0], np.zeros(X.shape[0])
        total = np.zeros((n_rows, self.n_classes + 1))
        samples = self._forest.estimators_samples_
        for number, (tree, sample) in enumerate(zip(self._trees, samples, strict=True)):
            rows = np.flatnonzero(np.bincount(sample, minlength=n_rows) == 0)
            leaves = tree.apply(X[rows])
            codes = self._codes[number][leaves]
            n_trees[rows] += 1.0
            total[rows, codes] += 1.0
            if not self._is_pure[number]:
                is_mixed = codes == self.n_classes
                shares = tree.value[leaves[is_mixed], 0]
                total[rows[is_mixed], :-1] += align_columns(shares, *self._classes)
        if not n_trees.any():
            return None
        return total[:, :-1] / np.where(n_trees > 0, n_trees, np.nan)[:, None]


class LeafMembers:
    """Members of a forest at some rows.

    Parameters
    ----------
    places : ndarray of int of shape (n_members, n_rows)
        The class of each leaf, as a place in a table of shape (n_rows, n_classes + 1).
        The last column stands for leaves with several classes.
    mixed : list of tuple
        Number of the member, rows in such leaves, and their probabilities, of shape
        (n_mixed_rows, n_classes).
    n_rows, n_classes : int
    """

    def __init__(self, places, mixed, n_rows, n_classes):
        self._places = places
        self._mixed = mixed
        self._shape = n_rows, n_classes

    def mean(self):
        """Mean of the members, of shape (n_rows, n_classes)."""
        n_rows, n_classes = self._shape
        counts = np.bincount(self._places.ravel(), minlength=n_rows * (n_classes + 1))
        total = counts.reshape(n_rows, -1)[:, :-1].astype(float)
        for _, rows, shares in self._mixed:
            total[rows] += shares
        return total / len(self._places)

    def belief(self, loss, proba, keep_member_loss=False):
        """The same as :meth:`CategoricalBelief.from_members`, for these members.

        Parameters
        ----------
        loss : LossTable
        proba : ndarray of shape (n_rows, n_classes)
            Calibrated mean.
        keep_member_loss : bool, default=False

        Returns
        -------
        belief : CategoricalBelief
        """
        mean = self.mean()
        # Where a leaf holds one class, p log p is 0.
        information = np.zeros(self._shape)
        for _, rows, shares in self._mixed:
            information[rows] += _kernels.xlogx(shares)
        information /= len(self._places)
        gap = (information - _kernels.xlogx(mean)).clip(0.0)
        common, weight = _kernels.member_weights(mean, proba, loss.values)
        padded = np.pad(weight, [(0, 0), (0, 1)])
        member_loss = padded.ravel()[self._places]
        for number, rows, shares in self._mixed:
            member_loss[number, rows] = np.einsum("nc,nc->n", shares, weight[rows])
        member_loss += common
        return CategoricalBelief(
            proba=proba,
            class_disagreement=_kernels.tilt(mean, proba) * gap,
            member_risk=member_loss.mean(axis=1),
            member_loss=member_loss if keep_member_loss else None,
        )


def mean_and_belief(members):
    """Mean of the members, and a function that reduces them to a belief.

    Parameters
    ----------
    members : ndarray or tensor of shape (n_members, n_rows, n_classes), or LeafMembers

    Returns
    -------
    mean : ndarray of shape (n_rows, n_classes)
    belief : callable
        A function of the loss, the calibrated mean, and `keep_member_loss`.
    """
    if isinstance(members, LeafMembers):
        return members.mean(), members.belief
    mean = to_numpy(members.mean(axis=0))
    return mean, partial(CategoricalBelief.from_members, members)


def as_tree_input(X):
    """Rows as trees take them without a check: numbers in single precision."""
    if sparse.issparse(X):
        return X.tocsr().astype(np.float32)
    return np.ascontiguousarray(X, dtype=np.float32)
