"""Write rows to a file for annotators: a spreadsheet, or tasks for Label Studio."""

from pathlib import Path

from sklearn_ase._annotation._label_studio import write_tasks
from sklearn_ase._annotation._sheet import write_sheet
from sklearn_ase._data._columns import columns_of, predictions_of
from sklearn_ase._utils._checks import check_path, shown


def export_rows(X, indices, path, predictions=None, overwrite=False, names=None):
    """Write rows for annotators; see :meth:`Evaluation.export`.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
        The pool.
    indices : array-like of int of shape (n_rows,)
        Rows to write.
    path : str or path
        Ends in ``.csv``, for spreadsheets, or in ``.json``, for Label Studio.
    predictions : array-like of shape (n_samples,), default=None
        Predictions of the model for the whole pool, shown beside the rows.
    overwrite : bool, default=False
        Whether a file of this name may be replaced.
    names : list of str, default=None
        Columns of the pool to show, in this order. None means all.
    """
    suffix = check_suffix(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            f"{path} exists already and may hold answers. Choose another name, or pass "
            "overwrite=True."
        )
    indices, columns = [int(index) for index in indices], columns_of(X, indices)
    if names is not None:
        columns = _chosen(columns, names)
    if predictions is not None:
        predictions = predictions_of(predictions, X, indices)
    if suffix == ".json":
        return write_tasks(path, indices, columns, predictions)
    table = {"row": indices, "label": [""] * len(indices)}
    if predictions is not None:
        table["prediction"] = predictions
    return write_sheet(path, table | columns)


def _chosen(columns, names):
    """Some of the columns, in the order of their names."""
    if isinstance(names, str):
        raise TypeError(
            f"columns={names!r} must be a list of names: columns=[{names!r}]."
        )
    # A feature that is called like a column of the sheet has a longer name there.
    found = {each.removesuffix(" (feature)"): each for each in columns} | {
        each: each for each in columns
    }
    unknown = [name for name in map(str, names) if name not in found]
    if unknown:
        raise ValueError(
            f"columns={shown(list(names))}: the pool has no column {shown(unknown)}. "
            f"Its columns are {shown(list(columns))}."
        )
    return {found[str(name)]: columns[found[str(name)]] for name in names}


def check_suffix(path):
    """Return the ending of a file's name, or raise if it is not supported.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    suffix : {".csv", ".json"}
    """
    suffix = Path(check_path(path)).suffix.lower()
    if suffix not in (".csv", ".json"):
        raise ValueError(
            f"path={path} must end in .csv, for spreadsheets, or in .json, for Label "
            "Studio."
        )
    return suffix
