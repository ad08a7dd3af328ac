"""Views of callers are cached, shared by callers who see the same tools, and bounded."""

from sayso.catalog import Catalog, Tool, make_catalog, make_tool
from sayso.gateway.search.search import Views
from sayso.policy import Policy, Principal, load_policy

TOOLS = [make_tool("crm", {"name": f"tool_{number}"}) for number in range(40)]
CATALOG = make_catalog(TOOLS)
POLICY = Policy()
PINNED = load_policy('tools = "search"\npin = ["crm__tool_3"]')


def sees(principal: Principal, tool: Tool, _: Policy) -> Tool | None:
    """Amy sees all, and a caller with a number all but the tool of this number."""
    return None if tool.name == f"tool_{principal.subject}" else tool


def test_callers_who_see_the_same_share_an_index() -> None:
    views = Views(sees)
    amy, bo = (views.of(CATALOG, POLICY, Principal(name)) for name in ("amy", "bo"))
    one = views.of(CATALOG, POLICY, Principal("1"))

    assert amy is bo
    assert one is not amy
    assert len(one.registry) == len(amy.registry) - 1
    assert views.of(CATALOG, POLICY, Principal("amy")) is amy


def test_another_list_or_policy_makes_all_anew() -> None:
    views = Views(sees)
    before = views.of(CATALOG, POLICY, Principal("amy"))

    other = views.of(CATALOG, PINNED, Principal("amy"))
    none = views.of(Catalog({}), POLICY, Principal("amy"))

    assert other is not before
    assert [one.name for one in other.pinned] == ["tool_3"]
    assert len(none.registry) == 0


def test_neither_callers_nor_indexes_grow_without_end() -> None:
    views = Views(sees)
    for number in range(1_100):
        assert len(views.of(CATALOG, POLICY, Principal(f"caller {number}")).registry) == 40
    for number in range(40):
        assert len(views.of(CATALOG, POLICY, Principal(str(number))).registry) == 39

    assert len(views._of_callers) <= 1_000  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    assert len(views._of_tools) <= 16  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
