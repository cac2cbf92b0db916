"""Tasks whose rows are frames with text and dates; the model gets them as they are.

* adult frame: text categories, as they come.
* evouna frame: questions and answers of five systems, and whether people accept the
  answer. The model reads the words only.
* bikeshare frame: bikers in an hour, which a date and time and the weather tell.
* elec2 frame: whether the price of electricity rises. The model was trained on the
  first half of the time.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from tasks import boosting, boosting_regressor, classification, regression

# The files give the order of their rows; when they begin is known from elsewhere.
BIKESHARE_START = pd.Timestamp("2011-01-01")
ELEC2_START = pd.Timestamp("1996-05-07")
ADULT_TEXT = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)


@lru_cache
def read_adult(data_dir):
    """Adult with its categories as text."""
    path = Path(data_dir) / "tabular" / "adult.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False).drop(columns="split")
    return frame, frame.pop("class").to_numpy(dtype=object)


@lru_cache
def read_evouna(data_dir):
    """All answers that people have judged."""
    frame = pd.read_csv(Path(data_dir) / "evals" / "evouna.csv.gz")
    frame = frame[(frame["improper"] == 0) & frame["human"].notna()]
    texts = {"question": "", "gold": "", "answer": ""}
    return frame.fillna(texts).reset_index(drop=True)


def read_answers(data_dir):
    """Questions and answers, and whether people accept them."""
    frame = read_evouna(data_dir)
    y = frame["human"].to_numpy(dtype=int)
    return frame[["set", "model", "question", "answer"]], y


@lru_cache
def read_bikeshare(data_dir):
    """Hours of a year with their weather; `day` counts from the first of January."""
    frame = pd.read_csv(Path(data_dir) / "tabular" / "bikeshare.csv.gz")
    hours = (frame["day"] - 1) * 24 + frame["hr"]
    when = BIKESHARE_START + pd.to_timedelta(hours, unit="h")
    weather = frame[["holiday", "weathersit", "temp", "atemp", "hum", "windspeed"]]
    return weather.assign(when=when), frame["bikers"].to_numpy(dtype=float)


@lru_cache
def read_elec2(data_dir):
    """Half hours in the order of the file."""
    frame = pd.read_csv(Path(data_dir) / "evals" / "elec2.csv.gz")
    when = ELEC2_START + pd.to_timedelta(np.arange(len(frame)) * 30, unit="min")
    y = frame.pop("class").to_numpy(dtype=int)
    return frame.drop(columns="period").assign(when=when), y


def is_early(X, y):
    """Rows of the first half of the time."""
    when = X["when"].to_numpy()
    return when < when.min() + (when.max() - when.min()) / 2


def calendar(frame):
    """Hour, day of the week and day of the year of a column of dates."""
    when = frame["when"].dt
    fields = {"hour": when.hour, "weekday": when.weekday, "day": when.dayofyear}
    return pd.DataFrame(fields)


def one_hot():
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def adult_model():
    columns = make_column_transformer(
        (one_hot(), list(ADULT_TEXT)), remainder=StandardScaler()
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def words_model():
    columns = make_column_transformer(
        (TfidfVectorizer(min_df=2), "question"),
        (TfidfVectorizer(min_df=2), "answer"),
        (one_hot(), ["set", "model"]),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def _with_dates(model, text=()):
    columns = make_column_transformer(
        (FunctionTransformer(calendar), ["when"]),
        (one_hot(), list(text)),
        remainder="passthrough",
    )
    return make_pipeline(columns, model)


def bikeshare_model():
    return _with_dates(boosting_regressor(), ["weathersit"])


def elec2_model():
    return _with_dates(boosting())


USUAL = {"n_train": 1000, "n_pool": 2000, "is_frame": True}
FRAME_TASKS = {
    **classification("adult frame", read_adult, adult_model, **USUAL),
    **classification(
        "evouna frame", read_answers, words_model, **USUAL | {"n_train": 500}
    ),
    **regression("bikeshare frame", read_bikeshare, bikeshare_model, **USUAL),
    **classification("elec2 frame", read_elec2, elec2_model, keep=is_early, **USUAL),
}
