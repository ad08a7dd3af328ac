"""The caller's own client as a channel: what it is asked, and what of its word counts."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.approvals.questions import Clock, question
from tests.sample_tools import AMY

from sayso.approvals import (
    Approval,
    Approvals,
    ApprovalState,
    Elicit,
    ElicitationChannel,
    Rounds,
    Strength,
    ask_client,
    take_answer,
)
from sayso.approvals.elicitation import INPUT, verdict_of
from sayso.errors import SealError
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.schema import Checker

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
APPROVE = {INPUT: {"action": "accept", "content": {"approve": True}}}


async def state_of(approvals: Approvals, number: int = 1) -> ApprovalState:
    found = await approvals.find(number)
    assert found is not None
    return found.state


async def bring(approvals: Approvals, approval: Approval, state: str | None) -> None:
    await take_answer(KEYS, approvals, approval, Rounds(APPROVE, state), "chat")


async def test_a_client_is_asked_for_one_boolean_and_nothing_else(approvals: Approvals) -> None:
    asked = ask_client(KEYS, await approvals.ask(question(password="hunter2")))
    assert asked["resultType"] == "input_required"
    (name, wanted), *more = asked["inputRequests"].items()
    assert (name, wanted["method"], more) == (INPUT, "elicitation/create", [])
    assert wanted["params"]["mode"] == "form"
    assert "May “chat” run “Delete customer” on “demo”?" in wanted["params"]["message"]
    assert "hunter2" not in json.dumps(asked)
    checker = Checker(wanted["params"]["requestedSchema"])
    assert checker.is_valid({"approve": True})
    assert not checker.is_valid({})


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        ({"action": "accept", "content": {"approve": True}}, True),
        ({"action": "accept", "content": {"approve": False}}, False),
        ({"action": "decline", "content": {"approve": True}}, False),
        ({"action": "cancel", "content": {"approve": True}}, None),
        ({"action": "accept", "content": {"approve": 1}}, None),
        ({"action": "accept", "content": {"approve": "true"}}, None),
        ({"action": "accept", "content": [True]}, None),
        ({"action": "accept", "content": None}, None),
        ({"action": ["accept"], "content": {"approve": True}}, None),
        ({}, None),
    ],
)
def test_only_a_clear_word_is_a_verdict(
    result: Mapping[str, Any],
    verdict: bool | None,  # noqa: FBT001 - a row of the table above
) -> None:
    assert verdict_of(result) is verdict


async def test_an_answer_is_relayed_and_says_so(approvals: Approvals) -> None:
    approval = await approvals.ask(question())
    await bring(approvals, approval, ask_client(KEYS, approval)["requestState"])
    (said,) = await approvals.answers(1)
    assert (said.person, said.channel, said.strength) == (
        "a person at “chat”",
        "elicitation",
        Strength.RELAYED,
    )
    assert await state_of(approvals) is ApprovalState.APPROVED


@pytest.mark.parametrize("responses", [None, {}, {INPUT: None}, {INPUT: {"action": "cancel"}}])
async def test_where_the_person_said_nothing_nothing_is_answered_and_the_state_is_spent(
    approvals: Approvals, responses: Any
) -> None:
    approval = await approvals.ask(question())
    state = ask_client(KEYS, approval)["requestState"]
    await take_answer(KEYS, approvals, approval, Rounds(responses, state), "chat")
    assert await state_of(approvals) is ApprovalState.PENDING
    with pytest.raises(SealError, match="already used"):
        await bring(approvals, approval, state)


@pytest.mark.parametrize("state", [None, "", ".", "k.00", "not hexadecimal", "\ud800", "é." * 9])
async def test_what_sayso_did_not_seal_answers_nothing(
    approvals: Approvals, state: str | None
) -> None:
    approval = await approvals.ask(question())
    with pytest.raises(SealError):
        await bring(approvals, approval, state)
    assert await state_of(approvals) is ApprovalState.PENDING


async def test_a_state_serves_once_however_it_is_written(approvals: Approvals) -> None:
    approval = await approvals.ask(question())
    state: str = ask_client(KEYS, approval)["requestState"]
    await bring(approvals, approval, state)
    name, _, sealed = state.partition(".")
    for again in (state, f"{name}.{sealed.upper()}", f"{name}. {sealed[:2]} {sealed[2:]}"):
        with pytest.raises(SealError, match="already used"):
            await bring(approvals, approval, again)


async def test_a_state_of_other_keys_or_another_purpose_serves_nothing(
    approvals: Approvals,
) -> None:
    approval = await approvals.ask(question())
    value = {"number": 1, "expires": approval.expires, "use": "u"}
    bound = {"binding": approval.question.binding}
    for state in (
        Keyring.of([b"x" * 32]).seal("elicitation", value, bound=bound),
        KEYS.seal("link", value, bound=bound),
        KEYS.seal("elicitation", value),
    ):
        with pytest.raises(SealError, match="not sealed here, or not for this"):
            await bring(approvals, approval, state)


@pytest.mark.parametrize(
    "other",
    [
        question(customer_id=8),
        question(Principal("bo", "chat")),
        question(Principal(AMY.subject, "another client")),
    ],
    ids=["arguments", "subject", "client"],
)
async def test_a_state_of_another_question_serves_nothing(approvals: Approvals, other: Any) -> None:
    state = ask_client(KEYS, await approvals.ask(other))["requestState"]
    approval = await approvals.ask(question())
    with pytest.raises(SealError):
        await bring(approvals, approval, state)
    assert await state_of(approvals, approval.number) is ApprovalState.PENDING


async def test_a_state_of_an_earlier_question_about_the_same_serves_nothing(
    approvals: Approvals, clock: Clock
) -> None:
    first = await approvals.ask(question())
    state = ask_client(KEYS, first)["requestState"]
    clock.now += 901
    second = await approvals.ask(question())
    assert second.number != first.number
    with pytest.raises(SealError, match="belongs to another question, or has expired"):
        await bring(approvals, second, state)


async def test_a_state_is_void_when_its_question_is_and_stays_spent_if_the_clock_is_set_back(
    approvals: Approvals, clock: Clock
) -> None:
    approval = await approvals.ask(question())
    state = ask_client(KEYS, approval)["requestState"]
    clock.now += 900
    with pytest.raises(SealError, match="has expired"):
        await bring(approvals, approval, state)
    clock.now -= 900
    await bring(approvals, approval, state)
    clock.now -= 100_000
    with pytest.raises(SealError, match="already used"):
        await bring(approvals, approval, state)


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (APPROVE[INPUT], ApprovalState.APPROVED),
        ({"action": "decline"}, ApprovalState.DENIED),
        ({"action": "cancel"}, ApprovalState.PENDING),
    ],
)
async def test_a_client_that_waits_is_asked_while_its_call_does(
    approvals: Approvals, result: Any, state: ApprovalState
) -> None:
    async def elicit(params: Mapping[str, Any]) -> Mapping[str, Any]:
        assert params["requestedSchema"]["required"] == ["approve"]
        return result

    channel = ElicitationChannel(Elicit(elicit), "chat")
    assert (channel.name, channel.strength) == ("elicitation", Strength.RELAYED)
    await channel.offer(approvals, await approvals.ask(question()))
    assert await state_of(approvals) is state
