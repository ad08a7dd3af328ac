"""People's roles in the console."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from sayso.access import EVERYBODY


class Role(StrEnum):
    """A person's role. Each role includes the roles before it."""

    VIEWER = "viewer"
    APPROVER = "approver"
    ADMIN = "admin"

    def covers(self, other: "Role") -> bool:
        """Return whether this role includes `other`.

        >>> Role.ADMIN.covers(Role.VIEWER), Role.VIEWER.covers(Role.APPROVER)
        (True, False)
        """
        return _ORDER.index(self) >= _ORDER.index(other)


_ORDER: Final = tuple(Role)


def role_of(roles: Mapping[str, frozenset[str]], words: frozenset[str]) -> Role | None:
    """Return the highest role that the claim's values `words` give; `None` if they give no role."""
    granted = [Role(role) for role, fit in roles.items() if EVERYBODY in fit or fit & words]
    return max(granted, key=_ORDER.index, default=None)
