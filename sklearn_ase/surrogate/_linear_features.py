"""A few numbers that describe a row, for models that are linear in them."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

_MOST_FEATURES = 20_000


class LinearFeatures(TransformerMixin, BaseEstimator):
    """Transformer of rows into a few standardised numbers; it needs no labels.

    Tables keep their columns, or their main directions if there are many. Texts become
    main directions of their tf-idf vectors of words and of runs of characters.

    Parameters
    ----------
    n_components : int, default=8
        Greatest number of columns.

    Attributes
    ----------
    pipeline_ : Pipeline
    """

    def __init__(self, n_components=8):
        self.n_components = n_components

    def fit(self, X, y=None):
        """Learn how to describe rows.

        Parameters
        ----------
        X : array, sparse matrix or list of texts of shape (n_rows, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self.pipeline_ = make_pipeline(*self._steps(X), StandardScaler())
        self.pipeline_.fit(X)
        return self

    def transform(self, X):
        """Describe rows.

        Returns
        -------
        numbers : ndarray of shape (n_rows, n_columns)
        """
        # Rows far from all others must not decide alone.
        return np.clip(self.pipeline_.transform(X), -5.0, 5.0)

    def _steps(self, X):
        if isinstance(X, list):
            options = {"sublinear_tf": True, "max_features": _MOST_FEATURES}
            vectors = FeatureUnion(
                [
                    ("words", TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", **options)),
                    (
                        "characters",
                        TfidfVectorizer(
                            analyzer="char_wb", ngram_range=(2, 4), **options
                        ),
                    ),
                ]
            )
            return [vectors, _SomeDirections(self.n_components)]
        if sparse.issparse(X):
            return [_SomeDirections(self.n_components)]
        steps = [SimpleImputer(keep_empty_features=True), StandardScaler()]
        if X.shape[1] > self.n_components:
            n_components = min(self.n_components, len(X))
            steps.append(PCA(n_components, svd_solver="full", random_state=0))
        return steps


class _SomeDirections(TransformerMixin, BaseEstimator):
    """Main directions of a sparse matrix, as many as it has at most."""

    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, X, y=None):
        self.svd_ = None
        if X.shape[1] == 1:  # TruncatedSVD needs two columns.
            return self
        n_components = max(1, min(self.n_components, *(n - 1 for n in X.shape)))
        self.svd_ = TruncatedSVD(n_components, random_state=0).fit(X)
        return self

    def transform(self, X):
        return X.toarray() if self.svd_ is None else self.svd_.transform(X)
