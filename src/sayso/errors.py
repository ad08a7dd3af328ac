"""The error classes and their exit codes.

SaysoError
├── UsageError            exit 2   an invalid request
│   ├── TargetError                an invalid or unknown target
│   ├── ConfigError                a file with a mistake: path, line, column
│   │   └── MistakesError          all mistakes of a file that sayso defines
│   │       ├── PolicyError        a policy.toml
│   │       └── AccessError        an access.toml
│   ├── PortInUseError             another process listens on the address
│   ├── KeysError                  keys that are missing, invalid or readable by others
│   └── UncontainedError           no containment on this machine for an unknown server
├── AuthenticationError   exit 3   missing or refused credentials
├── UnreachableError      exit 4   a server that does not start, respond or speak MCP
│   ├── CommandNotFoundError       the command of a stdio server is not installed
│   ├── ServerExitedError          the process ended before it answered
│   ├── NotMcpError                the response is not MCP
│   └── TimedOutError              no response within the time limit
├── DeniedError           exit 5   the policy or a person denied it
│   ├── UnknownToolError           the tool does not exist, or this caller may not see it
│   └── SealError                  a value that sayso did not encrypt for this use
├── ReceiptError          exit 1   an invalid receipt, or one with the wrong signature
└── StoreError            exit 4   the database cannot be opened, read or written

Every class has a stable `code`; `docs/guides/troubleshooting.md` has a heading for each.
"""

from collections.abc import Sequence
from typing import Any, ClassVar


class SaysoError(Exception):
    """An error that sayso reports to a person: the problem, its place and the fix.

    `str()` returns one line, `where: what. fix`, without a stack trace or a secret.
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
    """An invalid or unknown target."""

    code = "target"


class ConfigError(UsageError):
    """A file with a mistake; `where` is `file`, `file:line` or `file:line:column`."""

    code = "config"


class MistakesError(ConfigError):
    """A file with mistakes; `errors` contains each mistake, with file and line."""

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
    """A policy with mistakes."""

    code = "policy"
    of = "the policy"


class AccessError(MistakesError):
    """An access.toml with mistakes."""

    code = "access"
    of = "access.toml"


class PortInUseError(UsageError):
    """Another process listens on the address."""

    code = "port-in-use"


class KeysError(UsageError):
    """Keys that are missing, invalid or readable by others. The message contains no key."""

    code = "keys"


class UncontainedError(UsageError):
    """This machine has no containment for an unknown server."""

    code = "uncontained"


class AuthenticationError(SaysoError):
    """The other side requires credentials, or refuses the given credentials."""

    code = "authentication"
    exit_code = 3


class UnreachableError(SaysoError):
    """A server that does not start, respond or speak MCP."""

    code = "unreachable"
    exit_code = 4


class CommandNotFoundError(UnreachableError):
    """The command of a stdio server is not installed or not executable."""

    code = "command-not-found"


class ServerExitedError(UnreachableError):
    """The server's process ended before it answered."""

    code = "server-exited"


class NotMcpError(UnreachableError):
    """The response is not MCP."""

    code = "not-mcp"


class TimedOutError(UnreachableError):
    """No response within the time limit."""

    code = "timed-out"


class DeniedError(SaysoError):
    """The policy or a person denied the request."""

    code = "denied"
    exit_code = 5


class UnknownToolError(DeniedError):
    """The tool does not exist, or this caller may not see it; the message is the same."""

    code = "unknown-tool"

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}")


class SealError(DeniedError):
    """A value that sayso did not encrypt, or encrypted for another use."""

    code = "seal"


class ReceiptError(SaysoError):
    """A receipt that is invalid, contradicts itself, or has the wrong signature."""

    code = "receipt"


class StoreError(SaysoError):
    """The database cannot be opened, read or written."""

    code = "store"
    exit_code = 4
