"""A campaign on disk: a pool, a journal, and a small file with the options."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sklearn_ase._active_risk import ActiveRiskEstimator
from sklearn_ase._cli._columns import (
    features_of,
    judge_of,
    labels_of,
    numbers_of,
    pick_column,
    probabilities_of,
)
from sklearn_ase._cli._metrics import metric_of
from sklearn_ase._cli._pool_file import fingerprint_columns, read_pool
from sklearn_ase._labels._reading import read_journal
from sklearn_ase._utils._files import write_whole

VERSION = 1
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
    pool : str
        Path of the pool, relative to the folder of the journal.
    fingerprint : str
        Of the columns that are used.
    metric, half, pos_label, prediction, known, weight, cost : str or None
    judge, text, features, labels, proba : list of str
    seed : int or None
    """

    journal: Path
    pool: str
    metric: str
    fingerprint: str = ""
    half: str | None = None
    pos_label: str | None = None
    judge: list = field(default_factory=list)
    text: list = field(default_factory=list)
    features: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    proba: list = field(default_factory=list)
    prediction: str | None = None
    known: str | None = None
    weight: str | None = None
    cost: str | None = None
    seed: int | None = None

    @classmethod
    def load(cls, journal):
        """Read the options of a campaign that was started.

        Parameters
        ----------
        journal : str or path

        Returns
        -------
        campaign : Campaign
        """
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

    def save(self):
        """Write the options next to the journal, as a whole or not at all."""
        values = {"version": VERSION, **asdict(self)}
        del values["journal"]
        text = json.dumps(values, indent=1, ensure_ascii=False)
        write_whole(config_path(self.journal), text + "\n")

    def of_pool(self, path):
        """Return the campaign for a pool, and the columns of the pool.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        campaign : Campaign
        columns : dict of str to list
        """
        columns = read_pool(path)
        self._check_columns(columns)
        folder = self.journal.absolute().parent
        pool = Path(os.path.relpath(Path(path).absolute(), folder)).as_posix()
        fingerprint = fingerprint_columns(columns, self.named())
        return replace(self, pool=pool, fingerprint=fingerprint), columns

    def named(self):
        """Return the names of all columns that are used, each once."""
        return list(dict.fromkeys(n for option in _COLUMNS for n in self._of(option)))

    def hidden(self):
        """Return the names of the columns that annotators must not see."""
        return {
            n for option, hide in _COLUMNS.items() if hide for n in self._of(option)
        }

    def columns(self):
        """Read the pool again.

        Returns
        -------
        columns : dict of str to list
        """
        path = self.journal.absolute().parent / self.pool
        if not path.exists():
            raise ValueError(
                f"The pool {path} is not there. Put it back where it was at the start."
            )
        columns = read_pool(path)
        self._check_columns(columns)
        if fingerprint_columns(columns, self.named()) != self.fingerprint:
            raise ValueError(
                f"{path} has changed since the start: a cell or the order of the rows "
                f"in one of the columns {', '.join(self.named())}. Put the old file "
                "back, or start another campaign."
            )
        return columns

    def read(self):
        """Return the size of the pool and the ledger, without the pool."""
        header, ledger = read_journal(self.journal)
        if header is None:
            raise ValueError(
                f"The start of {self.journal} was interrupted. Go on with ask, which "
                "completes it."
            )
        return header["n_samples"], ledger

    @property
    def goal(self):
        """The metric that is reported."""
        return metric_of(self.metric, self.half, self.pos_label)

    @property
    def classes(self):
        """The labels there may be; None if labels are numbers."""
        return None if self.goal.task == "regression" else self.labels

    def open(self, columns):
        """Start the evaluation, or continue it.

        Parameters
        ----------
        columns : dict of str to list
            The pool.

        Returns
        -------
        evaluation : Evaluation
        """
        classes, known, X = self.classes, None, None
        predictions = weight = cost = None
        if self.features:
            X = features_of(columns, self.features)
        about = getattr(self.goal, "label", None), self.pos_label
        experts = {
            name: judge_of(columns[name], classes, name, *about) for name in self.judge
        }
        if self.prediction:
            predictions = self._labels(columns, self.prediction, True)
        elif self.proba:
            proba = self.proba, classes, self.pos_label
            predictions = probabilities_of(columns, *proba)
        if self.known:
            known = self._labels(columns, self.known, False)
            known = {row: label for row, label in enumerate(known) if label is not None}
            known = {row: label for row, label in known.items() if label == label}
        if self.weight:
            weight = numbers_of(columns[self.weight], self.weight, True)
        if self.cost:
            cost = numbers_of(columns[self.cost], self.cost, True)
        evaluator = ActiveRiskEstimator(
            metric=self.goal, classes=classes, random_state=self.seed
        )
        return evaluator.start(
            X,
            experts=experts or None,
            predictions=predictions,
            known_labels=known or None,
            cost=cost,
            journal=self.journal,
            **({} if weight is None else {"sample_weight": weight}),
        )

    def _labels(self, columns, name, needs_all):
        if self.classes is None:
            return numbers_of(columns[name], name, needs_all)
        return labels_of(columns[name], self.classes, name, needs_all)

    def _of(self, option):
        value = getattr(self, option)
        return value if isinstance(value, list) else [value] * (value is not None)

    def _check_columns(self, columns):
        for option in _COLUMNS:
            for name in self._of(option):
                pick_column(columns, name, f"--{option}")


def config_path(journal):
    """Return where the options of a campaign are kept.

    Parameters
    ----------
    journal : str or path

    Returns
    -------
    path : Path
    """
    return Path(f"{journal}.config.json")


def is_started(journal):
    """Return whether a journal is there and not empty.

    Parameters
    ----------
    journal : str or path

    Returns
    -------
    is_started : bool
    """
    path = Path(journal)
    return path.is_file() and path.stat().st_size > 0
