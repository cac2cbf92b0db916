"""Label-efficient model evaluation, for scikit-learn.

You have a trained model, a large pool without labels, and money for few labels.
:class:`ActiveRiskEstimator` estimates the model's mean loss (risk) on that pool, gives
an interval, and chooses the rows to label next.

The modules:

* ``sklearn_ase`` -- ActiveRiskEstimator, ActiveModelSelector, LabelLedger, ...
* ``sklearn_ase.acquisition`` -- score how much a label of each row is worth
* ``sklearn_ase.selection`` -- pick rows by these scores, with known probabilities
* ``sklearn_ase.risk`` -- estimates of the risk from the same labels
* ``sklearn_ase.surrogate`` -- any classifier or regressor as calibrated members
* ``sklearn_ase.losses`` -- the loss of the model for each possible label
* ``sklearn_ase.metrics`` -- what is reported: F1, AUC, R², ... from the same labels
* ``sklearn_ase.belief`` -- what the surrogate believes about the labels of the pool
* ``sklearn_ase.stopping`` -- when there are sufficient labels
* ``sklearn_ase.simulation`` -- many evaluations against known labels
* ``sklearn_ase.neural`` -- deep ensembles and Bayesian networks (torch, skorch)
* ``sklearn_ase.exceptions`` -- warnings and errors of the package
* ``sklearn_ase.testing`` -- checks for strategies that you write yourself
"""

from sklearn_ase._annotation._console import annotate
from sklearn_ase._data._problem import TrainingRows
from sklearn_ase._data._sampling import PoolSample, sample_pool
from sklearn_ase._evaluation._agreement import Agreement
from sklearn_ase._evaluation._choice import ModelSelection
from sklearn_ase._evaluation._compare import Comparison
from sklearn_ase._evaluation._diagnosis import Diagnosis
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._history import LabelForecast
from sklearn_ase._evaluation._judges import JudgeTable
from sklearn_ase._evaluation._report import Report
from sklearn_ase._evaluation._slices import SliceTable
from sklearn_ase._evaluator import ActiveRiskEstimator
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._labels._store import BaseStore, MemoryStore
from sklearn_ase._plot import (
    AcquisitionDisplay,
    ComparisonDisplay,
    LabelEfficiencyDisplay,
    LossCalibrationDisplay,
    RiskCurveDisplay,
    SliceDisplay,
)
from sklearn_ase._selector import ActiveModelSelector
from sklearn_ase._state import Picks, PoolState, Query
from sklearn_ase._version import __version__

__all__ = [
    "AcquisitionDisplay",
    "ActiveModelSelector",
    "ActiveRiskEstimator",
    "Agreement",
    "BaseStore",
    "Comparison",
    "ComparisonDisplay",
    "Diagnosis",
    "Evaluation",
    "JudgeTable",
    "LabelEfficiencyDisplay",
    "LabelForecast",
    "LabelLedger",
    "LossCalibrationDisplay",
    "MemoryStore",
    "ModelSelection",
    "Picks",
    "PoolSample",
    "PoolState",
    "Query",
    "Report",
    "RiskCurveDisplay",
    "SliceDisplay",
    "SliceTable",
    "TrainingRows",
    "__version__",
    "annotate",
    "sample_pool",
]
