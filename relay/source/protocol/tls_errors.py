"""Translates a failed TLS handshake with the source into an error with a remedy, in the same way
for every build of OpenSSL and Python.
"""

import ssl
from typing import Final

from relay.errors import RelayError, SourceLoginRefused, SourceUnreachable

# OpenSSL's X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL and X509_V_ERR_CA_MD_TOO_WEAK.
_WEAK_CERTIFICATE: Final = frozenset({66, 67, 68})
_CLIENT_CERTIFICATE: Final = frozenset({
    "TLSV13_ALERT_CERTIFICATE_REQUIRED", "TLSV1_ALERT_UNKNOWN_CA", "TLSV1_ALERT_ACCESS_DENIED",
    "TLSV1_ALERT_DECRYPT_ERROR",
    "SSLV3_ALERT_BAD_CERTIFICATE", "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
    "SSLV3_ALERT_CERTIFICATE_REVOKED",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED", "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
})  # fmt: skip
"""Alerts that a server sends because of the certificate that the relay shows."""

_AUTHORITY_REMEDY: Final = (
    "Set tls_ca to the authority that signed the source's certificate, or correct the certificate."
)
_OWN_REMEDY: Final = (
    "Set tls_cert and tls_key to a certificate that the source's own ssl_ca has signed and that "
    "has not expired."
)
_WEAK_REMEDY: Final = (
    "Give the source a certificate of 2048 bits and SHA-256, or set tls_legacy = true to accept "
    "this one."
)
_LEGACY_REMEDY: Final = (
    "The server offers no version newer than TLS 1.1, or only ciphers and keys that OpenSSL "
    "refuses by default. Upgrade the server, or set tls_legacy = true. In a network that you "
    "trust you may set tls = 'disabled'."
)
_NOTHING_IN_COMMON_REMEDY: Final = (
    "The server and the relay have no TLS version and cipher in common, even with tls_legacy = "
    "true, or the server refuses the certificate of tls_cert. Correct the certificate, or "
    "upgrade the server. In a network that you trust you may set tls = 'disabled'."
)
_CUT_REMEDY: Final = (
    "Check the source's error log and the network; the relay tries again. If it persists: "
    + _LEGACY_REMEDY
)


def tls_failure(exc: ssl.SSLError, doing: str, *, legacy: bool) -> RelayError:
    """Return the relay's error for a failed handshake.

    `doing` is the attempted action, and `legacy` whether `tls_legacy` is set already. Builds of
    OpenSSL report many reasons for one cause, and sometimes none. For example, an old server causes
    UNSUPPORTED_PROTOCOL, INTERNAL_ERROR, UNSAFE_LEGACY_RENEGOTIATION_DISABLED or an error without a
    reason. So only certificate errors are recognised; every other error counts as a disagreement
    about versions, ciphers and keys.
    """
    reason = f"{doing}: TLS failed: {exc}."
    if isinstance(exc, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return SourceUnreachable(reason, remedy=_CUT_REMEDY)
    return SourceLoginRefused(reason, remedy=_remedy(exc, legacy=legacy))


def refused_certificate(exc: BaseException) -> ssl.SSLError | None:
    """Return the server's alert that refuses the relay's own certificate, if it caused `exc`; None
    otherwise.

    TLS 1.3 sends it after the handshake, so PyMySQL reports a lost connection.
    """
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, ssl.SSLError) and _reason(cause) in _CLIENT_CERTIFICATE:
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _remedy(exc: ssl.SSLError, *, legacy: bool) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return _WEAK_REMEDY if exc.verify_code in _WEAK_CERTIFICATE else _AUTHORITY_REMEDY
    if _reason(exc) in _CLIENT_CERTIFICATE:
        return _OWN_REMEDY
    return _NOTHING_IN_COMMON_REMEDY if legacy else _LEGACY_REMEDY


def _reason(exc: ssl.SSLError) -> str | None:
    """Return OpenSSL's name of the reason; None for an error that Python itself raises."""
    return getattr(exc, "reason", None)
