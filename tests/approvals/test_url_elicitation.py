"""The page of a question: its address, and what a client that leads there may say."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.approvals.questions import question

from sayso.approvals import (
    Answer,
    Approval,
    Approvals,
    ApprovalState,
    Elicit,
    Strength,
    UrlElicitationChannel,
    ask_to_open_page,
    is_declined,
    page_of,
)
from sayso.approvals.elicitation import INPUT

pytestmark = pytest.mark.anyio

PAGE = "http://127.0.0.1:8321/console/approvals/1"


@pytest.mark.parametrize(
    ("console", "page"),
    [
        ("http://127.0.0.1:8321/console/", PAGE),
        ("http://127.0.0.1:8321/console", PAGE),
        ("https://[::1]:8321/console/", "https://[::1]:8321/console/approvals/1"),
        ("https://sayso.example", "https://sayso.example/approvals/1"),
        (
            "https://ann:secret@sayso.example/?token=secret#secret",
            "https://sayso.example/approvals/1",
        ),
        ("the console", None),
        ("javascript:alert(1)", None),
        ("file:///console/", None),
        ("http://", None),
        ("http://[", None),
        ("", None),
        (None, None),
    ],
)
def test_a_page_is_below_a_console_that_has_an_address_and_carries_no_secret(
    console: str | None, page: str | None
) -> None:
    assert page_of(console, 1) == page


async def test_a_client_is_told_what_it_is_about_and_the_address_names_the_number_only(
    approvals: Approvals,
) -> None:
    approval = await approvals.ask(question(password="hunter2"))
    asked = ask_to_open_page(approval.question, PAGE)
    assert asked.keys() == {"resultType", "inputRequests"}
    (name, wanted), *more = asked["inputRequests"].items()
    assert (name, wanted["method"], more) == (INPUT, "elicitation/create", [])
    assert wanted["params"].keys() == {"mode", "message", "url"}
    assert (wanted["params"]["mode"], wanted["params"]["url"]) == ("url", PAGE)
    assert "May “chat” run “Delete customer” on “demo”?" in wanted["params"]["message"]
    assert wanted["params"]["message"].endswith("Opening it approves nothing.")
    assert "hunter2" not in json.dumps(asked)


@pytest.mark.parametrize(
    ("result", "is_so"),
    [
        (None, False),
        ({}, False),
        ({"action": "accept"}, False),
        ({"action": "cancel"}, False),
        ({"action": ["decline"]}, False),
        ({"action": "decline", "content": {"approve": True}}, True),
    ],
)
def test_only_a_clear_word_declines(
    result: Mapping[str, Any] | None,
    is_so: bool,  # noqa: FBT001 - a row of the table above
) -> None:
    assert is_declined(result) is is_so


class Client:
    """A client of 2025-11-25, and what it was sent and told."""

    def __init__(self, result: Mapping[str, Any], *, is_gone: bool = False) -> None:
        self.result, self.is_gone = result, is_gone
        self.sent: list[Mapping[str, Any]] = []
        self.told: list[str] = []

    async def send(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent.append(params)
        return self.result

    async def complete(self, elicitation: str) -> None:
        if self.is_gone:
            raise ConnectionError("it is gone")
        self.told.append(elicitation)

    def channel(self) -> UrlElicitationChannel:
        return UrlElicitationChannel(Elicit(self.send, frozenset({"url"}), self.complete), PAGE)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel", "approve", None])
@pytest.mark.parametrize("content", [None, {"approve": True}])
async def test_whatever_the_client_says_answers_nothing(
    action: str | None, content: Any, approvals: Approvals
) -> None:
    client = Client({"action": action, "content": content})
    channel = client.channel()
    assert (channel.name, channel.strength) == ("console", Strength.OUT_OF_BAND)
    approval = await approvals.ask(question())
    await channel.offer(approvals, approval)
    found = await approvals.find(1)
    assert found is not None
    assert found.state is ApprovalState.PENDING
    assert await approvals.answers(1) == []
    assert channel.is_declined is (action == "decline")
    await channel.end(approval)
    assert client.told == []  # nobody has answered


async def settle(approvals: Approvals) -> Approval:
    await approvals.answer(1, Answer(is_allowed=False, by="console", channel="console"))
    found = await approvals.find(1)
    assert found is not None
    return found


async def test_a_client_that_led_there_is_told_when_somebody_has_answered(
    approvals: Approvals,
) -> None:
    client = Client({"action": "accept"})
    channel = client.channel()
    await channel.offer(approvals, await approvals.ask(question()))
    await channel.end(await settle(approvals))
    assert client.told == [client.sent[0]["elicitationId"]]
    assert len(client.told[0]) == 32


async def test_each_request_has_an_id_of_its_own(approvals: Approvals) -> None:
    approval, client = await approvals.ask(question()), Client({"action": "accept"})
    for _ in range(3):
        await client.channel().offer(approvals, approval)
    assert len({one["elicitationId"] for one in client.sent}) == 3


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_client_that_did_not_lead_there_is_told_nothing(
    action: str, approvals: Approvals
) -> None:
    client = Client({"action": action})
    channel = client.channel()
    await channel.offer(approvals, await approvals.ask(question()))
    await channel.end(await settle(approvals))
    assert client.told == []


async def test_a_client_that_is_gone_by_then_is_only_logged(
    approvals: Approvals, caplog: pytest.LogCaptureFixture
) -> None:
    channel = Client({"action": "accept"}, is_gone=True).channel()
    await channel.offer(approvals, await approvals.ask(question()))
    await channel.end(await settle(approvals))
    assert "could not notify the client of approval 1" in caplog.text
