"""Grading: the lifetime and owner of each effect, with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Final

from sayso.sandbox import Role
from sayso.trace import Effect, Kind, Life, Loss, Observer
from sayso.verify.grade import git
from sayso.verify.grade.context import CallContext, path_of
from sayso.verify.grade.generated_files import is_bytecode, is_sidecar, is_tagged_cache
from sayso.verify.grade.loss import outcome, with_loss
from sayso.verify.grade.merge import ON_FILES, database_of, merge
from sayso.verify.grade.own_records import added, is_log, is_own_record, is_shown
from sayso.verify.observe.changes import RESTORED
from sayso.verify.observe.tables import MAGIC

Grade = tuple[Life, str]
UNCALLED: Final = "also seen without a call"
DECLARED_OWN: Final = "a path declared as the server's own state"
OUTWARD: Final = frozenset({Kind.CONNECT, Kind.SEND, Kind.LOOKUP})
SETTLED: Final[Mapping[Kind, Grade]] = {
    Kind.INSTALL: (Life.EXTERNAL, "a package manager was run"),
    Kind.EXECUTE: (Life.TRANSIENT, "a program was run; its effects are listed separately"),
    Kind.SIGNAL: (Life.SESSION, "a signal inside the sandbox"),
    Kind.LISTEN: (Life.SESSION, "a listening address, which ends with the process"),
}
OWN_FOLDERS: Final = (".cache", ".local/state", ".npm", ".config/configstore")
"""Folders in HOME for caches and state, such as those of the XDG Base Directory Specification."""
OTHERS_FILES: Final = (
    *(".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".netrc"),
    *(".ssh", ".gitconfig", ".gnupg", ".local/bin"),
    *(".config/autostart", ".config/systemd", ".config/git", ".config/fish"),
)
"""Files in HOME that configure other programs."""
VOLATILE: Final = ("/dev", "/proc", "/sys", "/run", "/var/run", "/tmp", "/var/tmp", "/var/cache")  # noqa: S108


def grade_all(effects: Sequence[Effect], context: CallContext) -> tuple[Effect, ...]:
    """Merge the effects of one call, then grade each; other effects may influence the grade."""
    merged = merge(effects, context)
    known = replace(context, siblings=(*context.siblings, *merged))
    return tuple(grade(effect, known) for effect in merged)


def grade(effect: Effect, context: CallContext) -> Effect:
    """Set an effect's lifetime, reason and loss. This reads files and git repositories."""
    if effect.life is not None or effect.kind is Kind.BLIND:
        return effect
    life, reason = _life(effect, context)
    graded = replace(effect, life=life, reason=reason)
    if life is Life.USER:
        return with_loss(graded, context)
    return replace(graded, loss=Loss.NONE)


def _life(effect: Effect, context: CallContext) -> Grade:
    if control := _of_control(effect, context):
        return control
    if effect.kind in OUTWARD:
        return _outward(effect, context)
    if effect.kind in SETTLED:
        return SETTLED[effect.kind]
    if effect.is_failed and effect.kind in ON_FILES:
        return _failed(effect, context)
    if "#" in effect.target:
        return _row(effect, context)
    for rule in (_runtime, _by_meaning, _by_record):
        if grade := rule(effect, context):
            return grade
    return _by_place(effect, context)


def _of_control(effect: Effect, context: CallContext) -> Grade | None:
    if (effect.kind, effect.target) not in {(each.kind, each.target) for each in context.control}:
        return None
    if effect.kind in OUTWARD:
        return Life.SESSION, UNCALLED
    return Life.OWN, UNCALLED


def _outward(effect: Effect, context: CallContext) -> Grade:
    target = effect.target
    if target in context.allowed:
        return Life.SESSION, "an allowed address"
    if target.startswith(("/", "@", "unix:")):
        return Life.SESSION, "a socket inside the sandbox"
    host = target.rpartition(":")[0].strip("[]")
    if effect.kind is not Kind.LOOKUP and not effect.is_failed and _is_loopback(host):
        return Life.SESSION, "answered inside the sandbox"
    words = {Kind.CONNECT: "a connection", Kind.SEND: "a message", Kind.LOOKUP: "a lookup"}
    return Life.EXTERNAL, f"{words[effect.kind]} beyond the allowed addresses"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _failed(effect: Effect, context: CallContext) -> Grade:
    if "EROFS" in effect.detail and context.is_named(effect.target):
        return Life.USER, "only containment protected a named path"
    return Life.TRANSIENT, "the operation failed without a change"


def _row(effect: Effect, context: CallContext) -> Grade:
    if recorded := _by_record(effect, context):
        return recorded
    if effect.observer is Observer.POSTGRES:
        return _of_postgres(effect)
    path = path_of(effect)
    place = context.place(path)
    if context.is_named(path) or place is None or place.role is Role.FIXTURE:
        return Life.USER, "rows of the user's database"
    if place.role is Role.OWN:
        return Life.OWN, DECLARED_OWN
    if place.role is Role.TEMPORARY:
        return Life.TRANSIENT, "rows of a file in TMPDIR"
    if is_shown(effect, context) or context.is_kept(path):
        return Life.USER, "rows that other tools show"
    return Life.OWN, "rows of the server's own database that no other tool shows"


def _of_postgres(effect: Effect) -> Grade:
    table = effect.target.partition("#")[2]
    if table.startswith("sequence "):
        return Life.RUNTIME, "a counter, meaningless without a row"
    if table.startswith("advisory lock "):
        return Life.SESSION, "a lock that ends with its session"
    return Life.USER, "the user's database"


def _runtime(effect: Effect, context: CallContext) -> Grade | None:
    if effect.detail in ("socket", "pipe") and effect.kind in (Kind.CREATE, Kind.DELETE):
        return Life.RUNTIME, f"a {effect.detail} without content"
    inside = git.split(effect.target)
    if inside is not None and inside[1].startswith("logs/") and effect.kind is Kind.APPEND:
        return Life.RUNTIME, "git's reflog; the reference is listed separately"
    if is_bytecode(effect, context):
        return Life.RUNTIME, "bytecode of an existing source"
    base = database_of(effect.target)
    if base is not None and (_is_database(base, context) or is_sidecar(effect)):
        return Life.RUNTIME, "an SQLite sidecar; its rows are listed separately"
    return None


def _is_database(path: str, context: CallContext) -> bool:
    host = context.host(path)
    if host is None or host.is_symlink() or not host.is_file():
        return False
    with host.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _by_meaning(effect: Effect, context: CallContext) -> Grade | None:
    """Grade a file if its bytes changed, but not their meaning; else return `None`."""
    if effect.kind not in (Kind.WRITE, Kind.APPEND) or effect.before is None:
        return None
    if effect.has_same_bytes and git.split(effect.target):
        return Life.CACHE, "git's own file, written again with the same bytes"
    compared = outcome(effect)
    if compared is not None and compared[1].is_same:
        return Life.CACHE, f"other bytes with the same meaning, read as {compared[0]}"
    if _is_database(effect.target, context):
        return Life.RUNTIME, "SQLite's bookkeeping; its rows are unchanged"
    return None


def _by_record(effect: Effect, context: CallContext) -> Grade | None:
    own = is_own_record(effect, context)
    return (Life.OWN, own) if own else None


def _by_place(effect: Effect, context: CallContext) -> Grade:
    path = effect.target
    place = context.place(path)
    if place is not None and place.role is Role.OWN:
        return Life.OWN, DECLARED_OWN
    if context.is_named(path):
        return Life.USER, "named by an argument or the command"
    if place is None:
        return _elsewhere(path)
    if is_tagged_cache(path, context):
        return Life.CACHE, "in a folder tagged as a cache"
    if place.role is Role.TEMPORARY:
        return Life.TRANSIENT, "left in TMPDIR, and not named by the call"
    if place.role is Role.FIXTURE:
        return Life.USER, _kept(effect)
    if place.role is Role.HOME:
        return _at_home(effect, PurePosixPath(path).relative_to(place.inside), context)
    return _unnamed(effect, context, "among the server's own files")


def _kept(effect: Effect) -> str:
    if effect.detail == RESTORED:
        return "user data that was changed and restored"
    if effect.has_same_bytes:
        return "user data, rewritten with the same bytes"
    return "user data"


def _elsewhere(path: str) -> Grade:
    if any(PurePosixPath(path).is_relative_to(folder) for folder in VOLATILE):
        return Life.TRANSIENT, "removed at the next boot"
    return Life.USER, "outside the server's own folders"


def _at_home(effect: Effect, below: PurePosixPath, context: CallContext) -> Grade:
    if any(below.is_relative_to(folder) for folder in OTHERS_FILES):
        return Life.USER, "a file in HOME that configures other programs"
    if any(below.is_relative_to(folder) for folder in OWN_FOLDERS):
        return Life.OWN, "a cache or state folder in HOME"
    if effect.kind is Kind.APPEND and is_log(added(effect)):
        return Life.OWN, "lines of a log"
    return _unnamed(effect, context, "in the private HOME")


def _unnamed(effect: Effect, context: CallContext, where: str) -> Grade:
    if effect.target in context.habitual:
        return Life.OWN, f"{where}; most read-only tools write there"
    if is_shown(effect, context) or context.is_kept(effect.target):
        return Life.USER, f"{where}, with records that other tools show"
    return Life.OWN, f"{where}; not named, and not shown by other tools"
