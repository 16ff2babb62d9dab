"""Who may write, and read rows: clients that send the token."""

from hmac import compare_digest

from pydantic import SecretStr

from api.errors import TokenMissing, TokenWrong, WritesForbidden


def check_token(authorization: str | None, token: SecretStr | None) -> None:
    """Return if the header carries the token, compared in constant time. Raises TokenMissing, TokenWrong, WritesForbidden."""
    if token is None or not token.get_secret_value():
        raise WritesForbidden("This admin has no token, so it takes no writes and shows no dead letters.")
    scheme, _, sent = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not sent.strip():
        raise TokenMissing("Writes and dead letters need the admin's token, and the request carries none.")
    if not compare_digest(sent.strip().encode("utf-8", "surrogateescape"), token.get_secret_value().encode()):
        raise TokenWrong("The request carries another token than the admin's.")
