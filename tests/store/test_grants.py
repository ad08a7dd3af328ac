"""Grants in the store: given with an answer, held, used, taken back. On both databases."""

from typing import Any

import anyio
import pytest
from tests.audit.conftest import KEYS
from tests.databases import Place
from tests.store.writing import pass_over, write

from sayso.audit import erase_subject, open_audit
from sayso.errors import StoreError
from sayso.store import AnswerRow, Database, GrantRow, open_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0
BODY = '{"subject": "amy", "client": "chat"}'
GRANT: dict[str, Any] = {
    "binding": "wide",
    "subject": "amy",
    "client": "chat",
    "span": "always",
    "is_for_conversation": False,
    "body": "{}",
    "approval": 1,
    "given_by": "bo",
    "channel": "console",
    "created": NOW,
}


def answered(number: int, person: str = "bo") -> AnswerRow:
    """A person's yes to a question."""
    return AnswerRow(number, person, True, "console", "out_of_band", NOW, expires=NOW + 60)  # noqa: FBT003


async def give(
    store: Database, binding: str = "b", body: str = BODY, *, given: str = "wide", **more: Any
) -> None:
    """Ask, and answer with a grant."""
    row = await store.questions.open(binding, body, now=NOW, expires=NOW + 60, idle=1800.0)
    grant = {**GRANT, "binding": given, **more}
    assert await store.questions.answer(answered(row.number), grant=grant)


async def find(store: Database, alive: float = NOW - 1800) -> GrantRow | None:
    return await store.grants.find("narrow", "wide", alive=alive)


@pytest.mark.parametrize("binding", ["narrow", "wide"])
async def test_a_grant_is_found_by_either_binding(store: Database, binding: str) -> None:
    assert await find(store) is None
    await give(store, given=binding)
    found = await find(store)
    assert found is not None
    assert (found.binding, found.span, found.given_by, found.uses) == (binding, "always", "bo", 0)
    assert await store.grants.find("x", "y", alive=0) is None


async def test_a_grant_for_a_conversation_holds_as_long_as_that_goes_on(store: Database) -> None:
    await give(store, is_for_conversation=True, span="session")
    found = await find(store)
    assert found is not None
    assert found.conversation == NOW
    assert await find(store, NOW) is None
    assert not await store.grants.use(found.number, now=NOW, alive=NOW)
    await store.questions.open("later", BODY, now=NOW + 5000, expires=NOW + 9999, idle=1800.0)
    assert await find(store, NOW + 3200) is None


async def test_a_grant_for_the_conversation_of_nobody_who_is_known_is_not_given(
    store: Database,
) -> None:
    await give(store, body="{}", is_for_conversation=True, span="session")
    assert await store.grants.newest() == []


async def test_a_grant_is_used_until_it_is_taken_back(store: Database) -> None:
    await give(store)
    assert await store.grants.use(1, now=NOW + 1, alive=0)
    assert await store.grants.use(1, now=NOW + 2, alive=0)
    assert await store.grants.revoke(1, by="al", now=NOW + 3)
    assert not await store.grants.revoke(1, by="bo", now=NOW + 4)
    assert not await store.grants.use(1, now=NOW + 5, alive=0)
    assert not await store.grants.use(99, now=NOW + 5, alive=0)
    assert await find(store) is None
    (row,) = await store.grants.newest()
    assert (row.uses, row.last_used, row.revoked_by, row.revoked_at) == (2, NOW + 2, "al", NOW + 3)


async def test_those_that_hold_are_listed_first_and_the_newest_before(store: Database) -> None:
    for name in ("a", "b", "c"):
        await give(store, name)
    await store.grants.revoke(3, by="al", now=NOW)
    assert [one.number for one in await store.grants.newest()] == [2, 1, 3]
    assert [one.number for one in await store.grants.newest(limit=1)] == [2]


async def test_a_grant_is_given_only_by_the_answer_that_counts(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    row = await stores[0].questions.open("b", BODY, now=NOW, expires=NOW + 60)

    async def one(index: int) -> None:
        await stores[index % 4].questions.answer(
            answered(row.number, f"person {index}"),
            grant={**GRANT, "given_by": f"person {index}"},
        )

    async with anyio.create_task_group() as group:
        for index in range(32):
            group.start_soon(one, index)
    (given,) = await stores[0].grants.newest()
    found = await stores[0].questions.find(row.number, now=NOW)
    assert found is not None
    assert given.given_by == found.answered_by
    for opened in stores:
        await opened.close()


async def test_an_erased_person_holds_no_grant_and_is_named_in_none(store: Database) -> None:
    await give(store)
    await give(store, "b2", '{"subject": "cy"}', subject="cy", given_by="amy")
    await store.grants.revoke(2, by="amy", now=NOW)
    async with open_audit(store, KEYS) as log:
        await erase_subject(log, "amy")
    (row,) = await store.grants.newest()
    assert (row.subject, row.given_by, row.revoked_by) == ("cy", "erased", "erased")


async def test_an_erased_person_holds_no_grant_in_any_tenant(store: Database) -> None:
    for subject in ("amy", "tenant:acme/amy", "tenant:a%2Fb/amy", "tenant:acme/bo"):
        await give(store, subject, f'{{"account": "{subject}"}}', subject=subject, given_by="al")
    async with open_audit(store, KEYS) as log:
        await erase_subject(log, "amy")
    assert [one.subject for one in await store.grants.newest()] == ["tenant:acme/bo"]


async def test_names_that_no_database_can_hold_are_kept_all_the_same(store: Database) -> None:
    name = "a\0b\ud800c"
    await give(
        store, body='{"subject": "a\\u0000b\\ud800c", "client": "x\\u0000"}', subject=name,
        client="x\0", given_by=name, is_for_conversation=True, span="session",
    )  # fmt: skip
    found = await find(store)
    assert found is not None
    assert (found.subject, found.given_by) == ("a\ufffdb?c", "a\ufffdb?c")
    assert await store.grants.use(found.number, now=NOW, alive=0)
    assert await store.grants.revoke(found.number, by=name, now=NOW)


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("INSERT ON grants", "did not store a grant"),
        ("UPDATE OF mac ON grants", "did not store the signature of a grant"),
    ],
)
async def test_an_answer_whose_grant_is_not_kept_is_not_kept_either(
    place: Place, moment: str, message: str
) -> None:
    store = open_store(place.url)
    row = await store.questions.open("b", BODY, now=NOW, expires=NOW + 60)

    async def answer() -> bool:
        return await store.questions.answer(
            answered(row.number),
            grant=GRANT,
            sign_grant=lambda given: f"mac for {given.approval}",
        )

    await pass_over(store, place, moment)
    with pytest.raises(StoreError, match=message):
        await answer()
    assert await store.grants.newest() == []
    found = await store.questions.find(row.number, now=NOW)
    assert found is not None
    assert found.state == "pending"
    await write(store, f"DROP TRIGGER eve{' ON grants' if place.kind != 'sqlite' else ''}")
    assert await answer()
    assert [(one.given_by, one.mac) for one in await store.grants.newest()] == [("bo", "mac for 1")]
    await store.close()


async def test_a_grant_counts_only_with_its_token_and_while_that_is_not_spent(
    store: Database,
) -> None:
    for name in ("a", "b", "c"):
        await give(store, name)
    tokens = {1: None, 2: "spent", 3: "good"}

    async def signed() -> GrantRow | None:
        return await store.grants.find(
            "n", "wide", alive=0, token_of=lambda row: tokens[row.number]
        )

    assert await store.tokens.spend("spent", now=NOW, expires=NOW + 60)
    found = await signed()
    assert found is not None
    assert found.number == 3
    assert await store.grants.revoke(3, by="al", now=NOW, token="good")
    assert await store.tokens.is_spent("good")
    await write(store, "UPDATE grants SET revoked_at = NULL")
    assert await signed() is None
