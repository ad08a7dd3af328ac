"""A cache of rendered `tools/list` results, because rendering thousands of tools takes long.

A caller's result is valid while the catalog and the policy are the same objects. Callers who see
the same tools share one result.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from sayso.catalog import Catalog, Tool
from sayso.policy import Policy, Principal
from sayso.slices import in_slices

MAX_CALLERS: Final = 1_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""The maximum bytes of rendered lists; above that, the cache is cleared."""

_encode: Final = msgspec.json.Encoder().encode

Entry = Callable[[Tool, str], dict[str, Any]]


class _Seen(NamedTuple):
    catalog: Catalog
    policy: Policy
    rendered: msgspec.Raw


@dataclass(slots=True)
class Listings:
    """Rendered lists, by caller and by the tools in them.

    `entry` makes the entry of one tool for a version of the protocol.
    """

    entry: Entry
    _of_callers: dict[tuple[Principal, str], _Seen] = field(
        default_factory=dict["tuple[Principal, str]", _Seen]
    )
    _of_tools: dict[tuple[str, tuple[int, ...]], tuple[Sequence[Tool], msgspec.Raw]] = field(
        default_factory=dict["tuple[str, tuple[int, ...]]", "tuple[Sequence[Tool], msgspec.Raw]"]
    )
    _bytes: int = 0

    def known(
        self, catalog: Catalog, policy: Policy, principal: Principal, version: str
    ) -> msgspec.Raw | None:
        """Return this caller's last list; `None` if the tools or the policy have changed."""
        seen = self._of_callers.get((principal, version))
        if seen is None or seen.catalog is not catalog or seen.policy is not policy:
            return None
        return seen.rendered

    async def render(
        self,
        catalog: Catalog,
        policy: Policy,
        principal: Principal,
        version: str,
        tools: Sequence[Tool],
        first: Iterable[dict[str, Any]] = (),
        *,
        is_kept: bool = True,
    ) -> msgspec.Raw:
        """Render `first`, then the tools that a caller may see; cache the list if `is_kept`.

        Under one policy, `tools` must be the same objects for all callers.
        """
        before = [*first]
        # The entries `first` are the gateway's own, so their number identifies them.
        key = f"{version} {len(before)}", tuple(map(id, tools))
        if known := self._of_tools.get(key):
            rendered = known[1]
        else:
            rendered = await self._rendered(tools, version, before)
        if is_kept:
            self._keep(key, tools, rendered)
            self._of_callers[principal, version] = _Seen(catalog, policy, rendered)
        return rendered

    def _keep(
        self, key: tuple[str, tuple[int, ...]], tools: Sequence[Tool], rendered: msgspec.Raw
    ) -> None:
        if len(self._of_callers) >= MAX_CALLERS:
            self._of_callers.clear()
        if key in self._of_tools:
            return
        if self._bytes + len(rendered) > MAX_BYTES:
            self._of_callers.clear()
            self._of_tools.clear()
            self._bytes = 0
        # Keep the tools alive, so that new objects cannot get their ids.
        self._of_tools[key] = tools, rendered
        self._bytes += len(rendered)

    async def _rendered(
        self, tools: Sequence[Tool], version: str, first: Sequence[dict[str, Any]]
    ) -> msgspec.Raw:
        parts = [_encode(entry) for entry in first]
        parts += await in_slices(tools, lambda tool: _encode(self.entry(tool, version)))
        return msgspec.Raw(b"[" + b",".join(parts) + b"]")
