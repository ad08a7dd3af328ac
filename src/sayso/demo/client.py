"""A small MCP client that shows an approval: `python -m sayso.demo.client URL [--delete NUMBER]`.

It lists the tools at URL with their levels. With `--delete` it calls the tool that deletes a
customer, and waits until a person answers.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import anyio

from sayso.connect import (
    Link,
    RpcError,
    UrlTarget,
    fault_of_url,
    list_all,
    open_link,
)
from sayso.errors import DeniedError, SaysoError, TargetError, TimedOutError, UnreachableError
from sayso.intent import META_KEY, read_tool

Tool = Mapping[str, Any]

APPROVAL_KEY: Final = "io.sayso/approval"
"""The key in `_meta` with the state of an approval."""

DELETES: Final = "customer_delete"
INTERRUPTED: Final = 130
ANSWER_SECONDS: Final = 10.0
"""The timeout of requests that do not wait for a person."""
DAY_SECONDS: Final = 86_400.0
PAUSE_SECONDS: Final = 1.0

_CLIENT_INFO: Final[Mapping[str, Any]] = {"name": "demo client", "version": "1"}
"""The name that the console shows; the default is “sayso”."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the client, and return an exit code like sayso's commands."""
    options = _read_options(arguments)
    try:
        return anyio.run(visit, options.url, options.delete)
    except KeyboardInterrupt:
        _tell("Interrupted. An open question stays open in the console.")
        return INTERRUPTED
    except SaysoError as error:
        _tell(f"sayso.demo.client: {error}")
        return error.exit_code


async def visit(url: str, customer: int | None, pause: float = PAUSE_SECONDS) -> int:
    """List the tools at `url`, delete `customer` if there is one, and return the exit code.

    Pauses `pause` seconds before it repeats a call. Raises `UnreachableError` if the server does
    not speak MCP or the connection is lost. Cancellation cancels the call; its question stays open.
    """
    if fault := fault_of_url(url):
        raise TargetError(fault[0], where=url, fix=fault[1])
    target = UrlTarget("gateway", url)
    try:
        async with open_link(target, timeout=ANSWER_SECONDS, client_info=_CLIENT_INFO) as link:
            tools = await list_all(link, "tools/list", timeout=ANSWER_SECONDS)
            _show(tools)
            if customer is None:
                _tell("To see a call that asks a person, add: --delete 12")
                return 0
            return await _delete(link, url, _find(tools), customer, pause)
    except TimedOutError as error:  # its fix names an option that this client does not have
        raise TimedOutError("the request timed out", where=url) from error
    except RpcError as error:
        raise UnreachableError(f"the server did not send its tools: {error}", where=url) from error


def _show(tools: Sequence[Tool]) -> None:
    for tool in tools:
        _say(f"{tool['name']:32} {_level(tool):26} {tool.get('title') or ''}".rstrip())


def _find(tools: Sequence[Tool]) -> str:
    name = next((tool["name"] for tool in tools if tool["name"].endswith(DELETES)), None)
    if name is None:
        raise TargetError(f"the server has no tool whose name ends in {DELETES!r}")
    return name


async def _delete(link: Link, url: str, name: str, customer: int, pause: float) -> int:
    progress = _Progress()
    call = {"name": name, "arguments": {"customer_id": customer}}
    _tell(f"Calling {name} for customer {customer}. If a person must approve it, this waits.")
    while True:
        try:
            answer = await link.request("tools/call", call, timeout=DAY_SECONDS, progress=progress)
        except RpcError as error:
            fix = "The call may have run or not; check before you repeat it."
            what = f"the call got no response: {error}"
            raise UnreachableError(what, where=url, fix=fix) from error
        if _state(answer) != "pending":
            return _conclude(answer)
        _tell("No answer yet; trying again. Press Ctrl-C to stop.")
        await anyio.sleep(pause)


class _Progress:
    """A progress callback that shows each new message once."""

    def __init__(self) -> None:
        self._shown: str | None = None

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        if message is not None and message != self._shown:
            self._shown = message
            _tell(message)


def _conclude(answer: Mapping[str, Any]) -> int:
    texts = [block["text"] for block in answer.get("content") or () if block["type"] == "text"]
    if answer.get("isError"):
        _tell("\n".join(texts))
        return DeniedError.exit_code if _state(answer) == "denied" else SaysoError.exit_code
    outcome: Mapping[str, Any] = answer.get("structuredContent") or {}
    _say(json.dumps(outcome, ensure_ascii=False) if outcome else "\n".join(texts))
    return 0 if outcome.get("success", True) else SaysoError.exit_code


def _level(tool: Tool) -> str:
    """Return the level that a gateway resolved, or else the level of the declared hints."""
    meta: Mapping[str, Any] = tool.get("_meta") or {}
    own = meta.get(META_KEY, {})
    if isinstance(own, Mapping) and "level" in own:
        return str(cast("Mapping[str, Any]", own)["level"])
    return f"{read_tool(tool).intent.level} (as declared)"


def _state(answer: Mapping[str, Any]) -> str | None:
    meta: Mapping[str, Any] = answer.get("_meta") or {}
    approval: Mapping[str, str] = meta.get(APPROVAL_KEY, {})
    return approval.get("state")


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sayso.demo.client", description=__doc__)
    parser.add_argument("url", metavar="URL", help="of an MCP endpoint, such as a gateway's /mcp")
    parser.add_argument(
        "--delete", type=int, metavar="NUMBER", help="the number of the customer to delete"
    )
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
