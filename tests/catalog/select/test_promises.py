"""Properties that hold for any tools and any message."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.catalog.select.samples import tool
from tests.tiers import examples

from sayso import Level, Selector
from sayso.catalog import Selection, Tool

WORDS = ["customer", "file", "mail", "delete", "list", "send", "report", "lamp", "note", "get"]
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join)
TOOLS = st.lists(
    st.builds(tool, NAMES, NAMES, st.sampled_from(["a", "b"]), destroys=st.booleans()),
    max_size=40,
    unique_by=lambda item: item.qualified_name,
)
MESSAGES = st.lists(st.sampled_from([*WORDS, "and", ".", "not"]), max_size=12).map(" ".join)
LEVELS = st.sets(st.sampled_from([Level.READ, Level.DESTRUCTIVE]))


def said(found: Selection) -> list[tuple[str, float]]:
    return [(tool.name, tool.score) for tool in found.chosen]


@given(TOOLS, MESSAGES, st.integers(1, 12), LEVELS, LEVELS, st.data())
@settings(max_examples=examples(150))
def test_bounds_pins_and_levels_hold(
    tools: list[Tool],
    message: str,
    k: int,
    exclude: set[Level],
    held: set[Level],
    data: st.DataObject,
) -> None:
    names = [tool.qualified_name for tool in tools]
    pins = data.draw(st.sets(st.sampled_from(names), max_size=k)) if names else set[str]()

    found = Selector(tools).select(
        message, k, least=0, always=pins, exclude=exclude, unless_asked=held
    )

    assert len(found.chosen) <= k
    assert pins == {tool.name for tool in found.chosen if tool.is_pinned}
    assert all(tool.is_pinned or tool.tool.level not in exclude for tool in found.chosen)
    assert len(found.chosen) + sum(found.left_out.values()) == found.total == len(tools)
    scores = [tool.score for tool in found.chosen if not tool.is_pinned]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(TOOLS, TOOLS, MESSAGES)
@settings(max_examples=examples(150))
def test_what_was_changed_step_by_step_is_what_would_be_made_at_once(
    before: list[Tool], after: list[Tool], message: str
) -> None:
    grown = Selector(before)
    grown.select(message, exclude=["destructive"])
    grown.update(after)
    once = Selector(after)

    for exclude in ([], ["destructive"]):
        assert said(grown.select(message, 5, least=0, exclude=exclude)) == said(
            once.select(message, 5, least=0, exclude=exclude)
        )


@given(TOOLS, MESSAGES)
@settings(max_examples=examples(100))
def test_what_is_excluded_has_no_part_in_how_others_are_ranked(
    tools: list[Tool], message: str
) -> None:
    reads = [tool for tool in tools if tool.level is Level.READ]

    assert said(Selector(tools).select(message, 5, least=0, exclude=["destructive"])) == said(
        Selector(reads).select(message, 5, least=0)
    )
