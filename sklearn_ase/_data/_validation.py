"""Validate the rows of pool and training, once, before anything else sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from sklearn_ase._data._labels import check_labels
from sklearn_ase._data._rows import (
    is_dataset,
    is_frame,
    n_rows,
    order_columns,
    read_dataset,
    read_numbers,
    refuse_masked,
    take_rows,
    without_torch,
)
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._estimators import unfrozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sklearn_ase._evaluator import ActiveRiskEstimator
    from sklearn_ase._utils._typing import Floats, Rows, Task


def check_rows(
    evaluator: ActiveRiskEstimator, X: Rows, reset: bool, name: str = "X"
) -> Rows:
    """Check a pool: arrays are validated, frames, texts and datasets left alone."""
    X = _table(X, name)
    if is_frame(X) or is_dataset(X) or _is_text(X):
        if n_rows(X) == 0:
            raise ValueError(f"The pool has 0 rows: {name} is empty. Give some rows.")
        # The first row of a dataset, without its label, has the number of features.
        table = take_rows(X, np.arange(1)) if is_dataset(X) else X
        validate_data(evaluator, table, reset=reset, skip_check_array=True)
        return X
    sparse_ok, allow_nan = _accepts(evaluator)
    options = _numeric(X, sparse_ok, allow_nan)
    try:
        return _named(lambda: validate_data(evaluator, X, reset=reset, **options), name)
    except ValueError as error:
        if "NaN" in str(error) and not allow_nan:
            _say_who_takes_no_gaps(error, getattr(evaluator, "estimator", None))
        raise


def _say_who_takes_no_gaps(error: Exception, model: Any) -> None:
    """Say of an error about gaps whether it is the model that refuses them."""
    who = "The surrogate takes no missing values. Give another one as surrogate=..., "
    is_known = hasattr(model, "__sklearn_tags__")
    if is_known and not get_tags(model).input_tags.allow_nan:
        name = type(unfrozen(model)).__name__
        who = (
            f"The model under test refuses the pool: {name} takes no missing values. "
            "Give predictions=... in place of estimator=..., "
        )
    error.add_note(f"{who}or leave out the rows that have some.")


def _accepts(evaluator: Any) -> tuple[bool, bool]:
    """Whether model and surrogate take sparse matrices, and missing values."""
    tags = evaluator.__sklearn_tags__().input_tags
    return tags.sparse, tags.allow_nan


def _numeric(X: Any, sparse_ok: bool, allow_nan: bool) -> dict[str, Any]:
    """Options of scikit-learn's check of an array."""
    return {
        "accept_sparse": "csr" if sparse_ok else False,
        "allow_nd": True,
        "dtype": "numeric" if getattr(X, "dtype", None) == np.dtype(object) else None,
        "ensure_all_finite": "allow-nan" if allow_nan else True,
    }


def _named(check: Callable[[], Any], name: str) -> Any:
    """The result of a check of scikit-learn, whose error shall name the argument."""
    try:
        return check()
    except (TypeError, ValueError) as error:
        if f"{name} " in str(error):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def _table(X: Any, name: str) -> Any:
    """Rows as a table, with texts as a list; what cannot be one is refused."""
    X = without_torch(X)
    refuse_masked(X, name)
    is_array = hasattr(X, "shape") or hasattr(X, "__array__")
    is_table = is_array or isinstance(X, (list, tuple)) or is_dataset(X)
    if not is_table or isinstance(X, type):
        raise TypeError(
            f"{name} must be an array, a sparse matrix, a frame or a list of texts, "
            f"but is {shown(X)}."
        )
    if _is_text(X):
        return list(X)
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("M", "m", "S"):
        raise ValueError(
            f"{name} must hold numbers, but is an array of {X.dtype}. Give a frame, "
            "whose columns may hold text and dates."
        )
    return X


def _is_text(X: Any) -> bool:
    """Whether the rows are texts."""
    one_dimensional = (
        isinstance(X, (list, tuple)) or len(getattr(X, "shape", "  ")) == 1
    )
    return one_dimensional and n_rows(X) > 0 and isinstance(next(iter(X)), str)


def check_training_rows(
    X_train: Any, y_train: Any, X: Rows, task: Any, evaluator: Any
) -> tuple[Any, np.ndarray | None]:
    """Check the rows that the surrogate may also learn from, beside the pool X."""
    if X_train is None and y_train is None:
        return None, None
    if X_train is None or y_train is None:
        names = ("X_train", "y_train") if y_train is None else ("y_train", "X_train")
        raise ValueError(
            "{} was given without {}. They go together: the rows that the "
            "surrogate may also learn from, and their labels.".format(*names)
        )
    X_train = _same_table(_table(X_train, "X_train"), X, evaluator)
    y_train = check_labels(y_train, task, name="y_train")
    if len(y_train) != n_rows(X_train):
        raise ValueError(
            f"X_train has {n_rows(X_train)} rows and y_train {len(y_train)} labels. "
            "Give one label for each row."
        )
    return X_train, y_train


def check_same_kind(X_train: Any, X: Any) -> None:
    """Refuse training rows that are no table, or an array beside a frame.

    Said before anything is read or fitted: the errors of the checks that follow would
    be about the values.
    """
    shapes: list[Any] = [getattr(rows, "shape", None) for rows in (X_train, X)]
    if None in shapes:
        return
    if len(shapes[0]) == 1 and len(shapes[1]) > 1:
        what = "array" if isinstance(X_train, np.ndarray) else type(X_train).__name__
        raise TypeError(
            f"X_train is one column ({_a(what)}), but the pool has {shapes[1][1]} "
            "columns. Give the training rows with the columns of the pool; were "
            "X_train and y_train swapped?"
        )
    both = (X_train, X)
    are_arrays = [isinstance(rows, np.ndarray) for rows in both]
    if any(map(is_frame, both)) and any(are_arrays):
        first, second = (
            "array" if is_array else type(rows).__name__
            for rows, is_array in zip(both, are_arrays, strict=True)
        )
        raise TypeError(
            f"X_train is {_a(first)} and the pool {_a(second)}. Give both as frames, "
            "with the same names of columns."
        )


def _a(word: str) -> str:
    """A word with its article."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _same_table(X_train: Any, X: Any, evaluator: Any) -> Any:
    """Training rows as the same kind of table as the pool, with the same columns."""
    if is_dataset(X_train):
        X_train = read_dataset(X_train)
    if not is_frame(X_train) and not _is_text(X_train):
        options = _numeric(X_train, *_accepts(evaluator))
        X_train = _named(lambda: check_array(X_train, **options), "X_train")
    kinds = [(is_frame(rows), isinstance(rows, list)) for rows in (X_train, X)]
    if kinds[0] != kinds[1]:
        raise TypeError(
            f"X_train is a {type(X_train).__name__} and the pool a {type(X).__name__}. "
            "Give both as the same kind of table."
        )
    if is_frame(X):
        odd = sorted(map(str, set(X.columns) ^ set(X_train.columns)))
        if odd:
            raise ValueError(
                "X_train and the pool must have the same columns, but "
                f"{odd} are in one of them only."
            )
        return order_columns(X_train, X.columns)
    if isinstance(X, list):
        return X_train
    first = take_rows(X, np.arange(1)) if is_dataset(X) else X
    if X_train.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"X_train has rows of shape {X_train.shape[1:]} and the pool of shape "
            f"{first.shape[1:]}. Give both with the same columns."
        )
    return X_train


def row_numbers(*given) -> np.ndarray:
    """Numbers of the rows, in the place of features of a pool without any."""
    for values in given:
        if isinstance(values, Mapping) and values:
            values = next(iter(values.values()))
        elif isinstance(values, (list, tuple)) and values and np.ndim(values[0]):
            values = values[0]
        if values is not None and (hasattr(values, "shape") or np.ndim(values)):
            return np.arange(n_rows(values))[:, None]
    raise ValueError(
        "X is None, so nothing is known about the rows. Give X, the rows of the pool, "
        "or experts=... or predictions=... with one entry for each row."
    )


def check_weight(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Check the weights of the rows of the pool."""
    if sample_weight is None:
        return None
    weight = read_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise ValueError(
            "sample_weight must have one weight per row of the pool, shape "
            f"({n_samples},), but has shape {weight.shape}."
        )
    n_odd = int(np.sum(~np.isfinite(weight)))
    if n_odd:
        raise ValueError(
            f"sample_weight must be finite numbers >= 0, but {n_odd} of them are NaN "
            "or infinite. Give such rows the weight 0 to leave them out."
        )
    if (weight < 0).any() or not weight.any():
        raise ValueError(
            "sample_weight must be finite numbers >= 0, not all 0, but they go from "
            f"{weight.min()} to {weight.max()}."
        )
    return weight.astype(float)


def check_cost(cost: Any, n_samples: int) -> Floats | None:
    """Check what a label of each row costs; None stays None."""
    if cost is None:
        return None
    cost = read_numbers(cost, "cost")
    if cost.shape != (n_samples,) or not (np.isfinite(cost) & (cost > 0)).all():
        raise ValueError(
            f"cost must be one finite number > 0 for each of the {n_samples} rows of "
            f"the pool, but has shape {cost.shape}"
            + (f" and a least entry of {cost.min()}." if cost.size else ".")
        )
    return cost


def check_task(loss: Any, estimator: Any, surrogate: Any, classes: Any) -> Task:
    """Find out whether labels are classes or numbers.

    The loss decides; if it does not say, the surrogate, the model and `classes` do.
    """
    has_tags = hasattr(estimator, "__sklearn_tags__")
    if loss.task == "regression" and has_tags and is_classifier(estimator):
        raise ValueError(
            "The loss or the metric is for regression, but the estimator is a "
            "classifier. Use one for classification, such as metric='accuracy' or "
            "loss='brier'."
        )
    if loss.task is not None:
        return loss.task
    if getattr(surrogate, "task", None) is not None:
        return surrogate.task
    parts = [getattr(surrogate, "estimator", surrogate), estimator]
    parts = [part for part in parts if hasattr(part, "__sklearn_tags__")]
    if classes is not None or any(is_classifier(part) for part in parts):
        return "classification"
    if any(is_regressor(part) for part in parts):
        return "regression"
    raise ValueError(
        "Neither the loss nor the estimator nor the surrogate says whether labels are "
        "classes or numbers. Wrap the function: CustomLoss(function, "
        "task='regression') or task='classification'."
    )
