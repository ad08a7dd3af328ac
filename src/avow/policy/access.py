"""Access without a policy: the scopes and roles that a tool asks of its callers."""

from avow.intent import Intent
from avow.policy.principal import Principal


def has_access(principal: Principal, intent: Intent) -> bool:
    """Whether `principal` may know that a tool with this intent exists, by scopes and roles alone.

    It needs every scope of the tool and, where the tool names roles, one of them.
    """
    if principal.scopes is None:
        return True
    has_role = not intent.roles or not intent.roles.isdisjoint(principal.roles)
    return has_role and intent.scopes <= principal.scopes
