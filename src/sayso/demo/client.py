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
import httpx2
from mcp import Client, MCPError
from mcp_types import REQUEST_TIMEOUT, CallToolResult, Implementation, TextContent, Tool
from pydantic import ValidationError

from sayso.connect import first_error
from sayso.errors import (
    DeniedError,
    NotMcpError,
    SaysoError,
    TargetError,
    TimedOutError,
    UnreachableError,
)
from sayso.intent import META_KEY, read_tool

APPROVAL_KEY: Final = "io.sayso/approval"
"""The key in `_meta` with the state of an approval."""

DELETES: Final = "customer_delete"
INTERRUPTED: Final = 130
ANSWER_SECONDS: Final = 10.0
"""The timeout of requests that do not wait for a person."""
DAY_SECONDS: Final = 86_400.0
PAUSE_SECONDS: Final = 1.0

_CLIENT_INFO: Final = Implementation(name="demo client", version="1")
"""The name that the console shows; the default is “mcp”."""


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
    is_called = False
    try:
        async with Client(
            url, client_info=_CLIENT_INFO, read_timeout_seconds=ANSWER_SECONDS
        ) as client:
            tools = await _list_tools(client)
            _show(tools)
            if customer is None:
                _tell("To see a call that asks a person, add: --delete 12")
                return 0
            name = _find(tools)
            is_called = True
            return await _delete(client, name, customer, pause)
    except (ExceptionGroup, MCPError) as error:
        raise _explain(url, first_error(error), is_called=is_called) from error


async def _list_tools(client: Client) -> list[Tool]:
    page = await client.list_tools()
    tools = page.tools
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


def _show(tools: Sequence[Tool]) -> None:
    for tool in tools:
        _say(f"{tool.name:32} {_level(tool):26} {tool.title or ''}".rstrip())


def _find(tools: Sequence[Tool]) -> str:
    name = next((tool.name for tool in tools if tool.name.endswith(DELETES)), None)
    if name is None:
        raise TargetError(f"the server has no tool whose name ends in {DELETES!r}")
    return name


async def _delete(client: Client, name: str, customer: int, pause: float) -> int:
    progress = _Progress()
    arguments = {"customer_id": customer}
    _tell(f"Calling {name} for customer {customer}. If a person must approve it, this waits.")
    while True:
        answer = await client.call_tool(name, arguments, DAY_SECONDS, progress_callback=progress)
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


def _conclude(answer: CallToolResult) -> int:
    texts = [block.text for block in answer.content if isinstance(block, TextContent)]
    if answer.is_error:
        _tell("\n".join(texts))
        return DeniedError.exit_code if _state(answer) == "denied" else SaysoError.exit_code
    outcome = cast("Mapping[str, Any]", answer.structured_content or {})
    _say(json.dumps(outcome, ensure_ascii=False) if outcome else "\n".join(texts))
    return 0 if outcome.get("success", True) else SaysoError.exit_code


def _level(tool: Tool) -> str:
    """Return the level that a gateway resolved, or else the level of the declared hints."""
    own = (tool.meta or {}).get(META_KEY, {})
    if isinstance(own, Mapping) and "level" in own:
        return str(cast("Mapping[str, Any]", own)["level"])
    raw = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return f"{read_tool(raw).intent.level} (as declared)"


def _state(answer: CallToolResult) -> str | None:
    approval = (answer.meta or {}).get(APPROVAL_KEY, {})
    return cast("Mapping[str, str]", approval).get("state")


def _explain(url: str, error: Exception, *, is_called: bool) -> Exception:
    """Return the error to report for an error of the SDK, before or after the call."""
    match error:
        case httpx2.HTTPError() | MCPError() if is_called:
            fix = "The call may have run or not; check before you repeat it."
            return UnreachableError(f"the call got no response: {error}", where=url, fix=fix)
        case httpx2.UnsupportedProtocol():
            return TargetError(str(error), where=url, fix="Use a URL that starts with http://.")
        case httpx2.HTTPError():
            fix = "Check that the gateway is running, and that this is the address it printed."
            return UnreachableError(f"the server is unreachable: {error}", where=url, fix=fix)
        case MCPError() if error.code == REQUEST_TIMEOUT:
            return TimedOutError("the request timed out", where=url)
        case MCPError() | ValidationError():
            fix = "Use the URL of an MCP endpoint; a gateway's ends in /mcp."
            return NotMcpError(f"the server does not speak MCP: {error}", where=url, fix=fix)
        case _:
            return error


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
