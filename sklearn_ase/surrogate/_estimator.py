"""The base class of surrogates that are made of a classifier or a regressor."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from sklearn_ase._data._predictions import cross_fitted
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._utils._checks import (
    check_folds,
    check_integer,
    check_n_jobs,
    check_number,
    shown,
)
from sklearn_ase._utils._estimators import fit_seeded, unwrap
from sklearn_ase._utils._typing import Estimator, Floats, Rows
from sklearn_ase.belief import Belief
from sklearn_ase.losses._base import PoolLoss
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._encoder import PoolEncoder
from sklearn_ase.surrogate._members import has_members, out_of_bag, predict_members
from sklearn_ase.surrogate._power_prior import ShiftScore, can_compare


@dataclass(frozen=True, eq=False)
class FitRows:
    """Labelled rows for one fit, as `BaseSurrogate.fit` gets them."""

    X: Rows
    y: np.ndarray
    classes: np.ndarray | None = None
    expert: Any = None
    model_classes: np.ndarray | None = None
    n_acquired: int = 0
    labels_are_drawn: bool = True

    @property
    def n_rows(self) -> int:
        """Number of rows, training rows and acquired rows together."""
        return n_rows(self.X)

    @property
    def is_acquired(self) -> np.ndarray:
        """Which rows were acquired from the pool, a mask."""
        return np.arange(self.n_rows) >= self.n_rows - self.n_acquired

    def fit_weight(self, pool_weight: float) -> np.ndarray | None:
        """Weight of each row in the fit of the estimator; None if all are alike."""
        if pool_weight == 1.0 or self.n_acquired in (0, self.n_rows):
            return None
        return np.where(self.is_acquired, float(pool_weight), 1.0)

    def weight(self, rows_per_acquired: float, labels_are_drawn: bool) -> np.ndarray:
        """Weight of each row where training rows say less than acquired ones."""
        if not rows_per_acquired > 0:
            raise ValueError(f"rows_per_acquired={rows_per_acquired} must be > 0.")
        # Acquired rows are few, but only they come from the population that is
        # evaluated. Without this weight many training rows would decide alone.
        n_training = max(self.n_rows - self.n_acquired, 1)
        n_worth = rows_per_acquired
        if not labels_are_drawn:
            # Rows that were chosen for their scores are unlike the rest of the pool.
            # The more of them there are, the more is the rest like training rows.
            n_worth = 2.0 * self.n_acquired**2 / rows_per_acquired
        return np.where(self.is_acquired, 1.0, min(1.0, n_worth / n_training))


def take_columns(columns: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Some rows of columns by name, of which some may be None."""
    return {
        name: None if column is None else column[rows]
        for name, column in columns.items()
    }


# Numbers in one chunk of members: 8 MB, and about twice that while it is reduced.
CHUNK_NUMBERS = 2**20


class EstimatorSurrogate(BaseSurrogate):
    """Base class of the surrogates that wrap a classifier or a regressor."""

    _belief_type: Any = None
    _stratified = False
    _encoder: PoolEncoder | None = None  # Fitted, if rows were encoded.
    _shift: ShiftScore | None = None  # If pool and training rows could be compared.
    _pool: tuple = (None, None)  # The rows of the pool and their scores.

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_members: int = 20,
        calibration: Any = "auto",
        pool_weight: float = 1.0,
        rows_per_acquired: float = 50,
        cv: int = 5,
        min_rows: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.calibration = calibration
        self.pool_weight = pool_weight
        self.rows_per_acquired = rows_per_acquired
        self.cv = cv
        self.min_rows = min_rows
        self.n_jobs = n_jobs

    @property
    def is_constant(self) -> bool:
        """Whether the estimator is frozen: never refitted, never recalibrated."""
        return isinstance(self.estimator, FrozenEstimator)

    @property
    def uses_estimator(self) -> bool:
        """Whether the calibration uses the predictions of the model under test."""
        calibration = self._new_calibration()
        return calibration is not None and calibration.use_estimator

    @property
    def is_calibrated(self) -> bool:
        """Whether the last fit was calibrated on held-out predictions."""
        return getattr(self, "calibration_", None) is not None

    @property
    def uses_out_of_fold(self) -> bool:
        """Whether out-of-fold predictions of the model under test are of use."""
        return not self.is_constant

    @property
    def gives_members(self) -> bool:
        """Whether the estimator has several members, or gets them by bootstrap."""
        return not self.is_constant or has_members(self.estimator)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        estimator = self.estimator
        # A class instead of an instance is refused later, with a reason.
        if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
            estimator = ExtraTreesClassifier()  # The default takes what trees take.
        tags.input_tags = get_tags(estimator).input_tags
        return tags

    def validate(self) -> None:
        check_integer(self.n_members, "n_members", 1)
        check_n_jobs(self.n_jobs)
        check_number(self.pool_weight, "pool_weight", 0, ends="()")
        check_number(self.rows_per_acquired, "rows_per_acquired", 0, infinite=True)
        check_folds(self.cv, "no cross-fitting")
        check_integer(self.min_rows, "min_rows", 1)
        if hasattr(self.calibration, "validate"):
            self.calibration.validate()
        self._new_calibration()

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Encode frames or images, and compare pool and training rows.

        They are encoded if the estimator starts with a PoolEncoder. The fitted encoder
        stays in the pipeline, frozen, and lets encoded rows pass.
        """
        X, X_train = self._encoded(X, X_train)
        if self._new_calibration() is not None and can_compare(X, X_train):
            self._shift = ShiftScore(X, X_train)
            self._pool = X, self._shift.score(X)
        return X, X_train

    def _encoded(self, X: Rows, X_train: Rows | None) -> tuple[Rows, Rows | None]:
        """Pool and training rows as the steps behind a PoolEncoder read them."""
        pipeline = self.estimator
        if not isinstance(pipeline, Pipeline):
            return X, X_train
        name, encoder = pipeline.steps[0]
        if not isinstance(encoder, PoolEncoder) or not encoder.encodes(X):
            return X, X_train
        encoder = self._encoder = clone(encoder).fit(X, X_train=X_train)
        self.estimator = clone(pipeline).set_params(**{name: FrozenEstimator(encoder)})
        if X_train is not None:
            X_train = self.prepare_other(X_train)
        return self.prepare_other(X), X_train

    def prepare_other(self, X: Rows) -> Rows:
        return X if self._encoder is None else self._encoder.transform(X)

    def fit(
        self,
        X: Rows,
        y: np.ndarray,
        *,
        classes: np.ndarray | None = None,
        expert: Floats | None = None,
        model_classes: np.ndarray | None = None,
        n_acquired: int = 0,
        seed: int = 0,
        labels_are_drawn: bool = True,
    ) -> Self:
        rows = FitRows(
            X=X,
            y=np.asarray(y),
            classes=classes,
            expert=expert,
            model_classes=model_classes,
            n_acquired=n_acquired,
            labels_are_drawn=labels_are_drawn,
        )
        calibration = self._new_calibration()  # Errors come before the costly fit.
        if self.is_constant:
            self.estimator_ = self.estimator
        else:
            weight = rows.fit_weight(self.pool_weight)
            self.estimator_ = self._fit_estimator(rows.X, rows.y, weight, seed)
        self._calibrate(rows, calibration, seed)
        return self

    @property
    def can_update(self) -> bool:
        """Whether the calibration takes new labels without a refit of the estimator."""
        # A belief of a subclass need not be one that can be calibrated again.
        has_own_belief = type(self).belief is not EstimatorSurrogate.belief
        return self.is_calibrated and not has_own_belief

    def update(
        self,
        belief: Belief,
        loss: PoolLoss,
        rows: np.ndarray,
        y: np.ndarray,
        expert: Floats | None = None,
    ) -> Belief:
        new = self._columns_at(belief, rows, y, expert)
        columns = {
            name: None if column is None else np.concatenate([column, new[name]])
            for name, column in self._acquired.items()
        }
        self.calibration_.fit_acquired(**columns)
        return self._recalibrated(belief, loss, expert)

    def belief(
        self,
        X: Rows,
        loss: PoolLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
    ) -> Belief:
        n_samples = n_rows(X)
        size = max(1, min(n_samples, CHUNK_NUMBERS // self._numbers_per_row(X)))
        shift = None if self.calibration_ is None else self._shift_at(X)
        # In threads: trees and numpy let others run, and nothing has to be copied.
        parallel = Parallel(self.n_jobs, require="sharedmem", return_as="generator")
        chunks = parallel(
            delayed(self._chunk_belief)(
                take_rows(X, rows),
                loss.take(rows),
                keep_member_loss=keep_member_loss,
                **take_columns({"expert": expert, "shift": shift}, rows),
            )
            for rows in gen_batches(n_samples, size)
        )
        return self._belief_type.concatenate(chunks, n_samples)

    def _numbers_per_row(self, X):
        """How many numbers a row of a chunk takes."""
        return predict_members(self.estimator_, take_rows(X, slice(0, 1))).size

    def _fit_estimator(self, X, y, weight, seed):
        """Fit the estimator, or an ensemble of it, on these rows."""
        model = self._with_members(y)
        if weight is None:
            return fit_seeded(model, seed, X, y)
        last, _, prefix, is_frozen = unwrap(model)
        if is_frozen or not has_fit_parameter(last, "sample_weight"):
            name = "FrozenEstimator" if is_frozen else type(last).__name__
            raise ValueError(
                f"pool_weight={self.pool_weight} weighs acquired rows against training "
                f"rows, but {name}.fit takes no sample_weight. Use pool_weight=1 or "
                "another surrogate."
            )
        return fit_seeded(model, seed, X, y, **{f"{prefix}sample_weight": weight})

    def _held_out(self, rows, seed, predict):
        """Predict each row by members that did not learn from it."""
        held_out = out_of_bag(self.estimator_, rows.X)
        if held_out is not None:
            return held_out
        weight = rows.fit_weight(self.pool_weight)

        def fit(chosen, seed):
            part = None if weight is None else weight[chosen]
            return self._fit_estimator(
                take_rows(rows.X, chosen), rows.y[chosen], part, seed
            )

        return cross_fitted(
            fit, predict, rows.X, rows.y, self.cv, seed, self._stratified
        )

    def _shift_at(self, X):
        """How much more common such rows are in the pool, (n_rows,), or None."""
        if self._shift is None:
            return None
        pool, score = self._pool
        return score if X is pool else self._shift.score(self.prepare_other(X))

    def _keep_acquired(self, columns, held_out, rows):
        """Keep what the calibration learned from acquired rows, for an update."""
        self._acquired = take_columns(columns, held_out & rows.is_acquired)

    def _new_calibration(self):
        """Return an unfitted calibration, or None for no calibration."""
        chosen = self.calibration
        is_auto = isinstance(chosen, str) and chosen == "auto"
        is_object = hasattr(chosen, "fit") and not isinstance(chosen, type)
        if not is_auto and chosen is not None and not is_object:
            raise TypeError(
                f"calibration={shown(chosen)} is not a calibration. Use 'auto' for the "
                "default calibration, None for no calibration, or an object such as "
                "LogLinearStack() or GaussianStack()."
            )
        if self.is_constant or chosen is None:
            return None
        return self._auto_calibration() if is_auto else clone(chosen)

    @abstractmethod
    def _auto_calibration(self):
        """Return the calibration that ``calibration="auto"`` stands for, or None."""

    @abstractmethod
    def _with_members(self, y):
        """Return the estimator to fit on these labels, with members if possible."""

    @abstractmethod
    def _calibrate(self, rows: FitRows, calibration, seed: int):
        """Learn from held-out predictions how to correct the fitted estimator."""

    @abstractmethod
    def _columns_at(self, belief, rows, y, expert):
        """What the calibration learns from rows of the pool, by the name of `fit`."""

    @abstractmethod
    def _recalibrated(self, belief, loss, expert):
        """Return the belief by the same members and the calibration as it is now."""

    @abstractmethod
    def _chunk_belief(self, X, loss, expert, shift, keep_member_loss):
        """Return the belief about a chunk of rows, few enough for all members."""
