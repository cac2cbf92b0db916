"""Frames with free text, categories and dates: the default surrogate's encoder.

Each run draws a pool of 1,000 rows (and, where the model needs them, other rows to
train it) and buys 100 labels without training rows for the surrogate. The error of
the guarded estimate is compared with that of plain random sampling (Monte Carlo),
whose root mean squared error is known from the losses of the pool. "unexplained" is the
mean squared error of the loss that the surrogate expects at each row after the last
label, / the variance of the loss: 1 if it knows nothing.

- topics: made-up texts on three topics, which share half of their words. The "model" is
  right for five rows out of six; zero-one loss. It needs no data.
- judge: EVOUNA, answers of language models to questions. The "model" is lexical match,
  the labels are people's judgements, the loss is zero-one.
- writer: EVOUNA, which of four systems wrote an answer. The model is a naive Bayes
  classifier of 300 answers to Natural Questions, the pool is TriviaQA; zero-one.
- income: Adult, raw texts. The model is a logistic regression on its numbers; log loss.
- bikes: hourly rents in 2011, with one time-zone date in place of month, day and hour.
  The model is a linear regression on the weather; squared error / variance.

    python benchmarks/surrogates/frames.py --data-dir DIR --runs 20 --out frames.csv
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator

SEED = 20261118
N_POOL, LABELS = 1000, (50, 100)


def read(data_dir, *path):
    return pd.read_csv(Path(data_dir, *path), keep_default_na=False)


def topics(data_dir, rng):
    """Texts that say a lot about their label."""
    n_words = 400
    words = np.array([f"word{k}" for k in range(n_words)])
    common = 1 / np.arange(1, n_words + 1)
    common /= common.sum()
    orders = [np.random.default_rng(k).permutation(n_words) for k in range(3)]
    y = rng.integers(3, size=N_POOL)
    proba = [(common + common[order]) / 2 for order in orders]
    texts = [" ".join(rng.choice(words, 15, p=proba[topic])) for topic in y]
    said = np.where(rng.random(N_POOL) < 0.75, y, rng.integers(3, size=N_POOL))
    ids = [f"{rng.integers(2**60):x}" for _ in texts]
    X = pd.DataFrame({"id": ids, "text": texts})
    return X, texts, y, np.where(said[:, None] == np.arange(3), 0.8, 0.1), "zero_one"


def judge(data_dir, rng):
    """Lexical match against people, for answers of one system."""
    rows = read(data_dir, "evals", "evouna.csv.gz")
    rows = rows[(rows["human"] != "") & (rows["improper"] == 0)]
    rows = rows[rows["model"].isin(["chatgpt", "gpt4"])]
    pool = rows.iloc[rng.choice(len(rows), N_POOL, replace=False)]
    X = pool[["set", "model", "question", "gold", "answer"]].reset_index(drop=True)
    y = pool["human"].astype(float).astype(int).to_numpy()
    match = pool["lexical_match"].astype(int).to_numpy()
    texts = [" ".join(row) for row in X.itertuples(index=False)]
    return X, texts, y, np.column_stack([1 - match, match]), "zero_one"


def writer(data_dir, rng):
    """A classifier of short texts on texts from elsewhere."""
    rows = read(data_dir, "evals", "evouna.csv.gz")
    rows = rows[rows["model"].isin(["gpt35", "chatgpt", "gpt4", "newbing"])]
    known, other = (rows[rows["set"] == name] for name in ("NQ", "TQ"))
    train = known.iloc[rng.choice(len(known), 300, replace=False)]
    pool = other.iloc[rng.choice(len(other), N_POOL, replace=False)]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    model.fit(train["answer"], train["model"])
    X = pool[["item", "answer"]].reset_index(drop=True)
    texts, y = X["answer"].tolist(), pool["model"].to_numpy()
    return X, texts, y, model.predict_proba(texts), "zero_one"


def income(data_dir, rng):
    """A model that only knows the numbers of a frame with categories."""
    rows = read(data_dir, "tabular", "adult.csv.gz")
    chosen = rng.permutation(len(rows))[: 2 * N_POOL]
    train, pool = rows.iloc[chosen[:N_POOL]], rows.iloc[chosen[N_POOL:]]
    names = ["age", "education-num", "hours-per-week"]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(train[names], train["class"])
    X = pool.drop(columns=["class", "split"]).reset_index(drop=True)
    return X, None, pool["class"].to_numpy(), model.predict_proba(X[names]), "log_loss"


def bikes(data_dir, rng):
    """A model that does not know the hour, and a date that does."""
    rows = read(data_dir, "tabular", "bikeshare.csv.gz")
    day = pd.Timestamp("2011-01-01") + pd.to_timedelta(rows["day"] - 1, unit="D")
    when = (day + pd.to_timedelta(rows["hr"], unit="h")).dt.tz_localize("Etc/GMT+5")
    rows = rows[["weathersit", "temp", "hum", "windspeed", "bikers"]].assign(when=when)
    chosen = rng.permutation(len(rows))[: 2 * N_POOL]
    train, pool = rows.iloc[chosen[:N_POOL]], rows.iloc[chosen[N_POOL:]]
    names = ["temp", "hum", "windspeed"]
    scale = train["bikers"].std()
    model = LinearRegression().fit(train[names], train["bikers"] / scale)
    X = pool.drop(columns="bikers").reset_index(drop=True)
    y = (pool["bikers"] / scale).to_numpy()
    return X, None, y, model.predict(X[names]), "squared_error"


TASKS = {
    "topics": topics,
    "judge": judge,
    "writer": writer,
    "income": income,
    "bikes": bikes,
}


def losses(y, predictions, loss):
    """Loss of the model at each row of the pool."""
    if loss == "squared_error":
        return (y - predictions) ** 2
    codes = np.unique(y, return_inverse=True)[1]
    if loss == "zero_one":
        return (predictions.argmax(axis=1) != codes).astype(float)
    return -np.log(predictions[np.arange(len(codes)), codes])


def run(task, data_dir, seed, surrogates):
    """Return one entry for each form of the rows and number of labels."""
    X, texts, y, predictions, loss = TASKS[task](data_dir, np.random.default_rng(seed))
    each = losses(y, predictions, loss)
    truth, entries = each.mean(), []
    for n_labels in LABELS:
        error = each.std(ddof=1) * (1 / n_labels - 1 / len(each)) ** 0.5
        entries.append((task, "Monte Carlo", n_labels, seed, error, np.nan, 0.0))
    forms = {"frame": X} if texts is None else {"frame": X, "list": texts}
    for form, rows in forms.items():
        for name, surrogate in surrogates.items() if form == "frame" else [("", None)]:
            start = time.perf_counter()
            evaluator = ActiveRiskEstimator(
                loss=loss, surrogate=surrogate, n_labels=max(LABELS), random_state=seed
            )
            if loss != "squared_error":
                evaluator.set_params(classes=np.unique(y))
            evaluator.fit(rows, y, predictions=predictions)
            seconds = time.perf_counter() - start
            off = evaluator.evaluation_.state.expected_loss - each
            measured = (off**2).mean() / each.var(), seconds
            for n_labels in LABELS:
                error = evaluator.history_["risk"][n_labels - 1] - truth
                entries.append((task, form + name, n_labels, seed, error, *measured))
    return entries


def main(surrogates=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--out", help="CSV file for the error of each run")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # A surrogate that is contradicted says so.
    names = ["task", "rows", "n_labels", "seed", "error", "unexplained", "seconds"]
    entries = []
    for task in args.tasks:
        for seed in range(SEED, SEED + args.runs):
            entries += run(task, args.data_dir, seed, surrogates or {"": None})
        table = pd.DataFrame(entries, columns=names).query("task == @task")
        groups = table.groupby(["rows", "n_labels"])
        rmse = groups["error"].agg(lambda errors: np.mean(errors**2) ** 0.5)
        shown = rmse.unstack().add_prefix("RMSE at ").round(4)
        for name in ("unexplained", "seconds"):
            shown[name] = table.groupby("rows")[name].mean().round(2)
        print(f"\n{task}: seeds {SEED} to {SEED + args.runs - 1}\n{shown}", flush=True)
    if args.out:
        pd.DataFrame(entries, columns=names).to_csv(args.out, index=False)


if __name__ == "__main__":
    main()
