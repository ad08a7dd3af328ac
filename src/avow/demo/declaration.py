"""Tools with a declared intent, which refuse arguments that their schema does not name.

The SDK ignores arguments it does not know and turns `"false"` into a boolean: for a tool that
deletes, a misspelt `dry_run` would be a disaster.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError
from typing_extensions import override

from avow.errors import AvowError
from avow.intent import META_KEY, Intent, write_annotations, write_meta


class StrictTool(Tool):
    """A tool that runs on exactly the arguments its schema describes, or says why not."""

    @override
    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Run the tool.

        Raises `ToolError` for arguments that break the schema, and for what avow itself reports.
        """
        try:
            self.fn_metadata.arg_model.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(_refusal(self.name, error, self.parameters)) from error
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, AvowError):
                raise ToolError(f"{self.name}: {error.__cause__}") from error.__cause__
            raise


def strict_tool(function: Callable[..., Any], intent: Intent) -> Tool:
    """`function` as a tool of its own name, with `intent` on the wire and a closed input schema."""
    tool = StrictTool.from_function(
        function,
        title=intent.title,
        description=inspect.getdoc(function),
        annotations=ToolAnnotations.model_validate(write_annotations(intent.hints, intent.title)),
        meta={META_KEY: write_meta(intent)},
        structured_output=True,
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config.update(extra="forbid", strict=True)
    arguments.model_rebuild(force=True)
    return tool.model_copy(update={"parameters": arguments.model_json_schema()})


def _refusal(name: str, error: ValidationError, schema: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, in one line that a model or a person can act on."""
    known = ", ".join(schema["properties"])
    found = [
        _mistake(one["type"], ".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()
    ]
    return f"{name}: {'; '.join(found)}. Nothing was done. Its arguments are: {known}."


def _mistake(kind: str, argument: str, message: str) -> str:
    match kind:
        case "extra_forbidden":
            return f"there is no argument {argument!r}"
        case "missing":
            return f"the argument {argument!r} is required"
        case _:
            return f"the argument {argument!r} is wrong: {message[0].lower()}{message[1:]}"
