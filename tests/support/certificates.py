"""A certificate authority for one test, and the certificates of servers and clients that it
signed.
"""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from deploy.embedded import ServerTls

_KEY_BITS = 2048
_NAME = "test authority"


class Authority:
    """Signs certificates and keeps them below `folder`, its own as ca.pem, whose key has `bits`."""

    def __init__(self, folder: Path, bits: int = _KEY_BITS) -> None:
        self._folder = folder
        self._key = _new_key(bits)
        certificate = _signed(
            _NAME, self._key, self._key, x509.BasicConstraints(ca=True, path_length=None)
        )
        self.file = folder / "ca.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, extension: x509.ExtensionType, bits: int = _KEY_BITS
    ) -> tuple[Path, Path]:
        """Write a certificate and its key of `bits` for `name`, and return both files.

        MySQL 5.6 reads no PKCS #8.
        """
        key, certificate_file, key_file = (
            _new_key(bits),
            self._folder / f"{name}-cert.pem",
            self._folder / f"{name}-key.pem",
        )
        certificate_file.write_bytes(
            _signed(name, key, self._key, extension).public_bytes(serialization.Encoding.PEM)
        )
        plain, form = serialization.NoEncryption(), serialization.PrivateFormat.TraditionalOpenSSL
        key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
        return certificate_file, key_file

    def server(self, address: str) -> dict[str, str]:
        """Create the certificate files of a server at `address`; return them as options of a
        database server.
        """
        certificate, key = self.issue(
            "server", x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        )
        return {"ssl_ca": str(self.file), "ssl_cert": str(certificate), "ssl_key": str(key)}

    def java_server(
        self, address: str, *, clients: Literal["none", "want", "need"] = "none"
    ) -> ServerTls:
        """Create the certificate files of a Java server at `address`, with a new key for each
        call.
        """
        certificate, key = self.issue(
            "java-server", x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        )
        whole = self._folder / "java-server.pem"
        private = serialization.load_pem_private_key(key.read_bytes(), None)
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        whole.write_bytes(
            certificate.read_bytes()
            + private.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
        )
        return ServerTls(whole, self.file, clients)

    def client(self, name: str, bits: int = _KEY_BITS) -> tuple[Path, Path]:
        """Make the certificate and the key of a client."""
        return self.issue(name, x509.BasicConstraints(ca=False, path_length=None), bits)


def server_certificate(folder: Path, address: str) -> dict[str, str]:
    """Write an authority's ca.pem and the certificate files of a server at `address`. Return them
    as options of a database server.
    """
    return Authority(folder).server(address)


def _new_key(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


def _signed(
    subject: str, key: rsa.RSAPrivateKey, signer: rsa.RSAPrivateKey, extension: x509.ExtensionType
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(extension, critical=False)
        .sign(signer, hashes.SHA256())
    )
