"""Whether the admin may listen where it is asked to."""

import ipaddress

from relay.errors import ConfigurationError
from relay.settings import ApiSettings


def check_exposure(settings: ApiSettings) -> None:
    """Check that passwords and tokens do not cross a network in plain text.

    Raises ConfigurationError for an address beyond loopback without TLS and without a proxy.
    """
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


def reads_need_a_caller(settings: ApiSettings) -> bool:
    """Return whether reading needs a session or a token before there are users.

    Beyond loopback it does, unless the file has a token: such installations read without one.
    """
    if settings.anonymous_reads == "never":
        return True
    has_token = settings.token is not None and bool(settings.token.get_secret_value())
    return not is_loopback(settings.host) and not has_token


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
