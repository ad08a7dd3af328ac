"""Looking on while requests go to servers and their answers come back."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Exchange:
    """One request to one server, without its arguments and its result.

    `url` is where the server is, `None` behind a pipe; `tool` the tool that is called. Whoever
    looks on may put a `trace` to go along with it (W3C Trace Context, by the names of its headers).
    `is_error` is set once a tool has said that it failed.
    """

    server: str
    method: str
    version: str
    url: str | None = None
    tool: str | None = None
    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    is_error: bool = False


Watch = Callable[[Exchange], AbstractContextManager[object]]
"""Around one exchange. It sees the `RpcError` that the exchange ends with, and lets it pass."""
