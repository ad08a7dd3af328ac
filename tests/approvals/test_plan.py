"""Plans: what an author's function may give, and what it becomes."""

from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from sayso.approvals import make_plan, take_plan
from sayso.errors import UsageError
from sayso.schema import MASK


@dataclass
class Change:
    """A change as an author may write it."""

    action: str
    target: int


class Model(BaseModel):
    """The same for pydantic."""

    action: str
    target: int


@dataclass
class Whole:
    """A plan with more than its changes."""

    changes: tuple[Any, ...]
    note: str = ""


ONE = {"action": "delete", "target": 12}


@pytest.mark.parametrize(
    "said",
    [
        [ONE],
        (ONE,),
        {"changes": [ONE], "note": "more"},
        [Change("delete", 12)],
        [Model(action="delete", target=12)],
        Whole((Model(action="delete", target=12),)),
    ],
)
def test_one_plan_may_be_said_in_many_ways(said: Any) -> None:
    plan = make_plan(said)
    assert plan.changes == (ONE,)
    # What else it says is for the sentence that a person is asked, so it counts too.
    assert (plan.digest == make_plan([ONE]).digest) is (not plan.facts)


def test_plans_that_differ_in_a_change_or_its_order_have_other_digests() -> None:
    plans = [[], ["a"], ["a", "b"], ["b", "a"], [["a", "b"]], [{"a": "b"}], [1], ["1"], [True]]
    assert len({make_plan(one).digest for one in plans}) == len(plans)


def test_keys_that_are_no_texts_become_texts() -> None:
    assert make_plan([{7: "seven"}]).changes == ({"7": "seven"},)


@pytest.mark.parametrize("said", [None, "all", 7, {}, {"change": []}, {"changes": "all"}, Change])
def test_what_is_no_list_of_changes_is_no_plan(said: Any) -> None:
    with pytest.raises(UsageError, match="a plan is a list of changes"):
        make_plan(said)


@pytest.mark.parametrize("said", [[float("nan")], [{1, 2}], [object()], ["\ud800"], [b"x"]])
def test_changes_that_are_no_json_are_no_plan(said: Any) -> None:
    with pytest.raises(UsageError):
        make_plan(said)


def test_secrets_in_a_plan_are_masked_when_it_is_shown() -> None:
    shown = make_plan([{"before": {"password": "a"}, "after": {"password": "b"}}]).to_dict()
    assert shown["changes"] == [{"before": {"password": MASK}, "after": {"password": MASK}}]


@pytest.mark.anyio
async def test_a_function_gets_arguments_of_its_own() -> None:
    arguments = {"ids": [1]}

    async def plan(given: dict[str, Any]) -> list[int]:
        given["ids"].append(2)
        await anyio.lowlevel.checkpoint()
        return given["ids"]

    assert (await take_plan(plan, arguments)).changes == (1, 2)
    assert arguments == {"ids": [1]}
