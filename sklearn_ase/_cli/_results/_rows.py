"""What the readers of result files share: names of columns, texts of messages."""

# Columns that every reader fills, where the file has it.
OWN = ("id", "input", "output", "target", "error")


def add_scores(row, scores):
    """Add what scorers say, each under its own name.

    Parameters
    ----------
    row : dict of str to object
        Changed in place.
    scores : dict of str to object
        A score that is a dict gets one column for each of its entries. A name that
        the row has already gets ``score.`` in front.
    """
    for name, score in scores.items():
        if isinstance(score, dict):
            parts = {f"{name}.{part}": value for part, value in score.items()}
            add_scores(row, parts)
        else:
            is_taken = name in OWN or name in row
            row[f"score.{name}" if is_taken else str(name)] = score


def numbered(pairs):
    """Return pairs as a dict; the second of one name gets "2" behind it.

    Parameters
    ----------
    pairs : iterable of (str, object)

    Returns
    -------
    named : dict of str to object
    """
    named = {}
    for name, value in pairs:
        place = 1
        while (free := str(name) if place == 1 else f"{name} {place}") in named:
            place += 1
        named[free] = value
    return named


def add_about(row, prefix, values):
    """Add what a file says about a row besides, such as its metadata.

    Parameters
    ----------
    row : dict of str to object
        Changed in place.
    prefix : str
        In front of each name, with a point.
    values : dict of str to object or None
    """
    if isinstance(values, dict):
        row.update({f"{prefix}.{name}": value for name, value in values.items()})


def text_of(content):
    """Return a message, or several, as one text.

    Parameters
    ----------
    content : str, list or dict
        A text; a message with ``role`` and ``content``; a part of a message with
        ``text``; or a list of these.

    Returns
    -------
    text : str or None
        Parts that are not text, such as images, are named by their type.
    """
    if isinstance(content, list):
        texts = [text_of(each) for each in content]
        return "\n".join(text for text in texts if text)
    if not isinstance(content, dict):
        return None if content is None else str(content)
    if "role" in content:
        return f"{content['role']}: {text_of(content.get('content')) or ''}"
    if "text" in content:
        return text_of(content["text"])
    return f"[{content.get('type', 'data')}]"


def dicts_of(values):
    """Return the entries of a list that are dicts; none if it is not a list.

    Parameters
    ----------
    values : object

    Returns
    -------
    dicts : list of dict
    """
    values = values if isinstance(values, list) else []
    return [value for value in values if isinstance(value, dict)]
