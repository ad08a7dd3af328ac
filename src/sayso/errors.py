"""The error tree.

SaysoError
├── UsageError            exit 2   an invalid request
│   ├── TargetError                a target that names nothing sayso can reach
│   ├── ConfigError                a file with a mistake in it: path, line, column
│   │   └── MistakesError          a file of sayso's own with mistakes in it, all of them
│   │       ├── PolicyError        a policy
│   │       └── AccessError        who may call
│   ├── PortInUseError             the address to listen on is taken
│   ├── KeysError                  keys that are missing, broken or open to others
│   └── UncontainedError           an unknown server would run, and nothing here contains it
├── AuthenticationError   exit 3   missing or refused credentials
├── UnreachableError      exit 4   a server that cannot be started, reached or understood
│   ├── CommandNotFoundError       the command of a stdio server is not installed
│   ├── ServerExitedError          the process ended before it answered
│   ├── NotMcpError                something answers, but not in MCP
│   └── TimedOutError              no answer within the time limit
├── DeniedError           exit 5   policy or a person said no
│   ├── UnknownToolError           no such tool, or not for this caller
│   └── SealError                  a value that sayso did not seal, or not for this use
├── ReceiptError          exit 1   a broken receipt, or one with the wrong signature
└── StoreError            exit 4   the database cannot be opened, read or written

Every class has a stable `code`; `docs/guides/troubleshooting.md` has a heading for each.
"""

from collections.abc import Sequence
from typing import Any, ClassVar


class SaysoError(Exception):
    """An error that sayso reports to a person: what happened, where, and what to do next.

    `str()` gives it in one line, `where: what. fix`, without a stack trace or a secret.
    """

    code: ClassVar[str] = "sayso"
    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head.rstrip('.')}. {self.fix}" if self.fix else head

    def to_dict(self) -> dict[str, Any]:
        """Return the error as data, for `--json`."""
        fields = {"code": self.code, "what": self.what, "where": self.where, "fix": self.fix}
        return {"error": {key: value for key, value in fields.items() if value is not None}}


class UsageError(SaysoError):
    """An invalid request."""

    code = "usage"
    exit_code = 2


class TargetError(UsageError):
    """A target that names nothing sayso can reach."""

    code = "target"


class ConfigError(UsageError):
    """A file with a mistake in it; `where` is `file:line:column` as far as they are known."""

    code = "config"


class MistakesError(ConfigError):
    """A file with mistakes in it; `errors` holds each, with its file and line."""

    of: ClassVar[str] = "the file"

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        self.errors = tuple(errors)
        if len(self.errors) == 1:
            one = self.errors[0]
            super().__init__(one.what, where=one.where, fix=one.fix)
        else:
            lines = "".join(f"\n  {error}" for error in self.errors)
            super().__init__(f"{len(self.errors)} mistakes in {self.of}:{lines}")

    def to_dict(self) -> dict[str, Any]:
        """Return the error as data, with every mistake under `errors`."""
        document = super().to_dict()
        fields = [error.to_dict()["error"] for error in self.errors]
        return {"error": {**document["error"], "errors": fields}}


class PolicyError(MistakesError):
    """A policy with mistakes in it."""

    code = "policy"
    of = "the policy"


class AccessError(MistakesError):
    """An access.toml with mistakes in it."""

    code = "access"
    of = "access.toml"


class PortInUseError(UsageError):
    """The address to listen on is taken by another process."""

    code = "port-in-use"


class KeysError(UsageError):
    """Keys that are missing, broken or open to others; the error never holds a key."""

    code = "keys"


class UncontainedError(UsageError):
    """An unknown server would run, and this machine lacks what contains it."""

    code = "uncontained"


class AuthenticationError(SaysoError):
    """The other side requires credentials, or refuses those that it got."""

    code = "authentication"
    exit_code = 3


class UnreachableError(SaysoError):
    """A server that cannot be started, reached or understood."""

    code = "unreachable"
    exit_code = 4


class CommandNotFoundError(UnreachableError):
    """The command of a stdio server is not installed or not executable."""

    code = "command-not-found"


class ServerExitedError(UnreachableError):
    """The server's process ended before it answered."""

    code = "server-exited"


class NotMcpError(UnreachableError):
    """Something answers, but what it says is not MCP."""

    code = "not-mcp"


class TimedOutError(UnreachableError):
    """No answer within the time limit."""

    code = "timed-out"


class DeniedError(SaysoError):
    """Policy or a person said no."""

    code = "denied"
    exit_code = 5


class UnknownToolError(DeniedError):
    """The tool does not exist, or not for this caller; the words are the same for both."""

    code = "unknown-tool"

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}")


class SealError(DeniedError):
    """A value that sayso did not seal, or not for this use."""

    code = "seal"


class ReceiptError(SaysoError):
    """A receipt that is broken or contradicts itself, or has the wrong signature."""

    code = "receipt"


class StoreError(SaysoError):
    """The database cannot be opened, read or written."""

    code = "store"
    exit_code = 4
