"""Label-efficient model evaluation, for scikit-learn.

Somebody has a trained model, a large pool without labels and money for few of them:
:class:`ActiveRiskEstimator` tells the model's risk on that pool, how sure that is, and
which rows to label next.

The modules:

* ``sklearn_ase`` -- ActiveRiskEstimator, Evaluation, LabelLedger, TrainingRows
* ``sklearn_ase.acquisition`` -- how much a label of each row is worth
* ``sklearn_ase.selection`` -- from these scores to queries with their probabilities
* ``sklearn_ase.risk`` -- estimates of the risk from the same labels
* ``sklearn_ase.surrogate`` -- any classifier or regressor as calibrated members
* ``sklearn_ase.losses`` -- what a label would cost the model
* ``sklearn_ase.belief`` -- what the surrogate believes about the labels of the pool
* ``sklearn_ase.stopping`` -- when the labels are enough
* ``sklearn_ase.simulation`` -- many evaluations against known labels
* ``sklearn_ase.neural`` -- deep ensembles and Bayesian networks (torch, skorch)
* ``sklearn_ase.exceptions`` -- warnings and errors, to be caught by their class
* ``sklearn_ase.testing`` -- the contracts that strategies of your own must meet
"""

from sklearn_ase._active_risk import ActiveRiskEstimator
from sklearn_ase._annotation._console import annotate
from sklearn_ase._data._training_rows import TrainingRows
from sklearn_ase._evaluation._diagnosis import Diagnosis
from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._forecast import LabelForecast
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._plot import (
    AcquisitionDisplay,
    LabelEfficiencyDisplay,
    LossCalibrationDisplay,
    RiskCurveDisplay,
)
from sklearn_ase._state import Picks, PoolState, Query
from sklearn_ase._version import __version__

__all__ = [
    "AcquisitionDisplay",
    "ActiveRiskEstimator",
    "Diagnosis",
    "Evaluation",
    "LabelEfficiencyDisplay",
    "LabelForecast",
    "LabelLedger",
    "LossCalibrationDisplay",
    "Picks",
    "PoolState",
    "Query",
    "RiskCurveDisplay",
    "TrainingRows",
    "__version__",
    "annotate",
]
