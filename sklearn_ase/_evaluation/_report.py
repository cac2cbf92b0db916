"""The section about how the number was made."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._display._blocks import Facts, Section, Words, counted, plain
from sklearn_ase._display._html import fragment, page
from sklearn_ase._display._markdown import markdown
from sklearn_ase._evaluation._sections import (
    comparison_blocks,
    curve_blocks,
    diagnosis_blocks,
    estimate_blocks,
    group_comparison_blocks,
    judge_blocks,
    labelled_blocks,
    limits_blocks,
    metric_blocks,
    name_of,
    slice_blocks,
)
from sklearn_ase._labels._fingerprint import fingerprint
from sklearn_ase._labels._journal import described
from sklearn_ase._utils._checks import check_level, check_path
from sklearn_ase._utils._display import write_whole
from sklearn_ase._utils._estimators import draw_seed, unwrap
from sklearn_ase._utils._typing import StrPath
from sklearn_ase._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sklearn_ase._evaluation._evaluation import Evaluation

_PACKAGES = ("scikit-learn", "numpy", "scipy")


def origin_blocks(
    evaluation: Evaluation, made: str, more: dict[str, str] | None = None
) -> Iterator[Any]:
    """How the number was made, so that others can make it again."""
    problem, plan = evaluation.problem, evaluation.plan
    facts = dict(more or {})
    facts["report made"] = made
    facts["labels"] = f"{len(evaluation.ledger)} of {evaluation.n_samples} rows"
    if problem.sample is not None:
        facts["rows"] = _drawn(problem.sample)
    facts["model under test"] = _model(problem, plan)
    if problem.experts is not None:
        facts["judges"] = ", ".join(one.name for one in problem.experts.each)
    if problem.n_training:
        facts["training rows"] = str(problem.n_training)
    facts["what is estimated"] = described(plan.metric or problem.loss)
    facts["how it is estimated"] = described(plan.risk)
    facts["surrogate"] = described(plan.surrogate)
    facts["which rows to label"] = (
        f"{described(plan.acquisition)}, {described(plan.selection)}"
    )
    facts["surrogate fitted again"] = _refit(plan.refit)
    facts["weights of the rows"] = "none" if problem.sample_weight is None else "given"
    facts |= _seed(plan.random_state, evaluation.seed)
    facts["fingerprint of the pool"] = _fingerprint(evaluation)
    if problem.experts is not None:
        values = [
            one.values.reshape(len(one.values), -1) for one in problem.experts.each
        ]
        facts["fingerprint of the judges"] = fingerprint(np.hstack(values))
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    facts["versions"] = ", ".join(
        [f"sklearn_ase {__version__}", *packages, f"Python {platform.python_version()}"]
    )
    yield Facts(facts)


def _model(problem, plan):
    if problem.model is not None:
        return type(unwrap(problem.model).last).__name__
    needs_none = getattr(plan.metric, "response_method", "") is None
    if problem.predictions.expert is None and needs_none:
        return "none: the labels themselves are counted"
    return "given by its predictions"


def _seed(random_state, seed):
    """What repeats the picks: the number that was given, or the one that was drawn."""
    is_given = isinstance(random_state, int | np.integer)
    # A journal goes on with its own seed, whatever is given later.
    if is_given and draw_seed(random_state) == seed:
        return {"random_state": str(random_state)}
    return {"seed": f"{seed}, drawn by the evaluation"}


def _drawn(sample):
    """How the pool was drawn from its source, in words."""
    how = "with equal" if sample.is_uniform else "by a score, with known"
    return (
        f"{len(sample):,} of {sample.n_source_rows:,} rows of the source, drawn {how} "
        f"probabilities (seed {sample.seed}); intervals allow for the draw"
    )


def _refit(refit):
    if isinstance(refit, float):
        return f"whenever the number of labels has grown {refit:g} times"
    if isinstance(refit, int | np.integer):
        return f"after every {counted(int(refit), 'label')}"
    return f"at {described(list(refit))} labels"


def _fingerprint(evaluation):
    """That of the journal, if there is one: to read a pool may take long."""
    header = getattr(evaluation.ledger, "header", None) or {}
    return header.get("pool") or fingerprint(evaluation.problem.X)


# Make the report of an evaluation, and write it to a file.


_LONGEST_TITLE = 120
_ORIGIN, _LIMITS = "How the number was made", "What it does not say"
_OF_ALL = (_ORIGIN, _LIMITS)  # Sections that every report has.


class Report:
    """Report of an evaluation, made by :meth:`Evaluation.report`.

    A notebook shows it.

    Attributes
    ----------
    title : str
    made : str
        When it was made.
    sections : list of Section
        Titles and contents, without any markup.
    """

    def __init__(self, title: str, made: str, sections: list[Section]) -> None:
        self.title = title
        self.made = made
        self.sections = sections

    def to_html(self) -> str:
        """Return the report as a page that loads nothing from anywhere.

        Returns
        -------
        html : str
        """
        return page(self)

    def to_markdown(self) -> str:
        """Return the report as Markdown, with tables in place of pictures.

        Returns
        -------
        text : str
        """
        return markdown(self)

    def save(self, path: StrPath) -> None:
        """Write the report to a file, as a whole or not at all.

        Parameters
        ----------
        path : str or path
            Ends in ``.html`` or ``.md``. A report of this name is replaced, any other
            file is left as it is.
        """
        is_page = check_target(path)
        text = self.to_html() if is_page else self.to_markdown()
        write_whole(path, text.encode())

    def __repr__(self):
        titles = ", ".join(section.title for section in self.sections)
        return f"<Report {self.title!r}: {titles}>"

    def _repr_html_(self):
        return fragment(self)


def check_target(path: StrPath) -> bool:
    """Refuse a file that a report cannot be written to."""
    path = Path(check_path(path))
    suffix = path.suffix.lower()
    if suffix not in (".html", ".htm", ".md"):
        raise ValueError(f"path={path} must end in .html or in .md.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The folder {path.absolute().parent} does not exist.")
    _refuse_other_file(path)
    return suffix != ".md"


def _refuse_other_file(path):
    """Refuse to replace a file that is not a report."""
    if not path.exists():
        return
    found = path.read_bytes() if path.is_file() else b"a folder"
    if found and not all(title.encode() in found for title in _OF_ALL):
        raise FileExistsError(
            f"{path} exists and is not a report, so it was left as it is. Choose "
            "another name, or delete it. Only reports are replaced."
        )


def make_report(
    evaluation,
    *,
    level=0.9,
    by=None,
    metrics=(),
    compare=None,
    columns=None,
    title=None,
    compare_metric=None,
    compare_by=None,
    groups=None,
    origin=None,
):
    """Make the report of an evaluation; see :meth:`Evaluation.report`."""
    check_level(level)
    name = name_of(evaluation)
    title = f"Report: {name}" if title is None else title
    metrics = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    by = evaluation.problem.entries_of(by, "by")
    columns = evaluation.problem.entries_of(columns, "columns")
    evaluation.problem.order.check(by=by, columns=columns)
    slices, columns = _as_slices(by), _as_columns(columns, evaluation.n_samples)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [("Estimate", estimate_blocks, level, groups)]
    if metrics:
        parts.append(("Other metrics", metric_blocks, metrics, level))
    # A choice between models compares its own.
    if compare is not None or hasattr(evaluation, "models"):
        parts.append(
            ("Comparison of models", comparison_blocks, compare, compare_metric, level)
        )
    parts += [
        (f"Comparison by {each}", group_comparison_blocks, values, None, level)
        for each, values in (compare_by or {}).items()
    ]
    parts += [
        (f"By {each}", slice_blocks, values, level) for each, values in slices.items()
    ]
    if evaluation.problem.experts is not None:
        parts.append(("Judges", judge_blocks, level))
    parts += [
        ("Running estimate", curve_blocks, level),
        ("What was labelled", labelled_blocks, level, columns),
        ("Diagnosis", diagnosis_blocks),
        (_ORIGIN, origin_blocks, made, origin),
        (_LIMITS, limits_blocks, level, bool(slices)),
    ]
    sections = [_section(evaluation, *part) for part in parts]
    return Report(plain(title, _LONGEST_TITLE), made, sections)


def _section(evaluation, title, make, *arguments):
    """A section; one that fails says why, and keeps what it has."""
    blocks = []
    try:
        blocks.extend(make(evaluation, *arguments))
    except (ValueError, TypeError) as error:
        blocks.append(Words(f"Not available. {error}", is_missing=True))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        blocks.append(Words(f"Not available. {reason}", is_missing=True))
    return Section(title, blocks)


def _as_slices(by):
    """Groups of rows by name; they are checked where they are used."""
    if by is None:
        return {}
    if isinstance(by, dict) or hasattr(by, "columns"):
        return _named(by)
    name = getattr(by, "name", None)
    return {"group" if name is None else str(name): by}


def _as_columns(columns, n_samples):
    """Columns to show beside the labelled rows, by name, checked."""
    if columns is None:
        return {}
    if not (isinstance(columns, dict) or hasattr(columns, "columns")):
        raise TypeError(
            "columns must be a frame, or a dict of str to one value per row of the "
            f"pool, but is a {type(columns).__name__}."
        )
    found = _named(columns)
    for name, values in found.items():
        if len(values) != n_samples:
            raise ValueError(
                f"columns: {name} has {len(values)} values, but the pool has "
                f"{n_samples} rows. Give one value per row of the pool."
            )
    return found


def _named(table):
    """The columns of a dict or of a frame, as lists."""
    names = table.columns if hasattr(table, "columns") else table
    return {str(name): list(table[name]) for name in names}
