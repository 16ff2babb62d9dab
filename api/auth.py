"""Who may write: whoever knows the token."""

from hmac import compare_digest

from pydantic import SecretStr

from api.errors import TokenMissing, WritesForbidden


def check_token(authorization: str | None, token: SecretStr | None) -> None:
    """Return if the header carries the token, compared in constant time. Raises TokenMissing, WritesForbidden."""
    if token is None or not token.get_secret_value():
        raise WritesForbidden("This admin has no token, so it takes no writes.")
    scheme, _, sent = (authorization or "").partition(" ")
    expected = token.get_secret_value().encode()
    if scheme.lower() != "bearer" or not compare_digest(sent.strip().encode("utf-8", "surrogateescape"), expected):
        raise TokenMissing("Writes need the admin's token.")
