"""A listing made of raw entries of `tools/list`, and of what is known beside them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sayso.intent import HintName, Verdict
from sayso.lint.definitions import Definition
from sayso.lint.handler import Handler
from sayso.lint.subject import Listing, Subject, as_text


def make_listing(
    server: str,
    entries: Sequence[object],
    *,
    definitions: Mapping[str, Definition] | None = None,
    handlers: Mapping[str, Handler] | None = None,
    verdicts: Mapping[str, Mapping[HintName, Verdict]] | None = None,
    others: Mapping[str, str] | None = None,
) -> Listing:
    """The tools of one server; what is given beside the entries is by name of the tool.

    An entry that is no object, or has no name, is told of as such and looked at no further.
    """
    tools: list[Subject] = []
    broken: list[str] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            broken.append(f"entry {index} of the list is not an object")
            continue
        raw = cast("Mapping[str, Any]", entry)
        name = as_text(raw.get("name"))
        if not name:
            broken.append(f"entry {index} of the list has no name")
            continue
        definition = (definitions or {}).get(name)
        subject = Subject(
            raw,
            index=index,
            handler=(handlers or {}).get(name),
            verdicts=(verdicts or {}).get(name),
            comments=definition.allowed if definition else (),
        )
        tools.append(subject)
    return Listing(server, tools, others=others, broken=broken)
