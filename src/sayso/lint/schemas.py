"""Whether a schema is one, by the meta-schema of JSON Schema."""

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

_LONGEST: Final = 200


def fault_of(schema: Mapping[str, Any]) -> str:
    """The first thing that is wrong with a schema, in one line; empty where nothing is.

    One that cannot even be looked at (nested too deeply, numbers beyond any) is said to be so.
    """
    if not schema:
        return ""
    try:
        jsonschema_rs.meta.validate(dict(schema))
    except jsonschema_rs.ValidationError as error:
        where = "/".join(str(step) for step in error.instance_path)
        first = error.message.partition("\n")[0]
        first = first if len(first) <= _LONGEST else f"…{first[-_LONGEST:]}"
        return f"{where}: {first}" if where else first
    except (ValueError, OverflowError, RecursionError, jsonschema_rs.ReferencingError) as error:
        return str(error).partition("\n")[0][:_LONGEST]
    return ""
