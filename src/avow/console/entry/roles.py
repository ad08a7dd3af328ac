"""What people may do in the console."""

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """A person's role; each may do what those before it may."""

    VIEWER = "viewer"
    APPROVER = "approver"
    ADMIN = "admin"

    def covers(self, other: "Role") -> bool:
        """Whether whoever has this role may do what `other` may.

        >>> Role.ADMIN.covers(Role.VIEWER), Role.VIEWER.covers(Role.APPROVER)
        (True, False)
        """
        return _ORDER.index(self) >= _ORDER.index(other)


_ORDER: Final = tuple(Role)
