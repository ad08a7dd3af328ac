"""Links: who gets one, what it is good for, and how it is posted."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest
from tests.approvals.questions import Clock, of, only, question, yes
from tests.sample_tools import AMY, DELETE, tool

from sayso.approvals import (
    Approval,
    Approvals,
    LinkChannel,
    Strength,
    make_token,
    read_token,
    webhook,
)
from sayso.approvals.posting import MAX_POSTS_PER_MINUTE, PostLimits, without_markup
from sayso.errors import SealError, UsageError
from sayso.keys import Keyring
from sayso.store import open_store

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
BASE = "http://127.0.0.1:1/link?token="


@dataclass
class Hook:
    """An HTTP server that notes what is posted to it, and answers as it is told."""

    statuses: list[int] = field(default_factory=list[int])
    posted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    paths: list[str] = field(default_factory=list[str])
    goes_on: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@pytest.fixture
def hook() -> Iterator[Hook]:
    found = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.paths.append(self.path)
            length = int(self.headers["Content-Length"])
            found.posted.append(json.loads(self.rfile.read(length)))
            status = found.statuses.pop(0) if found.statuses else 204
            if status == 0:
                found.goes_on.wait(30)
                return
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}/hook/secret-of-the-hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.goes_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


def channel(hook: Hook, people: Mapping[str, frozenset[str]] | None = None) -> LinkChannel:
    return LinkChannel(KEYS, BASE, webhook(hook.url), lambda: people or {})


async def posted(hook: Hook, count: int = 1) -> dict[str, Any]:
    """What was posted last, once there is so much."""
    with anyio.fail_after(60):
        while len(hook.posted) < count:
            await anyio.sleep(0.005)
    return hook.posted[-1]


async def told(caplog: pytest.LogCaptureFixture) -> str:
    """What the log says, once it says that a post failed."""
    with anyio.fail_after(60):
        while "could not be posted" not in caplog.text:
            await anyio.sleep(0.005)
    return caplog.text


def token_of(url: str) -> str:
    return url.removeprefix(BASE)


async def test_a_question_is_posted_once_with_a_link_that_answers_it(
    approvals: Approvals, hook: Hook
) -> None:
    sent = channel(hook)
    assert (sent.name, sent.strength) == ("link", Strength.OUT_OF_BAND)
    approval = await approvals.ask(question(customer_id=7, password="hunter2"))
    for _ in range(3):
        await sent.offer(approvals, approval)
    message = await posted(hook)
    (link,) = message["links"]
    assert message["text"].splitlines()[0] == "May “chat” run “Delete customer” on “demo”?"
    assert message["text"].splitlines()[-1] == link["url"]
    assert message["arguments"] == {"customer_id": 7, "password": "•••"}
    assert (message["approval"], message["level"]) == (1, "destructive")
    assert "hunter2" not in json.dumps(message)
    holder, found = await read_token(KEYS, token_of(link["url"]), approvals)
    assert (holder.person, holder.number, found.number) == ("link", 1, 1)
    assert len(hook.posted) == 1


@pytest.mark.parametrize(
    ("reviewers", "names"),
    [
        (None, ["al", "bo"]),
        (only("bo"), ["bo"]),
        (only(roles=("lead",)), ["al"]),
        (only("nobody"), []),
    ],
)
async def test_each_person_who_may_answer_gets_a_link_of_their_own(
    approvals: Approvals, hook: Hook, reviewers: Any, names: list[str]
) -> None:
    people = {
        "al": frozenset({"lead"}),
        "bo": frozenset[str](),
        AMY.subject: frozenset({"lead"}),
    }
    approval = await approvals.ask(of(tool(annotations=DELETE), reviewers=reviewers))
    await channel(hook, people).offer(approvals, approval)
    message = await posted(hook)
    assert [one["person"] for one in message["links"]] == names
    for one in message["links"]:
        holder, _ = await read_token(KEYS, token_of(one["url"]), approvals)
        assert (holder.person, holder.roles) == (one["person"], people[one["person"]])
        assert f"{one['person']}: {one['url']}" in message["text"]


async def test_where_nobody_is_named_an_open_link_answers_no_question_for_named_people(
    approvals: Approvals, hook: Hook
) -> None:
    approval = await approvals.ask(of(tool(annotations=DELETE), reviewers=only("bo")))
    await channel(hook).offer(approvals, approval)
    assert (await posted(hook))["links"] == []


@pytest.mark.parametrize("statuses", [[500], [500, 503], [302, 404]])
async def test_a_post_that_is_refused_is_tried_again(
    approvals: Approvals, hook: Hook, statuses: list[int]
) -> None:
    hook.statuses = list(statuses)
    await channel(hook).offer(approvals, await approvals.ask(question()))
    await posted(hook, len(statuses) + 1)
    assert len({json.dumps(one) for one in hook.posted}) == 1


@pytest.mark.parametrize("status", [302, 500])
async def test_a_post_that_fails_or_is_sent_elsewhere_is_told_without_its_address(
    approvals: Approvals, hook: Hook, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    hook.statuses = [status] * 3
    await channel(hook).offer(approvals, await approvals.ask(question()))
    assert f"approval 1 could not be posted: HTTP {status}" in await told(caplog)
    assert "secret-of-the-hook" not in caplog.text
    assert hook.paths == ["/hook/secret-of-the-hook"] * 3


async def test_a_hook_that_is_not_there_is_told_without_its_address(
    approvals: Approvals, caplog: pytest.LogCaptureFixture
) -> None:
    absent = Hook(url="http://127.0.0.1:9/secret-of-the-hook")
    await channel(absent).offer(approvals, await approvals.ask(question()))
    assert "approval 1 could not be posted: the connection could not be opened" in await told(
        caplog
    )
    assert "secret-of-the-hook" not in caplog.text


async def test_nobody_waits_for_a_hook_that_hangs(approvals: Approvals, hook: Hook) -> None:
    hook.statuses = [0]
    approval = await approvals.ask(question())
    with anyio.fail_after(60):
        await channel(hook).offer(approvals, approval)
    await posted(hook)
    assert await approvals.answer(1, yes())


async def test_a_hook_that_hangs_is_given_up(
    approvals: Approvals,
    hook: Hook,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayso.approvals.link.POST_SECONDS", 0.1)
    hook.statuses = [0, 0, 0]
    await channel(hook).offer(approvals, await approvals.ask(question()))
    assert "could not be posted" in await told(caplog)


async def test_what_was_to_be_posted_arrives_though_its_call_has_gone(
    approvals: Approvals, hook: Hook
) -> None:
    approval = await approvals.ask(question())
    sent = channel(hook)
    async with anyio.create_task_group() as group:
        await sent.offer(approvals, approval)
        group.cancel_scope.cancel()
    assert (await posted(hook))["approval"] == 1


async def token(approvals: Approvals, person: str = "bo") -> tuple[str, Approval]:
    approval = await approvals.ask(question())
    return make_token(KEYS, approval, person, frozenset({"lead"})), approval


async def test_a_token_that_was_tampered_with_opens_nothing(approvals: Approvals) -> None:
    made, _ = await token(approvals)
    for place in range(0, len(made), 7):
        for char in "0a.g ":
            other = f"{made[:place]}{char}{made[place + 1 :]}"
            if other == made:
                continue
            with pytest.raises(SealError):
                await read_token(KEYS, other, approvals)
    for other in ("", made[:-2], made + "00", made.partition(".")[2], "\ud800"):
        with pytest.raises(SealError):
            await read_token(KEYS, other, approvals)


async def test_a_token_is_void_once_its_question_has_expired(
    approvals: Approvals, clock: Clock
) -> None:
    made, approval = await token(approvals)
    clock.now = approval.expires - 1
    await read_token(KEYS, made, approvals)
    clock.now += 1
    with pytest.raises(SealError, match="this link is invalid or has expired"):
        await read_token(KEYS, made, approvals)


async def test_a_token_of_other_keys_or_another_purpose_opens_nothing(approvals: Approvals) -> None:
    _, approval = await token(approvals)
    value = {
        "number": 1,
        "binding": approval.question.binding,
        "person": "bo",
        "roles": [],
        "expires": approval.expires,
    }
    others = Keyring.of([b"x" * 32])
    for made in (others.seal("link", value), KEYS.seal("elicitation", value)):
        with pytest.raises(SealError, match="not sealed here, or not for this"):
            await read_token(KEYS, made, approvals)


async def test_a_token_of_another_store_is_void(approvals: Approvals, tmp_path: Any) -> None:
    made, _ = await token(approvals)
    store = open_store(f"sqlite:{tmp_path / 'other.db'}")
    elsewhere = Approvals.of(store, clock=approvals.clock)
    with pytest.raises(SealError, match="this link is invalid or has expired"):
        await read_token(KEYS, made, elsewhere)
    await elsewhere.ask(question(customer_id=8))
    with pytest.raises(SealError, match="this link is invalid or has expired"):
        await read_token(KEYS, made, elsewhere)
    await store.close()


async def test_a_token_says_nothing_to_whoever_reads_it(approvals: Approvals) -> None:
    made, approval = await token(approvals, "bo")
    raw = bytes.fromhex(made.partition(".")[2])
    assert b"bo" not in raw
    assert approval.question.binding.encode() not in raw


async def test_who_holds_a_link_answers_once_and_not_what_they_asked(approvals: Approvals) -> None:
    made, _ = await token(approvals)
    holder, approval = await read_token(KEYS, made, approvals)
    said = yes(holder.person, channel="link", roles=holder.roles)
    assert await approvals.answer(approval.number, said)
    assert not await approvals.answer(approval.number, said)
    mine = make_token(KEYS, approval, AMY.subject, frozenset())
    holder, _ = await read_token(KEYS, mine, approvals)
    with pytest.raises(UsageError, match="another person must answer"):
        await approvals.answer(1, yes(holder.person))


@pytest.mark.parametrize(
    "hostile",
    [
        "<https://evil.example|Allow here>",
        "<!channel> <@U123>",
        "@everyone @here",
        "[Allow](https://evil.example)",
        "Allow at https://evil.example/x or HTTP:/evil.example or evil.example",
        "`code` *bold* ~~gone~~ ||hidden|| # head",
        "<a href=javascript:alert(1)>x</a> mailto:amy@evil.example \\[x\\]",
    ],
)
def test_no_chat_reads_markup_in_what_others_say(hostile: str) -> None:
    told = without_markup(hostile)

    assert not re.search(r"[<>&@\[\]`*~|#\\]", told)
    assert not re.search(r"(?i)[a-z]:/|evil\.example|(mailto|javascript):\S", told)
    assert "Allow" in told or "llow" not in hostile


@pytest.mark.parametrize(
    "hostile",
    [
        "evil.\u0440\u0444/allow",
        "\u0435vil.example",
        "b\xfccher.example",
        "evil\u3002example",
        "evil\uff0eexample",
        "evil\uff61example",
        "evil.\u092d\u093e\u0930\u0924/x",
        "192.168.0.1/allow",
        "10.0.0.1:80",
    ],
)
def test_no_chat_reads_an_address_in_another_script_or_in_numbers(hostile: str) -> None:
    assert not re.search("[.\u3002\uff0e\uff61]", without_markup(hostile))


@pytest.mark.parametrize("text", ["1.50 EUR", "v1.2.3", "1.2.3.4.5", "Sent. Next", "a.b"])
def test_numbers_and_sentences_keep_their_dots(text: str) -> None:
    assert without_markup(text) == text


async def test_a_post_holds_no_markup_but_its_own_links(approvals: Approvals, hook: Hook) -> None:
    hostile = "<https://evil.example|Allow here> @here"
    asked = replace(question(), client=hostile, title=hostile, arguments={hostile: hostile})

    await channel(hook).offer(approvals, await approvals.ask(asked))
    message = await posted(hook)

    (link,) = message["links"]
    assert "evil.example" not in message["text"] + message["question"]
    assert message["text"].count("://") == 1
    assert message["text"].endswith(link["url"])


@pytest.mark.parametrize(
    "url",
    ["http://chat.example/hook", "ftp://chat.example", "chat.example", "http://", "http://[::"],
)
def test_a_webhook_elsewhere_wants_https(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        webhook(url)
    assert "chat.example" not in str(caught.value)
    webhook("https://amy:secret@chat.example/hook?x=1")
    webhook("http://127.0.0.1:9/hook")


async def test_a_proxy_of_the_environment_gets_no_link(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    await webhook(hook.url)({"text": "x"})


def test_one_caller_causes_so_many_posts_in_a_minute_and_no_more() -> None:
    now = 0.0
    limits = PostLimits(clock=lambda: now)

    assert [limits.admits("amy") for _ in range(MAX_POSTS_PER_MINUTE + 2)].count(True) == 30
    assert limits.admits("bob")
    now = 60.0
    assert limits.admits("amy")
    assert all(limits.admits(f"caller {number}") for number in range(1500))
    now = 120.0
    assert limits.admits("amy")
