"""Texts for a terminal, and results as JSON."""

from __future__ import annotations

import json
import math

from sklearn_ase._evaluation._slices import aligned
from sklearn_ase._utils._display import spelled_out

# Names in messages that are written for those who call the package from Python.
_IN_PYTHON = {
    "Pass correct=True": "Add --correct",
    "import their files together: import_answers([one, other], correct=True)": (
        "tell their sheets together: tell JOURNAL one.csv other.csv --correct"
    ),
    "correct=True": "--correct",
    "Pass classes=[...] with": "Name with --labels",
    "replace it with evaluation.correct(row, label); the surrogate": (
        "tell a sheet with the right one and --correct; the surrogate"
    ),
    "the next call of ask(), estimate() or refit() tries": "the next command tries",
    "ask()": "ask",
    "export()": "ask",
    "compare()": "--compare",
    "compare_groups()": "--compare-by",
    "diagnose()": "diagnose",
    "labels_needed()": "plan",
    "Use estimate_by(groups).": "Use --by.",
    "GuardedASE() and CorrectedASE() allow for that, ASE() does not.": (
        "The estimate allows for that."
    ),
    "GuardedASE()": "The estimate",
    "Close that one first: evaluation.close().": "Wait until it has ended.",
}


def without_python(text: str) -> str:
    """Return a message with the words of the command line."""
    for python, words in _IN_PYTHON.items():
        text = text.replace(python, words)
    return text


def as_json(result) -> str:
    """Return a result as one line of JSON."""
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


def printable(text: str) -> str:
    """Return a text without signs that would steer the terminal."""
    return spelled_out(text, kept="\n\t")


# Results of the commands as words.


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
    if result["stop_reason"]:
        return f"Enough labels: {result['stop_reason']} To go on, add --more."
    if not n_rows:
        return "All rows that were picked had a known label. Ask again for others."
    rows = _number(n_rows, "row")
    lines = [f"Wrote {rows} to {result['out']}. Fill in the column label."]
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
        f"Recorded {_number(result['new_labels'], 'new label')}"
        + (f" and {_number(skipped, 'skipped row')}" if skipped else "")
        + f". {_standing(result)}"
    )


def of_annotate(result):
    """Words for what ``annotate`` recorded."""
    return f"Recorded {_number(result['answers'], 'answer')}. {_standing(result)}"


def of_columns(result):
    """Words for the columns of a file."""
    head = f"{result['file']}: {result['rows']} rows, format {result['format']}"
    lines = [["column", "filled", "different", "holds"]]
    lines += [[str(value) for value in line.values()] for line in result["columns"]]
    return "\n".join([head, *aligned(lines)])


def of_plan(result):
    """Words for how many labels narrower intervals take."""
    lines = [["width", "labels in all", "more labels"]]
    for line in result["plan"]:
        is_all = line["labels"] >= result["rows"]
        labels = f"all {result['rows']}" if is_all else str(line["labels"])
        lines.append([f"{line['width']:g}", labels, str(line["more_labels"])])
    look = "for one look" if result["method"] == "fixed" else "at every look"
    interval = f"{100 * result['level']:g} % interval {look}"
    head = f"{result['metric']} {result['estimate']:.3f}, {interval}"
    kind = "" if result["method"] == "fixed" else "anytime_"
    low, high = result[f"{kind}low"], result[f"{kind}high"]
    if low is not None:
        head += f" {low:.3f} to {high:.3f}"
    head += f" after {result['labels']} labels."
    return "\n".join([head, *aligned(lines), result["basis"]])


def of_agreement(result):
    """Words for how far annotators agree."""
    return result["words"]


def of_diagnose(result):
    """Words for whether the labels agree with what was expected."""
    return without_python(result["words"])


def of_status(result):
    """Words for how far a campaign is."""
    words = {"labels": _labels(result)}
    waits = "waits" if result["open"] == 1 else "wait"
    words["open"] = f"{_number(result['open'], 'row')} {waits} for a label"
    if result["skipped"]:
        words["skipped"] = f"{_number(result['skipped'], 'row')} that nobody can label"
    last = result["last_label"]
    if last is not None:
        words["last label"] = f"row {last['row']}: {last['label']}"
    words |= _estimate(result)
    if not result["is_current"]:
        words["note"] = (
            "some labels are not in the estimate yet; sklearn-ase estimate adds them"
        )
    if result.get("budget") is not None:
        words["spent"] = f"{result['spent']:g} of {result['budget']:g}"
    if result.get("stop_reason"):
        words["enough labels"] = result["stop_reason"]
    return _table(words)


def of_estimate(result):
    """Words for an estimate, or a table of estimates, or a comparison."""
    if hasattr(result, "caption"):
        together = " that hold all at once" if result.simultaneous else ""
        return (
            f"{''.join(result.caption)}, {100 * result.level:g} % intervals{together}\n"
            f"{result}"
        )
    if "differences" in result:
        return _comparison(result)
    return _table({"labels": _labels(result)} | _estimate(result))


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


def of_report(result):
    """Words for what ``report`` wrote, or the report itself."""
    if "markdown" in result:
        return result["markdown"].rstrip("\n")
    paths = [result[name] for name in ("html", "md") if result[name] is not None]
    return f"Wrote {' and '.join(paths)}."


def of_judges(result):
    """Words for what the judges are worth, one column for each judge."""
    lines = list(zip(*result._cells(), strict=True))
    return "\n".join(["".join(result.caption), *aligned(lines)])


def _comparison(result):
    """Words for how good models or groups are, and how they differ."""
    level = f"{100 * result['level']:g} %"
    lines = [[result["compared"], "estimate", "low", "high", "may be the best"]]
    for line in result["table"]:
        numbers = [_cell(line[name]) for name in ("estimate", "low", "high")]
        best = "yes" if line["may_be_best"] else "no"
        lines.append([line["model"], *numbers, best])
    words = [f"{result['metric']}, {level} intervals", *aligned(lines)]
    for gap in result["differences"]:
        ends = "no interval"
        if gap["low"] is not None:
            ends = f"{gap['low']:.3f} to {gap['high']:.3f}"
        than = f"{gap['better']} is better than {gap['than']} by"
        words.append(f"{than} {gap['by']:.3f} ({ends})")
    return "\n".join([*words, result["verdict"]])


def _cell(value):
    """A number of a table; an end that is not there is empty."""
    return f"{value:.3f}" if math.isfinite(value) else ""


def _estimate(result):
    if result["estimate"] is None:
        return {
            result["metric"]: "no estimate yet" if result["labels"] else "no label yet"
        }
    value, level = result["estimate"], result["level"]
    words = {result["metric"]: _cell(value) or "not defined"}
    name = f"{100 * level:g} % interval"
    if result["low"] is None:
        return words | {name: f"none. {result['no_interval']}"}
    ends = f"{result['low']:.3f} to {result['high']:.3f}"
    words[name], anytime = f"{ends} (for one look)", "no interval yet"
    if result["anytime_low"] is not None:
        anytime = f"{result['anytime_low']:.3f} to {result['anytime_high']:.3f}"
    words["at every look"] = f"{anytime} (look as often as you like)"
    if result.get("population_low") is not None:
        ends = f"{result['population_low']:.3f} to {result['population_high']:.3f}"
        words["for rows to come"] = f"{ends} (for one look)"
    if result["note"]:
        words["note"] = result["note"]
    return words


def _table(words):
    width = max(map(len, words))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in words.items())


def _labels(result):
    """How many labels there are, and how many of them the estimate uses."""
    text, n_used = f"{result['labels']} of {result['rows']} rows", result["labels_used"]
    is_known = result["estimate"] is not None and result.get("is_current", True)
    if not (is_known and n_used < result["labels"]):
        return text
    return f"{text}; {n_used} count so far, the others wait for a row that is open"


def _standing(result):
    """How many labels there are, and how many rows are open."""
    there = "There is" if result["labels"] == 1 else "There are"
    are = "is" if result["open"] == 1 else "are"
    labels, rows = _number(result["labels"], "label"), _number(result["open"], "row")
    return f"{there} {labels}; {rows} {are} open."


def _number(n, noun):
    """A number with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _or(labels):
    return f"{', '.join(labels[:-1])} or {labels[-1]}"
