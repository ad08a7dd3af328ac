"""What to declare of a tool about which nothing is said."""

from sayso.catalog import Tool
from sayso.intent import Hints, as_code, supposed


def suggest(tool: Tool) -> str | None:
    """The intent that its name and texts suggest, as code; `None` where they say too little."""
    found = supposed(Hints(**{name: guess.value for name, guess in tool.inferred.items()}))
    return None if found is None else as_code(found)


def advise(tool: Tool, *, is_taken: bool, how: str) -> str:
    """A sentence for the author; `how` is the decorator that takes an intent."""
    found = suggest(tool)
    what = f"the tool {tool.name!r} declares nothing, so it counts as one that destroys"
    if is_taken:
        what = f"the tool {tool.name!r} declares nothing; what its name and texts surely say holds"
    if found is None:
        return f"{what}; declare what it does: @{how}(…), with a preset such as sayso.READ_ONLY"
    reach = "" if "open_world" in tool.inferred else _REACH
    return f"{what}; its name and texts suggest @{how}({found}){reach}"


_REACH = ", with .but(open_world=True) if it reaches the outside world"
