"""Texts for a terminal, and results as JSON."""

from __future__ import annotations

import json
import math

from sklearn_ase._display._blocks import Facts, Table, Words, counted, percent
from sklearn_ase._display._text import text
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
    if hasattr(result, "blocks"):
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
    return text(*map(Words, lines))


def of_ask(result):
    """Words for what ``ask`` wrote."""
    if result["stop_reason"]:
        return f"Enough labels: {result['stop_reason']} To go on, add --more."
    if not result["rows"]:
        return "All rows that were picked had a known label. Ask again for others."
    wrote = f"Wrote {counted(result['rows'], 'row')} to {result['out']}."
    fill, labels = "Fill in the column label", result["labels"]
    if labels:
        fill += f" with {', '.join(labels[:-1])} or {labels[-1]}"
    lines = [f"{wrote} {fill}."]
    if result["asked_again"]:
        lines.append(
            "These rows were asked for before and have no label yet, so no new rows "
            "were picked."
        )
    return text(*map(Words, lines))


def of_tell(result):
    """Words for what ``tell`` recorded."""
    recorded = counted(result["new_labels"], "new label")
    if result["new_skipped"]:
        recorded += f" and {counted(result['new_skipped'], 'skipped row')}"
    return f"Recorded {recorded}. {_standing(result)}"


def of_annotate(result):
    """Words for what ``annotate`` recorded."""
    return f"Recorded {counted(result['answers'], 'answer')}. {_standing(result)}"


def of_columns(result):
    """Words for the columns of a file."""
    head = f"{result['file']}: {result['rows']} rows, format {result['format']}"
    rows = [list(line.values()) for line in result["columns"]]
    return text(Words(head), Table(["column", "filled", "different", "holds"], rows))


def of_plan(result):
    """Words for how many labels narrower intervals take."""
    rows = [
        [
            f"{line['width']:g}",
            f"all {result['rows']}"
            if line["labels"] >= result["rows"]
            else line["labels"],
            line["more_labels"],
        ]
        for line in result["plan"]
    ]
    is_fixed = result["method"] == "fixed"
    interval = f"{percent(result['level'])} interval "
    interval += "for one look" if is_fixed else "at every look"
    ends = _ends(result, "" if is_fixed else "anytime_")
    head = f"{result['metric']} {result['estimate']:.3f}, {interval}"
    head = " ".join(filter(None, [head, ends, f"after {result['labels']} labels."]))
    return text(
        Words(head),
        Table(["width", "labels in all", "more labels"], rows),
        Words(result["basis"]),
    )


def of_agreement(result):
    """Words for how far annotators agree."""
    return result["words"]


def of_diagnose(result):
    """Words for whether the labels agree with what was expected."""
    return without_python(result["words"])


def of_status(result):
    """Words for how far a campaign is."""
    waits = "waits" if result["open"] == 1 else "wait"
    facts = {
        "labels": _labels(result),
        "open": f"{counted(result['open'], 'row')} {waits} for a label",
    }
    if result["skipped"]:
        facts["skipped"] = f"{counted(result['skipped'], 'row')} that nobody can label"
    last = result["last_label"]
    if last is not None:
        facts["last label"] = f"row {last['row']}: {last['label']}"
    facts |= _estimate(result)
    if not result["is_current"]:
        facts["note"] = (
            "some labels are not in the estimate yet; sklearn-ase estimate adds them"
        )
    if result.get("budget") is not None:
        facts["spent"] = f"{result['spent']:g} of {result['budget']:g}"
    facts["enough labels"] = result.get("stop_reason", "")
    return text(Facts(facts))


def of_estimate(result):
    """Words for an estimate, or a table of estimates, or a comparison."""
    if hasattr(result, "blocks"):
        together = " that hold all at once" if result.simultaneous else ""
        title = f"{result.title}, {percent(result.level)} intervals{together}"
        return text(Words(title), *result.blocks())
    if "differences" in result:
        return _comparison(result)
    return text(Facts({"labels": _labels(result)} | _estimate(result)))


def of_check(result):
    """Words for whether a limit is met."""
    limits = {"at least": result["at_least"], "at most": result["at_most"]}
    limits = [f"{words} {v:g}" for words, v in limits.items() if v is not None]
    name = f"{result['metric']} {' and '.join(limits)}"
    if result["low"] is None:
        return f"not decided: {name}. {result['why']}"
    interval = f"{percent(result['level'])} interval {_ends(result)}"
    words = f"{result['answer']}: {name} ({interval}, {result['labels']} labels)"
    if result["answer"] != "not decided":
        return words
    if result["labels_needed"] is None:
        return f"{words}. The estimate is so close that no number can be forecast."
    return (
        f"{words}. If the estimate stays {result['estimate']:.3f}, about "
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
    (table,) = result.blocks()
    return text(Words(result.title), table.turned())


def _comparison(result):
    """Words for how good models or groups are, and how they differ."""
    rows = [
        [line["model"], *map(_cell, _three(line)), line["may_be_best"]]
        for line in result["table"]
    ]
    head = [result["compared"], "estimate", "low", "high", "may be the best"]
    gaps = [
        f"{gap['better']} is better than {gap['than']} by {gap['by']:.3f} "
        f"({_ends(gap) or 'no interval'})"
        for gap in result["differences"]
    ]
    title = f"{result['metric']}, {percent(result['level'])} intervals"
    below = map(Words, [*gaps, result["verdict"]])
    return text(Words(title), Table(head, rows), *below)


def _three(line):
    return line["estimate"], line["low"], line["high"]


def _cell(value):
    """A number of a table; an end that is not there is empty."""
    return f"{value:.3f}" if math.isfinite(value) else ""


def _ends(result, kind=""):
    """Ends of an interval in words; empty if there is none."""
    low, high = result.get(f"{kind}low"), result.get(f"{kind}high")
    return "" if low is None else f"{low:.3f} to {high:.3f}"


def _estimate(result):
    """An estimate and its intervals."""
    value, name = result["estimate"], result["metric"]
    if value is None:
        return {name: "no estimate yet" if result["labels"] else "no label yet"}
    facts, fixed = {name: _cell(value) or "not defined"}, _ends(result)
    interval = f"{percent(result['level'])} interval"
    if not fixed:
        return facts | {interval: f"none. {result['no_interval']}"}
    often, population = _ends(result, "anytime_"), _ends(result, "population_")
    facts[interval] = f"{fixed} (for one look)"
    facts["at every look"] = f"{often or 'no interval yet'} (look as often as you like)"
    if population:
        facts["for rows to come"] = f"{population} (for one look)"
    return facts | {"note": result["note"]}


def _labels(result):
    """How many labels there are, and how many of them the estimate uses."""
    words = f"{result['labels']} of {result['rows']} rows"
    n_used = result["labels_used"]
    is_known = result["estimate"] is not None and result.get("is_current", True)
    if not (is_known and n_used < result["labels"]):
        return words
    return f"{words}; {n_used} count so far, the others wait for a row that is open"


def _standing(result):
    """How many labels there are, and how many rows are open."""
    there = "There is" if result["labels"] == 1 else "There are"
    are = "is" if result["open"] == 1 else "are"
    labels, rows = counted(result["labels"], "label"), counted(result["open"], "row")
    return f"{there} {labels}; {rows} {are} open."
