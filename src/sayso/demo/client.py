"""A tiny MCP client to see an approval with: `python -m sayso.demo.client URL [--delete NUMBER]`.

It lists the tools that are served at URL, with their levels. With `--delete` it then calls the
tool that deletes a customer, and waits for as long as a person takes to answer.
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
"""Where a gateway's answer says, in `_meta`, how the question to a person stands."""

DELETES: Final = "customer_delete"
INTERRUPTED: Final = 130
ANSWER_SECONDS: Final = 10.0
"""How long an answer may take, except one that a person has to think about."""
DAY_SECONDS: Final = 86_400.0
PAUSE_SECONDS: Final = 1.0

_WHO: Final = Implementation(name="demo client", version="1")
"""So the console does not say that “mcp” asks."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the client; the exit code tells how it ended, as sayso's commands do."""
    options = _read_options(arguments)
    try:
        return anyio.run(visit, options.url, options.delete)
    except KeyboardInterrupt:
        _tell("Interrupted. A question that is open stays open in the console.")
        return INTERRUPTED
    except SaysoError as error:
        _tell(f"sayso.demo.client: {error}")
        return error.exit_code


async def visit(url: str, customer: int | None, pause: float = PAUSE_SECONDS) -> int:
    """List the tools at `url`, and delete `customer` if one is given; the exit code.

    Rests `pause` seconds before it asks again. Raises `UnreachableError` when nothing there
    speaks MCP or the connection ends too early. When cancelled, it takes the call back; a
    question that a gateway has put to a person stays open.
    """
    is_called = False
    try:
        async with Client(url, client_info=_WHO, read_timeout_seconds=ANSWER_SECONDS) as client:
            tools = await _list_tools(client)
            _show(tools)
            if customer is None:
                _tell("To see a call that asks a person, add for example: --delete 12")
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
    found = next((tool.name for tool in tools if tool.name.endswith(DELETES)), None)
    if found is None:
        raise TargetError(f"no tool there has a name that ends in {DELETES!r}")
    return found


async def _delete(client: Client, name: str, customer: int, pause: float) -> int:
    progress = _Progress()
    arguments = {"customer_id": customer}
    _tell(f"Calling {name} for customer {customer}. Where a person must approve, this waits.")
    while True:
        answer = await client.call_tool(name, arguments, DAY_SECONDS, progress_callback=progress)
        if _state(answer) != "pending":
            return _conclude(answer)
        _tell("Nobody has answered yet; asking again. Ctrl-C ends this.")
        await anyio.sleep(pause)


class _Progress:
    """Shows each new progress message once; a gateway repeats that it waits."""

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
    """The level a gateway resolved, or else the one that the server's own hints make."""
    own = (tool.meta or {}).get(META_KEY, {})
    if isinstance(own, Mapping) and "level" in own:
        return str(cast("Mapping[str, Any]", own)["level"])
    raw = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return f"{read_tool(raw).intent.level} (as declared)"


def _state(answer: CallToolResult) -> str | None:
    approval = (answer.meta or {}).get(APPROVAL_KEY, {})
    return cast("Mapping[str, str]", approval).get("state")


def _explain(url: str, error: Exception, *, is_called: bool) -> Exception:
    """What to report for an error of the SDK, before or after the tool was called."""
    match error:
        case httpx2.HTTPError() | MCPError() if is_called:
            fix = "The call may have run or not: look before you make it again."
            return UnreachableError(f"no answer to the call came: {error}", where=url, fix=fix)
        case httpx2.UnsupportedProtocol():
            return TargetError(str(error), where=url, fix="Give an address with http:// before it.")
        case httpx2.HTTPError():
            fix = "Is the gateway running, and is this the address it printed?"
            return UnreachableError(f"nothing answers there: {error}", where=url, fix=fix)
        case MCPError() if error.code == REQUEST_TIMEOUT:
            return TimedOutError("no answer in time", where=url)
        case MCPError() | ValidationError():
            fix = "Give the address of an MCP endpoint; a gateway's ends in /mcp."
            return NotMcpError(f"no MCP is spoken there: {error}", where=url, fix=fix)
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
