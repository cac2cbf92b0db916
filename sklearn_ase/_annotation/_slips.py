"""Labels that are perhaps slips of the keyboard, and not new classes."""

import re
from collections import Counter

from sklearn_ase._utils._checks import shown

# Shorter words that differ by one letter are often two classes.
_LEAST_LETTERS = 4
# A word beside another that stands in the file so many times as often is a slip.
_OFTEN = 3
_CURE = "If it is a new class, pass new_classes=[...] with it."


def refuse_slips(labels, classes, new_classes=()):
    """Refuse a label that is not known and that may be a slip.

    Parameters
    ----------
    labels : list of (int, label)
        Rows and their labels.
    classes : list of label
        Those known so far.
    new_classes : collection of label, default=()
        Labels that are meant to be new.
    """
    known = dict.fromkeys([*classes, *new_classes])
    counts = Counter(label for _, label in labels if label not in known)
    for row, label in labels:
        if label in known:
            continue
        among = f"Row {row}: {label!r} is none of the classes {shown(classes)}"
        meant = _meant(label, known, counts)
        if meant is not None:
            raise ValueError(f"{among}. Did you mean {meant!r}? {_CURE}")
        if not isinstance(label, str) and len(classes) > 1:
            raise ValueError(f"{among}. {_CURE}")
        if isinstance(label, str) and not re.search(r"\w", label):
            raise ValueError(
                f"{among}. If it means that nobody can tell, pass skip={label!r}. "
                f"{_CURE}"
            )


def _meant(label, known, counts):
    """A class that a label may stand for, or None."""
    if not isinstance(label, str):
        return None
    for other in filter(lambda each: isinstance(each, str), known):
        if _is_same_word(label, other) or _is_one_slip(label, other):
            return other
    for other, count in counts.items():
        if other == label or count < counts[label]:
            continue
        is_rare = counts[label] * _OFTEN <= count
        if _is_same_word(label, other) or (is_rare and _is_one_slip(label, other)):
            return other
    return None


def _is_same_word(one, other):
    """Whether two texts differ only in case, in blanks, or in how a number looks."""
    if "".join(one.split()).casefold() == "".join(other.split()).casefold():
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _is_one_slip(one, other):
    """Whether one letter was added, left out or changed, or two were swapped."""
    one, other = sorted((one.casefold(), other.casefold()), key=len)
    is_short = len(other) < _LEAST_LETTERS or len(other) - len(one) > 1
    if is_short or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False  # Numbers at the end of names tell classes apart.
    start = 0
    while start < len(one) and one[start] == other[start]:
        start += 1
    rest, rest_of_other = one[start:], other[start:]
    if len(one) < len(other):
        return rest == rest_of_other[1:]
    is_swapped = rest[:2] == rest_of_other[1::-1] and rest[2:] == rest_of_other[2:]
    return rest[1:] == rest_of_other[1:] or is_swapped
