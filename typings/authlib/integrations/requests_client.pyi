from typing import Any, Self

from requests import Response

class OAuth2Session:
    verify: bool | str
    trust_env: bool
    def __init__(
        self,
        client_id: str,
        client_secret: str,
        token_endpoint_auth_method: str = ...,
        *,
        scope: str = ...,
        redirect_uri: str = ...,
        code_challenge_method: str = ...,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def create_authorization_url(
        self, url: str, state: str, code_verifier: str, *, nonce: str
    ) -> tuple[str, str]: ...
    def fetch_token(
        self,
        url: str,
        *,
        grant_type: str,
        code: str,
        code_verifier: str,
        timeout: float,
        allow_redirects: bool,
    ) -> dict[str, Any]: ...
    def get(
        self,
        url: str,
        *,
        withhold_token: bool = ...,
        timeout: float,
        allow_redirects: bool,
    ) -> Response: ...
