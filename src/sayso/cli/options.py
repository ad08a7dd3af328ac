"""Options that several commands share, and the parsing of targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from sayso.cli.commands import Parameter, option
from sayso.errors import UsageError

if TYPE_CHECKING:
    from sayso.connect import Target

Json = Annotated[bool, option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, option(help="Do not ask.")]
Output = Annotated[str, option("--output", "-o")]
Timeout = Annotated[float, option(help="Seconds to wait for a server.")]
Many = list[str] | None
Command = Annotated[list[str] | None, Parameter(is_parsed=False)]
"""The words after `--`, a command to start."""

Store = Annotated[
    str | None,
    option(
        help="sqlite:PATH or postgresql://USER@HOST/DATABASE. Default: SAYSO_STORE, or the file in "
        "your data directory."
    ),
]
PolicyPath = Annotated[
    str | None, option(help="A policy.toml. Default: guarded mode with no rules.")
]
TargetWord = Annotated[
    str,
    option(
        help="server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), "
        "one entry of it (mcp.json#name), or a saved tools/list (tools.json). A command goes after "
        "--."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReceiptOptions:
    """Receipts, and the policy that trusts their keys.

    Parameters
    ----------
    receipts
        A receipt of sayso verify, or a folder of them (.json). Their verdicts about the package
        that runs count if the policy trusts their keys.
    policy
        A policy.toml whose trust levels, receipt keys and operator hints apply.
    """

    receipts: str | None = None
    policy: str | None = None


NO_RECEIPTS: Final = ReceiptOptions()


def targets_of(
    words: Sequence[str], command: Sequence[str] | None, name: str = "inspect"
) -> "tuple[Target, ...]":
    """Return the targets in `words`, or the one after `--`; errors quote the command `name`."""
    from sayso.connect import parse_target

    is_command = command is not None and not words
    return parse_target([*words, *(command or ())], is_command=is_command, command=name)


def all_targets_of(
    words: Sequence[str], command: Sequence[str] | None, name: str
) -> "tuple[Target, ...]":
    """Return the targets of every word, and the one after `--`.

    Raises `UsageError` for two servers of one name, because a policy could not tell them apart.
    """
    targets = [target for word in words for target in targets_of([word], None, name)]
    if command is not None:
        targets += targets_of((), command, name)
    names = [target.name for target in targets]
    for server in names:
        if names.count(server) > 1:
            fix = "Name the servers in one configuration (mcp.json), or leave one out."
            raise UsageError("two servers have this name", where=server, fix=fix)
    return tuple(targets)
