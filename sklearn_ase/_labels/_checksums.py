"""Lines of JSON that carry a checksum of all bytes before it, in their line and above.

A changed byte, a line that is missing, repeated or in another place: each of them
contradicts a checksum. Only lines that are missing at the end do not.
"""

import re
from zlib import crc32

CHECK = "check"  # Its name in a line that is a dict; in a list it is the last entry.
_END = re.compile(rb', (?:"check": )?"([0-9a-f]{8})"[\]}]')
_LENGTHS = (len(b', "01234567"]'), len(b', "check": "01234567"}'))


def sealed(line, before):
    """Return a line with its checksum.

    Parameters
    ----------
    line : bytes
        A list or dict with at least one entry, as JSON, without the end of the line.
    before : int
        CRC-32 of all lines before it, with their ends.

    Returns
    -------
    line : bytes
    """
    body, end = line[:-1], line[-1:]
    name = b'"check": ' if end == b"}" else b""
    return b'%b, %b"%08x"%b' % (body, name, crc32(body, before), end)


def is_intact(line, before):
    """Return whether a line agrees with its checksum; see :func:`sealed`."""
    for length in _LENGTHS:
        found = _END.fullmatch(line[-length:])
        if found:
            return crc32(line[:-length], before) == int(found[1], 16)
    return False


def unsealed(value):
    """Return the value of a line without its checksum."""
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != CHECK}
    return value[:-1]
