"""Files of an evaluation for those who label: written, and read when they are back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._annotation._export import export_rows
from sklearn_ase._annotation._import import plan_answers, read_answers, together
from sklearn_ase._annotation._matching import check_lines
from sklearn_ase._data._columns import columns_of
from sklearn_ase._data._rows import check_indices
from sklearn_ase._evaluation._labelling import Labelling
from sklearn_ase._state import Query
from sklearn_ase._utils._typing import Label, StrPath


class Annotating(Labelling):
    """Evaluation that writes files for annotators, and reads them."""

    def export(
        self,
        query: Query | ArrayLike,
        path: StrPath,
        *,
        columns: Sequence[str] | None = None,
        predictions: ArrayLike | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write rows to a file for those who label them.

        Parameters
        ----------
        query : Query or array-like of int
        path : str or path
            ``.csv`` for a table with an empty column ``label``, ``.json`` for tasks
            of Label Studio.
        columns : list of str, default=None
            Columns of the pool that annotators see. None means all. Leave out what they
            should not see, such as the score of a judge.
        predictions : array-like of shape (n_samples,), default=None
            Shown beside each row. They may influence those who see them.
        overwrite : bool, default=False
            Whether to replace a file of that name, and the answers in it.
        """
        rows = check_indices(query, n_samples=self.n_samples)
        export_rows(self.problem.X, rows, path, predictions, overwrite, columns)

    def import_answers(
        self,
        path: StrPath | Sequence[StrPath],
        *,
        correct: bool = False,
        skip: str | None = None,
        new_classes: Iterable[Label] = (),
    ) -> int:
        """Read answers from a file that :meth:`export` wrote and somebody filled in.

        Rows may be in any order, columns that were added are ignored, and rows with an
        empty cell stay open. Known labels are skipped, so a file may be read again. All
        answers are recorded, or none of them if one cannot be. A sheet whose texts do
        not belong to the numbers of its rows is refused.

        Parameters
        ----------
        path : str, path, or list of them
            ``.csv``, or ``.json`` as Label Studio exports annotations. A list has a
            file for each person: answers for the same row become several answers.
        correct : bool, default=False
            Whether labels that differ from known ones replace them. They are an error
            otherwise.
        skip : str, default=None
            Answer that stands for "cannot tell".
        new_classes : list of label, default=()
            Labels that are new classes. Without it a label that is almost a known one,
            or a number that is none, is refused as a slip.

        Returns
        -------
        n_labels : int
            Number of rows that had no label before.
        """
        shown = partial(columns_of, self.problem.X)
        return import_files(self, path, shown, correct, skip, new_classes)

    def _check_by_row(self, answers):
        """Answers by row, checked; rows without an answer are left out."""
        checked = {}
        for n_answers in {len(labels) for labels in answers.values()} - {0}:
            rows = [row for row, labels in answers.items() if len(labels) == n_answers]
            given = np.array([answers[row] for row in rows])
            labels, more_labels = self._check_answers(rows, given)
            self.problem.warn_of_new(self._learned.classes, labels, more_labels)
            table = np.column_stack([labels, *np.transpose(more_labels)])
            checked |= dict(zip(rows, table.tolist(), strict=True))
        return checked

    def _record_plan(self, told, corrected, skipped):
        """Record planned answers: all of them, or none."""
        checked = self._check_by_row(told | corrected)  # Before any is recorded.
        relearn = False
        with self.ledger.together():
            for n_answers in sorted({len(labels) for labels in told.values()}):
                rows = [row for row, labels in told.items() if len(labels) == n_answers]
                labels = [checked[row][0] for row in rows]
                more_labels = [checked[row][1:] for row in rows if n_answers > 1]
                self.ledger.tell(rows, labels, more_labels)
            for row, labels in corrected.items():
                if labels:
                    label, *more_labels = checked[row]
                    relearn |= self.ledger.correct(row, label, more_labels)
                else:
                    relearn |= self.ledger.withdraw(row)
                    skipped.append(row)
            if skipped:
                self.ledger.skip(skipped)
        if told or corrected or skipped:
            self._update(relearn=relearn)


def import_files(evaluation, paths, shown, correct=False, skip=None, new_classes=()):
    """Read answers from files; see :meth:`Evaluation.import_answers`.

    Parameters
    ----------
    evaluation : Evaluation
    paths : str, path, or list of them
    shown : callable
        ``rows -> columns`` as annotators saw them, a dict of str to list.
    correct, skip, new_classes
        See :meth:`Evaluation.import_answers`.

    Returns
    -------
    n_labels : int
        Number of rows that had no label before.
    """
    paths = list(paths) if isinstance(paths, list | tuple) else [paths]
    if len({str(path) for path in paths}) < len(paths) or not paths:
        raise ValueError(
            f"path={[str(path) for path in paths]} must name a file for each person, "
            "each of them once."
        )
    asked, found = set(evaluation.ledger.indices), []
    for path in paths:
        check = partial(check_lines, columns_at=shown, asked=asked, path=path)
        found.append(read_answers(path, skip, evaluation.classes_, check))
    answers = together(found)
    told, corrected, skipped = plan_answers(
        evaluation, answers, correct, list(new_classes)
    )
    evaluation._record_plan(told, corrected, skipped)
    return len(told)
