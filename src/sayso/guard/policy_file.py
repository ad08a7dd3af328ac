"""The policy of a running guard, read from its file and reloaded when the file changes."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import anyio

from sayso.errors import ConfigError, SaysoError
from sayso.policy import Policy, load_policy
from sayso.settings import read_text

_LOOK_SECONDS: Final = 1.0
_SETTLE_SECONDS: Final = 1.0
_FIX: Final = "Name a policy.toml."

_State = tuple[int, int, int, int]
"""Device, inode, size and change time of a file; at least one differs after a change."""


@dataclass(slots=True)
class PolicyFile:
    """A policy.toml that is reloaded when it changes; while it is invalid, the last policy stays.

    Calling the object returns the current policy, so it fits `Guard(policy=…)`. `text` is the
    source of the current policy. `trouble` is the error of the file on disk, if it is invalid.
    """

    path: Path
    policy: Policy
    text: str = field(repr=False)
    trouble: SaysoError | None = None
    _seen: str | None = field(default=None, repr=False)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read the file. Raises `PolicyError` with all mistakes; `ConfigError` without a file."""
        text = read_text(str(path), fix=_FIX)
        return cls(Path(path), load_policy(text, str(path)), text)

    def __call__(self) -> Policy:
        return self.policy

    def reload(self) -> bool:
        """Read the file again, and return whether the policy has changed.

        An empty file counts as invalid: a program is writing it, or a mistake emptied it. For an
        invalid file the last valid policy stays. Raises the errors of `open`, once per change.
        """
        try:
            text = read_text(str(self.path), fix=_FIX)
        except SaysoError as error:
            if self._seen == "" and str(self.trouble) == str(error):
                return False
            self._seen = ""
            self.trouble = error
            raise
        return self._take(text)

    def _last(self) -> str:
        return self.text if self._seen is None else self._seen

    def _take(self, text: str) -> bool:
        if text == self._last():
            return False
        self._seen = text
        try:
            if _is_empty(text) and not _is_empty(self.text):
                what = "the file is empty"
                fix = 'Write at least one key, such as mode = "guarded", to drop all rules.'
                raise ConfigError(what, where=str(self.path), fix=fix)
            self.policy = load_policy(text, str(self.path))
        except SaysoError as error:
            self.trouble = error
            raise
        self.text = text
        self.trouble = None
        return True

    def _state(self) -> _State | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return (status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)

    def _read(self) -> str | None:
        try:
            return read_text(str(self.path), fix=_FIX)
        except SaysoError:
            return None

    async def watch(
        self,
        on_change: Callable[[str], None],
        on_error: Callable[[SaysoError], None],
        *,
        seconds: float = _LOOK_SECONDS,
        settle: float = _SETTLE_SECONDS,
    ) -> None:
        """Check the file every `seconds`, until cancelled.

        A changed file is loaded after it stayed the same for `settle` seconds. Otherwise a
        half-written file, which may be valid, would be loaded with half of its rules. `on_change`
        gets a sentence for each new policy, and `on_error` the error of an invalid file.
        """
        known: tuple[_State | None, ...] = ()
        while True:
            await anyio.sleep(seconds)
            state = self._state()
            if (state,) == known:
                continue
            text = self._read()
            if text is None or text != self._last():
                await anyio.sleep(settle)
                if state != self._state() or text != self._read():
                    continue
            known = (state,)
            try:
                if self.reload() if text is None else self._take(text):
                    on_change(f"{self.path}: the policy has changed and is in effect")
            except SaysoError as error:
                on_error(error)


def _is_empty(text: str) -> bool:
    try:
        return not tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
