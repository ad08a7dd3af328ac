"""Names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


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
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
