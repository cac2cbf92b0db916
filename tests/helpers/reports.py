"""Evaluations to report on, and what can be read from a page."""

from functools import cache
from html.parser import HTMLParser

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare

N_SAMPLES = 200
VOID = {"meta", "br", "line", "circle", "polyline", "polygon"}


@cache
def judged(n_labels=60):
    """The share of a label, with two judges and no model."""
    rng = np.random.default_rng(0)
    is_right = rng.random(N_SAMPLES) < 0.7
    labels = np.where(is_right, "correct", "wrong")
    other = np.where(is_right, "wrong", "correct")
    score = np.clip(np.where(is_right, 0.8, 0.3) + rng.normal(0, 0.15, N_SAMPLES), 0, 1)
    experts = {"score": score, "rules": np.where(rng.random(200) < 0.8, labels, other)}
    evaluator = ActiveRiskEstimator(metric=LabelShare("correct"), random_state=0)
    evaluation = evaluator.start(None, experts=experts)
    evaluation.run(labels, n_labels)
    return evaluation


REGION = np.where(np.arange(N_SAMPLES) % 3 == 0, "north", "south")


@cache
def classified(metric=None, weighted=False):
    """A classifier of tumours, after batches of labels."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:80], y[:80])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        loss="zero_one",
        metric=metric,
        surrogate=GaussianNB(),
        random_state=0,
    )
    weight = {"sample_weight": 1.0 + X[80:, 0] / 10} if weighted else {}
    rows = {"X_train": X[:80], "y_train": y[:80]}
    evaluation = evaluator.start(X[80:], **rows, **weight)
    evaluation.run(y[80:], 60, batch_size=20)
    return evaluation


def models():
    """Two models of the same tumours."""
    X, y = load_breast_cancer(return_X_y=True)
    bayes, line = GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())
    return {"Bayes": bayes.fit(X[:80], y[:80]), "line": line.fit(X[:80], y[:80])}


def regressed(n_labels, **parameters):
    """A ridge regression, by its squared error."""
    X, y = load_diabetes(return_X_y=True)
    model = FrozenEstimator(Ridge().fit(X[:100], y[:100]))
    evaluator = ActiveRiskEstimator(model, loss="squared_error", random_state=0)
    evaluator.set_params(**parameters)
    evaluation = evaluator.start(X[100:], X_train=X[:100], y_train=y[:100])
    if n_labels:
        query = evaluation.ask(n_labels)
        evaluation.tell(query, y[100:][query.indices])
    return evaluation


def complete():
    """A pool in which every row is labelled, known or cannot be labelled."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(30) < 0.7, "correct", "wrong")
    evaluator = ActiveRiskEstimator(metric=LabelShare("correct"), random_state=0)
    evaluation = evaluator.start(
        None,
        experts={"judge": rng.random(30)},
        known_labels={0: labels[0]},
        cost=np.full(30, 2.0),
    )
    while len(evaluation.ledger.indices) < 30:
        evaluation.ask(1)
        for row in evaluation.pending.indices.tolist():
            if row == 7:
                evaluation.skip([row])
            else:
                evaluation.tell([row], [labels[row]])
    return evaluation


def chosen():
    """A choice between three models."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_SAMPLES)
    shares = {"poor": 0.6, "fair": 0.7, "good": 0.9}
    said = {k: np.where(rng.random(200) < p, y, 1 - y) for k, p in shares.items()}
    run = ActiveModelSelector(random_state=0).start(None, predictions=said)
    run.run(y, 30)
    return run


def section_of(report, title):
    """The section with this title."""
    (found,) = [section for section in report.sections if section.title == title]
    return found


def blocks_of(report, title, kind):
    """The blocks of one kind in a section."""
    blocks = section_of(report, title).blocks
    return [block for block in blocks if type(block).__name__ == kind]


class Page(HTMLParser):
    """A page of HTML: its tags, its texts, and tags that are not closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.problems, self._open = [], [], [], []
        self.feed(html)
        self.close()
        self.problems += [f"{tag} is open" for tag in self._open]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"{tag} is closed")

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        """All that can be read, with the style."""
        return "".join(self.texts)
