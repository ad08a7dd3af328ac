"""Where the console is."""

from typing import Final

HOME: Final = "/console"
CALLBACK: Final = f"{HOME}/login/oidc/callback"
"""Where an issuer sends browsers back to."""
