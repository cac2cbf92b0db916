"""A campaign on disk: a pool, a journal, and a small file with the options."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sklearn_ase._cli._columns import pick_column
from sklearn_ase._cli._metrics import metric_of
from sklearn_ase._cli._pool_file import fingerprint_columns, read_pool
from sklearn_ase._labels._reading import read_journal
from sklearn_ase._utils._files import write_whole

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
        Of these files. None, in campaigns of format 1, goes by the name of the file.
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
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_whole(config_path(self.journal), text.encode())

    def of_files(self):
        """Return the campaign as it is kept, and the columns of the pool.

        Returns
        -------
        campaign : Campaign
            With the paths relative to the folder of the journal, and fingerprints.
        columns : dict of str to list
        """
        columns, form = read_pool(self.pool, self.format)
        self._check_columns(columns)
        found = {"pool": self._relative(self.pool), "format": form}
        found["fingerprint"] = fingerprint_columns(columns, self.named())
        if self.train is not None:
            train, form = read_pool(self.train, self.train_format)
            names = self._train_names(train)
            found |= {"train": self._relative(self.train), "train_format": form}
            found["train_fingerprint"] = fingerprint_columns(train, names)
        return replace(self, **found), columns

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
        columns = self._read("pool", self.pool, self.format)
        self._check_columns(columns)
        self._check_same(self.pool, columns, self.named(), self.fingerprint)
        return columns

    def train_columns(self):
        """Read the training rows again.

        Returns
        -------
        columns : dict of str to list
        """
        columns = self._read("training rows", self.train, self.train_format)
        names = self._train_names(columns)
        self._check_same(self.train, columns, names, self.train_fingerprint)
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
        from sklearn_ase._cli._opening import open_evaluation

        return open_evaluation(self, columns)

    def _of(self, option):
        value = getattr(self, option)
        return value if isinstance(value, list) else [value] * (value is not None)

    def _relative(self, path):
        folder = self.journal.absolute().parent
        return Path(os.path.relpath(Path(path).absolute(), folder)).as_posix()

    def _read(self, what, path, form):
        path = self.journal.absolute().parent / path
        if not path.exists():
            raise ValueError(
                f"The {what} {path} is not there. Put the file back where it was at "
                "the start."
            )
        # Campaigns of format 1 knew tables only.
        return read_pool(path, form or {".jsonl": "jsonl"}.get(path.suffix.lower()))[0]

    def _check_same(self, path, columns, names, expected):
        if fingerprint_columns(columns, names) != expected:
            raise ValueError(
                f"{path} has changed since the start: a cell or the order of the rows "
                f"in one of the columns {', '.join(names)}. Put the old file back, or "
                "start another campaign."
            )

    def _check_columns(self, columns):
        for option in _COLUMNS:
            for name in self._of(option):
                pick_column(columns, name, f"--{option}")

    def _train_names(self, columns):
        """Columns of the training rows that are used."""
        names = {"--features": self.features, "--train-label": [self.train_label]}
        if self.train_predictions:
            names["--train-predictions"] = self._of("prediction") + self.proba
        for option, some in names.items():
            for name in some:
                pick_column(columns, name, option, "the file of --train")
        return [name for some in names.values() for name in some]


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
