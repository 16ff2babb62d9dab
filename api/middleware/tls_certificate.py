"""Reads the TLS certificate of the admin, and reads it again when its files change."""

import ssl
from pathlib import Path

import structlog
from cryptography import x509

from relay.errors import ConfigurationError
from relay.settings import AdminTlsSettings
from relay.telemetry.metrics import CERTIFICATE_END

_log = structlog.stdlib.get_logger(__name__)


class TlsCertificate:
    """An SSL context with the admin's certificate, which is read again when its files change.

    The constructor raises ConfigurationError if the files do not contain a certificate and its key.
    """

    def __init__(self, settings: AdminTlsSettings) -> None:
        self._settings = settings
        self._seen = self._signature()
        try:
            self.context = _context(settings)
        except (OSError, ValueError) as exc:
            raise ConfigurationError(
                f"api.tls: TLS cannot be set up from {settings.cert} and {settings.key}: {exc}.",
                remedy=(
                    "Correct api.tls.cert and api.tls.key: PEM files that the admin may read, the "
                    "key without a passphrase."
                ),
            ) from exc

    def refresh(self) -> None:
        """Read the files if they have changed, and use them for new connections.

        A certificate and a key that do not belong together are ignored until the files change
        again. Open connections keep their certificate.
        """
        signature = self._signature()
        if signature == self._seen:
            return
        self._seen = signature
        try:
            _context(self._settings)  # a half-written file must not replace the present certificate
            _load(self.context, self._settings)
        except (OSError, ValueError) as exc:
            _log.error("certificate_unusable", cert=str(self._settings.cert), reason=str(exc))
            return
        _log.info("certificate_reloaded", cert=str(self._settings.cert))

    def _signature(self) -> tuple[object, ...]:
        return tuple(map(_stat, (self._settings.cert, self._settings.key)))


def _stat(file: Path) -> object:
    try:
        found = file.stat()
    except OSError as exc:
        return exc.errno
    return found.st_ino, found.st_size, found.st_mtime_ns


def _context(settings: AdminTlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, settings)
    return context


def _load(context: ssl.SSLContext, settings: AdminTlsSettings) -> None:
    end = x509.load_pem_x509_certificate(settings.cert.read_bytes()).not_valid_after_utc
    context.load_cert_chain(settings.cert, settings.key, password=_no_passphrase)
    CERTIFICATE_END.labels("api.tls").set(end.timestamp())


def _no_passphrase() -> str:
    """Return an empty passphrase: without this function OpenSSL asks for one at the terminal."""
    raise ValueError("the key has a passphrase")
