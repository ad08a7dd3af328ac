"""Logging in with OpenID Connect: the authorization code flow with PKCE, `state` and `nonce`.

The login's state is sealed in a cookie. So any process with the same keys can continue the login,
but another browser cannot.
"""

import logging
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sayso.access import Console, Issuer, UnfitError, address_in, discover, read_header, read_signed
from sayso.connect import ClientAuth, Fetched, Fetcher, RefreshingCache, open_fetcher
from sayso.console.entry.idtoken import EntryError, Person, Proof, check_claims, person_of
from sayso.console.home import CALLBACK
from sayso.errors import SaysoError, SealError, UnreachableError
from sayso.keys import Keyring
from sayso.store import Tokens

_log: Final = logging.getLogger(__name__)

FLOW_SECONDS: Final = 600
"""The time limit for a login at the issuer."""

_PURPOSE: Final = "console oidc"
_FRESH: Final = 600.0
_USABLE: Final = 3600.0
_LONGEST: Final = 4096
_PARAMETERS: Final = frozenset({"code", "state", "iss", "error"})
_ISS: Final = "authorization_response_iss_parameter_supported"


@dataclass(frozen=True, slots=True)
class Begun:
    """A started login: the issuer's URL, and the sealed state for the cookie."""

    url: str
    cookie: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Entered:
    """A successful login, and the page to open."""

    person: Person
    onward: str


@dataclass(slots=True)
class Provider:
    """The issuer that people log in with; `callback` is the redirect URL."""

    settings: Console
    fetcher: Fetcher
    callback: str
    tokens: Tokens
    keys: Keyring = field(repr=False)
    clock: Callable[[], float] = time.time
    _metadata: RefreshingCache[dict[str, Any]] = field(init=False, repr=False)
    _issuer: Issuer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._metadata = RefreshingCache(self._discover)
        self._issuer = Issuer(self.settings.issuer, self.fetcher, self.settings.algorithms)

    @property
    def stamp(self) -> str:
        """A digest of the login settings. A session with another digest is invalid."""
        settings = self.settings
        roles = sorted((role, sorted(words)) for role, words in settings.roles.items())
        people = settings.people
        if people is not None:
            people = sorted(people)
        rules = repr((settings.issuer, settings.client_id, settings.claim, roles, people))
        return sha256(rules.encode()).hexdigest()[:16]

    async def begin(self, onward: str) -> Begun:
        """Start a login that continues to the page `onward`. Raises `EntryError`."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        metadata = await self._load_metadata()
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.callback,
            "scope": " ".join(["openid", *self.settings.scopes]),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        endpoint = address_in(metadata, "authorization_endpoint", self.settings.issuer)
        url = _with_query(endpoint, query)
        state_values = {"state": state, "nonce": nonce, "verifier": verifier, "onward": onward}
        until = self.clock() + FLOW_SECONDS
        return Begun(url, self.keys.seal(_PURPOSE, {**state_values, "until": until}))

    async def finish(self, parameters: Mapping[str, str], cookie: str) -> Entered:
        """Finish a login with the issuer's parameters and the browser's cookie.

        Raises `EntryError` if these do not belong to a login that this console started.
        """
        flow = self._open(cookie)
        await self._use_up(flow, parameters.get("state", ""))
        metadata = await self._load_metadata()
        self._check_sender(parameters, metadata)
        try:
            token, access_token = await self._redeem(parameters["code"], flow["verifier"], metadata)
            person = await self._person(token, Proof(flow["nonce"], access_token))
        except SaysoError as error:
            raise _unreachable(error) from None
        return Entered(person, flow["onward"])

    def _open(self, cookie: str) -> dict[str, Any]:
        try:
            return self.keys.open(_PURPOSE, cookie)
        except SealError:
            raise EntryError("No login was started in this browser.") from None

    async def _use_up(self, flow: Mapping[str, Any], state: str) -> None:
        """Check that a login continues in the browser that started it, in time, and only once."""
        if not compare_digest(state.encode(), flow["state"].encode()):
            raise EntryError(
                "This login was started in another browser, or a newer login replaced it."
            )
        now = self.clock()
        if now >= flow["until"]:
            raise EntryError("This login took too long.")
        name = f"{_PURPOSE} {flow['state']}"
        if not await self.tokens.spend(name, now=now, expires=flow["until"]):
            raise EntryError("This login was already used.")

    def _check_sender(self, response: Mapping[str, str], metadata: Mapping[str, Any]) -> None:
        """Check that the response is from the issuer (RFC 9207), and not an error."""
        issuer = response.get("iss")
        if issuer is None and metadata.get(_ISS) is not True:
            issuer = self.settings.issuer
        if issuer != self.settings.issuer:
            raise EntryError("The response is from another issuer.")
        if "error" in response or not 0 < len(response.get("code", "")) <= _LONGEST:
            raise EntryError("The issuer refused the login.")

    async def _redeem(
        self, code: str, verifier: str, metadata: dict[str, Any]
    ) -> tuple[str, str | None]:
        settings = self.settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.callback,
            "code_verifier": verifier,
        }
        auth = (
            None
            if settings.secret is None
            else ClientAuth(settings.client_id, settings.secret, settings.is_in_body)
        )
        if auth is None:
            form["client_id"] = settings.client_id
        url = address_in(metadata, "token_endpoint", settings.issuer)
        reply = await self.fetcher.post(url, form, auth)
        token = reply.body.get("id_token")
        access = reply.body.get("access_token")
        if not reply.is_ok or not isinstance(token, str):
            # Safe to log: the error code describes our configuration, not the person.
            _log.warning("the issuer returned no ID token: %s", reply.error)
            raise EntryError("The issuer returned no ID token for this login.")
        return token, access if isinstance(access, str) else None

    async def _person(self, token: str, proof: Proof) -> Person:
        now = self.clock()
        try:
            header = read_header(token, self.settings.algorithms, None)
            claims = read_signed(token, header, await self._issuer.key(header))
            check_claims(claims, header.algorithm, self.settings, proof, now=now)
            return person_of(claims, self.settings, now=now)
        except UnfitError as unfit:
            fix = f"{unfit.sentence} Log in again."
            raise EntryError("The issuer’s ID token is not valid here.", fix) from None

    async def _load_metadata(self) -> dict[str, Any]:
        try:
            return await self._metadata.get()
        except SaysoError as error:
            raise _unreachable(error) from None

    async def _discover(self) -> Fetched[dict[str, Any]]:
        issuer = self.settings.issuer
        metadata = await discover(self.fetcher, issuer)
        for name in ("authorization_endpoint", "token_endpoint"):
            address_in(metadata, name, issuer)
        methods = metadata.get("code_challenge_methods_supported")
        if isinstance(methods, list) and "S256" not in methods:
            raise UnreachableError("the issuer does not support PKCE with S256", where=issuer)
        return Fetched(metadata, _FRESH, _USABLE)


def callback_parameters(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return the issuer's parameters in a callback. Raises `EntryError` for duplicates."""
    parameters = [(name, value) for name, value in pairs if name in _PARAMETERS]
    if len(dict(parameters)) != len(parameters):
        raise EntryError("The issuer’s response has a duplicate parameter.")
    return dict(parameters)


def _with_query(url: str, query: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    own = parse_qsl(parts.query, keep_blank_values=True)
    return urlunsplit(parts._replace(query=urlencode([*own, *query.items()])))


def _unreachable(error: SaysoError) -> EntryError:
    _log.warning("logging in to the console failed: %s", error)
    fix = "Try again in a moment. The gateway's log says more."
    return EntryError("The issuer cannot be reached.", fix, status=503)


@asynccontextmanager
async def open_provider(
    settings: Console | None, tokens: Tokens, keys: Keyring, *, url: str
) -> AsyncGenerator[Provider | None]:
    """Open the issuer for logins, if there is one; the console is at `url`."""
    if settings is None:
        yield None
        return
    async with open_fetcher() as fetcher:
        yield Provider(settings, fetcher, f"{url.rstrip('/')}{CALLBACK}", tokens, keys)
