"""The description and the limits of a tool's argument, from which pydantic makes its schema.

`sayso demo` runs without pydantic, so this module does not import it: pydantic calls `Limits` when
the SDK makes a schema. Without the SDK, schemas come from `lists.json`.
"""

from typing import Annotated, Any


class Limits:
    """A description with the keywords of `pydantic.Field`, as metadata of `Annotated`."""

    def __init__(self, description: str, **keywords: Any) -> None:
        self.description = description
        self.keywords = keywords

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return pydantic's schema of a type with these limits."""
        from pydantic import Field  # noqa: PLC0415 - only pydantic calls this

        field = Field(description=self.description, **self.keywords)
        return handler.generate_schema(Annotated[source, field])
