"""Posting questions to a chat or a mail gateway: what is sent, where to, and how often."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from sayso.connect import is_private
from sayso.errors import UsageError

POST_SECONDS: Final = 10.0
MAX_POSTS_AT_ONCE: Final = 4
MAX_POSTS_PER_MINUTE: Final = 30
_MINUTE: Final = 60.0
_MAX_CALLERS: Final = 1000

Post = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Sends one JSON document to where people see it: a chat, a mail gateway."""

_MARKUP: Final = str.maketrans(
    "<>&@[]`*~|#\\",
    "\u2039\u203a\uff06\uff20\uff3b\uff3d\u02bc\u2217\u223c\u00a6\uff03\uff3c",
)
"""Marks of all chats, and signs that look alike and mean nothing."""
_DOT: Final = chr(0x2024)
_ADDRESS: Final = re.compile(
    r"(?i)\b([a-z][a-z0-9+.-]{1,20}):/{1,2}|\b(mailto|tel|javascript|data):"
)
_DOMAIN: Final = re.compile(r"(?<=\S)[.\u3002\uff0e\uff61](?=[^\W\d_]\S)")
"""The dot before a label of a domain, in any script and with any dot that IDNA takes for one."""
_NUMERIC: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)")
"""An address of IPv4, of which some chats and mail programs make a link."""


def without_markup(text: str) -> str:
    """Return a stranger's text as every chat shows it as text: no link, mention or formatting.

    Slack, Discord, Mattermost, Teams and mail read different marks, and each also makes links of
    bare addresses. The marks of all of them become signs that look alike and mean nothing.

    >>> any(mark in without_markup("<https://x.example|Allow> <!here>") for mark in "<>|")
    False
    """
    text = _ADDRESS.sub(_broken, text.translate(_MARKUP))
    text = _NUMERIC.sub(lambda match: match[0].replace(".", _DOT), text)
    return _DOMAIN.sub(_DOT, text)


def _broken(match: re.Match[str]) -> str:
    scheme, _, rest = match[0].partition(":")
    return f"{scheme}: {rest}"


@dataclass(slots=True)
class _Caller:
    times: "deque[float]" = field(default_factory=deque[float])
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_POSTS_AT_ONCE))


@dataclass(slots=True)
class PostLimits:
    """How many posts one caller may cause in a minute, and at once."""

    clock: Callable[[], float] = time.monotonic
    _callers: dict[str, _Caller] = field(default_factory=dict[str, _Caller])

    def admits(self, name: str) -> bool:
        """Count one more post for a caller; return false, and count nothing, if it is too many."""
        now = self.clock()
        self._forget(now)
        times = self._callers.setdefault(name, _Caller()).times
        while times and now - times[0] >= _MINUTE:
            times.popleft()
        if len(times) >= MAX_POSTS_PER_MINUTE:
            return False
        times.append(now)
        return True

    def slot(self, name: str) -> asyncio.Semaphore:
        """Return what a post of this caller is to hold while it is sent."""
        return self._callers.setdefault(name, _Caller()).slots

    def _forget(self, now: float) -> None:
        if len(self._callers) < _MAX_CALLERS:
            return
        for name, caller in [*self._callers.items()]:
            if not caller.times or now - caller.times[-1] >= _MINUTE:
                del self._callers[name]


def webhook(url: str) -> Post:
    """Return what posts JSON to `url`, directly: through no proxy, and following no redirect.

    What it returns raises what the HTTP client raises, also for a refusal. Raises `UsageError` for
    a URL that others on the way could read.
    """
    check_webhook(url)

    async def post(message: Mapping[str, Any]) -> None:
        import httpx2  # noqa: PLC0415 - slow, for those who post

        async with httpx2.AsyncClient(
            timeout=POST_SECONDS, follow_redirects=False, trust_env=False
        ) as client:
            (await client.post(url, json=dict(message))).raise_for_status()

    return post


def check_webhook(url: str) -> None:
    """Raise `UsageError` for a URL that links to answer by may not be sent to.

    The URL may itself be a secret, so no error repeats it.
    """
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise UsageError("the webhook is not an http(s) URL", where="--webhook")
    if not is_private(url):
        fix = "Use https: whoever reads the links on the way could answer by them."
        what = "the webhook is not https, and it is not on this machine"
        raise UsageError(what, where="--webhook", fix=fix)
