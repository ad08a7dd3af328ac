"""A real OpenID provider on loopback: discovery, keys, authorization, tokens with PKCE.

It logs in whoever a test says, without asking.
"""

import base64
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode

from joserfc import jwt
from joserfc.jwk import Key, KeySet
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from tests.access.authority import RSA
from tests.connect.serving import serve_app

CLIENT = "sayso-console"
SECRET = "c0nsole & more"


@dataclass
class Code:
    """What a code was given for; it is good once."""

    claims: dict[str, Any]
    redirect_uri: str
    challenge: str


@dataclass
class Issuer:
    """The provider; a test may change any of it."""

    base: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "amy", "roles": ["staff"]})
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    token: Callable[[dict[str, Any]], str] | None = None
    is_secret: bool = True
    clock: Callable[[], float] = time.time
    codes: dict[str, Code] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    is_down: bool = False

    def begin_anew(self) -> None:
        """Forget what a test has changed."""
        vars(self).update(vars(Issuer(self.base)))

    async def serve(self, request: Request) -> Response:
        if self.is_down:
            return Response(status_code=500)
        match request.url.path:
            case "/.well-known/openid-configuration":
                return JSONResponse(self._metadata())
            case "/jwks":
                return JSONResponse(KeySet([RSA]).as_dict(private=False))
            case "/authorize":
                return self._authorize(request)
            case "/token":
                return await self._token(request)
            case _:
                return Response(status_code=404)

    def sign(self, claims: dict[str, Any], key: Key = RSA, alg: str = "RS256") -> str:
        """An ID token of these claims."""
        head = {"alg": alg, "typ": "JWT", "kid": "rsa-1"}
        return jwt.encode(head, claims, key, algorithms=[alg])

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "jwks_uri": f"{self.base}/jwks",
            "code_challenge_methods_supported": ["S256"],
            **self.metadata,
        }

    def _authorize(self, request: Request) -> Response:
        said = dict(request.query_params)
        self.asked.append(said)
        if said.get("client_id") != CLIENT or said.get("response_type") != "code":
            return Response(status_code=400)
        if "openid" not in said["scope"].split() or said["code_challenge_method"] != "S256":
            return Response(status_code=400)
        code, now = secrets.token_urlsafe(), int(self.clock())
        claims = {
            "iss": self.base,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": said["nonce"],
            **self.person,
            **self.claims,
        }
        kept = {key: value for key, value in claims.items() if value is not None}
        self.codes[code] = Code(kept, said["redirect_uri"], said["code_challenge"])
        told = {"code": code, "state": said["state"], **self.answer}
        query = urlencode({key: value for key, value in told.items() if value is not None})
        return RedirectResponse(f"{said['redirect_uri']}?{query}", 302)

    async def _token(self, request: Request) -> Response:
        form = {key: one[0] for key, one in parse_qs((await request.body()).decode()).items()}
        code = self.codes.pop(form.get("code", ""), None)
        if not self._is_client(request, form):
            return JSONResponse({"error": "invalid_client"}, 401)
        proof = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        if code is None or code.challenge != challenge:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if code.redirect_uri != form.get("redirect_uri"):
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = (self.token or self.sign)(code.claims)
        return JSONResponse({"access_token": "opaque", "token_type": "Bearer", "id_token": token})

    def _is_client(self, request: Request, form: dict[str, str]) -> bool:
        scheme, _, said = request.headers.get("authorization", "").partition(" ")
        if not self.is_secret:
            return scheme == "" and form.get("client_id") == CLIENT
        name, _, secret = base64.b64decode(said).decode().partition(":")
        return scheme == "Basic" and (unquote_plus(name), unquote_plus(secret)) == (CLIENT, SECRET)


@asynccontextmanager
async def serve_issuer(host: str = "127.0.0.1") -> AsyncGenerator[Issuer]:
    """The provider while it runs, by this name of the machine."""
    issuer = Issuer()
    routes = [Route("/{path:path}", issuer.serve, methods=["GET", "POST"])]
    async with serve_app(Starlette(routes=routes)) as base:
        issuer.base = base.replace("127.0.0.1", host)
        yield issuer
