"""Each way in which TLS fails has a remedy that helps, whatever the build of OpenSSL and Python
says of it.
"""

import ssl
from pathlib import Path
from typing import Any

import pymysql
import pytest

from relay.errors import ConfigurationError, SourceLoginRefused, SourceUnreachable
from relay.settings import TlsSettings
from relay.source.protocol.server_errors import from_number, translated
from relay.source.protocol.tls_errors import tls_failure
from relay.tls import login_tls
from tests.support.certificates import Authority
from tests.support.sources.handshakes import server_side, shake_hands

_OLD_VERSIONS = (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)
_NO_COMMON_CIPHER = "ADH"


def _remedy(settings: TlsSettings, server: ssl.SSLContext) -> str:
    with pytest.raises(ssl.SSLError) as failed:
        shake_hands(login_tls(settings, "db.example")["ssl"], server)
    error = tls_failure(failed.value, "The source refused", legacy=settings.tls_legacy)
    assert isinstance(error, SourceLoginRefused)
    return error.way_out


@pytest.mark.parametrize("newest", _OLD_VERSIONS, ids=lambda version: str(version.name))
def test_an_old_version_of_tls_is_refused_until_tls_legacy_is_set(
    tmp_path: Path, newest: ssl.TLSVersion
) -> None:
    server = server_side(Authority(tmp_path).client("server"), newest=newest)
    assert "tls_legacy = true" in _remedy(TlsSettings(tls="required"), server)
    assert shake_hands(
        login_tls(TlsSettings(tls="required", tls_legacy=True), "db.example")["ssl"], server
    ) == newest.name.replace("_", ".").replace("TLSv1.0", "TLSv1")


@pytest.mark.parametrize("newest", _OLD_VERSIONS, ids=lambda version: str(version.name))
def test_a_python_without_a_lowest_version_names_the_same_remedy(
    tmp_path: Path, newest: ssl.TLSVersion
) -> None:
    server = server_side(Authority(tmp_path).client("server"), newest=newest)
    context = ssl.SSLContext(
        ssl.PROTOCOL_TLS_CLIENT
    )  # what the driver makes for "preferred" on Debian
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.raises(ssl.SSLError) as failed:
        shake_hands(context, server)
    assert "tls_legacy = true" in tls_failure(failed.value, "refused", legacy=False).way_out


def test_nothing_in_common_under_tls_legacy_does_not_name_it_again(tmp_path: Path) -> None:
    server = server_side(Authority(tmp_path).client("server"), ciphers=_NO_COMMON_CIPHER)
    assert "even with tls_legacy = true" in _remedy(
        TlsSettings(tls="required", tls_legacy=True), server
    )


@pytest.mark.parametrize(("authority_bits", "server_bits"), [(1024, 2048), (2048, 1024)])
def test_a_weak_certificate_is_accepted_by_tls_legacy_alone(
    tmp_path: Path, authority_bits: int, server_bits: int
) -> None:
    authority = Authority(tmp_path, authority_bits)
    server = server_side(authority.client("server", server_bits))
    assert "2048 bits" in _remedy(TlsSettings(tls="verify_ca", tls_ca=authority.file), server)
    legacy = TlsSettings(tls="verify_ca", tls_ca=authority.file, tls_legacy=True)
    assert shake_hands(login_tls(legacy, "db.example")["ssl"], server) == "TLSv1.2"


def test_another_authority_is_no_matter_of_versions(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    server = server_side(Authority(tmp_path).client("server"))
    other = Authority(tmp_path / "other").file
    for legacy in (False, True):
        assert _remedy(
            TlsSettings(tls="verify_ca", tls_ca=other, tls_legacy=legacy), server
        ).startswith("Set tls_ca")


def test_a_weak_certificate_of_the_relay_is_shown_under_tls_legacy_alone(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).client("relay", 1024)
    with pytest.raises(ConfigurationError) as refused:
        login_tls(TlsSettings(tls_cert=certificate, tls_key=key), "db.example")
    assert "tls_legacy = true" in refused.value.way_out
    assert login_tls(TlsSettings(tls_cert=certificate, tls_key=key, tls_legacy=True), "db.example")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        # As OpenSSL's builds word it: the first two of Debian's, for one and the same server.
        (
            ssl.SSLError(
                1,
                (
                    "[SSL: UNSAFE_LEGACY_RENEGOTIATION_DISABLED] unsafe legacy renegotiation "
                    "disabled (_ssl.c:992)"
                ),
            ),
            "tls_legacy",
        ),
        (ssl.SSLError(1, "[SSL] internal error (_ssl.c:992)"), "tls_legacy"),
        (ssl.SSLError(1, "[SSL: DH_KEY_TOO_SMALL] dh key too small (_ssl.c:1006)"), "tls_legacy"),
    ],
)
def test_what_no_certificate_explains_is_a_disagreement_about_tls(
    error: ssl.SSLError, words: str
) -> None:
    assert words in tls_failure(error, "refused", legacy=False).way_out


def test_a_handshake_that_is_cut_off_is_tried_again() -> None:
    error = tls_failure(
        ssl.SSLEOFError(8, "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred"),
        "refused",
        legacy=False,
    )
    assert isinstance(error, SourceUnreachable)
    assert "tls_legacy" in error.way_out


def test_an_alert_about_the_certificate_of_the_relay_is_found_behind_a_lost_connection() -> None:
    alert = ssl.SSLError(1, "[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca (_ssl.c:2580)")
    alert.reason = "TLSV1_ALERT_UNKNOWN_CA"
    lost: Any = pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query")
    lost.__context__ = alert
    error = translated(lost, "refused")
    assert isinstance(error, SourceLoginRefused)
    assert "tls_cert" in error.way_out
    lost.__context__ = None
    assert isinstance(translated(lost, "refused"), SourceUnreachable)


@pytest.mark.parametrize(
    ("number", "words"),
    [(2026, "tls = 'disabled'"), (3159, "tls = 'required'"), (4145, "tls = 'required'")],
)
def test_a_side_that_insists_on_tls_names_what_the_other_needs(number: int, words: str) -> None:
    error = from_number(number, "Connections using insecure transport are prohibited", "refused")
    assert isinstance(error, SourceLoginRefused)
    assert words in error.way_out
