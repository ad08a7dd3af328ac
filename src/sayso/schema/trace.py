"""Trace context as W3C defines it: what is not in that form is not kept."""

import re
from typing import Any, Final

_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII
)
"""W3C Trace Context, section 3.2: version, trace id, parent id, flags."""


def read_traceparent(value: Any) -> str | None:
    """Return a `traceparent` that is well formed; `None` for anything else.

    >>> read_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    >>> read_traceparent("password=hunter2")
    """
    return value if isinstance(value, str) and _TRACEPARENT.fullmatch(value) else None
