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
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(str(name))}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in rows
        if str(value)
    )
    return f"<table><caption><b>{escape(title)}</b></caption>{cells}</table>"
