"""Converts the settings for login and TLS to the arguments of the database driver (PyMySQL)."""

import ssl
from typing import Any, Final, Literal, TypeAlias

from relay.errors import ConfigurationError
from relay.model.loopback import is_loopback
from relay.settings import SourceSettings, TlsSettings

TlsMode: TypeAlias = Literal["disabled", "preferred", "required", "verify_ca", "verify_identity"]

_FILES_REMEDY: Final = (
    "Correct tls_ca, tls_cert and tls_key: PEM files that the relay may read, the key without a "
    "passphrase."
)
_WEAK_FILES: Final = frozenset({"EE_KEY_TOO_SMALL", "CA_KEY_TOO_SMALL", "CA_MD_TOO_WEAK"})
_WEAK_FILES_REMEDY: Final = (
    "Use a certificate of 2048 bits and SHA-256 for tls_cert, or set tls_legacy = true to use "
    "this one."
)
_LEGACY_SERVER_CONNECT: Final = (
    0x4  # OpenSSL's SSL_OP_LEGACY_SERVER_CONNECT, which Python names from 3.12 on
)


def login(settings: SourceSettings) -> dict[str, Any]:
    """Return the driver's arguments for a connection to the source.

    Raises ConfigurationError as `login_tls` does.
    """
    return {
        "host": settings.host,
        "port": settings.port,
        "user": settings.user,
        "password": settings.password.get_secret_value().encode(),  # the driver would take Latin 1
        "charset": "utf8mb4",
        "autocommit": True,  # an open transaction would keep locks on the tables that were read
        **login_tls(settings, settings.host),
    }


def login_tls(settings: TlsSettings, host: str) -> dict[str, Any]:
    """Return the driver's TLS arguments for a connection to `host`.

    Raises ConfigurationError for files that contain no certificate or key.
    """
    mode = tls_mode(settings, host)
    if mode == "disabled":
        return {"ssl_disabled": True}
    if mode == "preferred":
        return {}  # the driver's default: TLS if the server offers it
    return {"ssl": _context(mode, settings)}


def tls_mode(settings: TlsSettings, host: str) -> TlsMode:
    """Return the TLS mode for a connection to `host`.

    Without the setting `tls`, the mode follows from the other settings: "verify_identity" with a
    CA, "required" with a client certificate or `tls_legacy`, otherwise "preferred". On this
    machine's loopback it is "disabled" instead of "preferred", because no other machine can read
    the traffic, and because TLS may be slow: MariaDB 11.4.5 with its bundled library sends 60 MB/s,
    a twentieth of its speed without TLS.
    """
    if settings.tls is not None:
        return settings.tls
    if settings.tls_ca is not None:
        return "verify_identity"
    if settings.tls_cert is not None or settings.tls_legacy:
        return "required"
    return "disabled" if is_loopback(host) else "preferred"


def _context(mode: TlsMode, settings: TlsSettings) -> ssl.SSLContext:
    ca, cert, key = map(_text, (settings.tls_ca, settings.tls_cert, settings.tls_key))
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _set_strength(
            context, legacy=settings.tls_legacy
        )  # must precede the loading of files, because it determines which keys are too short
        # Certificates that servers generate lack extensions that Python 3.13 requires in its strict
        # mode.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = mode == "verify_identity"
        context.verify_mode = ssl.CERT_NONE if mode == "required" else ssl.CERT_REQUIRED
        if ca is not None:
            context.load_verify_locations(ca)
        elif mode != "required":
            context.load_default_certs()
        if cert is not None:
            context.load_cert_chain(cert, key, password=_no_passphrase)
    except (OSError, ValueError) as exc:
        files = ", ".join(file for file in (ca, cert, key) if file is not None)
        remedy = (
            _WEAK_FILES_REMEDY
            if isinstance(exc, ssl.SSLError) and exc.reason in _WEAK_FILES
            else _FILES_REMEDY
        )
        raise ConfigurationError(
            f"TLS cannot be set up from {files}: {exc}.", remedy=remedy
        ) from exc
    return context


def _set_strength(context: ssl.SSLContext, *, legacy: bool) -> None:
    """Set the oldest TLS version and the weakest keys that are accepted.

    Python's default depends on the build: Debian's build sets no oldest version.
    """
    if not legacy:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.options |= _LEGACY_SERVER_CONNECT
    context.set_ciphers(
        "DEFAULT:!kDHE:@SECLEVEL=0"
    )  # accepts SHA-1 signatures; excludes kDHE, because such servers use 512 bits there


def _no_passphrase() -> str:
    """Raise ValueError. Without this callback, OpenSSL would read one from the terminal."""
    raise ValueError("the key has a passphrase")


def _text(file: object) -> str | None:
    return None if file is None else str(file)
