"""A saved `tools/list`, read without changing or dropping anything."""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.connect.kinds import SavedTarget
from sayso.connect.naming import name_of_file
from sayso.errors import ConfigError
from sayso.settings import JsonFile, Step, read_json_lines, type_name

_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_EXAMPLE: Final = 'A saved list is {"tools": [{"name": "…", "inputSchema": {…}}, …]}.'


def is_saved(value: object) -> bool:
    """Return whether a file's JSON looks like a response to `tools/list`."""
    if not isinstance(value, dict):
        return isinstance(value, list)
    found = cast("dict[str, Any]", value)
    return "tools" in found or "jsonrpc" in found


def read_saved(file: JsonFile) -> SavedTarget:
    """Read the tools of a saved list: `{"tools": […]}`, only the array, or a JSON-RPC response.

    Raises `ConfigError` with the place of an invalid tool.
    """
    holder, steps = _holder(file)
    listed = holder.get("tools", file.value)
    if not isinstance(listed, list):
        what = f"“tools” must be an array, not {type_name(listed)}"
        raise ConfigError(what, where=file.where(*steps), fix=_EXAMPLE)
    items = cast("list[object]", listed)
    tools = tuple(_tool(file, item, *steps, index) for index, item in enumerate(items))
    return SavedTarget(name_of_file(file.path), file.path, _server(holder), tools)


def steps_to_tools(value: object) -> tuple[str, ...]:
    """Return the keys that lead to the array of tools in the JSON of a saved list.

    >>> steps_to_tools({"result": {"tools": []}}), steps_to_tools([])
    (('result', 'tools'), ())
    """
    if isinstance(value, list):
        return ()
    return ("tools",) if "tools" in cast("Mapping[str, Any]", value) else ("result", "tools")


def read_saved_lines(path: str) -> SavedTarget:
    """Read the tools of a `.jsonl` file: one on each line."""
    tools = tuple(_tool(file, file.value) for file in read_json_lines(path))
    return SavedTarget(name_of_file(path), path, {}, tools)


def _holder(file: JsonFile) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    if isinstance(file.value, list):
        return {}, ()
    found = cast("Mapping[str, Any]", file.value)
    if "tools" in found:
        return found, ("tools",)
    result = found.get("result")
    if isinstance(result, dict) and "tools" in result:
        return cast("Mapping[str, Any]", result), ("result", "tools")
    kind = "an error" if "error" in found else "not the answer to a tools/list"
    fix = "Save the response that holds the tools."
    raise ConfigError(f"this JSON-RPC message is {kind}", where=file.where(), fix=fix)


def _server(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the server's name and version, from the list or its `_meta` (MCP 2026-07-28)."""
    candidates: list[object] = [holder.get("serverInfo"), holder.get("server")]
    if isinstance(meta := holder.get("_meta"), dict):
        candidates.insert(0, cast("Mapping[str, Any]", meta).get(_SERVER_INFO))
    for found in candidates:
        if isinstance(found, dict):
            return cast("Mapping[str, Any]", found)
    return {}


def _tool(file: JsonFile, value: object, *steps: Step) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        what = f"a tool is an object, not {type_name(value)}"
        raise ConfigError(what, where=file.where(*steps), fix=_EXAMPLE)
    tool = cast("dict[str, Any]", value)
    name = tool.get("name")
    if "name" not in tool:
        raise ConfigError("this tool has no “name”", where=file.where(*steps), fix=_EXAMPLE)
    if not isinstance(name, str):
        what = f"a tool's name is a string, not {type_name(name)}"
        raise ConfigError(what, where=file.where(*steps, "name"), fix="Write it in quotes.")
    if "fingerprint" in tool and "inputSchema" not in tool:
        what = "this is a report of sayso, which has no input schemas"
        fix = "Save the server's response to tools/list."
        raise ConfigError(what, where=file.where(*steps), fix=fix)
    return tool
