"""Journals of format 1, written by version 0.1, under the names of today."""

import re

_SETTINGS = {"cross_fit": "cv"}
_IN_SETTINGS = {
    r"\bGuarded\(": "GuardedASE(",
    r"\bTrusted\(": "TrustWeighted(",
    r"\bAudited\(": "UniformMixed(",
    r"(UniformMixed\(.*?)\bshare=": r"\1uniform_share=",
    r"\bdefensive=": "uniform_share=",
    r"\bcalibration=False\b": "calibration=None",
}


def upgraded_header(header):
    """Return a header with today's names.

    Parameters
    ----------
    header : dict

    Returns
    -------
    header : dict
    """
    names = {"kind": "task", **_SETTINGS}
    header = {names.get(key, key): value for key, value in header.items()}
    for key, value in header.items():
        if isinstance(value, str):
            for old, new in _IN_SETTINGS.items():
                value = re.sub(old, new, value, flags=re.DOTALL)
            # The names have other lengths, so that long lines break elsewhere.
            header[key] = " ".join(value.split())
    return header


def upgraded_estimate(estimate):
    """Return a noted estimate, a dict, with today's names."""
    names = {"greatest_loss": "max_loss"}
    return {names.get(name, name): value for name, value in estimate.items()}
