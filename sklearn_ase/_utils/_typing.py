"""Names for what many signatures take or return."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

# An array, a sparse matrix, a frame, a list, or a pool that is not in memory.
Rows: TypeAlias = Any
# Any estimator of scikit-learn, which has no types.
Estimator: TypeAlias = Any
# A model under test: a fitted estimator, or a function of the rows.
Model: TypeAlias = Any
# A number, a text or another value that a row can have as label.
Label: TypeAlias = Any

# Models by name; predictions for the pool may take the place of a model.
ManyModels: TypeAlias = Mapping[str, Model] | Sequence[tuple[str, Model]]
# What several judges or models say, by name.
ByName: TypeAlias = Mapping[str, ArrayLike] | ArrayLike
# Labels of the rows that are asked for.
Oracle: TypeAlias = Callable[[np.ndarray], ArrayLike]
# Loss of each row, from labels and predictions.
LossFunction: TypeAlias = Callable[[np.ndarray, np.ndarray], ArrayLike]

Floats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.integer]
Bools: TypeAlias = NDArray[np.bool_]

Seed: TypeAlias = int | np.random.RandomState | None
StrPath: TypeAlias = str | os.PathLike[str]

Task: TypeAlias = Literal["classification", "regression"]
Response: TypeAlias = Literal["predict", "predict_proba"]
# How an interval is meant to be looked at, and what it is for.
Method: TypeAlias = Literal["fixed", "anytime"]
Target: TypeAlias = Literal["pool", "population"]
Average: TypeAlias = Literal["binary", "macro", "weighted", "micro"]
