"""The handshake of the versions before 2026-07-28 (MCP, lifecycle)."""

from contextlib import suppress
from typing import Any, cast

from sayso.connect import (
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    LATEST_HANDSHAKE,
    Message,
    RpcError,
    read_object,
)
from sayso.gateway.frontends.client import name_of
from sayso.gateway.frontends.dispatcher import CAPABILITIES
from sayso.gateway.introduction import Introduction
from sayso.gateway.versions import known_server_info


def hello_of(message: Message) -> tuple[str, dict[str, Any], str]:
    """Return the version agreed on, the client's capabilities, and its name. Raises `RpcError`."""
    params: dict[str, Any] = {}
    with suppress(ValueError):
        params = read_object(message.params)
    wanted = params.get("protocolVersion")
    offered = params.get("capabilities")
    if not isinstance(wanted, str) or not isinstance(offered, dict):
        raise RpcError(INVALID_PARAMS, "initialize must say protocolVersion and capabilities")
    version = wanted if wanted in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
    return version, cast("dict[str, Any]", offered), name_of(params.get("clientInfo"))


def greeting(version: str, introduction: Introduction) -> dict[str, Any]:
    """Return the gateway's answer to `initialize`."""
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": known_server_info(introduction.server_info, version),
        "instructions": introduction.instructions,
    }
