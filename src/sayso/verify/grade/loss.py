"""What is lost by a change of a file, and whether it can be had back."""

from dataclasses import replace
from typing import Final

from sayso.trace import Blob, Effect, Kind, Loss
from sayso.verify.grade import git
from sayso.verify.grade.context import Scene
from sayso.verify.grade.readers import compare_contents
from sayso.verify.grade.readers.content import Outcome

TOO_LARGE: Final = "its bytes were not kept"


def content_of(blob: Blob | None) -> bytes | None:
    """The bytes of a blob that was kept."""
    if blob is None or blob.path is None:
        return None
    try:
        return blob.path.read_bytes()
    except OSError:
        return None


def outcome(effect: Effect) -> tuple[str, Outcome] | None:
    """The format of a file that was changed, and what became of its records."""
    before = content_of(effect.before)
    after = content_of(effect.after)
    if before is None or after is None or before == after:
        return None
    return compare_contents(effect.target, before, after)


def with_loss(effect: Effect, scene: Scene) -> Effect:
    """The effect with what it takes from the world, as far as its observer has not said so."""
    if effect.is_failed or effect.loss is not Loss.NONE or "#" in effect.target:
        return effect
    told = effect
    inside = git.split(effect.target)
    if inside is not None:
        told = _in_git(effect, inside, scene)
    elif effect.kind is Kind.DELETE:
        told = replace(effect, loss=Loss.LOST)
    elif effect.kind is Kind.WRITE:
        told = _written(effect)
    return told if told.loss is Loss.NONE else replace(told, recoverable=_way_back(told, scene))


def _written(effect: Effect) -> Effect:
    if effect.before is None:
        return effect
    if effect.after is not None and effect.before.digest == effect.after.digest:
        return effect
    if effect.before.size == 0:
        return effect
    if effect.after is not None and effect.after.size == 0:
        return replace(effect, loss=Loss.LOST, detail="emptied")
    before = content_of(effect.before)
    after = content_of(effect.after)
    if before is None or after is None:
        return replace(effect, loss=Loss.UNKNOWN, detail=f"{effect.detail}; {TOO_LARGE}")
    if after.startswith(before):
        return effect
    found = compare_contents(effect.target, before, after)
    if found is None:
        loss = Loss.NONE if before in after else Loss.UNKNOWN
        return replace(effect, loss=loss)
    name, result = found
    detail = f"{effect.detail}; {name}: {result.detail}" if result.detail else effect.detail
    return replace(effect, loss=result.loss, detail=detail)


def _in_git(effect: Effect, inside: tuple[str, str], scene: Scene) -> Effect:
    """Git's own files: a reference that moves on loses nothing, objects may be packed."""
    folder, rest = inside
    host = scene.host(folder)
    if rest == "config" and effect.kind is Kind.WRITE:
        return _written(effect)
    if not (rest == "HEAD" or rest.startswith("refs/")) or host is None:
        return _removed_object(effect, rest, scene)
    old, new = (_reference(blob) for blob in (effect.before, effect.after))
    if rest == "HEAD" or not old or (new and git.is_kept(host, old, new)):
        return effect
    loss = Loss.LOST if effect.kind is Kind.DELETE else Loss.OVERWROTE
    way = "git reflog" if git.logged(host, old) else ""
    return replace(effect, loss=loss, recoverable=way)


def _removed_object(effect: Effect, rest: str, scene: Scene) -> Effect:
    is_object = rest.startswith("objects/") and effect.kind is Kind.DELETE
    packed = any(
        other.kind is Kind.CREATE and "/objects/pack/" in other.target for other in scene.beside
    )
    if effect.kind is Kind.DELETE and rest.startswith("logs/"):
        return replace(effect, loss=Loss.LOST)
    return replace(effect, loss=Loss.LOST) if is_object and not packed else effect


def _reference(blob: Blob | None) -> str:
    content = content_of(blob)
    text = content.decode("ascii", errors="replace").strip() if content else ""
    return text if len(text) == git.NAME else ""


def _way_back(effect: Effect, scene: Scene) -> str:
    if effect.recoverable or effect.before is None:
        return effect.recoverable
    for other in scene.beside:
        is_copy = other.after is not None and other.after.digest == effect.before.digest
        is_elsewhere = other.target != effect.target and other.call == effect.call
        if is_copy and is_elsewhere and other.kind in (Kind.CREATE, Kind.WRITE):
            return f"copy at {other.target}"
        if other.kind is Kind.RENAME and is_elsewhere and _is_same(other.before, effect.before):
            return f"copy at {other.detail.removeprefix('to ')}"
    content = content_of(effect.before)
    return "" if content is None else git.holder(effect.target, content, scene)


def _is_same(blob: Blob | None, other: Blob) -> bool:
    return blob is not None and blob.digest == other.digest
