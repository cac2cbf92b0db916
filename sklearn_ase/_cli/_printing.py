"""Results of the commands as words, and as JSON."""

import json
import math

from sklearn_ase._utils._signs import spelled_out


def as_json(result):
    """Return a result as one line of JSON.

    Parameters
    ----------
    result : dict of str to object, or ColumnTable
        A table becomes a list with one object for each row.

    Returns
    -------
    text : str
    """
    if hasattr(result, "caption"):
        rows = zip(*(column.tolist() for column in result.values()), strict=True)
        result = [dict(zip(result, row, strict=True)) for row in rows]
    return json.dumps(_plain(result), ensure_ascii=False, allow_nan=False)


def _plain(value):
    """Numbers that JSON lacks as null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text):
    """Return a text without signs that would steer the terminal.

    Parameters
    ----------
    text : str

    Returns
    -------
    text : str
        Control characters are written as in ``\\x1b``; the ends of lines stay.
    """
    return spelled_out(text, kept="\n")


def of_start(result):
    """Words for what ``start`` did."""
    lines = [
        f"Started {result['journal']}: {result['metric']} over {result['rows']} rows."
    ]
    if result["known_labels"]:
        lines.append(f"{result['known_labels']} labels were there already.")
    lines.append(f"Next: sklearn-ase ask {result['journal']} 20 --out batch.csv")
    return "\n".join(lines)


def of_ask(result):
    """Words for what ``ask`` wrote."""
    n_rows = result["rows"]
    if not n_rows:
        return "All rows that were picked had a known label. Ask again for others."
    lines = [f"Wrote {n_rows} rows to {result['out']}. Fill in the column label."]
    if result["labels"]:
        lines[0] = lines[0][:-1] + f" with {_or(result['labels'])}."
    if result["asked_again"]:
        lines.append(
            "These rows were asked for before and have no label yet, so no new rows "
            "were picked."
        )
    return "\n".join(lines)


def of_tell(result):
    """Words for what ``tell`` recorded."""
    skipped = result["new_skipped"]
    return (
        f"Recorded {result['new_labels']} new labels"
        + (f" and {skipped} skipped rows" if skipped else "")
        + f". There are {result['labels']} labels; {result['open']} rows are open."
    )


def of_status(result):
    """Words for how far a campaign is."""
    words = {"labels": f"{result['labels']} of {result['rows']} rows"}
    words["open"] = f"{result['open']} rows wait for a label"
    if result["skipped"]:
        words["skipped"] = f"{result['skipped']} rows that nobody can label"
    last = result["last_label"]
    if last is not None:
        words["last label"] = f"row {last['row']}: {last['label']}"
    return _table(words | _estimate(result))


def of_estimate(result):
    """Words for an estimate, or a table of estimates."""
    if hasattr(result, "caption"):
        return (
            f"{''.join(result.caption)}, {100 * result.level:g} % intervals\n{result}"
        )
    words = {"labels": f"{result['labels']} of {result['rows']} rows"}
    return _table(words | _estimate(result))


def of_check(result):
    """Words for whether a limit is met."""
    limits = {"at least": result["at_least"], "at most": result["at_most"]}
    limits = [f"{words} {v:g}" for words, v in limits.items() if v is not None]
    name = f"{result['metric']} {' and '.join(limits)}"
    if result["low"] is None:
        return f"not decided: {name}. {result['why']}"
    ends = f"{result['low']:.3f} to {result['high']:.3f}"
    where = f"{100 * result['level']:g} % interval {ends}, {result['labels']} labels"
    text = f"{result['answer']}: {name} ({where})"
    if result["answer"] != "not decided":
        return text
    if result["labels_needed"] is None:
        return f"{text}. The estimate is so close that no number can be forecast."
    return (
        f"{text}. If the estimate stays {result['estimate']:.3f}, about "
        f"{result['labels_needed']} labels in all will decide it."
    )


def of_judges(result):
    """Words for what the judges are worth, one column for each judge."""
    lines = list(zip(*result._cells(), strict=True))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join(["".join(result.caption), *map(str.rstrip, texts)])


def of_report(result):
    """Words for what ``report`` wrote, or the report itself."""
    if "markdown" in result:
        return result["markdown"].rstrip("\n")
    paths = [result[name] for name in ("html", "md") if result[name] is not None]
    return f"Wrote {' and '.join(paths)}."


def _estimate(result):
    if result["estimate"] is None:
        return {result["metric"]: "no label yet"}
    words, level = {result["metric"]: f"{result['estimate']:.3f}"}, result["level"]
    name = f"{100 * level:g} % interval"
    if result["low"] is None:
        return words | {name: f"none. {result['no_interval']}"}
    ends = f"{result['low']:.3f} to {result['high']:.3f}"
    anytime = f"{result['anytime_low']:.3f} to {result['anytime_high']:.3f}"
    words[name] = f"{ends} (for one look)"
    words["at every look"] = f"{anytime} (look as often as you like)"
    if result["note"]:
        words["note"] = result["note"]
    return words


def _table(words):
    width = max(map(len, words))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in words.items())


def _or(labels):
    return f"{', '.join(labels[:-1])} or {labels[-1]}"
