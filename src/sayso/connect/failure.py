"""Error messages for failed connections, with the reason and a fix."""

from pathlib import Path
from typing import Final, cast

from sayso.connect.kinds import CommandTarget, UrlTarget
from sayso.connect.rpc import Fault, RpcError
from sayso.connect.stderr_log import StderrLog
from sayso.connect.web.authenticator import NoCredentialsError
from sayso.errors import (
    AuthenticationError,
    CommandNotFoundError,
    NotMcpError,
    SaysoError,
    ServerExitedError,
    TimedOutError,
    UnreachableError,
)

_UNPROVED: Final = (
    "Add an Authorization header or “sayso.auth” to the server's entry of a configuration file."
)
_NOT_TAKEN: Final = (
    "The server refused the token that sayso got for it. Check “scope”, “resource” and “audience” "
    "in its “sayso.auth”."
)


def explain(
    error: Exception, target: CommandTarget | UrlTarget, stderr_log: StderrLog, timeout: float
) -> SaysoError:
    """Return an error with the reason and a fix, to raise instead of `error`."""
    error = first_error(error)
    if isinstance(error.__cause__, NoCredentialsError):
        error = cast("SaysoError", error.__cause__.__cause__)
    if isinstance(error, SaysoError):
        error.where = error.where or target.name
        return error
    if isinstance(target, UrlTarget):
        return _explain_url(error, target, timeout)
    return _explain_command(error, target, stderr_log, timeout)


def first_error(error: Exception) -> Exception:
    """Return the first error of nested groups; the other errors are its consequences."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def _explain_command(
    error: Exception, target: CommandTarget, stderr_log: StderrLog, timeout: float
) -> SaysoError:
    where = f"{target.name} ({target.command})"
    if isinstance(error, (OSError, ValueError)) and not isinstance(error, TimeoutError):
        return _explain_spawn(error, target, where)
    reason = stderr_log.reason()
    aside = reason and f"; the last lines on stderr:\n{reason}"
    has_ended = isinstance(error, RpcError) and error.fault is Fault.LOST
    if stderr_log.garbage and not (has_ended and reason):
        what = (
            f"the server printed a line to stdout that is not MCP: “{stderr_log.garbage[0]}”{aside}"
        )
        fix = "Print only MCP messages to stdout, and everything else to stderr."
        return NotMcpError(what, where=where, fix=fix)
    if _is_timeout(error):
        what = f"no answer within {timeout:g} s{aside}"
        return TimedOutError(what, where=where, fix="Raise --timeout if it is slow to start.")
    if has_ended:
        return ServerExitedError(f"the server ended before it answered{aside}", where=where)
    return UnreachableError(f"{error}{aside}", where=where)


def _explain_spawn(error: OSError | ValueError, target: CommandTarget, where: str) -> SaysoError:
    # uvloop does not report whether the command or the folder is missing.
    is_missing = isinstance(error, FileNotFoundError)
    if is_missing and target.cwd is not None and not Path(target.cwd).is_dir():
        return CommandNotFoundError(f"the folder {target.cwd} does not exist", where=where)
    if is_missing:
        what = f"the command “{target.command}” was not found"
        fix = "Install the command, or write its full path."
        return CommandNotFoundError(what, where=target.name, fix=fix)
    what = f"the command cannot be run: {getattr(error, 'strerror', None) or error}"
    return CommandNotFoundError(what, where=where, fix="It must be a program you may execute.")


def _explain_url(error: Exception, target: UrlTarget, timeout: float) -> SaysoError:
    where = target.shown
    if _is_timeout(error):
        what = f"no answer within {timeout:g} s"
        return TimedOutError(what, where=where, fix="Raise --timeout if it is slow.")
    fault = getattr(error, "fault", None)
    if fault is Fault.UNAUTHORIZED:
        fix = _UNPROVED if target.auth is None else _NOT_TAKEN
        return AuthenticationError(
            f"the server requires credentials ({error})", where=where, fix=fix
        )
    if fault in (Fault.NOT_MCP, Fault.REFUSED):
        fix = "Is this the MCP endpoint? Its path is often /mcp."
        return NotMcpError(
            f"the server does not answer as an MCP server ({error})", where=where, fix=fix
        )
    if fault is Fault.NOT_SENT:
        return UnreachableError(f"{error}", where=where, fix="Is the server running?")
    return UnreachableError(f"no usable answer: {error}", where=where)


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or getattr(error, "fault", None) is Fault.TIMED_OUT
