"""Who calls: what a request must bring to come in, and by which names avow may be called."""

from avow.access.admission import admit
from avow.access.apikey import NAME, make_api_key
from avow.access.arrival import Arrival, Headers
from avow.access.bearer import Bearer
from avow.access.load import load_access, read_access
from avow.access.local import Local, stated
from avow.access.machines import KEY_SECONDS, Machines
from avow.access.opening import open_access
from avow.access.origin import Names, is_own_host, is_own_origin, is_same_origin, own_names
from avow.access.refusal import RefusedError
from avow.access.resource import ALL, API, WELL_KNOWN
from avow.access.screens import may_use
from avow.access.settings import Console, OAuth, Screens, Settings
from avow.access.together import Access, Together

__all__ = [
    "ALL",
    "API",
    "KEY_SECONDS",
    "NAME",
    "WELL_KNOWN",
    "Access",
    "Arrival",
    "Bearer",
    "Console",
    "Headers",
    "Local",
    "Machines",
    "Names",
    "OAuth",
    "RefusedError",
    "Screens",
    "Settings",
    "Together",
    "admit",
    "is_own_host",
    "is_own_origin",
    "is_same_origin",
    "load_access",
    "make_api_key",
    "may_use",
    "open_access",
    "own_names",
    "read_access",
    "stated",
]
