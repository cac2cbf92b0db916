"""Pictures of a report, as SVG that keeps its letters readable at every width.

Places along the width are percentages, so a picture fills its column and no letter is
scaled. A band is drawn in an inner picture that is stretched.
"""

import math
from html import escape

import numpy as np

from sklearn_ase._report._text import ends, number, percent, plain

# Percent of the width that is left free at both sides, for labels.
_LEFT, _RIGHT = 9.0, 2.0
_TOP, _HEIGHT = 14, 220
# With more points than that, no point is drawn by itself.
_MOST_DOTS = 40


def strip(headline):
    """Draw the estimate and its two intervals on one axis.

    Parameters
    ----------
    headline : Headline
        With an interval.

    Returns
    -------
    svg : str
    """
    found, anytime = headline.found, headline.anytime
    outer = anytime if anytime.has_ends else found
    low, high = min(found.low, outer.low), max(found.high, outer.high)
    ticks = _ticks(low, high)
    axis = _Axis(min(low, ticks[0]), max(high, ticks[-1]), 3.0, 97.0)
    parts = [_line(axis, axis.low, axis.high, 44, "axis")]
    for tick in ticks:
        x = axis(tick)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="44" y2="49"/>')
        parts.append(f'<text class="centre" x="{x}" y="64">{_tick(tick, ticks)}</text>')
    if anytime.has_ends:
        parts.append(_line(axis, anytime.low, anytime.high, 22, "thin"))
    parts.append(_line(axis, found.low, found.high, 22, "thick"))
    parts.append(f'<circle class="dot" cx="{axis(found.value)}" cy="22" r="6"/>')
    title = f"{number(found.value)}, interval {ends(found.low, found.high)}"
    return _picture(parts, 70, title)


def bar(cell, axis, mark=math.nan):
    """Draw one interval of a table.

    Parameters
    ----------
    cell : Range
    axis : _Axis
        The same for all cells of a column.
    mark : float, default=nan
        Drawn as a line across.

    Returns
    -------
    svg : str
    """
    parts = []
    if math.isfinite(mark):
        x = axis(mark)
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="0" y2="18"/>')
    if cell.has_ends:
        parts.append(_line(axis, cell.low, cell.high, 9, "whisker"))
    if math.isfinite(cell.value):
        kind = "dot" if cell.has_ends else "open"
        x = axis(cell.value)
        parts.append(f'<circle class="{kind}" cx="{x}" cy="9" r="4"/>')
    return _picture(parts, 18, str(cell))


def axis_of(cells, mark=math.nan):
    """Return the axis of the intervals in a column of a table.

    Parameters
    ----------
    cells : list of Range
    mark : float, default=nan

    Returns
    -------
    axis : _Axis
    """
    values = [v for cell in cells for v in (cell.value, cell.low, cell.high)]
    values = [v for v in (*values, mark) if math.isfinite(v)] or [0.0, 1.0]
    return _Axis(min(values), max(values), 4.0, 96.0)


def curve(block):
    """Draw the estimate as labels came.

    Parameters
    ----------
    block : Curve
        With at least two points.

    Returns
    -------
    svg : str
    """
    columns = block.columns
    shown = _shown_values(columns)
    ticks = _ticks(shown.min(), shown.max())
    up = _Axis(min(ticks[0], shown.min()), max(ticks[-1], shown.max()), 100.0, 0.0)
    n_labels = columns["n_labels"].astype(float)
    along = _Axis(n_labels[0], n_labels[-1], _LEFT, 100.0 - _RIGHT)
    parts = []
    for tick in ticks:
        y = _TOP + _HEIGHT * up.place(tick) / 100
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="0" y="{y - 4:.1f}">{_tick(tick, ticks)}</text>')
    inner = [
        _band(columns, "", along, up, "band"),
        _ends_line(columns, "anytime_low", along, up),
        _ends_line(columns, "anytime_high", along, up),
        _path(along, up, n_labels, columns["estimate"], "line"),
    ]
    box = f'x="0" y="{_TOP}" width="100%" height="{_HEIGHT}"'
    parts.append(
        f'<svg {box} viewBox="0 0 100 100" preserveAspectRatio="none">'
        f"{''.join(inner)}</svg>"
    )
    if len(n_labels) <= _MOST_DOTS:
        parts += _dots(columns, along, up)
    bottom = _TOP + _HEIGHT
    for place in n_labels[columns["refit"].astype(bool)]:
        x = along(place)
        parts.append(
            f'<line class="refit" x1="{x}" x2="{x}" y1="{bottom - 5}" y2="{bottom}"/>'
        )
    for tick in _counts(n_labels[0], n_labels[-1]):
        x, y = along(tick), bottom + 18
        parts.append(f'<text class="centre" x="{x}" y="{y}">{tick:g}</text>')
    parts.append(f'<text class="centre" x="50%" y="{bottom + 36}">labels</text>')
    last = number(columns["estimate"][-1])
    title = f"{block.name} after each label, with {percent(block.level)} intervals"
    return _picture(parts, bottom + 42, f"{title}. The last estimate is {last}.")


class _Axis:
    """Numbers as places, in percent."""

    def __init__(self, low, high, start, end):
        self.low, self.high = (low, high) if high > low else (low - 0.5, low + 0.5)
        self.start, self.end = start, end

    def place(self, value):
        """Place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def __call__(self, value):
        return f"{self.place(value):.2f}%"


def _picture(parts, height, title):
    return (
        f'<svg role="img" width="100%" height="{height}">'
        f"<title>{escape(plain(title))}</title>{''.join(parts)}</svg>"
    )


def _line(axis, low, high, y, kind):
    ends_of = f'x1="{axis(low)}" x2="{axis(high)}" y1="{y}" y2="{y}"'
    return f'<line class="{kind}" {ends_of}/>'


def _shown_values(columns):
    """All finite numbers of the picture.

    The first intervals are wide and say little. What they add to the height is limited,
    so that the others can be seen.
    """
    estimate = columns["estimate"]
    names = ("low", "high", "anytime_low", "anytime_high")
    all_ends = np.concatenate([columns[name] for name in names])
    all_ends = all_ends[np.isfinite(all_ends)]
    tail = slice(len(estimate) // 4, None)
    late = np.concatenate([columns[name][tail] for name in names])
    late = np.concatenate([late[np.isfinite(late)], estimate])
    span = np.ptp(late) or abs(late[-1]) or 1.0
    kept = np.clip(all_ends, late.min() - 0.25 * span, late.max() + 0.25 * span)
    return np.concatenate([late, kept])


def _path(along, up, xs, ys, kind):
    points = [
        f"{along.place(x):.2f},{up.place(y):.2f}" for x, y in zip(xs, ys, strict=True)
    ]
    return f'<polyline class="{kind}" points="{" ".join(points)}"/>'


def _runs(is_there):
    """Slices of the places that follow each other and are there."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_there.astype(int), [0]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def _band(columns, prefix, along, up, kind):
    n_labels = columns["n_labels"]
    low, high = columns[f"{prefix}low"], columns[f"{prefix}high"]
    parts = []
    for run in _runs(np.isfinite(low) & np.isfinite(high)):
        xs = np.concatenate([n_labels[run], n_labels[run][::-1]])
        ys = np.concatenate([high[run], low[run][::-1]])
        points = [
            f"{along.place(x):.2f},{up.place(y):.2f}"
            for x, y in zip(xs, ys, strict=True)
        ]
        parts.append(f'<polygon class="{kind}" points="{" ".join(points)}"/>')
    return "".join(parts)


def _ends_line(columns, name, along, up):
    values = columns[name]
    return "".join(
        _path(along, up, columns["n_labels"][run], values[run], "ends")
        for run in _runs(np.isfinite(values))
    )


def _dots(columns, along, up):
    """A point, and its interval, for each estimate."""
    parts = []
    points = zip(
        *(columns[name] for name in ("n_labels", "estimate", "low", "high")),
        strict=True,
    )
    for n_labels, value, low, high in points:
        x, y = along(n_labels), _TOP + _HEIGHT * up.place(value) / 100
        if math.isfinite(low) and math.isfinite(high):
            top, foot = (_TOP + _HEIGHT * up.place(end) / 100 for end in (high, low))
            parts.append(
                f'<line class="whisker" x1="{x}" x2="{x}" y1="{top:.1f}" '
                f'y2="{foot:.1f}"/>'
            )
        parts.append(f'<circle class="dot" cx="{x}" cy="{y:.1f}" r="3.5"/>')
    return parts


def _ticks(low, high, n_steps=4):
    """A few round numbers from at most `low` to at least `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / n_steps
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * k for k in range(first, last + 1)]


def _tick(value, ticks):
    step = ticks[1] - ticks[0]
    if not 1e-4 <= step < 1e6:
        return f"{value:.3g}"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # Steps of 2.5 need one more.
    decimals += abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6
    return f"{value:.{decimals}f}"


def _counts(first, last):
    """Round label counts from the first to the last."""
    if last - first < 5:
        return sorted({int(first), int(last)})
    ticks = _ticks(first, last, 6)
    return [tick for tick in ticks if first <= tick <= last and tick == int(tick)]
