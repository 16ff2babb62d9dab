"""A small OpenID Connect provider on loopback that checks requests and can return wrong tokens."""

import json
import threading
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "roma"
SECRET = "client-secret-of-roma"


@dataclass
class Provider:
    """A provider whose user signs in at once.

    claims   additional claims of ID tokens; None removes a required one
    info     the answer of the userinfo endpoint
    key      the signing key; `published`: the keys that clients read
    status   HTTP status of the token endpoint; no token is returned unless it is 200
    codes    code → parameters of the authorization request
    """

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    description: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    published: list[RSAKey] = field(default_factory=list)
    status: int = 200
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer_of(self, authorization: str, user: str = "ann") -> dict[str, str]:
        """Sign a user in: return the query parameters of the redirect to the client."""
        query = {name: each[0] for name, each in parse_qs(urlsplit(authorization).query).items()}
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT
        code = f"code-{len(self.codes)}"
        self.codes[code] = {**query, "user": user}
        return {"state": query["state"], "code": code, "iss": self.url}

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the answer of the token endpoint; a code works once."""
        if self.status != 200:
            return self.status, {}
        name, _, secret = b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if (unquote(name), unquote(secret)) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form["code"], None)
        challenge = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode()
        if asked is None or asked["code_challenge"] != challenge.rstrip("="):
            return 400, {"error": "invalid_grant"}
        if asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": f"id-of-{asked['user']}",
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "preferred_username": asked["user"],
            "groups": ["relay-operators"],
            **self.claims,
        }
        claims = {each: value for each, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid}
        text = jwt.encode(header, claims, self.key)
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": text}

    def document(self, path: str) -> tuple[int, dict[str, Any]]:
        """Return the answer to a GET request."""
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/info",
                "end_session_endpoint": f"{self.url}/logout",
                **self.description,
            }
        if path == "/keys":
            keys = self.published or [self.key]
            return 200, {"keys": [each.as_dict(private=False) for each in keys]}
        return 200, self.info


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    """Context manager: serve a provider."""
    provider = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="provider")
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*provider.document(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: each[0] for name, each in parse_qs(body).items()}
            self._answer(*provider.token(form, self.headers.get("Authorization", "")))

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler
