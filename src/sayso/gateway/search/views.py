"""What each caller may find: made once for a list and a policy, and again when either changes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.catalog import Catalog, Registry, Tool
from sayso.policy import Policy, Principal

_MOST_CALLERS: Final = 1_000
_MOST_VIEWS: Final = 16
"""An index of thousands of tools takes some megabytes; callers who see the same share one."""

Sees = Callable[[Principal, Tool, Policy], Tool | None]
"""The tool as the policy sees it, if the caller may know of it."""


@dataclass(frozen=True, slots=True)
class View:
    """The tools that a caller may find, and those that are listed to it all the same.

    `told` holds what has been told of tools: to tame a text costs more than to find it.
    """

    registry: Registry
    pinned: tuple[Tool, ...]
    told: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@dataclass(slots=True)
class Views:
    """Remembers views as long as the catalog and the policy are the same objects."""

    sees: Sees
    _catalog: Catalog | None = None
    _policy: Policy | None = None
    _of_callers: dict[Principal, View] = field(default_factory=dict[Principal, View])
    _of_tools: dict[tuple[int, ...], View] = field(default_factory=dict["tuple[int, ...]", View])

    def of(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        """What `principal` may find; what it may not see has no part in how that is ranked."""
        if catalog is not self._catalog or policy is not self._policy:
            self._catalog = catalog
            self._policy = policy
            self._of_callers.clear()
            self._of_tools.clear()
        view = self._of_callers.get(principal)
        if view is None:
            if len(self._of_callers) >= _MOST_CALLERS:
                self._of_callers.clear()
            view = self._of_callers[principal] = self._make(catalog, policy, principal)
        return view

    def _make(self, catalog: Catalog, policy: Policy, principal: Principal) -> View:
        found = (self.sees(principal, tool, policy) for tool in catalog.tools.values())
        seen = [tool for tool in found if tool is not None]
        # Tools as a policy sees them are the same objects for all callers while it counts.
        same = tuple(id(tool) for tool in seen)
        view = self._of_tools.get(same)
        if view is None:
            if len(self._of_tools) >= _MOST_VIEWS:
                self._of_callers.clear()
                self._of_tools.clear()
            pinned = tuple(tool for tool in seen if policy.is_pinned(tool.qualified_name))
            view = self._of_tools[same] = View(Registry(seen), pinned)
        return view
