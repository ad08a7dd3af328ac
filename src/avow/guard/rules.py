"""The policy of a running guard: read from its file, and read again when the file changes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import anyio

from avow.connect.jsonfile import read_text
from avow.errors import AvowError
from avow.policy import Policy, load_policy

_LOOK_SECONDS: Final = 1.0
_SETTLE_SECONDS: Final = 0.1


@dataclass(slots=True)
class PolicyFile:
    """A policy.toml that counts as it stands; one with a mistake leaves the last good one.

    Call it for the policy of the moment: `Guard(policy=PolicyFile.open("policy.toml"), …)`. `text`
    is what that was read from; `trouble` is why the file as it stands now does not count, where it
    does not.
    """

    path: Path
    policy: Policy
    text: str = field(repr=False)
    trouble: AvowError | None = None
    _seen: str | None = field(default=None, repr=False)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read the file. Raises `PolicyError` with every mistake, `ConfigError` without a file."""
        text = read_text(str(path))
        return cls(Path(path), load_policy(text, str(path)), text)

    def __call__(self) -> Policy:
        """The policy of the moment."""
        return self.policy

    def reload(self) -> bool:
        """Read the file again; whether there is another policy now.

        Raises what `open` raises for a file that cannot be used, once for each change of it; the
        last good policy stays.
        """
        try:
            text = read_text(str(self.path))
        except AvowError as error:
            if self._seen == "":
                return False
            self._seen, self.trouble = "", error
            raise
        if text == (self.text if self._seen is None else self._seen):
            return False
        self._seen = text
        try:
            self.policy = load_policy(text, str(self.path))
        except AvowError as error:
            self.trouble = error
            raise
        self.text, self.trouble = text, None
        return True

    async def _size_at(self, seconds: float) -> tuple[int, int]:
        """What tells one state of the file from another, after so many seconds."""
        await anyio.sleep(seconds)
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0)
        return (found.st_size, found.st_mtime_ns)

    async def watch(
        self,
        tell: Callable[[str], None],
        fail: Callable[[AvowError], None],
        *,
        seconds: float = _LOOK_SECONDS,
    ) -> None:
        """Look at the file every so many seconds, until cancelled.

        `tell` hears of a policy that counts from now on, and `fail` of a file that does not.
        """
        while True:
            before = await self._size_at(seconds)
            # A file that is being written may be whole for a moment with half of its rules.
            if before != await self._size_at(_SETTLE_SECONDS):
                continue
            try:
                if self.reload():
                    tell(f"{self.path}: the policy was read again and counts from now on")
            except AvowError as error:
                fail(error)
