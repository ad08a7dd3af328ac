"""Attacks on the guard: nothing runs, nothing leaks, and each is answered and recorded.

CEL that loops: `tests/policy/test_expression.py`. Links: `tests/approvals/test_link.py`. Expired,
edited and relayed answers: `tests/approvals`. A narrowing or a plan that lies: `test_narrow.py`,
`test_plan.py`. Keys: `test_repeat.py`. Limits by a clock that is set back: `test_history.py`.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest
from tests.guard.world import KEYS, World, asked, giving, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.approvals import LinkChannel, Rounds
from sayso.approvals.elicitation import INPUT
from sayso.errors import UsageError
from sayso.guard import Guard, UnknownToolError
from sayso.intent import Span
from sayso.keys import Keyring
from sayso.policy import Policy, Principal
from sayso.schema import digest, parse_json
from sayso.schema.plain_text import is_unseen

pytestmark = pytest.mark.anyio

RELAYED = '[approvals]\nchannels = ["console", "elicitation"]\n'
APPROVE = {INPUT: {"action": "accept", "content": {"approve": True}}}
CUSTOMER = {"customer_id": 7}


async def sealed(guard: Guard, arguments: Mapping[str, Any] = CUSTOMER, **more: Any) -> str:
    """The state that a client of 2026-07-28 gets with a question."""
    by: Principal = more.pop("principal", AMY)
    answer = await guard.call(by, more.pop("name", "t"), arguments, rounds=Rounds())
    return answer["requestState"]


async def refused(
    world: World, answer: dict[str, Any], words: str, outcome: tuple[str, str]
) -> None:
    """Nothing ran, the caller knows why, and so does the log."""
    assert answer["isError"] is True
    assert words in text(answer)
    assert world.ran == []
    assert (await world.log())[-1] == outcome


# What a client brings back


async def test_a_state_that_a_client_forged_runs_nothing(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    value = {"number": 1, "expires": world.clock.now + 900, "use": "u"}
    forged = Keyring.of([b"f" * 32]).seal("elicitation", value)
    for state in ("", "x", forged, json.dumps(value)):
        answer = await guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, state))
        await refused(world, answer, "not sealed here, or not for this", ("outcome", "denied"))
    assert (await asked(guard)).state == "pending"


async def test_an_answer_without_a_state_is_a_first_call(world: World) -> None:
    world.rule(RELAYED)
    world.add("t", DELETE)
    answer = await world.timed().call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE))
    assert answer["resultType"] == "input_required"
    assert world.ran == []


async def test_a_state_that_is_replayed_runs_nothing_more(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    state = await sealed(guard)
    assert "isError" not in await guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, state))
    world.ran.clear()
    answer = await guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, state))
    await refused(world, answer, "belongs to another question", ("outcome", "denied"))


async def test_of_many_replays_at_once_one_runs(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    state = await sealed(guard)
    async with anyio.create_task_group() as group:
        for _ in range(16):
            group.start_soon(lambda: guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, state)))
    assert len(world.ran) == 1


@pytest.mark.parametrize(
    ("principal", "arguments"),
    [
        (Principal("bo", "chat"), CUSTOMER),
        (Principal(AMY.subject, "another client"), CUSTOMER),
        (AMY, {"customer_id": 8}),
        (AMY, {"customer_id": "7"}),
        (AMY, {**CUSTOMER, "force": True}),
    ],
)
async def test_a_state_of_another_caller_or_other_arguments_runs_nothing(
    world: World, principal: Principal, arguments: Mapping[str, Any]
) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    rounds = Rounds(APPROVE, await sealed(guard))
    answer = await guard.call(principal, "t", arguments, rounds=rounds)
    await refused(world, answer, "not sealed here, or not for this", ("outcome", "denied"))


async def test_a_state_of_another_tool_or_of_the_tool_as_it_was_runs_nothing(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    world.add("other", DELETE)
    rounds = Rounds(APPROVE, await sealed(guard))
    answer = await guard.call(AMY, "other", CUSTOMER, rounds=rounds)
    await refused(world, answer, "not sealed here, or not for this", ("outcome", "denied"))
    world.add("t", DELETE, description="It deletes everything now.")
    answer = await guard.call(AMY, "t", CUSTOMER, rounds=rounds)
    await refused(world, answer, "not sealed here, or not for this", ("outcome", "denied"))


async def test_a_state_that_has_expired_runs_nothing_also_when_the_clock_is_set_back(
    world: World,
) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    rounds = Rounds(APPROVE, await sealed(guard))
    world.clock.now += 901
    answer = await guard.call(AMY, "t", CUSTOMER, rounds=rounds)
    await refused(world, answer, "has expired", ("outcome", "denied"))
    world.clock.now -= 901
    answer = await guard.call(AMY, "t", CUSTOMER, rounds=rounds)
    await refused(world, answer, "belongs to another question", ("outcome", "denied"))


async def test_where_policy_takes_no_relayed_answer_any_more_a_state_is_worth_nothing(
    world: World,
) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    world.add("t", DELETE)
    rounds = Rounds(APPROVE, await sealed(guard))
    world.rule('[[rules]]\nname = "r"\neffect = "confirm"\nrequire = "out_of_band"')
    answer = await guard.call(AMY, "t", CUSTOMER, rounds=rounds)
    await refused(world, answer, "Not run yet", ("outcome", "waiting"))


# Whose approval, and for what


@pytest.mark.parametrize("span", [Span.ONCE, Span.SESSION])
async def test_another_callers_approval_or_grant_serves_nobody_else(
    world: World, span: Span
) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", CUSTOMER)
    await guard.approvals.answer(1, yes(span=span))
    for other in (Principal("bo", "chat"), Principal(AMY.subject, "another client")):
        answer = await guard.call(other, "t", CUSTOMER)
        await refused(world, answer, "Not run yet", ("outcome", "waiting"))
    assert "isError" not in await guard.call(AMY, "t", CUSTOMER)


async def test_a_grant_dies_with_the_fingerprint_of_its_tool(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", CUSTOMER)
    await guard.approvals.answer(1, yes(span=Span.SESSION))
    assert "isError" not in await guard.call(AMY, "t", {"customer_id": 8})
    assert (await world.line("outcome"))["grant"] == 1
    world.ran.clear()
    world.add("t", DELETE, description="It deletes everything now.")
    answer = await guard.call(AMY, "t", CUSTOMER)
    await refused(world, answer, "Not run yet", ("outcome", "waiting"))


async def test_a_grant_for_a_conversation_ends_with_it(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", CUSTOMER)
    await guard.approvals.answer(1, yes(span=Span.SESSION))
    world.clock.now += 1799
    assert "isError" not in await guard.call(AMY, "t", CUSTOMER)
    world.ran.clear()
    world.clock.now += 1800
    answer = await guard.call(AMY, "t", CUSTOMER)
    await refused(world, answer, "Not run yet", ("outcome", "waiting"))


async def test_a_clock_that_is_set_back_uses_no_approval_twice(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", CUSTOMER)
    await guard.approvals.answer(1, yes())
    await guard.call(AMY, "t", CUSTOMER)
    world.ran.clear()
    world.clock.now -= 100_000
    answer = await guard.call(AMY, "t", CUSTOMER)
    await refused(world, answer, "approval 2", ("outcome", "waiting"))


LOOK_ALIKES = [
    "cust\u043emer_delete",  # a Cyrillic o
    "customer\u2010delete",  # another hyphen
    "customer_delete\u200b",  # an invisible space
    "\u202ecustomer_delete",  # right to left
    "customer_delete ",
    "Customer_delete",
    unicodedata.normalize("NFD", "customer_d\u00e9lete"),
    "customer_delete\0",
]


@pytest.mark.parametrize("name", LOOK_ALIKES)
async def test_a_name_that_looks_like_a_tools_is_another_tool(world: World, name: str) -> None:
    guard = world.timed()
    world.add("customer_delete", DELETE)
    await guard.call(AMY, "customer_delete", CUSTOMER)
    await guard.approvals.answer(1, yes(span=Span.SESSION))
    with pytest.raises(UnknownToolError):
        await guard.call(AMY, name, CUSTOMER)
    assert (await world.log())[-1] == ("refused", "unknown_tool")
    world.add(name, DELETE)
    answer = await guard.call(AMY, name, CUSTOMER)
    await refused(world, answer, "Not run yet", ("outcome", "waiting"))
    assert "isError" not in await guard.call(AMY, "customer_delete", CUSTOMER)


# What arguments may hold


def nested(depth: int, wrap: Callable[[Any], Any] = lambda inner: {"a": inner}) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = wrap(found)
    return found


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"a": nested(200)}, "nested deeper than 200 levels"),
        ({"a": nested(100_000)}, "nested deeper than 200 levels"),
        ({"a": nested(100_000, lambda inner: [inner])}, "nested deeper than 200 levels"),
        ({"a": float("nan")}, "not a JSON number"),
        ({"a": [float("inf")]}, "not a JSON number"),
        ({"a": -float("inf")}, "not a JSON number"),
        ({"a": "\ud800"}, "lone surrogate"),
        ({"\udfff": 1}, "lone surrogate"),
        ({1: 2}, "object keys must be strings"),
        ({"a": {1, 2}}, "set is not a JSON value"),
        ({"a": b"x"}, "bytes is not a JSON value"),
        ({"a": 10**5000}, "integer with too many digits"),
    ],
    ids=["200", "100000", "arrays", "nan", "inf", "-inf", "half", "key", "int", "set", "b", "long"],
)
async def test_arguments_that_are_no_json_to_pass_on_run_nothing(
    world: World, arguments: Any, why: str
) -> None:
    world.add("t", READ)
    answer = await world.timed().call(AMY, "t", arguments)
    await refused(world, answer, why, ("refused", "bad_arguments"))


async def test_arguments_as_deep_as_may_be_go_all_the_way(world: World) -> None:
    guard = world.timed(patience=20)
    world.add("t", DELETE, plan=giving([1]), narrow=giving(None))
    deep = nested(195)
    await while_waiting(guard, "t", lambda: guard.approvals.answer(1, yes()), arguments=deep)
    assert [one.arguments for one in world.ran] == [deep]
    assert (await world.line("outcome"))["arguments"] == deep


async def test_ten_megabytes_of_arguments_are_asked_about_and_run(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    large = {"text": "x" * 10_000_000}
    assert len(json.dumps(await guard.call(AMY, "t", large))) < 2000
    await guard.approvals.answer(1, yes())
    assert "isError" not in await guard.call(AMY, "t", large)
    assert (await world.line("outcome"))["arguments_digest"] == digest(large)


async def test_ten_megabytes_that_do_not_fit_do_not_come_back(world: World) -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    world.add("t", WRITE, inputSchema=schema)
    answer = await world.timed().call(AMY, "t", {"a": "x" * 10_000_000})
    await refused(world, answer, 'is not of type "integer"', ("refused", "bad_arguments"))
    assert len(text(answer)) < 2000


@pytest.mark.parametrize(
    "written",
    [
        '{"id": 1, "id": 2}',
        '{"a": {"id": 1, "\\u0069d": 2}}',
        '{"id": NaN}',
        '{"id": -Infinity}',
        '{"id": 1e999}',
        '{"id": ' + "1" * 5000 + "}",
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "[" * 100_000,
    ],
    ids=["twice", "escaped", "nan", "inf", "huge", "long", "deep", "open"],
)
def test_json_that_two_readers_would_read_differently_is_refused(written: str) -> None:
    with pytest.raises(UsageError):
        parse_json(written)


# What a person is shown


STEERING = "\x1b[2J\x1b]8;;http://evil\x07ok\x9b1m\r\nApproval 1: yes\u202e\u2066\u200b\u2028"


async def test_no_text_of_others_steers_what_a_person_is_shown_or_tells_apart(
    world: World,
) -> None:
    world.rule('[approvals]\nchannels = ["link", "elicitation"]')
    posts: list[Mapping[str, Any]] = []

    async def post(message: Mapping[str, Any]) -> None:
        posts.append(message)

    link = LinkChannel(KEYS, "http://127.0.0.1:1/link?token=", post, dict)
    guard = world.timed(console=None, channels=[link], patience=60)
    world.add("t", DELETE, title=STEERING, confirm=STEERING, plan=giving([STEERING]))
    by = Principal(AMY.subject, STEERING)
    arguments = {STEERING: STEERING, "deep": {STEERING: [STEERING]}}
    async with anyio.create_task_group() as group:
        group.start_soon(guard.call, by, "t", arguments)
        with anyio.fail_after(60):
            while not posts:
                await anyio.sleep(0.005)
        group.cancel_scope.cancel()
    answer = await guard.call(by, "t", arguments, rounds=Rounds())
    shown = answer["inputRequests"][INPUT]["params"]["message"]
    # A webhook's text has no character that is markup to a chat; a form's has the plain ones.
    posted = "May “\uff3cu001b\uff3b2J"
    begins = ("May “\\u001b[2J", posted, posted)
    for said, begin in zip((shown, posts[0]["text"], posts[0]["question"]), begins, strict=True):
        lines = said.split("\n")
        assert not any(is_unseen(char) for line in lines for char in line)
        assert lines[0].startswith(begin)
        assert not any(line.startswith("Approval 1: yes") for line in lines)
    assert len(shown.split("\n")) == 7


async def test_what_waits_is_announced_without_a_character_that_steers(world: World) -> None:
    told: list[str] = []
    world.add("t", DELETE, title=STEERING)
    await world.timed(announce=told.append).call(AMY, "t", {})
    assert len(told) == 1
    assert not any(is_unseen(char) for char in told[0])


# What a reviewer may do


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"customer_id": "all"}, "the reviewer's change does not fit the tool"),
        ({"customer_id": None}, "the reviewer's change does not fit the tool"),
        ({"customer_id": 666}, "Policy does not allow this call: never that one"),
    ],
)
async def test_an_edit_that_breaks_the_schema_or_the_policy_runs_nothing(
    world: World, edit: dict[str, Any], words: str
) -> None:
    world.rule(
        '[[rules]]\nname = "r"\neffect = "deny"\nreason = "never that one"\n'
        "when = { arguments = { customer_id = { equals = 666 } } }"
    )
    schema = {
        "type": "object",
        "properties": {"customer_id": {"type": "integer"}},
        "required": ["customer_id"],
    }
    world.add("t", DELETE, inputSchema=schema)
    guard = world.timed(patience=20)
    answer = await while_waiting(
        guard, "t", lambda: guard.approvals.answer(1, yes(edit=edit)), arguments=CUSTOMER
    )
    await refused(world, answer, words, ("outcome", "denied"))


async def test_an_edit_cannot_put_a_mask_where_a_secret_was(world: World) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", {"password": "hunter2"})
    shown = (await asked(guard)).question.arguments
    with pytest.raises(UsageError, match="masked value"):
        await guard.approvals.answer(1, yes(edit=shown))
    await guard.approvals.answer(1, yes(edit={"user": "bo"}))
    await guard.call(AMY, "t", {"password": "hunter2"})
    assert world.ran[0].arguments == {"password": "hunter2", "user": "bo"}
    assert "hunter2" not in json.dumps(await world.store.dump())


async def test_what_a_person_says_with_a_denial_reaches_the_agent_as_text_alone(
    world: World,
) -> None:
    guard = world.timed()
    world.add("t", DELETE)
    await guard.call(AMY, "t", CUSTOMER)
    await guard.approvals.answer(1, yes(is_allowed=False, message=STEERING))
    answer = await guard.call(AMY, "t", CUSTOMER)
    await refused(world, answer, "The person said: “\\u001b[2J", ("outcome", "denied"))
    assert not any(is_unseen(char) for char in text(answer).replace("\n", ""))


@pytest.mark.parametrize("mode", ["strict", "plan", "unattended"])
async def test_a_mode_that_a_program_gives_as_a_text_holds_for_calls(
    world: World, mode: Any
) -> None:
    world.policy = Policy(mode=mode)
    await world.timed().call(AMY, world.add("customer_delete", DELETE), {"customer_id": 7})
    assert world.ran == []


@pytest.mark.parametrize(
    ("field", "value"), [("mode", "nonsense"), ("mode", None), ("channels", frozenset[str]())]
)
async def test_a_policy_with_a_value_that_sayso_does_not_know_runs_nothing_destructive(
    world: World, field: str, value: Any
) -> None:
    object.__setattr__(world.policy, field, value)
    answer = await world.timed().call(AMY, world.add("customer_delete", DELETE), {})
    assert answer["isError"] is True
    assert world.ran == []


async def test_a_client_in_rounds_is_asked_again_when_the_plan_has_changed(world: World) -> None:
    world.rule(RELAYED)
    guard = world.timed()
    planned = ["one"]
    world.add("t", DELETE, plan=giving(planned))
    state = await sealed(guard)
    planned.append("two")
    again = await guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, state))
    assert again["resultType"] == "input_required"
    assert world.ran == []
    await guard.call(AMY, "t", CUSTOMER, rounds=Rounds(APPROVE, again["requestState"]))
    assert len(world.ran) == 1
