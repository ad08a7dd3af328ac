"""The observer of files in a server's places (the folders that its sandbox gives it)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anyio import to_thread

from sayso.sandbox import Layer, Place
from sayso.trace import Blob, Effect, Kind, Observer
from sayso.verify.observe.changes import Change, compare
from sayso.verify.observe.content_store import ContentStore
from sayso.verify.observe.snapshot import Entry, look, outermost

_MOST_TOLD: Final = 2_000
"""The maximum number of listed changes per place and call."""


class FilesWatcher:
    """A `Watcher` of the files in the places.

    The next `end` reports changes between two calls as effects of call 0. Contents are stored in
    the private `folder`, which the caller removes.
    """

    def __init__(self, places: Sequence[Place], folder: Path) -> None:
        self._places = outermost(places)
        self._store = ContentStore(folder)
        self._seen: dict[Place, dict[str, Entry]] = {}
        self._pending: list[Effect] = []

    @property
    def layer(self) -> Layer:
        """Return the layer, with a note on files whose content was not stored."""
        notes = self._store.notes
        detail = f"{len(self._places)} places"
        if notes:
            path, note = next(iter(notes.items()))
            detail += f"; {len(notes)} files incomplete, such as {Path(path).name}: {note}"
        return Layer("files", is_active=True, detail=detail)

    def close(self) -> None:
        """Close the store. The contents of effects exist as long as the folder."""
        self._store.close()

    async def begin(self) -> None:
        self._pending += await to_thread.run_sync(self._look, 0)

    async def end(self, call: int) -> Sequence[Effect]:
        effects = (*self._pending, *await to_thread.run_sync(self._look, call))
        self._pending = []
        return effects

    def _look(self, call: int) -> list[Effect]:
        effects: list[Effect] = []
        self._store.begin()
        for place in self._places:
            before = self._seen.get(place)
            after = look(str(place.host), before or {}, store=self._store)
            self._seen[place] = after
            if before is not None:
                changes = compare(before, after, begins=self._begins)
                listed = changes[:_MOST_TOLD]
                effects += [self._effect(place, change, call=call) for change in listed]
                if others := len(changes) - len(listed):
                    more = f"{others} more changes, not listed"
                    effects.append(Effect(Kind.BLIND, place.inside, Observer.FILES, call, more))
        return effects

    def _effect(self, place: Place, change: Change, *, call: int) -> Effect:
        detail = change.detail
        if change.to:
            detail = f"to {place.inside_of(Path(change.to))}"
        after = change.after
        if change.kind is Kind.DELETE:
            after = None
        return Effect(
            change.kind,
            place.inside_of(Path(change.path)),
            Observer.FILES,
            call,
            detail,
            before=self._blob(change.before),
            after=self._blob(after),
        )

    def _blob(self, entry: Entry | None) -> Blob | None:
        return entry and self._store.blob(entry.digest, entry.stat.size)

    def _begins(self, first: str, second: str) -> bool:
        if first == second:
            return bool(first)
        old = self._store.read(first)
        new = self._store.read(second)
        return old is not None and new is not None and new.startswith(old)
