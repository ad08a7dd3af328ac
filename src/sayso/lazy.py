"""Names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Final

_SDK: Final = frozenset({"mcp", "mcp_types", "pydantic", "httpx2"})
"""The packages of the extra `mcp`."""


def lazily(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Return a package's `__getattr__`; `homes` has the public names in each module.

    A name must differ from the package's modules: importing a module would replace the name.
    """
    modules = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> object:
        home = modules.get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value: object = getattr(_load(home, f"{package}.{name}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _load(module: str, name: str) -> ModuleType:
    """Import the module of a name. Raises `UsageError` if it requires the SDK, which is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        from sayso.errors import UsageError  # noqa: PLC0415 - only for this error
        from sayso.extras import install_fix  # noqa: PLC0415 - only for this error

        what = f"the package {error.name} is not installed"
        raise UsageError(what, where=name, fix=install_fix("mcp")) from error
