"""A real authorization server on loopback: metadata, keys, tokens, introspection, exchange.

Tokens are signed with joserfc, with which sayso also verifies them. `sign_apart` signs without it,
so that the library is not only tested against itself.
"""

import base64
import hmac
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus

import anyio
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, KeySet, OKPKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from tests.connect.serving import serve_app

CLIENT = "sayso"
SECRET = "s3cret & more"
GATEWAY = "https://sayso.example.com"
RESOURCE = f"{GATEWAY}/mcp"

RSA = RSAKey.generate_key(2048, {"kid": "rsa-1"})
EC = ECKey.generate_key("P-256", {"kid": "ec-1"})
EC_384 = ECKey.generate_key("P-384", {"kid": "ec-384"})
EC_521 = ECKey.generate_key("P-521", {"kid": "ec-521"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed-1"})
NEXT = RSAKey.generate_key(2048, {"kid": "rsa-2"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa-1"})


@dataclass
class Authority:
    """What the server has and does; a test may change any of it."""

    base: str = ""
    keys: list[Key] = field(default_factory=lambda: [RSA, EC, EC_384, EC_521, ED])
    extra_keys: list[Any] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    metadata_paths: tuple[str, ...] = ("/.well-known/oauth-authorization-server",)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    issued: list[dict[str, str]] = field(default_factory=list)
    token_fields: dict[str, Any] = field(default_factory=lambda: {"expires_in": 300})
    hits: dict[str, int] = field(default_factory=dict)
    failing: dict[str, Response] = field(default_factory=dict)
    is_hanging: bool = False

    def reset(self) -> None:
        """Be as new, at the same address: what a test has changed is not for the next."""
        vars(self).update(vars(Authority(self.base)))

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a sound token; `None` leaves one out."""
        now = int(time.time())
        sound: dict[str, Any] = {
            "iss": self.base,
            "aud": RESOURCE,
            "sub": "amy",
            "client_id": "chat",
            "scope": "crm.read crm.write",
            "roles": ["staff"],
            "iat": now,
            "exp": now + 300,
        }
        merged = {**sound, **changes}
        return {key: value for key, value in merged.items() if value is not None}

    def sign(
        self,
        key: Key = RSA,
        alg: str = "RS256",
        header: dict[str, Any] | None = None,
        **changes: Any,
    ) -> str:
        """A token, sound but for the changes."""
        head = {"alg": alg, "typ": "at+jwt", "kid": key.kid, **(header or {})}
        head = {name: value for name, value in head.items() if value is not None}
        return jwt.encode(head, self.claims(**changes), key, algorithms=[alg])

    def sign_text(self, text: bytes) -> str:
        """A token of the issuer's that holds anything at all."""
        return jws.serialize_compact({"alg": "RS256", "kid": "rsa-1"}, text, RSA)

    def introspectable(self, token: str, **changes: Any) -> str:
        """Make an opaque token known."""
        self.tokens[token] = {"active": True, **self.claims(**changes)}
        return token

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.hits[path] = self.hits.get(path, 0) + 1
        if self.is_hanging:
            await anyio.sleep_forever()
        if path in self.failing:
            return self.failing[path]
        if path in self.metadata_paths:
            return JSONResponse(self._metadata())
        if path == "/jwks":
            public = KeySet(self.keys).as_dict(private=False)["keys"]
            return JSONResponse({"keys": [*public, *self.extra_keys]})
        if path == "/introspect":
            return await self._introspect(request)
        return await self._token(request) if path == "/token" else Response(status_code=404)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.base,
            "jwks_uri": f"{self.base}/jwks",
            "introspection_endpoint": f"{self.base}/introspect",
            **self.metadata,
        }

    async def _introspect(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        return JSONResponse(self.tokens.get(form["token"], {"active": False}))

    async def _token(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        self.issued.append(form)
        token = f"upstream-{len(self.issued)}"
        answer = {"access_token": token, "token_type": "Bearer", **self.token_fields}
        return JSONResponse({key: value for key, value in answer.items() if value is not None})

    async def _form(self, request: Request) -> dict[str, str] | None:
        """The form, if the client has proved that it is sayso."""
        parsed = parse_qs((await request.body()).decode(), strict_parsing=True)
        form = {name: one[0] for name, one in parsed.items()}
        scheme, _, said = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            name, _, secret = base64.b64decode(said).decode().partition(":")
            pair = unquote_plus(name), unquote_plus(secret)
        else:
            pair = form.pop("client_id", ""), form.pop("client_secret", "")
        return form if pair == (CLIENT, SECRET) else None


@asynccontextmanager
async def serve_authority() -> AsyncGenerator[Authority]:
    """The server while it runs."""
    authority = Authority()
    routes = [Route("/{path:path}", authority.answer, methods=["GET", "POST"])]
    async with serve_app(Starlette(routes=routes)) as base:
        authority.base = base
        yield authority


def unsigned(claims: dict[str, Any], **header: Any) -> str:
    """A token with any header and an empty signature, or none."""
    parts = [json.dumps(one).encode() for one in (header, claims)]
    encoded = [base64.urlsafe_b64encode(one).rstrip(b"=").decode() for one in parts]
    return ".".join([*encoded, "AA"])


def signed(claims: dict[str, Any], **header: Any) -> str:
    """A token with any header at all, and a signature that holds (RS256)."""
    return _apart(unsigned(claims, **header), RSA, "RS256")


def sign_apart(key: Key, alg: str, claims: dict[str, Any]) -> str:
    """A token that is signed without joserfc."""
    return _apart(unsigned(claims, alg=alg, typ="at+jwt", kid=key.kid), key, alg)


def _apart(token: str, key: Any, alg: str) -> str:
    text = token.rpartition(".")[0]
    signature = _signature(text.encode(), key.private_key, alg)
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def _signature(text: bytes, private: Any, alg: str) -> bytes:
    if alg.startswith("Ed"):
        return private.sign(text)
    digest = {"256": SHA256(), "384": SHA384(), "512": SHA512()}[alg[2:]]
    if alg.startswith("RS"):
        return private.sign(text, PKCS1v15(), digest)
    if alg.startswith("PS"):
        return private.sign(text, PSS(MGF1(digest), digest.digest_size), digest)
    size = (private.key_size + 7) // 8
    pair = decode_dss_signature(private.sign(text, ECDSA(digest)))
    return b"".join(part.to_bytes(size) for part in pair)


def confused(claims: dict[str, Any]) -> str:
    """A token whose HMAC is made with the issuer's public key, which everybody has."""
    text = unsigned(claims, alg="HS256", typ="at+jwt", kid="rsa-1").rpartition(".")[0]
    mac = hmac.digest(RSA.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


REDIRECT = RedirectResponse("http://127.0.0.1:1/elsewhere", 302)
