"""The envelope of a request in each protocol era: `_meta` and headers.

2026-07-28 is stateless: each request contains version, client and capabilities, and its headers
must agree with its body. In older versions a request has only a version header.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.connect.header_parameters import encode_header, parameter_headers

MODERN: Final = "2026-07-28"
LATEST_HANDSHAKE: Final = "2025-11-25"
HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", LATEST_HANDSHAKE)

_META: Final = "io.modelcontextprotocol/"
_VERSION: Final = f"{_META}protocolVersion"
_CLIENT: Final = f"{_META}clientInfo"
_CAPABILITIES: Final = f"{_META}clientCapabilities"
_NAMED: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


@dataclass(frozen=True, slots=True)
class Envelope:
    """The envelope of requests to a server with this protocol version."""

    version: str
    client_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]

    @property
    def is_modern(self) -> bool:
        return self.version not in HANDSHAKE_VERSIONS

    def params(
        self, params: Mapping[str, Any], capabilities: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return `params` with the required keys in `_meta`; other keys of `_meta` stay.

        `capabilities` are the capabilities of the client that answers this request's questions.
        """
        if not self.is_modern:
            return dict(params)
        if capabilities is None:
            capabilities = self.capabilities
        meta: dict[str, Any] = {
            **(params.get("_meta") or {}),
            _VERSION: self.version,
            _CLIENT: self.client_info,
            _CAPABILITIES: capabilities,
        }
        return {**params, "_meta": meta}

    def headers(
        self, method: str, params: Mapping[str, Any], input_schema: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """Return the HTTP headers that repeat parts of the body (2026-07-28, Streamable HTTP).

        `input_schema` is the called tool's. Arguments that it marks with `x-mcp-header` are also
        sent as headers.
        """
        found = {"mcp-protocol-version": self.version}
        if not self.is_modern:
            return found
        found["mcp-method"] = method
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            found["mcp-name"] = encode_header(name)
        if input_schema is not None:
            found |= parameter_headers(input_schema, params.get("arguments") or {})
        return found
