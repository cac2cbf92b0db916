"""The report of an evaluation: which sections, and the file it is written to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_ase._display._blocks import Section, Words, plain
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
    origin_blocks,
    slice_blocks,
)
from sklearn_ase._utils._checks import check_level, check_path
from sklearn_ase._utils._display import write_whole
from sklearn_ase._utils._typing import StrPath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sklearn_ase._evaluation._evaluation import Evaluation

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

    def _repr_html_(self) -> str:
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


def _refuse_other_file(path: Path) -> None:
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
    evaluation: Evaluation,
    *,
    level: float = 0.9,
    by: Any = None,
    metrics: Any = (),
    compare: Any = None,
    columns: Any = None,
    title: str | None = None,
    compare_metric: Any = None,
    compare_by: dict[str, Any] | None = None,
    groups: Any = None,
    origin: dict[str, str] | None = None,
) -> Report:
    """Make the report of an evaluation; see :meth:`Evaluation.report`."""
    check_level(level)
    title = f"Report: {name_of(evaluation)}" if title is None else title
    metrics = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    by = evaluation.problem.entries_of(by, "by")
    columns = evaluation.problem.entries_of(columns, "columns")
    evaluation.problem.order.check(by=by, columns=columns)
    slices, columns = _as_slices(by), _as_columns(columns, evaluation.n_samples)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    # Blocks are made when their section is.
    parts = {"Estimate": estimate_blocks(evaluation, level, groups)}
    if metrics:
        parts["Other metrics"] = metric_blocks(evaluation, metrics, level)
    # A choice between models compares its own.
    if compare is not None or hasattr(evaluation, "models"):
        parts["Comparison of models"] = comparison_blocks(
            evaluation, compare, compare_metric, level
        )
    for name, values in (compare_by or {}).items():
        blocks = group_comparison_blocks(evaluation, values, level)
        parts[f"Comparison by {name}"] = blocks
    for name, values in slices.items():
        parts[f"By {name}"] = slice_blocks(evaluation, values, level)
    if evaluation.problem.experts is not None:
        parts["Judges"] = judge_blocks(evaluation, level)
    parts |= {
        "Running estimate": curve_blocks(evaluation, level),
        "What was labelled": labelled_blocks(evaluation, level, columns),
        "Diagnosis": diagnosis_blocks(evaluation),
        _ORIGIN: origin_blocks(evaluation, made, origin),
        _LIMITS: limits_blocks(evaluation, level, bool(slices)),
    }
    sections = [_section(title, blocks) for title, blocks in parts.items()]
    return Report(plain(title, _LONGEST_TITLE), made, sections)


def _section(title: str, blocks: Iterator[Any]) -> Section:
    """A section; one that fails says why, and keeps what it has."""
    section = Section(title)
    try:
        section.blocks.extend(blocks)
    except Exception as error:
        kind = (
            ""
            if isinstance(error, ValueError | TypeError)
            else f"{type(error).__name__}: "
        )
        section.blocks.append(Words(f"Not available. {kind}{error}", is_missing=True))
    return section


def _as_slices(by: Any) -> dict[str, Any]:
    """Groups of rows by name; they are checked where they are used."""
    if by is None:
        return {}
    if isinstance(by, dict) or hasattr(by, "columns"):
        return _named(by)
    name = getattr(by, "name", None)
    return {"group" if name is None else str(name): by}


def _as_columns(columns: Any, n_samples: int) -> dict[str, Any]:
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


def _named(table: Any) -> dict[str, list]:
    """The columns of a dict or of a frame, as lists."""
    names = table.columns if hasattr(table, "columns") else table
    return {str(name): list(table[name]) for name in names}
