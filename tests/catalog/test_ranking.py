"""The ranking: rare words find tools; what all have in common finds nothing by itself."""

from typing import Any

from sayso.catalog import Registry, Tool, make_tool
from sayso.catalog.ranking import Ranking


def tool(name: str, description: str = "", **more: Any) -> Tool:
    return make_tool("crm", {"name": name, "description": description, **more})


def best(query: str, *tools: Tool) -> list[str]:
    scores = Ranking(tools).scores(query)
    return [tools[place].name for place in sorted(scores, key=lambda item: (-scores[item], item))]


def test_a_word_in_the_name_counts_more_than_one_in_a_text() -> None:
    found = best("invoice", tool("orders", "Orders with an invoice."), tool("invoice_get"))

    assert found == ["invoice_get", "orders"]


def test_a_tool_is_found_by_its_arguments_and_what_is_said_of_them() -> None:
    schema = {"properties": {"iban": {"description": "Account of the payee."}, "odd": 7}}
    pay, other = tool("pay", inputSchema=schema), tool("other", inputSchema={"properties": 3})

    assert best("iban", other, pay) == ["pay"]
    assert best("payee", other, pay) == ["pay"]


def test_the_beginning_of_a_word_finds_it_where_no_tool_has_it_as_a_word() -> None:
    tools = [tool("customer_get"), tool("custom_get")]

    assert best("custome", *tools) == ["customer_get"]
    assert best("custom", *tools) == ["custom_get"]
    assert best("cu", *tools) == []
    assert best("gette", tool("getter")) == ["getter"]


def test_what_many_tools_have_in_common_ranks_but_does_not_find() -> None:
    common = [tool(f"list_{number}") for number in range(60)]
    rest = [tool(f"get_{number}") for number in range(300)]
    wanted = [tool("list_lamp"), tool("lamp_drop")]

    assert best("list lamp", *common, *rest, *wanted) == ["list_lamp", "lamp_drop"]
    assert len(best("list", *common, *rest, *wanted)) == 61


def test_a_word_that_nearly_all_tools_have_does_not_even_rank() -> None:
    some = [tool(f"tool_{number}", "About a lamp." if number < 2 else "") for number in range(60)]

    assert Ranking(some).scores("tool lamp") == Ranking(some).scores("lamp")
    assert len(Ranking(some).scores("tool")) == 60


def test_nothing_is_found_among_nothing() -> None:
    assert Ranking([]).scores("x") == {}
    assert Registry([]).search("x").total == 0


def test_an_index_may_be_made_before_it_is_asked() -> None:
    registry = Registry([tool("lamp")])
    assert not registry.is_prepared

    registry.prepare()

    assert registry.is_prepared
    assert registry.search("lamp").total == 1
