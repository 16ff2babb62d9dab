"""What TLS settings ask for, as a table."""

import ssl
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from relay.errors import ConfigurationError
from relay.settings import SourceSettings, TlsSettings
from relay.tls import login_tls, tls_mode
from tests.support.certificates import Authority

_AUTHORITY, _CERTIFICATE = Path("ca.pem"), Path("cert.pem")


@pytest.mark.parametrize(
    ("given", "host", "mode"),
    [
        ({}, "db.example", "preferred"),
        ({}, "127.0.0.1", "disabled"),
        ({}, "::1", "disabled"),
        ({}, "localhost", "disabled"),
        ({"tls": "preferred"}, "127.0.0.1", "preferred"),
        ({"tls": "disabled"}, "db.example", "disabled"),
        ({"tls_ca": _AUTHORITY}, "127.0.0.1", "verify_identity"),
        ({"tls_cert": _CERTIFICATE}, "127.0.0.1", "required"),
        ({"tls_legacy": True}, "127.0.0.1", "required"),
        ({"tls": "verify_ca", "tls_ca": _AUTHORITY}, "db.example", "verify_ca"),
        ({"tls": "verify_identity"}, "db.example", "verify_identity"),
    ],
)
def test_the_mode_is_what_is_said_else_the_strictest_that_the_files_allow(
    given: dict[str, Any], host: str, mode: str
) -> None:
    assert tls_mode(TlsSettings(**given), host) == mode


@pytest.mark.parametrize(
    "given",
    [
        {"tls_key": "key.pem"},
        {"tls": "disabled", "tls_ca": "ca.pem"},
        {"tls": "preferred", "tls_cert": "cert.pem"},
        {"tls": "required", "tls_ca": "ca.pem"},
        {"tls": "preferred", "tls_legacy": True},
        {"tls": "sometimes"},
    ],
)
def test_settings_that_would_be_passed_over_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SourceSettings(host="h", user="u", **given)


@pytest.mark.parametrize(
    ("mode", "names", "certificates"),
    [
        ("required", False, ssl.CERT_NONE),
        ("verify_ca", False, ssl.CERT_REQUIRED),
        ("verify_identity", True, ssl.CERT_REQUIRED),
    ],
)
def test_each_mode_checks_what_its_name_says(
    tmp_path: Path, mode: Any, names: bool, certificates: ssl.VerifyMode
) -> None:
    certificate, key = Authority(tmp_path).client("relay")
    authority = None if mode == "required" else tmp_path / "ca.pem"
    asked = TlsSettings(tls=mode, tls_ca=authority, tls_cert=certificate, tls_key=key)
    context = login_tls(asked, "127.0.0.1")["ssl"]
    assert (context.check_hostname, context.verify_mode) == (names, certificates)


def test_files_that_hold_no_certificate_are_a_matter_of_configuration(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    for authority in (tmp_path / "ca.pem", tmp_path / "missing.pem"):
        with pytest.raises(ConfigurationError, match=authority.name):
            login_tls(TlsSettings(tls_ca=authority), "h")
