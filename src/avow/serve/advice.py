"""What to declare of a tool about which nothing is said."""

from avow.catalog import Tool
from avow.intent import HINT_NAMES, PRESETS, Hints


def suggest(tool: Tool) -> str | None:
    """The preset that fits all that its name and texts suggest, if they suggest anything."""
    if not tool.inferred:
        return None
    # Texts that speak of nothing outside suggest nothing outside; for the rest, the defaults.
    said = {"open_world": False} | {name: one.value for name, one in tool.inferred.items()}
    guessed = Hints(**said).with_defaults()
    fits = {
        name: sum(preset.hints[one] is guessed[one] for one in HINT_NAMES)
        for name, preset in PRESETS.items()
        if preset.hints.read_only is guessed.read_only
    }
    return max(fits, key=lambda name: fits[name], default=None)


def advise(tool: Tool, *, is_taken: bool) -> str:
    """A sentence for the author."""
    found = suggest(tool)
    what = f"the tool {tool.name!r} declares nothing, so it counts as one that destroys"
    if is_taken:
        what = f"the tool {tool.name!r} declares nothing; what its name and texts suggest is taken"
    if found is None:
        return f"{what}; declare what it does, for example @avow.declare(avow.READ_ONLY)"
    return f"{what}; its name and texts suggest avow.{found}: @avow.declare(avow.{found})"
