"""Names that no caller may have, since records and rules use them for others."""

import unicodedata
from typing import Final

RESERVED_NAMES: Final = frozenset(
    {"local", "console", "link", "terminal", "elicitation", "program"}
)
"""The user of this machine, and people who answer without having proved a name of their own."""
RESERVED_PREFIXES: Final = ("key:", "client:", "token:", "tenant:")
"""API keys, programs that have a token without a person, names that avow had to
change, and accounts of a tenant."""

_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek and Latin letters that read as those of the names above.
    "".join(
        map(
            chr,
            (
                *(0x0430, 0x0441, 0x0435, 0x0456, 0x043A, 0x04CF, 0x043C, 0x043E, 0x0455, 0x0442),
                *(0x0433, 0x0443, 0x03B1, 0x03B5, 0x03B9, 0x03BA, 0x03BD, 0x03BF, 0x03C4, 0x03C5),
                *(0x0131, 0x0269, 0x043F, 0x03C1, 0x03F2, 0x0501, 0x0475, 0x03BB, 0x0237, 0x0585),
                *(0x0251, 0x0261, 0x0440, 0x0030, 0x0031),
                # What reads as a colon.
                *(0x02D0, 0x02F8, 0x0589, 0x05C3, 0x1361, 0x1803, 0x205A, 0x2236, 0xA789, 0x0703),
            ),
        )
    ),
    "aceiklmostryaeiknotuiinpcdvljo" + "agpol" + 10 * ":",
)


def is_reserved(name: str) -> bool:
    """Return whether a name is one of avow's own, or would be read as one.

    >>> is_reserved("Console "), is_reserved("terminal"), is_reserved("amy")
    (True, True, False)
    """
    plain = _skeleton(name)
    return plain in RESERVED_NAMES or plain.startswith(RESERVED_PREFIXES)


def _skeleton(name: str) -> str:
    """Return a name without what readers do not see: case, accents, blanks, lookalikes."""
    folded = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKALIKES)
    return "".join(one for one in folded if one.isalnum() or one == ":")
