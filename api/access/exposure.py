"""Checks whether the admin may listen at the configured address."""

from relay.errors import ConfigurationError
from relay.model.loopback import is_loopback
from relay.settings import ApiSettings


def check_exposure(settings: ApiSettings) -> None:
    """Raise ConfigurationError if other machines could read or forge the credentials of a request.

    They could read them at an address other than loopback without TLS and without a proxy with TLS.
    They could forge the user header of a proxy (`api.trusted_header`) at such an address if
    `api.trusted_header.proxies` is empty, because the admin then accepts the header from any
    client.
    """
    _check_proxies(settings)
    if is_loopback(settings.host) or settings.tls is not None or settings.behind_proxy:
        return
    raise ConfigurationError(
        f"api.host: {settings.host} can be reached from other machines, and the admin would send "
        "passwords and tokens in plain text.",
        remedy=(
            "Set api.tls.cert and api.tls.key; or api.behind_proxy = true if a proxy with TLS, or "
            "a port that a container publishes on loopback, is the only way to the admin; or "
            "api.host to a loopback address."
        ),
    )


def _check_proxies(settings: ApiSettings) -> None:
    header = settings.trusted_header
    if header is not None and not header.proxies and not is_loopback(settings.host):
        raise ConfigurationError(
            f"api.trusted_header.proxies is empty, and {settings.host} can be reached from other "
            f"machines, which could name any user in the header {header.user}.",
            remedy="List the addresses of the proxy in api.trusted_header.proxies.",
        )


def reads_need_a_caller(settings: ApiSettings) -> bool:
    """Return whether reading requires a session or a token before the first user exists.

    It always does with an OpenID provider, with a proxy that signs users in, and with
    `anonymous_reads = "never"`. Otherwise it does at an address other than loopback, unless the
    configuration file has a token.
    """
    if settings.oidc is not None or settings.trusted_header is not None:
        return True
    if settings.anonymous_reads == "never":
        return True
    has_token = settings.token is not None and bool(settings.token.get_secret_value())
    return not is_loopback(settings.host) and not has_token
