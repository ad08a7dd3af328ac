"""The environment of a server's process.

Every program needs variables such as PATH and HOME. `uvx` and `npx`, which download servers, also
need certificates and proxies. Other variables are not passed on, as they may hold secrets.
"""

import os
from collections.abc import Mapping
from typing import Final

PASSED_ON: Final = tuple(
    """
    HOME LOGNAME PATH SHELL TERM USER SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE
    NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy
    no_proxy all_proxy PIP_CONFIG_FILE UV_CONFIG_FILE UV_DEFAULT_INDEX NPM_CONFIG_USERCONFIG
    LANG LC_ALL TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    """.split()
)


def child_environment(declared: Mapping[str, str]) -> dict[str, str]:
    """Return a server's environment; variables in `declared` override inherited ones."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return kept | dict(declared)
