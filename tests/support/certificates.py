"""A certificate authority for one test, and a server certificate that it signed."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

_KEY_BITS = 2048


def server_certificate(folder: Path, address: str) -> dict[str, str]:
    """Write ca.pem, cert.pem and key.pem for a server at `address`; returns them as options of a database server."""
    authority, server = (rsa.generate_private_key(public_exponent=65_537, key_size=_KEY_BITS) for _ in range(2))
    root = _signed("test authority", authority, "test authority", authority, x509.BasicConstraints(ca=True, path_length=None))
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
    leaf = _signed(address, server, "test authority", authority, names)
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(root.public_bytes(pem))
    (folder / "cert.pem").write_bytes(leaf.public_bytes(pem))
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(server.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain))
    return {"ssl_ca": str(folder / "ca.pem"), "ssl_cert": str(folder / "cert.pem"), "ssl_key": str(folder / "key.pem")}


def _signed(
    subject: str, key: rsa.RSAPrivateKey, issuer: str, signer: rsa.RSAPrivateKey, extension: x509.ExtensionType
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(extension, critical=False)
        .sign(signer, hashes.SHA256())
    )
