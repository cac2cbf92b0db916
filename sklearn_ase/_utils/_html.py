"""Write small HTML tables for notebooks."""

from html import escape


def html_table(title, rows):
    """Return a table of two columns as HTML.

    Parameters
    ----------
    title : str
    rows : iterable of (str, str)
        Name and value. Rows with an empty value are left out.

    Returns
    -------
    html : str
    """
    # Long sentences are broken, names are not.
    name_style = "text-align:left;white-space:nowrap;vertical-align:top"
    cells = "".join(
        f'<tr><th style="{name_style}">{escape(str(name))}</th>'
        f'<td style="text-align:left;max-width:44em">{escape(str(value))}</td></tr>'
        for name, value in rows
        if str(value)
    )
    return f"<table>{_caption(f'<b>{escape(title)}</b>')}{cells}</table>"


def html_columns(title, rest, rows):
    """Return a table with named columns as HTML, numbers to the right.

    Parameters
    ----------
    title : str
    rest : str
        What follows the title.
    rows : iterable of list of str
        The names of the columns first.

    Returns
    -------
    html : str
    """
    rows = [list(map(str, row)) for row in rows]
    columns = zip(*rows[1:], strict=True)
    sides = ["right" if all(map(_is_number, column)) else "left" for column in columns]
    sides = sides or ["left"] * len(rows[0])
    lines = []
    for place, row in enumerate(rows):
        tag = "td" if place else "th"
        cells = "".join(
            f'<{tag} style="text-align:{side}">{escape(text)}</{tag}>'
            for side, text in zip(sides, row, strict=True)
        )
        lines.append(f"<tr>{cells}</tr>")
    caption = _caption(f"<b>{escape(title)}</b>{escape(rest)}")
    return f"<table>{caption}{''.join(lines)}</table>"


def _caption(html):
    return f'<caption style="text-align:left">{html}</caption>'


def _is_number(text):
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True
