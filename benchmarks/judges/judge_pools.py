"""Pools of answers that people and automatic judges have judged.

* evouna: answers of five systems to questions of two sets. The label is whether people
  accept the answer. The judge looks for the right answer in the text, word for word.
* arena: two answers to one request. The label is which one people prefer, or a tie. The
  judge is a language model.
* llmbar: two answers, one of them better. Three judges, which are silent at times.
* permuted: evouna with the judge and the features of other rows. They know nothing.
* hidden: evouna; 2 to 5 % of the answers that judge and people accept are wrong after
  all, which nothing but their labels tells.

Each pool has 1,000 rows, drawn again in each run. Two systems that answer the same
questions are a pool of answers, or one of pairs of answers. A table of what the judges
say of one draw of each pool:

    python benchmarks/judges/judge_pools.py DIR
"""

import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from sklearn_ase.metrics import LabelScore, LabelShare

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from frame_tasks import read_evouna
from tables import slashed

N_POOL = 1000
SETS = ("NQ", "TQ")
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
ARENA_JUDGES = ("gpt4", "claude3_opus", "gpt35")
LLMBAR_JUDGES = (
    "GPT-4|Vanilla_NoRules|plain",
    "GPT-4|Vanilla|swap",
    "PaLM2|Vanilla_NoRules|swap",
)


@dataclass(frozen=True, eq=False)
class JudgePool:
    """Rows with labels, and what is known of them beforehand.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        What people say.
    metric : LabelShare or LabelScore
        What is estimated.
    experts : dict of str to ndarray of shape (n_samples,) or (n_samples, n_classes)
        What each judge says, the main one first.
    judge : ndarray of shape (n_samples,)
        The main judge, as a number on the scale of the metric.
    score : ndarray of shape (n_samples,)
        Mean of all judges, as a number on the scale of the metric.
    X : ndarray of shape (n_samples, n_features)
        Cheap features.
    """

    y: np.ndarray
    metric: LabelShare | LabelScore
    experts: dict
    judge: np.ndarray
    score: np.ndarray
    X: np.ndarray

    @property
    def values(self):
        """What each label counts."""
        return self.metric.row_values(self.y)[:, 0]


def lengths(frame, columns):
    """Number of characters of each text."""
    return [frame[name].fillna("").astype(str).str.len() for name in columns]


def evouna_pool(frame):
    """Pool of some answers."""
    match, shared = (frame[k].to_numpy(float) for k in ("lexical_match", "token_f1"))
    X = [frame["exact_match"], *lengths(frame, ["question", "gold", "answer"])]
    return JudgePool(
        y=frame["human"].to_numpy(dtype=int),
        metric=LabelShare(1),
        experts={"match": match, "shared words": shared},
        judge=match,
        score=(match + shared) / 2,
        X=np.column_stack(X).astype(float),
    )


def evouna(collection, system):
    """Answers of one system."""

    def sample(data_dir, rng):
        frame = read_evouna(data_dir)
        frame = frame[(frame["set"] == collection) & (frame["model"] == system)]
        return evouna_pool(frame.iloc[rng.permutation(len(frame))[:N_POOL]])

    return sample


def permuted(collection, system):
    """Answers of one system, with what is known of other answers."""

    def sample(data_dir, rng):
        pool = evouna(collection, system)(data_dir, rng)
        rows = rng.permutation(len(pool.y))
        experts = {name: said[rows] for name, said in pool.experts.items()}
        known = {k: getattr(pool, k)[rows] for k in ("judge", "score", "X")}
        return replace(pool, experts=experts, **known)

    return sample


def hidden(collection, system):
    """Answers of one system, some of which are wrong without a sign of it."""

    def sample(data_dir, rng):
        pool = evouna(collection, system)(data_dir, rng)
        accepted = np.flatnonzero((pool.y == 1) & (pool.judge == 1))
        n_wrong = round(rng.uniform(0.02, 0.05) * len(accepted))
        y = pool.y.copy()
        y[rng.choice(accepted, n_wrong, replace=False)] = 0
        return replace(pool, y=y)

    return sample


@lru_cache
def read_arena(data_dir):
    """Pairs of answers, with both kinds of ties as one."""
    frame = pd.read_csv(Path(data_dir) / "evals" / "arena_judges.csv.gz")
    return frame.assign(human=frame["human"].str.replace(" (bothbad)", ""))


def arena(judge):
    """Pairs of answers and one judge; the features are who answered."""

    def sample(data_dir, rng):
        frame = read_arena(data_dir)
        names = np.unique(frame[["model_a", "model_b"]])
        frame = frame.iloc[rng.permutation(len(frame))[:N_POOL]]
        metric = LabelShare("model_a", half="tie")
        said = frame[judge].to_numpy(dtype=str)
        score = metric.row_values(said)[:, 0]
        first, second = (frame[k].to_numpy()[:, None] for k in ("model_a", "model_b"))
        return JudgePool(
            y=frame["human"].to_numpy(dtype=str),
            metric=metric,
            experts={judge: said},
            judge=score,
            score=score,
            X=(first == names).astype(float) - (second == names),
        )

    return sample


@lru_cache
def read_llmbar(data_dir):
    """Pairs of answers, one of them better."""
    return pd.read_csv(Path(data_dir) / "evals" / "llmbar.csv.gz")


def llmbar(data_dir, rng):
    """Pairs of answers and three judges with missing entries."""
    frame = read_llmbar(data_dir)
    frame = frame.iloc[rng.permutation(len(frame))[:N_POOL]]
    said = frame[list(LLMBAR_JUDGES)].where(frame[list(LLMBAR_JUDGES)].isin([1, 2]))
    # Half where a judge says nothing, for methods that need a number for each row.
    numbers = (said == 1).astype(float).where(said.notna(), 0.5).to_numpy()
    return JudgePool(
        y=frame["label"].to_numpy(dtype=int),
        metric=LabelShare(1),
        experts={name: said[name].to_numpy() for name in LLMBAR_JUDGES},
        judge=numbers[:, 0],
        score=numbers.mean(axis=1),
        X=frame[["len_input", "len_1", "len_2"]].to_numpy(dtype=float),
    )


EVOUNA = {
    f"evouna {collection} {system}": evouna(collection, system)
    for collection in SETS
    for system in SYSTEMS
}
# Pools of the targets; in the others a judge is useless or misleading.
POOLS = EVOUNA | {f"arena {judge}": arena(judge) for judge in ARENA_JUDGES}
POOLS |= {"llmbar": llmbar}
USELESS = {
    "permuted NQ gpt4": permuted("NQ", "gpt4"),
    "permuted TQ chatgpt": permuted("TQ", "chatgpt"),
}
HIDDEN = {
    "hidden NQ chatgpt": hidden("NQ", "chatgpt"),
    "hidden TQ gpt4": hidden("TQ", "gpt4"),
}
ALL_POOLS = POOLS | USELESS | HIDDEN


def paired(n_questions, first="chatgpt", second="fid", collection="NQ"):
    """A function that draws the answers of two systems to the same questions.

    It returns the pool, with the system as last feature, and a mask of the rows of the
    first system. Rows ``i`` and ``i + n_questions`` are answers to one question.
    """

    def sample(data_dir, rng):
        frame = read_evouna(data_dir)
        frame = frame[frame["set"] == collection]
        both = [
            frame[frame["model"] == system].set_index("item")
            for system in (first, second)
        ]
        items = both[0].index.intersection(both[1].index)
        items = items[rng.permutation(len(items))[:n_questions]]
        pool = evouna_pool(pd.concat([part.loc[items] for part in both]))
        is_first = np.arange(len(pool.y)) < len(items)
        return replace(pool, X=np.column_stack([pool.X, is_first])), is_first

    return sample


def pairs_of(pool):
    """The pool of pairs of answers to one question, from a pool of two systems.

    The label is which answers of the pair people accept. Each judge gives a probability
    to each of the four labels, as if its two scores were independent. Features are
    those of both answers, and the scores themselves.
    """
    n_questions = len(pool.y) // 2
    first, second = slice(n_questions), slice(n_questions, None)
    names = np.array(["neither", "only second", "only first", "both"])
    parts, experts = [pool.X, *pool.experts.values()], {}
    for name, said in pool.experts.items():
        p, q = said[first], said[second]
        # In the order of the sorted labels.
        each = [p * q, (1 - p) * (1 - q), p * (1 - q), (1 - p) * q]
        experts[name] = np.column_stack(each)
    return JudgePool(
        y=names[2 * pool.y[first] + pool.y[second]],
        metric=LabelScore({"only first": 1, "only second": -1}),
        experts=experts,
        judge=pool.judge[first] - pool.judge[second],
        score=pool.score[first] - pool.score[second],
        X=np.column_stack([part[rows] for part in parts for rows in (first, second)]),
    )


PAIRS = {
    "chatgpt against fid, 500 questions": paired(500),
    "chatgpt against fid, 1000 questions": paired(1000),
}


def describe(data_dir):
    """Print the truth of a draw of each pool, and what its judge says."""
    print("| pool | truth | mean of the judge | correlation | missing |")
    print("|---|---|---|---|---|")
    for name, sample in ALL_POOLS.items():
        pool = sample(data_dir, np.random.default_rng(0))
        r = np.corrcoef(pool.values, pool.judge)[0, 1]
        missing = [np.mean(pd.isna(said)) for said in pool.experts.values()]
        numbers = [pool.values.mean(), pool.judge.mean(), r]
        texts = [slashed([number]) for number in numbers]
        print(f"| {' | '.join([name, *texts, slashed(missing)])} |")


if __name__ == "__main__":
    describe(sys.argv[1])
