"""The content that a change of a file loses, and the way to restore that content."""

from dataclasses import replace
from typing import Final

from sayso.trace import Blob, Effect, Kind, Loss
from sayso.verify.grade import git
from sayso.verify.grade.context import CallContext
from sayso.verify.grade.readers import compare_contents
from sayso.verify.grade.readers.content import Outcome

TOO_LARGE: Final = "the earlier content was not stored"


def content_of(blob: Blob | None) -> bytes | None:
    """Return the stored bytes of a blob, or `None` if they were not stored."""
    if blob is None or blob.path is None:
        return None
    try:
        return blob.path.read_bytes()
    except OSError:
        return None


def outcome(effect: Effect) -> tuple[str, Outcome] | None:
    """Return a changed file's format and the comparison of its records, or `None` if unknown."""
    before = content_of(effect.before)
    after = content_of(effect.after)
    if before is None or after is None or before == after:
        return None
    return compare_contents(effect.target, before, after)


def with_loss(effect: Effect, context: CallContext) -> Effect:
    """Return the effect with its loss. A loss that the observer has set stays."""
    if effect.is_failed or effect.loss is not Loss.NONE or "#" in effect.target:
        return effect
    graded = effect
    inside = git.split(effect.target)
    if inside is not None:
        graded = _in_git(effect, inside, context)
    elif effect.kind is Kind.DELETE:
        graded = replace(effect, loss=Loss.LOST)
    elif effect.kind is Kind.WRITE:
        graded = _written(effect)
    if graded.loss is Loss.NONE:
        return graded
    return replace(graded, recoverable=_way_back(graded, context))


def _written(effect: Effect) -> Effect:
    if effect.before is None or effect.before.size == 0 or _is_same(effect.after, effect.before):
        return effect
    if effect.after is not None and effect.after.size == 0:
        return replace(effect, loss=Loss.LOST, detail="emptied")
    before = content_of(effect.before)
    after = content_of(effect.after)
    if before is None or after is None:
        return replace(effect, loss=Loss.UNKNOWN, detail=f"{effect.detail}; {TOO_LARGE}")
    if after.startswith(before):
        return effect
    compared = compare_contents(effect.target, before, after)
    if compared is None:
        return effect if before in after else replace(effect, loss=Loss.UNKNOWN)
    name, result = compared
    detail = f"{effect.detail}; {name}: {result.detail}" if result.detail else effect.detail
    return replace(effect, loss=result.loss, detail=detail)


def _in_git(effect: Effect, inside: tuple[str, str], context: CallContext) -> Effect:
    """Set the loss of a change in `.git`. Moving a reference forward loses nothing."""
    folder, rest = inside
    host = context.host(folder)
    if rest == "config" and effect.kind is Kind.WRITE:
        return _written(effect)
    if not (rest == "HEAD" or rest.startswith("refs/")) or host is None:
        return _removed_object(effect, rest, context)
    old, new = (_reference(blob) for blob in (effect.before, effect.after))
    if rest == "HEAD" or not old or (new and git.is_kept(host, old, new)):
        return effect
    loss = Loss.LOST if effect.kind is Kind.DELETE else Loss.OVERWROTE
    recoverable = "git reflog" if git.logged(host, old) else effect.recoverable
    return replace(effect, loss=loss, recoverable=recoverable)


def _removed_object(effect: Effect, rest: str, context: CallContext) -> Effect:
    is_packed = any(
        other.kind is Kind.CREATE and "/objects/pack/" in other.target for other in context.siblings
    )
    is_lost = rest.startswith("logs/") or (rest.startswith("objects/") and not is_packed)
    if effect.kind is Kind.DELETE and is_lost:
        return replace(effect, loss=Loss.LOST)
    return effect


def _reference(blob: Blob | None) -> str:
    text = (content_of(blob) or b"").decode("ascii", errors="replace").strip()
    return text if len(text) == git.NAME else ""


def _way_back(effect: Effect, context: CallContext) -> str:
    if effect.recoverable or effect.before is None:
        return effect.recoverable
    for other in context.siblings:
        is_copy = _is_same(other.after, effect.before)
        is_elsewhere = other.target != effect.target and other.call == effect.call
        if is_copy and is_elsewhere and other.kind in (Kind.CREATE, Kind.WRITE):
            return f"copy at {other.target}"
        if other.kind is Kind.RENAME and is_elsewhere and _is_same(other.before, effect.before):
            return f"copy at {other.detail.removeprefix('to ')}"
    content = content_of(effect.before)
    return "" if content is None else git.holder(effect.target, content, context)


def _is_same(blob: Blob | None, other: Blob) -> bool:
    return blob is not None and blob.digest == other.digest
