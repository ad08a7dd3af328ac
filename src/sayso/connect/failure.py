"""Errors that say why there is no connection, in words a person can act on."""

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
    "Put an Authorization header or a “sayso.auth” into its entry of a configuration file."
)
_NOT_TAKEN: Final = (
    "It did not take the token that sayso got for it: do “scope”, “resource” and “audience” in its "
    "“sayso.auth” name what it wants?"
)


def explain(
    error: Exception, target: CommandTarget | UrlTarget, stderr_log: StderrLog, timeout: float
) -> SaysoError:
    """Return the error a person should read in the place of `error`."""
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
    """Return the first error of a group, however deep: the others followed from it."""
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
    aside = reason and f"; the last it said on stderr:\n{reason}"
    has_ended = isinstance(error, RpcError) and error.fault is Fault.LOST
    if stderr_log.garbage and not (has_ended and reason):
        what = f"it printed something that is not MCP to stdout: “{stderr_log.garbage[0]}”{aside}"
        fix = "A stdio server may print only messages to stdout; print everything else to stderr."
        return NotMcpError(what, where=where, fix=fix)
    if _is_timeout(error):
        what = f"no answer within {timeout:g} s{aside}"
        return TimedOutError(what, where=where, fix="Raise --timeout if it is slow to start.")
    if has_ended:
        return ServerExitedError(f"it ended before it answered{aside}", where=where)
    return UnreachableError(f"{error}{aside}", where=where)


def _explain_spawn(error: OSError | ValueError, target: CommandTarget, where: str) -> SaysoError:
    # uvloop does not say which of the two is missing.
    is_missing = isinstance(error, FileNotFoundError)
    if is_missing and target.cwd is not None and not Path(target.cwd).is_dir():
        return CommandNotFoundError(f"the folder {target.cwd} does not exist", where=where)
    if is_missing:
        what = f"the command “{target.command}” was not found"
        fix = "Install it, or give its full path."
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
        return AuthenticationError(f"it wants credentials ({error})", where=where, fix=fix)
    if fault in (Fault.NOT_MCP, Fault.REFUSED):
        fix = "Is this the MCP endpoint? Its path is often /mcp."
        return NotMcpError(f"it does not answer as an MCP server ({error})", where=where, fix=fix)
    if fault is Fault.NOT_SENT:
        return UnreachableError(f"{error}", where=where, fix="Is the server running?")
    return UnreachableError(f"no usable answer: {error}", where=where)


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or getattr(error, "fault", None) is Fault.TIMED_OUT
