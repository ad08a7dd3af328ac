"""Posting questions to a chat or mail gateway, without markup and with rate limits."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from sayso.connect import is_private, post_json
from sayso.errors import UsageError

POST_SECONDS: Final = 10.0
MAX_POSTS_AT_ONCE: Final = 4
MAX_POSTS_PER_MINUTE: Final = 30
_MINUTE: Final = 60.0
_MAX_CALLERS: Final = 1000

Post = Callable[[Mapping[str, Any]], Awaitable[None]]
"""A function that sends a JSON document to a chat or mail gateway."""

_MARKUP: Final = str.maketrans(
    "<>&@[]`*~|#\\",
    "\u2039\u203a\uff06\uff20\uff3b\uff3d\u02bc\u2217\u223c\u00a6\uff03\uff3c",
)
"""Markup characters of chats, mapped to lookalikes that chats show as plain text."""
_DOT: Final = chr(0x2024)
_ADDRESS: Final = re.compile(
    r"(?i)\b([a-z][a-z0-9+.-]{1,20}):/{1,2}|\b(mailto|tel|javascript|data):"
)
_DOMAIN: Final = re.compile(r"(?<=\S)[.\u3002\uff0e\uff61](?=[^\W\d_]\S)")
"""The dots of a domain name in any script, including IDNA's other dots."""
_NUMERIC: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)")
"""An IPv4 address, which some programs turn into a link."""


def without_markup(text: str) -> str:
    """Return untrusted text changed so that no chat turns it into a link, mention or formatting.

    Markup characters of Slack, Discord, Mattermost, Teams and mail are replaced by lookalikes;
    bare addresses are broken up.

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
    """The limits on the posts of each caller: per minute, and at the same time."""

    clock: Callable[[], float] = time.monotonic
    _callers: dict[str, _Caller] = field(default_factory=dict[str, _Caller])

    def admits(self, name: str) -> bool:
        """Count a post of this caller and return true; at the limit, only return false."""
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
        return self._callers.setdefault(name, _Caller()).slots

    def _forget(self, now: float) -> None:
        if len(self._callers) < _MAX_CALLERS:
            return
        for name, caller in [*self._callers.items()]:
            if not caller.times or now - caller.times[-1] >= _MINUTE:
                del self._callers[name]


def webhook(url: str) -> Post:
    """Return a function that posts JSON to `url`, without proxies and redirects.

    That function raises `TimedOutError`, and `UnreachableError` for any answer but a success.
    `webhook` itself raises `UsageError` for an invalid or insecure URL.
    """
    check_webhook(url)
    return partial(post_json, url, seconds=POST_SECONDS)


def check_webhook(url: str) -> None:
    """Raise `UsageError` for an invalid or insecure URL. The error omits the URL (a secret)."""
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise UsageError("the webhook must be an http(s) URL", where="--webhook")
    if not is_private(url):
        fix = "Use https: with http, others on the network could read the links and answer."
        what = "the webhook must use https unless it is on this machine"
        raise UsageError(what, where="--webhook", fix=fix)
