"""Logs of Inspect: ``.eval``, which is a zip archive, and ``.json``."""

import json
import re
import zipfile
import zlib

from sklearn_ase._cli._results._rows import add_about, add_scores, dicts_of, text_of

# What Inspect itself makes of the letters that its scorers give.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHMENT = re.compile(r"attachment://(\w+)")


def read_archive(path):
    """Read a log with the ending ``.eval`` as the document of a ``.json`` log.

    Parameters
    ----------
    path : Path

    Returns
    -------
    document : dict of str to object
        Samples are in the order of their identifiers.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            # A sample that was run again is there twice; the last one counts.
            names = {name for name in archive.namelist() if name.startswith("samples/")}
            samples = [json.loads(archive.read(name)) for name in sorted(names)]
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is not a log of Inspect ({error}).") from None
    return {"eval": {}, "samples": sorted(dicts_of(samples), key=_place)}


def is_inspect(document):
    """Say whether a document is a log of Inspect.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    fits : bool
    """
    is_log = isinstance(document, dict) and isinstance(document.get("eval"), dict)
    return is_log and "samples" in document


def inspect_rows(document):
    """Return one row for each sample and epoch.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    rows : list of dict of str to object
        Each scorer is a column. C, P, I and N become 1, 0.5, 0 and 0, as in Inspect.
    """
    return [_row(sample) for sample in dicts_of(document.get("samples"))]


def _row(sample):
    def text(content):
        # Long texts are kept apart, and named where they belong.
        kept, found = sample.get("attachments") or {}, text_of(content)
        return found and _ATTACHMENT.sub(lambda m: kept.get(m[1], m[0]), found)

    error = sample.get("error")
    row = {
        "id": sample.get("id"),
        "input": text(sample.get("input")),
        "output": text(_completion(sample.get("output") or {})),
        "target": text(sample.get("target")),
        "error": error.get("message") if isinstance(error, dict) else error,
        "epoch": sample.get("epoch"),
        "choices": text(sample.get("choices")),
    }
    scores = sample.get("scores") or {}
    add_scores(row, {name: _value(score) for name, score in scores.items()})
    add_about(row, "metadata", sample.get("metadata"))
    return row


def _completion(output):
    choices = dicts_of(output.get("choices"))
    if "completion" in output or not choices:
        return output.get("completion")
    return (choices[0].get("message") or {}).get("content")


def _value(score):
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, dict):
        return {
            name: _LETTERS.get(v, v) if isinstance(v, str) else v
            for name, v in value.items()
        }
    return _LETTERS.get(value, value) if isinstance(value, str) else value


def _place(sample):
    """Numbers by size, before texts."""
    place, epoch = sample.get("id"), sample.get("epoch") or 0
    is_number = isinstance(place, int)
    return not is_number, place if is_number else 0, str(place), epoch
