"""Requests for login links, sent to the sockets of running gateways."""

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from sayso.console.entry.link_server import About
from sayso.console.entry.runtime import sockets
from sayso.errors import DeniedError, UnreachableError
from sayso.processes import peer_of

ANSWER_SECONDS: Final = 10.0
MAX_ANSWER_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """A running gateway of this user, and its socket."""

    socket: Path
    about: About


def running_gateways() -> list[RunningGateway]:
    """Return this user's running gateways, newest first, and remove dead sockets."""
    gateways: list[RunningGateway] = []
    for path in sockets():
        try:
            answer = _ask(path, "about")
        except ConnectionRefusedError:
            with suppress(OSError):
                path.unlink()
            continue
        except (OSError, ValueError):
            continue
        about = _about(answer)
        if about is not None:
            gateways.append(RunningGateway(path, about))
    return sorted(gateways, key=lambda gateway: gateway.about.started, reverse=True)


def ask_for_link(gateway: RunningGateway) -> str | None:
    """Return a new login link; `None` if people log in with an account instead.

    Raises `DeniedError` if this process may belong to a client of the gateway, and
    `UnreachableError` if the gateway does not answer.
    """
    where = f"the gateway with process {gateway.about.pid}"
    try:
        answer = _ask(gateway.socket, "link")
    except (OSError, ValueError) as error:
        raise UnreachableError("the gateway does not answer", where=where) from error
    if "refused" in answer:
        fix = (
            "Open a terminal of your own, outside of every program that uses the gateway, and run "
            "sayso console there. docs/guides/console.md says what is checked."
        )
        raise DeniedError(
            f"the gateway refused to give a link: {answer['refused']}", where=where, fix=fix
        )
    link = answer.get("link")
    if link is None and "address" in answer:
        return None
    if not isinstance(link, str) or not link.startswith(f"{gateway.about.address}login?token="):
        raise UnreachableError("the gateway's answer is not a link to its console", where=where)
    return link


def _ask(path: Path, want: str) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(str(path))
        peer = peer_of(connection)
        if peer is None or peer.uid != os.getuid():
            raise ValueError("the socket belongs to another user")
        peer.close()
        connection.sendall(json.dumps({"want": want}).encode() + b"\n")
        text = b""
        while not text.endswith(b"\n"):
            part = connection.recv(MAX_ANSWER_BYTES)
            text += part
            if not part or len(text) > MAX_ANSWER_BYTES:
                raise ValueError("no answer")
    answer = json.loads(text)
    if not isinstance(answer, dict):
        raise ValueError("the answer is not an object")  # noqa: TRY004 - of what was read
    return cast("dict[str, Any]", answer)


def _about(answer: dict[str, Any]) -> About | None:
    try:
        values = cast("dict[str, Any]", answer["about"])
        client = values["client"]
        return About(
            address=str(values["address"]),
            servers=tuple(str(name) for name in values["servers"]),
            started=float(values["started"]),
            client=client and str(client),
            pid=int(values["pid"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
