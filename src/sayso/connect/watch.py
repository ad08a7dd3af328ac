"""The observer of requests to servers."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Exchange:
    """One request to one server, without its arguments and its result.

    `url` is `None` over stdio; `tool` is the called tool. The observer may set `trace`, which is
    sent with the request (W3C Trace Context, by header name). `is_error`: the tool failed.
    """

    server: str
    method: str
    version: str
    url: str | None = None
    tool: str | None = None
    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    is_error: bool = False


Watch = Callable[[Exchange], AbstractContextManager[object]]
"""Returns a context for one exchange. The context gets its `RpcError`, and must not suppress it."""
