"""Names by which a model calls tools: letters, digits, `_` and `-`, 64 at most."""

import re
from typing import Final

from avow.schema import digest

_LONGEST: Final = 64
"""What the strictest of the large model APIs takes."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MARK: Final = 8


def fit_name(name: str) -> str:
    """The name as every model may say it; one that had to change is marked by what it was.

    So it is the same whatever other tools there are, and no two become one.

    >>> fit_name("customer_delete"), fit_name("customer.delete")
    ('customer_delete', 'customer_delete-ed768e5a')
    """
    fit = _UNFIT.sub("_", name)
    if fit == name and 0 < len(name) <= _LONGEST:
        return name
    return f"{fit[: _LONGEST - _MARK - 1]}-{digest(name)[:_MARK]}"
