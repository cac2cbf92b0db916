"""Names of test cases."""

import re


def plain_repr(value):
    """The representation without addresses in memory, which differ between workers."""
    return re.sub(r" at 0x\w+", "", repr(value))
