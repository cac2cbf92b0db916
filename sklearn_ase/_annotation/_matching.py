"""Whether the lines of a sheet still stand beside the right numbers of rows."""

from collections import Counter, defaultdict
from difflib import SequenceMatcher

from sklearn_ase._utils._checks import shown

# Texts are compared up to here, and are called alike from this share on.
_LONGEST, _ALIKE = 200, 0.6
# A text of a word or two may be written in another way; a longer one names its row.
_LEAST_TEXT = 12


def check_lines(lines, columns_at, asked, path):
    """Refuse a sheet if a line shows another row than the one that it is numbered.

    Spreadsheets write numbers and dates in ways of their own. So a line is refused only
    if it is more like another row of the sheet, or if none of its texts is alike.

    Parameters
    ----------
    lines : list of (int, int, dict of str to str)
        Number of each line, its row, and its cells by column.
    columns_at : callable
        ``rows -> columns`` as they were shown, a dict of str to list.
    asked : collection of int
        Rows that were asked for. Others are not compared.
    path : str or path
        For the messages.
    """
    lines = [line for line in lines if line[1] in asked]
    rows = sorted({row for _, row, _ in lines})
    if not lines or not (columns := columns_at(rows)):
        return
    columns = {
        name: dict(zip(rows, map(_plain, cells), strict=True))
        for name, cells in columns.items()
    }
    rows_with = {name: defaultdict(list) for name in columns}
    for name, cells in columns.items():
        for row, cell in cells.items():
            rows_with[name][_key(cell)].append(row)
    for number, row, cells in lines:
        cells = {n: _plain(cells[n]) for n in columns if cells.get(n, "").strip()}
        exact = Counter()
        for name, cell in cells.items():
            exact.update(rows_with[name].get(_key(cell), ()))
        if exact[row] == len(cells):
            continue
        own = exact[row] + sum(
            _likeness(cell, columns[name][row])
            for name, cell in cells.items()
            if _key(cell) != _key(columns[name][row])
        )
        other, most = exact.most_common(1)[0] if exact else (None, 0)
        is_text = any(
            len(cell) >= _LEAST_TEXT and " " in cell for cell in cells.values()
        )
        if most > own or (own == 0 and is_text):
            name = next(n for n in cells if _key(cells[n]) != _key(columns[n][row]))
            like = f", which is row {other}" if most > own else ""
            raise ValueError(
                f"{path}, line {number}: row {row} of the pool has "
                f"{shown(columns[name][row])} in column {name!r}, but this line shows "
                f"{shown(cells[name])}{like}. The column row does not fit the others, "
                "as if some columns were sorted or moved without it. Take the column "
                "row as it was exported; whole lines may be sorted."
            )


def _plain(cell):
    """A cell as a spreadsheet may show it, in one line."""
    text = " ".join(str("" if cell is None else cell).split())
    return text[1:] if text.startswith("'") else text


def _key(text):
    """What two cells that show the same have in common."""
    number = _number(text)
    return text.casefold() if number is None else f"{number:.10g}"


def _number(text):
    try:
        return None if "_" in text else float(text.replace(",", "."))
    except ValueError:
        return None


def _likeness(cell, own):
    """1 for a number that was rounded, a half for a text that was changed, else 0."""
    numbers = _number(cell), _number(own)
    if None not in numbers:
        decimals = len(cell.replace(",", ".").partition(".")[2])
        return float(abs(numbers[0] - numbers[1]) <= 0.51 * 10.0**-decimals)
    cell, own = cell.casefold(), own.casefold()
    is_cut = len(cell) >= _LEAST_TEXT and (own.startswith(cell) or cell.startswith(own))
    pair = SequenceMatcher(None, cell[:_LONGEST], own[:_LONGEST])
    return 0.5 if is_cut or pair.ratio() >= _ALIKE else 0.0
