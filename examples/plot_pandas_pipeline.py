"""
Data frames, text columns and pipelines
=======================================

Frames go to the model as they are. The default surrogate encodes text columns by
itself; a pipeline of one's own works as well.
"""

# %%
# A table of flats with a text column, and a pipeline as the model under test.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay

rng = np.random.default_rng(0)
n_flats = 900
flats = pd.DataFrame(
    {
        "size": rng.uniform(30, 150, n_flats),
        "rooms": rng.integers(1, 6, n_flats),
        "town": rng.choice(["Aachen", "Bonn", "Celle"], n_flats),
    }
)
price = flats["town"].map({"Aachen": 10.0, "Bonn": 14.0, "Celle": 8.0})
rent = price * flats["size"] ** 0.9 + rng.normal(0, 30, n_flats)
train, pool = flats.index[:200], flats.index[200:]

encode = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
model = make_pipeline(encode, Ridge()).fit(flats.loc[train], rent[train])

# %%
# The same evaluation with the default surrogate and with a pipeline.
ordinal = make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough")
pipeline = make_pipeline(ordinal, RandomForestRegressor())
surrogates = {"default": None, "pipeline": pipeline}
truth = np.mean((model.predict(flats.loc[pool]) - rent[pool]) ** 2)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, (name, surrogate) in zip(axes, surrogates.items(), strict=True):
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=surrogate,
        loss="squared_error",
        n_labels=50,
        random_state=0,
    )
    evaluator.fit(
        flats.loc[pool], rent[pool], X_train=flats.loc[train], y_train=rent[train]
    )
    RiskCurveDisplay.from_estimator(evaluator, truth=truth, ax=ax)
    ax.set_title(f"surrogate: {name}")
plt.show()
