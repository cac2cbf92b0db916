"""A campaign on disk: a pool, a journal, and a small file with the options."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn_ase._cli._pool_file import (
    Columns,
    features_of,
    fingerprint_columns,
    judge_of,
    labels_of,
    numbers_of,
    pick_column,
    probabilities_of,
    read_pool,
)
from sklearn_ase._evaluation._history import recent_estimates
from sklearn_ase._evaluator import ActiveRiskEstimator
from sklearn_ase._labels._journal import read_journal
from sklearn_ase._utils._display import write_whole
from sklearn_ase._utils._limits import Limits
from sklearn_ase.metrics import LabelMean, LabelScore, LabelShare, as_metric
from sklearn_ase.stopping import BaseStop, Plateau, TargetWidth

if TYPE_CHECKING:
    import numpy as np

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._utils._typing import StrPath
    from sklearn_ase.metrics._base import BaseMetric

# Names for metrics that need no predictions.
FORMS = "share:LABEL, score:LABEL=NUMBER,LABEL=NUMBER, mean"


def metric_of(
    text: str, half: str | None = None, pos_label: str | None = None
) -> BaseMetric:
    """Return the metric that a text names."""
    form, colon, rest = text.partition(":")
    if half is not None and form != "share":
        raise ValueError("--half belongs to --metric share:LABEL.")
    if form == "share":
        if not rest:
            raise ValueError("--metric share needs a label, as in share:correct.")
        return LabelShare(rest, half=half)
    if form == "score":
        return LabelScore(dict(map(_score, rest.split(","))))
    if colon:
        raise ValueError(f"--metric {text} is not known. Use {FORMS}, or accuracy.")
    if text == "mean":
        return LabelMean()
    metric = as_metric(text)
    # It may be the label of a single column of probabilities, and not of the metric.
    if pos_label is None or "pos_label" not in metric.get_params():
        return metric
    return metric.set_params(pos_label=pos_label)


def _score(part: str) -> tuple[str, float]:
    label, _, number = part.rpartition("=")
    try:
        return label.strip(), float(number)
    except ValueError:
        raise ValueError(
            f"--metric score: {part!r} must be a label and its number, as in good=1."
        ) from None


VERSION = 2
# Options that name columns, and whether annotators must not see these.
_COLUMNS = {
    "text": False,
    "features": False,
    "judge": True,
    "prediction": True,
    "proba": True,
    "known": True,
    "weight": False,
    "cost": False,
}


@dataclass(frozen=True)
class Campaign:
    """What was said at the start of a campaign.

    Attributes
    ----------
    journal : Path
    pool, train : str or None
        Paths of the pool and of training rows, relative to the folder of the journal.
    format, train_format : str or None
        Of these files.
    fingerprint, train_fingerprint : str
        Of the columns that are used.
    metric, half, pos_label, loss, prediction, known, weight, cost : str or None
    train_label : str or None
        Column of the training rows with their labels.
    train_predictions : bool
        Whether the training rows have the columns of the model's predictions, too.
    judge, judge_says, text, features, labels, proba : list of str
    seed, max_labels : int or None
    until_width, plateau, budget : float or None
        When there are enough labels.
    level : float
        Of the interval of `until_width`.
    """

    journal: Path
    pool: str
    metric: str
    format: str | None = None
    fingerprint: str = ""
    half: str | None = None
    pos_label: str | None = None
    loss: str | None = None
    judge: list = field(default_factory=list)
    judge_says: list = field(default_factory=list)
    text: list = field(default_factory=list)
    features: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    proba: list = field(default_factory=list)
    prediction: str | None = None
    known: str | None = None
    weight: str | None = None
    cost: str | None = None
    train: str | None = None
    train_format: str | None = None
    train_fingerprint: str = ""
    train_label: str | None = None
    train_predictions: bool = False
    until_width: float | None = None
    plateau: float | None = None
    budget: float | None = None
    max_labels: int | None = None
    level: float = 0.9
    seed: int | None = None

    @classmethod
    def load(cls, journal: StrPath) -> Campaign:
        """Read the options of a campaign that was started."""
        path = config_path(journal)
        if not is_started(journal):
            raise ValueError(
                f"{journal} is not there or is empty. Start a campaign with "
                "sklearn-ase start POOL --journal JOURNAL."
            )
        if not path.exists():
            raise ValueError(
                f"{path} is missing: the options of the campaign are in it. Put it "
                "next to the journal again."
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            version = values.pop("version")
            if version > VERSION:
                raise ValueError(f"{path} has format {version}. Upgrade sklearn_ase.")
            return cls(journal=Path(journal), **values)
        except (AttributeError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(
                f"{path} was changed or is damaged ({error}). Restore it."
            ) from None

    def save(self) -> None:
        """Write the options next to the journal, as a whole or not at all."""
        values = {"version": VERSION, **asdict(self)}
        del values["journal"]
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_whole(config_path(self.journal), text.encode())

    def of_files(self) -> tuple[Campaign, Columns]:
        """Return the campaign as it is kept, and the columns of the pool."""
        columns, form = read_pool(self.pool, self.format)
        found: dict[str, Any] = {"pool": self._relative(self.pool), "format": form}
        found["fingerprint"] = fingerprint_columns(columns, self._named(columns))
        if self.train is not None:
            train, form = read_pool(self.train, self.train_format)
            names = self._named(train, is_train=True)
            found |= {"train": self._relative(self.train), "train_format": form}
            found["train_fingerprint"] = fingerprint_columns(train, names)
        return replace(self, **found), columns

    def hidden(self) -> set[str]:
        """Return the names of the columns that annotators must not see."""
        return {
            n for option, hide in _COLUMNS.items() if hide for n in self._of(option)
        }

    def columns(self) -> Columns:
        """Read the pool again."""
        return self._read(self.pool, self.format, self.fingerprint)

    def _train_columns(self) -> Columns:
        """Read the training rows again."""
        path, form = str(self.train), self.train_format
        return self._read(path, form, self.train_fingerprint, is_train=True)

    def read(self) -> tuple[int, LabelLedger]:
        """Return the size of the pool and the ledger, without the pool."""
        ledger = read_journal(self.journal)
        if ledger.header is None:
            raise ValueError(
                f"The start of {self.journal} was interrupted. Go on with ask, which "
                "completes it."
            )
        return ledger.header["n_samples"], ledger

    @property
    def goal(self) -> BaseMetric:
        """The metric that is reported."""
        return metric_of(self.metric, self.half, self.pos_label)

    def other_goal(
        self, text: str, half: str | None = None, pos_label: str | None = None
    ) -> BaseMetric:
        """Return another metric for the same labels."""
        goal = metric_of(text, half, pos_label or self.pos_label)
        if goal.task not in (None, self.goal.task):
            kinds: dict[Any, str] = {"regression": "numbers", "classification": "names"}
            raise ValueError(
                f"--metric {text} is about {kinds[goal.task]}, but the labels of this "
                f"campaign are {kinds[self.goal.task]}."
            )
        return goal

    @property
    def classes(self) -> list[str] | None:
        """The labels there may be; None if labels are numbers."""
        return None if self.goal.task == "regression" else self.labels

    @property
    def has_model(self) -> bool:
        """Whether there are predictions of a model under test."""
        return bool(self.prediction or self.proba)

    @property
    def has_rules(self) -> bool:
        """Whether anything was said about when there are enough labels."""
        rules = "until_width", "plateau", "budget", "max_labels"
        return any(getattr(self, rule) is not None for rule in rules)

    @property
    def limits(self) -> Limits:
        """When there are enough labels."""
        stops: list[BaseStop] = []
        if self.until_width is not None:
            stops.append(TargetWidth(self.until_width, self.level))
        if self.plateau is not None:
            stops.append(Plateau(self.plateau))
        return Limits(
            math.inf if self.max_labels is None else self.max_labels,
            budget=math.inf if self.budget is None else self.budget,
            stops=tuple(stops),
            words="There are {n} labels, of {most} at most.",
        )

    def open(self, columns: Columns) -> Evaluation:
        """Start the evaluation, or continue it."""
        rows: dict[str, Any] = {
            "known_labels": self._known_labels(columns) or None,
            "predictions": self._predictions(columns),
            "experts": self._judges(columns) or None,
        }
        if self.weight is not None:
            rows["sample_weight"] = numbers_of(columns, self.weight, True)
        if self.cost is not None:
            rows["cost"] = numbers_of(columns, self.cost, True)
        X = features_of(columns, self.features) if self.features else None
        if self.train is not None:
            rows |= self._training_rows(X)
        evaluator = ActiveRiskEstimator(
            metric=self.goal,
            loss=self.loss,
            classes=self.classes,
            random_state=self.seed,
        )
        return evaluator.start(X, journal=self.journal, **rows)

    def predictions_in(
        self, columns: Columns, name: str, metric: BaseMetric
    ) -> list | np.ndarray:
        """Return the predictions of another model, in one column."""
        if metric.response_method == "predict_proba":
            return probabilities_of(columns, [name], self.labels, self.pos_label)
        return labels_of(columns, name, self.classes, True)

    def _predictions(self, columns: Columns) -> Any:
        """What the model under test says; None without a model."""
        if self.prediction:
            return labels_of(columns, self.prediction, self.classes, True)
        if self.proba:
            return probabilities_of(columns, self.proba, self.labels, self.pos_label)
        return None

    def _judges(self, columns: Columns) -> dict[str, np.ndarray]:
        """What each judge says, in the labels of people."""
        pairs = (each.partition("=") for each in self.judge_says)
        meanings = {word: label for word, _, label in pairs}
        return {
            name: judge_of(
                columns,
                name,
                self.classes,
                label=getattr(self.goal, "label", None),
                pos_label=self.pos_label,
                meanings=meanings,
            )
            for name in self.judge
        }

    def _known_labels(self, columns: Columns) -> dict[int, Any]:
        """Labels that are there already, by row."""
        if not self.known:
            return {}
        labels = labels_of(columns, self.known, self.classes, False)
        filled = enumerate(cell is not None for cell in columns[self.known])
        return {row: labels[row] for row, is_filled in filled if is_filled}

    def _training_rows(self, X: Any) -> dict[str, Any]:
        """Features, labels and perhaps predictions of the training rows."""
        train = self._train_columns()
        X_train = features_of(train, self.features)
        for name in self.features:
            if X_train[name].dtype != X[name].dtype:
                raise ValueError(
                    f"Column {name} has numbers in one of the pool and the file of "
                    "--train, and texts in the other. Make them alike."
                )
        labels = labels_of(train, str(self.train_label), self.classes, True)
        rows = {"X_train": X_train, "y_train": labels}
        if self.train_predictions:
            rows["train_predictions"] = self._predictions(train)
        return rows

    def _of(self, option: str) -> list[str]:
        value = getattr(self, option)
        return value if isinstance(value, list) else [value] * (value is not None)

    def _relative(self, path: StrPath) -> str:
        folder = self.journal.absolute().parent
        return Path(os.path.relpath(Path(path).absolute(), folder)).as_posix()

    def _read(
        self, name: str, form: str | None, expected: str, is_train: bool = False
    ) -> Columns:
        """Read a file that must be as it was at the start."""
        path = self.journal.absolute().parent / name
        if not path.exists():
            raise ValueError(
                f"The {'training rows' if is_train else 'pool'} {path} is not there. "
                "Put the file back where it was at the start."
            )
        columns = read_pool(path, form)[0]
        names = self._named(columns, is_train)
        if fingerprint_columns(columns, names) != expected:
            raise ValueError(
                f"{name} has changed since the start: a cell or the order of the rows "
                f"in one of the columns {', '.join(names)}. Put the old file back, or "
                "start another campaign."
            )
        return columns

    def _named(self, columns: Columns, is_train: bool = False) -> list[str]:
        """Names of the columns that are used, each once; all must be there."""
        names = {f"--{option}": self._of(option) for option in _COLUMNS}
        if is_train:
            names = {
                "--features": self.features,
                "--train-label": [str(self.train_label)],
            }
        if is_train and self.train_predictions:
            names["--train-predictions"] = self._of("prediction") + self.proba
        where = "the file of --train" if is_train else "the pool"
        for option, some in names.items():
            for name in some:
                pick_column(columns, name, option, where)
        return list(dict.fromkeys(name for some in names.values() for name in some))


def config_path(journal: StrPath) -> Path:
    """Return where the options of a campaign are kept."""
    return Path(f"{journal}.config.json")


def is_started(journal: StrPath) -> bool:
    """Return whether a journal is there and not empty."""
    path = Path(journal)
    return path.is_file() and path.stat().st_size > 0


# When there are enough labels.


def reason_to_stop(campaign: Campaign, ledger: LabelLedger, spent: float | None) -> str:
    """Return why no more labels are needed, without opening the evaluation."""
    limits = campaign.limits
    if reason := limits.reached(ledger, spent or 0.0):
        return reason
    estimates = recent_estimates(ledger, campaign.goal) if limits.stops else []
    # An estimate that waits to be made is not there yet.
    if not estimates or ledger.unnoted is not None:
        return ""
    return next(filter(None, (rule.reason(estimates) for rule in limits.stops)), "")


def spent_on(campaign: Campaign, ledger: LabelLedger) -> float:
    """Return what the labels so far have cost, without opening the evaluation."""
    settled = [*ledger.labels, *ledger.skipped]
    paid = [row for row in settled if row not in ledger.known]
    if campaign.cost is None:
        return float(len(paid))
    cost = numbers_of(campaign.columns(), campaign.cost, True)
    return float(cost[paid].sum())


def pick_rows(campaign: Campaign, evaluation: Evaluation, n: int) -> None:
    """Ask for rows, within what may still be spent."""
    room = campaign.limits.n_labels - len(evaluation.ledger)
    left = campaign.limits.budget - evaluation.spent
    if room > 0:  # Else more are wanted in spite of the limit.
        n = int(min(n, room))
    if not 0 < left < math.inf:
        evaluation.ask(n)
        return
    for _ in range(n):
        rows = evaluation.pending.indices
        if evaluation.problem.cost_of(rows).sum() >= left:
            return
        evaluation.ask(1)
