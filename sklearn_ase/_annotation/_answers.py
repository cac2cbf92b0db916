"""Answers of annotators: read from files, checked, and recorded all or not at all."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from contextlib import suppress
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._annotation._sheet import (
    SKIP,
    as_number,
    check_suffix,
    read_export,
    read_sheet,
    read_text,
)
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._display import Advice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._utils._typing import Label, StrPath


_INTEGERS = range(-(2**63), 2**63)  # Those that arrays of integers can hold.


def read_answers(
    path: StrPath,
    skip: str | None = None,
    classes: np.ndarray | None = None,
    check: Callable[[list], None] | None = None,
) -> dict[int, Any]:
    """Read the answers by row in a CSV file, or in an export of Label Studio."""
    labels = [] if classes is None else classes.tolist()
    names = {label for label in labels if isinstance(label, str)}
    _check_skip(skip, labels)
    is_csv = check_suffix(path) == ".csv"
    text = read_text(path)
    pairs, lines = (
        read_sheet(text, path, names) if is_csv else (read_export(text, path), [])
    )
    by_row: dict[int, list] = {}
    for row, answer in pairs:
        if answer not in names:
            answer = answer.strip() if isinstance(answer, str) else answer
            word = str(answer).casefold()
            if skip is not None and word == skip.casefold():
                answer = SKIP
            elif word in ("", "nan"):  # Some tools write empty cells as NaN.
                continue
        by_row.setdefault(_row_number(row, path), []).append(answer)
    if is_csv:  # A sheet has one answer for a row, an export one for each annotator.
        by_row = {row: _only_answer(row, some, path) for row, some in by_row.items()}
    if check is not None:
        check([(number, _row_number(row, path), cells) for number, row, cells in lines])
    # A row is skipped only if none of its annotators could tell.
    return {row: [a for a in some if a != SKIP] or SKIP for row, some in by_row.items()}


def _check_skip(skip: Any, labels: list[Label]) -> None:
    """Refuse a word for "cannot tell" that is none, or that is a class."""
    if skip is not None and not isinstance(skip, str):
        raise TypeError(f"skip={shown(skip)} must be the word for it, a str, or None.")
    if skip is not None and skip in map(str, labels):
        raise ValueError(
            f"skip={skip!r} is one of the classes. Choose another word for rows that "
            "nobody can label."
        )


def _row_number(cell: Any, path: StrPath) -> int:
    """The number of a row in its cell."""
    try:
        return _whole(cell)
    except (TypeError, ValueError):
        raise ValueError(
            f"{path}: {cell!r} is not a row of the pool. Leave the column row as it "
            "was written."
        ) from None


def _only_answer(row: int, answers: list, path: StrPath) -> list:
    """Refuse different answers for one row."""
    if len(set(answers)) > 1:
        raise ValueError(
            f"Row {row} has different answers in {path}: {answers}. Keep one of them. "
            "Answers of several people belong in a file for each of them."
        )
    return answers[:1]


def plan_answers(
    evaluation: Evaluation,
    answers: dict[int, list],
    correct: bool = False,
    new_classes: Iterable = (),
) -> tuple[dict[int, list[Any]], dict[int, list[Any]], list[int]]:
    """Sort answers by what to do with them, or refuse all if one cannot be recorded."""
    ledger = evaluation.ledger
    unknown = sorted(set(answers) - set(ledger.indices))
    if unknown:
        raise ValueError(
            f"Rows {unknown} were not asked for. Remove them from the file, or import "
            "it into the evaluation that exported it."
        )
    told: dict[int, list] = {}
    corrected: dict[int, list] = {}
    skipped: list[int] = []
    answers = {
        row: [to_label(evaluation, answer, f"Row {row}: ") for answer in given]
        for row, given in answers.items()
    }
    if evaluation.classes_ is not None:
        pairs = [(row, label) for row, some in answers.items() for label in some]
        refuse_slips(pairs, evaluation.classes_.tolist(), new_classes)
    for row, labels in answers.items():
        if row in ledger.labels:
            recorded = [ledger.labels[row], *ledger.more_labels.get(row, [])]
            if sorted(labels) != sorted(recorded):
                corrected[row] = labels
        elif labels:
            told[row] = labels
        elif row not in ledger.skipped:
            skipped.append(row)
    if corrected and not correct:
        raise ValueError(
            Advice(
                f"Rows {sorted(corrected)} have another label already.",
                cure="correct",
                in_python="Pass correct=True to replace it, or remove them from the "
                "file. If several people answered the same rows, import their files "
                "together: import_answers([one, other], correct=True).",
            )
        )
    return told, corrected, skipped


def to_label(evaluation: Evaluation, answer: Any, where: str = "") -> Label:
    """Return an answer as a label of the evaluation."""
    classes = evaluation.classes_
    known = None if classes is None else classes.tolist()
    is_closed = known is not None and evaluation.problem.is_closed
    kind = "f" if classes is None else classes.dtype.kind
    with suppress(KeyError, OverflowError, TypeError, ValueError):
        label = _LABELS.get(kind, str)(answer)
        if _fits(label) and (known is None or not is_closed or label in known):
            return label
    allowed = "a finite number"
    if known is not None:
        some = "one of" if is_closed or kind == "b" else "a label such as"
        if kind in "iu" and not is_closed:
            some = "a whole number of at most 64 bits, such as"
        allowed = f"{some} {known}"
    raise ValueError(f"{where}{answer!r} is not a valid label. Give {allowed}.")


def _fits(label: Label) -> bool:
    """Return whether an array of its kind can hold a label."""
    if isinstance(label, str):
        return True
    return math.isfinite(label) if isinstance(label, float) else label in _INTEGERS


def _whole(answer: Any) -> int:
    """An answer as a whole number."""
    try:
        if "_" not in str(answer):
            return int(str(answer))
    except ValueError:  # Spreadsheets write 3 as 3.0.
        pass
    number = as_number(answer)
    if not number.is_integer() or abs(number) > 2**53:  # Digits may be lost.
        raise ValueError
    return int(number)


def _truth(answer: Any) -> bool:
    """An answer as a truth value."""
    words = {"true": True, "1": True, "1.0": True}
    words |= {"false": False, "0": False, "0.0": False}
    return words[str(answer).casefold()]


_LABELS = {"b": _truth, "i": _whole, "u": _whole, "f": as_number}


# Labels that are perhaps slips of the keyboard, and not new classes.


# Shorter words that differ by one letter are often two classes.
_LEAST_LETTERS = 4
# A word beside another that stands in the file so many times as often is a slip.
_OFTEN = 3
_CURE = "If it is a new class, pass new_classes=[...] with it."


def refuse_slips(
    labels: list[tuple[int, Label]], classes: list[Label], new_classes: Iterable = ()
) -> None:
    """Refuse a label that is not known and that may be a slip."""
    known = dict.fromkeys([*classes, *new_classes])
    counts = Counter(label for _, label in labels if label not in known)
    for row, label in labels:
        if label in known:
            continue
        among = f"Row {row}: {label!r} is none of the classes {shown(classes)}"
        meant = _meant(label, known, counts)
        if meant is not None:
            raise ValueError(f"{among}. Did you mean {meant!r}? {_CURE}")
        if not isinstance(label, str) and len(classes) > 1:
            raise ValueError(f"{among}. {_CURE}")
        if isinstance(label, str) and not re.search(r"\w", label):
            raise ValueError(
                f"{among}. If it means that nobody can tell, pass skip={label!r}. "
                f"{_CURE}"
            )


def _meant(label: Label, known: dict[Label, None], counts: Counter) -> Label | None:
    """A class that a label may stand for, or None."""
    if not isinstance(label, str):
        return None
    for other in [word for word in known if isinstance(word, str)]:
        if _is_same_word(label, other) or _is_one_slip(label, other):
            return other
    for other, count in counts.items():
        if other == label or count < counts[label]:
            continue
        is_rare = counts[label] * _OFTEN <= count
        if _is_same_word(label, other) or (is_rare and _is_one_slip(label, other)):
            return other
    return None


def _is_same_word(one: str, other: str) -> bool:
    """Whether two texts differ only in case, in blanks, or in how a number looks."""
    if "".join(one.split()).casefold() == "".join(other.split()).casefold():
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed, or two were swapped."""
    one, other = sorted((one.casefold(), other.casefold()), key=len)
    is_short = len(other) < _LEAST_LETTERS or len(other) - len(one) > 1
    if is_short or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False  # Numbers at the end of names tell classes apart.
    start = 0
    while start < len(one) and one[start] == other[start]:
        start += 1
    rest, rest_of_other = one[start:], other[start:]
    if len(one) < len(other):
        return rest == rest_of_other[1:]
    is_swapped = rest[:2] == rest_of_other[1::-1] and rest[2:] == rest_of_other[2:]
    return rest[1:] == rest_of_other[1:] or is_swapped


# Whether the lines of a sheet still stand beside the right numbers of rows.


# Texts are compared up to here, and are called alike from this share on.
_LONGEST, _ALIKE = 200, 0.6
# A text of a word or two may be written in another way; a longer one names its row.
_LEAST_TEXT = 12


def check_lines(
    lines: list[tuple[int, int, dict[str, str]]],
    columns_at: Callable[[list[int]], dict[str, list]],
    asked: set[int],
    path: StrPath,
) -> None:
    """Refuse a sheet if a line shows another row than the one that it is numbered.

    Spreadsheets write numbers and dates in ways of their own. So a line is refused only
    if it is more like another row of the sheet, or if none of its texts is alike.
    """
    lines = [line for line in lines if line[1] in asked]
    rows = sorted({row for _, row, _ in lines})
    if not lines or not (columns := columns_at(rows)):
        return
    pool = {
        name: dict(zip(rows, map(_plain, cells), strict=True))
        for name, cells in columns.items()
    }
    rows_with: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, column in pool.items():
        for row, cell in column.items():
            rows_with[name, _key(cell)].append(row)
    for number, row, shows in lines:
        cells = {n: _plain(shows[n]) for n in pool if shows.get(n, "").strip()}
        own = {name: pool[name][row] for name in cells}
        exact = Counter(
            other
            for name, cell in cells.items()
            for other in rows_with.get((name, _key(cell)), ())
        )
        other, is_wrong = _better_row(row, cells, own, exact)
        if is_wrong:
            name = next(n for n in cells if _key(cells[n]) != _key(own[n]))
            like = "" if other is None else f", which is row {other}"
            raise ValueError(
                f"{path}, line {number}: row {row} of the pool has "
                f"{shown(own[name])} in column {name!r}, but this line shows "
                f"{shown(cells[name])}{like}. The column row does not fit the others, "
                "as if some columns were sorted or moved without it. Take the column "
                "row as it was exported; whole lines may be sorted."
            )


def _better_row(
    row: int, cells: dict[str, str], own: dict[str, str], exact: Counter
) -> tuple[int | None, bool]:
    """The row that a line is more like, if any, and whether the line is refused.

    `exact` counts for each row of the sheet how many cells it has in common.
    """
    changed = [name for name in cells if _key(cells[name]) != _key(own[name])]
    if not changed:
        return None, False
    likeness = exact[row] + sum(_likeness(cells[name], own[name]) for name in changed)
    other, most = exact.most_common(1)[0] if exact else (None, 0)
    if most > likeness:
        return other, True
    is_text = any(len(cell) >= _LEAST_TEXT and " " in cell for cell in cells.values())
    return None, likeness == 0 and is_text


def _plain(cell: Any) -> str:
    """A cell as a spreadsheet may show it, in one line."""
    text = " ".join(str("" if cell is None else cell).split())
    return text[1:] if text.startswith("'") else text


def _key(text: str) -> str:
    """What two cells that show the same have in common."""
    number = as_number(text.replace(",", "."))
    return text.casefold() if math.isnan(number) else f"{number:.10g}"


def _likeness(cell: str, own: str) -> float:
    """1 for a number that was rounded, a half for a text that was changed, else 0."""
    points = [text.replace(",", ".") for text in (cell, own)]
    gap = abs(as_number(points[0]) - as_number(points[1]))
    if not math.isnan(gap):
        return float(gap <= 0.51 * 10.0 ** -len(points[0].partition(".")[2]))
    cell, own = cell.casefold(), own.casefold()
    is_cut = len(cell) >= _LEAST_TEXT and (own.startswith(cell) or cell.startswith(own))
    pair = SequenceMatcher(None, cell[:_LONGEST], own[:_LONGEST])
    return 0.5 if is_cut or pair.ratio() >= _ALIKE else 0.0


# Record the answers of files: all of them, or none.


def import_files(
    evaluation: Evaluation,
    paths: StrPath | Sequence[StrPath],
    shown: Callable,
    *,
    correct: bool = False,
    skip: str | None = None,
    new_classes: Iterable[Any] = (),
) -> int:
    """Read answers from files; see :meth:`Evaluation.import_answers`."""
    paths = list(paths) if isinstance(paths, list | tuple) else [paths]  # type: ignore[list-item]
    if len({str(path) for path in paths}) < len(paths) or not paths:
        raise ValueError(
            f"path={[str(path) for path in paths]} must name a file for each person, "
            "each of them once."
        )
    asked = set(evaluation.ledger.indices)
    together: dict[int, Any] = defaultdict(list)
    for path in paths:
        check = partial(check_lines, columns_at=shown, asked=asked, path=path)
        found = read_answers(path, skip, evaluation.classes_, check)
        for row, some in found.items():
            together[row].extend(some)
    answers: dict[int, Any] = {row: some or SKIP for row, some in together.items()}
    told, corrected, skipped = plan_answers(
        evaluation, answers, correct, list(new_classes)
    )
    record_answers(evaluation, told, corrected, skipped)
    return len(told)


def _check_by_row(evaluation: Evaluation, answers: dict[int, list]) -> dict[int, list]:
    """Answers by row, checked; rows without an answer are left out."""
    checked: dict[int, list] = {}
    for n_answers in {len(labels) for labels in answers.values()} - {0}:
        rows = [row for row, labels in answers.items() if len(labels) == n_answers]
        given = np.array([answers[row] for row in rows])
        labels, more_labels = evaluation.check_answers(rows, given)
        evaluation.problem.warn_of_new(evaluation.classes_, labels, more_labels)
        table = np.column_stack([labels, *np.transpose(more_labels)])
        checked |= dict(zip(rows, table.tolist(), strict=True))
    return checked


def record_answers(
    evaluation: Evaluation,
    told: dict[int, list],
    corrected: dict[int, list],
    skipped: list[int],
) -> None:
    """Record planned answers: all of them, or none."""
    checked = _check_by_row(evaluation, told | corrected)  # Before any is recorded.
    relearn = False
    with evaluation.ledger.together():
        for n_answers in sorted({len(labels) for labels in told.values()}):
            rows = [row for row, labels in told.items() if len(labels) == n_answers]
            labels = [checked[row][0] for row in rows]
            more_labels = [checked[row][1:] for row in rows if n_answers > 1]
            evaluation.ledger.tell(rows, labels, more_labels)
        for row, labels in corrected.items():
            if labels:
                label, *more_labels = checked[row]
                relearn |= evaluation.ledger.correct(row, label, more_labels)
            else:
                relearn |= evaluation.ledger.withdraw(row)
                skipped.append(row)
        if skipped:
            evaluation.ledger.skip(skipped)
    if told or corrected or skipped:
        evaluation.renew(relearn=relearn)
