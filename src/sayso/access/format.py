"""The format of access.toml, in one place: what is checked, and what each key is for."""

import re
from typing import Final

from sayso.access.console import SHAPE
from sayso.access.keyset import ALGORITHMS
from sayso.access.screens import SHAPE as SCREENS
from sayso.access.token import TYPES
from sayso.keys import FORM
from sayso.settings import DURATION, Boolean, Choice, Items, Key, Table, Text

_DURATION: Final = Text("a duration such as 30s or 2m", DURATION)
_SCOPE: Final = Text("a scope", re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+"))  # RFC 6749, section 3.3

_INTROSPECTION: Final = Table(
    {
        "client_id": Key(Text(), "as whom sayso asks", is_required=True),
        "client_secret": Key(Text(), f"where its secret is: {FORM}", is_required=True),
        "client_auth": Key(
            Choice(("client_secret_basic", "client_secret_post")),
            "whether the secret goes in a header or in the form",
            default="client_secret_basic",
        ),
        "url": Key(Text(), "where to ask; by default the issuer's metadata says it"),
        "remember": Key(_DURATION, "how long an answer counts, at most 5m", default="30s"),
    },
    "the issuer is asked about each token, whose form is its own affair",
)
_OAUTH: Final = Table(
    {
        "issuer": Key(Text(), "whose tokens are taken, as “iss” says it", is_required=True),
        "audience": Key(
            Text(), "what “aud” must say; by default the address that a request is for"
        ),
        "scopes": Key(Items(_SCOPE), "what every token must hold to come in at all"),
        "roles": Key(Text(), "the claim that holds roles, dotted where nested", default="roles"),
        "tenant": Key(Text(), "the claim that names the tenant; tokens without it are refused"),
        "leeway": Key(_DURATION, "how far clocks may be apart, at most 5m", default="30s"),
        "jwks_url": Key(Text(), "where the issuer's keys are; by default its metadata says it"),
        "algorithms": Key(
            Items(Choice(tuple(ALGORITHMS))), "what may sign; by default all of these"
        ),
        "typ": Key(Choice(TYPES), "the only type of token that is taken; by default both, or none"),
        "introspection": Key(_INTROSPECTION, "instead of verifying signatures"),
    },
    "people come with tokens of an authorization server",
)
ACCESS: Final = Table(
    {
        "api_keys": Key(Boolean(), "machines come with keys of sayso keys create", default=False),
        "oauth": Key(_OAUTH, "people come with tokens of an authorization server"),
        "console": Key(SHAPE, "people log in to the console with OpenID Connect"),
        "screens": Key(SCREENS, "screens of others show what waits"),
    },
    "Who may call the gateway, and log in to its console.",
)
