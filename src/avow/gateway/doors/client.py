"""What is known of a client while one of its requests is answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, cast

from avow.connect.envelope import HANDSHAKE_VERSIONS
from avow.policy import Principal

META: Final = "io.modelcontextprotocol/"
_LONGEST_NAME: Final = 128


@dataclass(frozen=True, slots=True)
class Client:
    """Who calls, what its client speaks and can do, and the session that this is part of."""

    principal: Principal
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    session: str | None = None

    @property
    def is_modern(self) -> bool:
        """Whether each of its requests stands alone (since 2026-07-28)."""
        return self.version not in HANDSHAKE_VERSIONS


class Line(Protocol):
    """The way back to a client while its request is answered."""

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the client something."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client something, as could be done before 2026-07-28. Raises `RpcError`."""
        ...


def called(principal: Principal, client: str) -> Principal:
    """The caller through a client that calls itself so; one that is proved keeps its own name."""
    return principal if principal.is_known else replace(principal, client=client)


def name_of(info: object) -> str:
    """What a client calls itself."""
    name = cast("Mapping[str, Any]", info).get("name") if isinstance(info, Mapping) else None
    return name[:_LONGEST_NAME] if isinstance(name, str) and name else "unknown"
