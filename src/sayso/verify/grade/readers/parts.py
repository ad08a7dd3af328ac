"""The parts of office documents: XML in untrusted zip files, read with limits."""

import io
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

PART_BYTES: Final = 32 * 1024 * 1024
TOTAL_BYTES: Final = 96 * 1024 * 1024
MOST_PARTS: Final = 2_000
MOST_NODES: Final = 1_000_000
DEEPEST: Final = 100


@dataclass(slots=True)
class Node:
    """An XML element, with names without namespaces."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: list["Node"] = field(default_factory=list["Node"])
    text: str = ""

    def all(self, name: str) -> "list[Node]":
        """Return this element and all elements below it that have this name, in order."""
        found: list[Node] = []
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            if node.name == name:
                found.append(node)
            pending.extend(reversed(node.children))
        return found

    def words(self, *names: str) -> str:
        """Return the joined text of the elements with these names, from this element downwards."""
        return "".join(node.text for name in names for node in self.all(name))


def read_parts(content: bytes) -> dict[str, bytes]:
    """Return all parts by name. Raises `ValueError` if `content` is no zip file or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            if len(listed) > MOST_PARTS:
                raise ValueError("too many parts")
            remaining = TOTAL_BYTES
            found: dict[str, bytes] = {}
            for item in listed:
                # The sizes in a zip file may be false, so reading has its own limit.
                with archive.open(item) as part:
                    limit = min(PART_BYTES, remaining)
                    found[item.filename] = part.read(limit + 1)
                if len(found[item.filename]) > limit:
                    raise ValueError("a part is too large")
                remaining -= len(found[item.filename])
            return found
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable zip file: {error}") from error


def parse(content: bytes) -> Node:
    """Parse XML. Raises `ValueError` if it is invalid, too large, or has a document type."""
    root = Node("")
    open_nodes = [root]
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_NODES or len(open_nodes) > DEEPEST:
            raise ValueError("too much XML")
        node = Node(_local(name), {_local(key): value for key, value in attributes.items()})
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def text(words: str) -> None:
        open_nodes[-1].text += words

    def refuse(*_words: Any) -> None:
        raise ValueError("XML with a document type is refused, since it may declare entities")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: open_nodes.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)  # noqa: FBT003 - the parser takes it by position alone
    except expat.ExpatError as error:
        raise ValueError(f"not XML: {error}") from error
    return root


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
