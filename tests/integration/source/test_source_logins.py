"""How the relay logs in: TLS in every mode, client certificates, and the password plugins of both
families.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from deploy.embedded import DebianMariaDB, EmbeddedError, MariaDB, MySQL, MySQL56, SqlServer
from relay.errors import SourceLoginRefused
from relay.model.table import TableId
from relay.schema import CatalogReader
from relay.settings import SourceSettings, StartSettings
from relay.source import open_source
from tests.servers.fixtures import FreshName
from tests.servers.running import factory
from tests.support.certificates import Authority
from tests.support.sources.source_reading import ask, source_settings

_KINDS: Final = (MariaDB, DebianMariaDB, MySQL, MySQL56)


@dataclass(frozen=True)
class Guarded:
    """A server with a certificate for 127.0.0.1, and the authority that signed it.

    `older` speaks nothing newer than TLS 1.1.
    """

    server: SqlServer
    authority: Authority
    older: bool

    def settings(self, **changed: Any) -> SourceSettings:
        legacy = {"tls_legacy": True} if self.older and changed.get("tls") != "disabled" else {}
        return source_settings(self.server, **legacy, **changed)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, marks=[pytest.mark.long] if kind is DebianMariaDB else [])
        for kind in _KINDS
    ],
    ids=lambda kind: kind.name,
)
def guarded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guarded]:
    authority = Authority(tmp_path_factory.mktemp("tls"))
    with factory(request.param) as start:
        server: SqlServer = start(
            {**({"ssl": "ON"} if request.param is MariaDB else {}), **authority.server("127.0.0.1")}
        )
        server.execute(
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "CREATE USER 'certified'@'%' IDENTIFIED BY 'x'"
            + ("" if request.param is MySQL56 else " REQUIRE X509"),
            "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO 'certified'@'%'"
            + (" REQUIRE X509" if request.param is MySQL56 else ""),
        )
        yield Guarded(server, authority, request.param is MySQL56)


def _reads(settings: SourceSettings) -> bool:
    """Log in, and read an event as a replica; the catalogue logs in the same way."""
    stream = open_source(settings, None, StartSettings())
    arrived = next(iter(stream.items())).position == stream.start.binlog
    stream.close()
    catalog = CatalogReader(settings)
    known = catalog.read(TableId("d", "t"), keys=True)
    catalog.close()
    return arrived and known is not None


@pytest.mark.parametrize("mode", ["disabled", "required", "verify_ca", "verify_identity"])
def test_every_mode_reads_from_a_server_whose_certificate_is_right(
    guarded: Guarded, mode: str
) -> None:
    authority = {"tls_ca": guarded.authority.file} if mode.startswith("verify") else {}
    assert _reads(guarded.settings(tls=mode, **authority))


def test_a_name_that_is_not_the_certificates_matters_to_verify_identity_alone(
    guarded: Guarded,
) -> None:
    assert _reads(
        guarded.settings(host="localhost", tls="verify_ca", tls_ca=guarded.authority.file)
    )
    with pytest.raises(SourceLoginRefused, match=r"TLS failed: .*localhost"):
        _reads(guarded.settings(host="localhost", tls_ca=guarded.authority.file))


def test_a_certificate_of_another_authority_matters_to_both_verify_modes(
    guarded: Guarded, tmp_path: Path
) -> None:
    other = Authority(tmp_path).file
    for mode in ("verify_ca", "verify_identity"):
        with pytest.raises(SourceLoginRefused, match=r"TLS failed: .*certificate") as refused:
            _reads(guarded.settings(tls=mode, tls_ca=other))
        assert "tls_ca" in refused.value.way_out
    assert _reads(guarded.settings(tls="required"))


def test_an_account_that_asks_for_a_certificate_is_given_one(guarded: Guarded) -> None:
    certificate, key = guarded.authority.client("relay")
    with pytest.raises(SourceLoginRefused):
        _reads(guarded.settings(user="certified", password="x", tls="required"))
    assert _reads(
        guarded.settings(user="certified", password="x", tls_cert=certificate, tls_key=key)
    )
    assert _reads(
        guarded.settings(
            user="certified",
            password="x",
            tls_ca=guarded.authority.file,
            tls_cert=certificate,
            tls_key=key,
        )
    )


def test_tls_that_is_required_of_a_server_without_is_refused(mariadb: MariaDB) -> None:
    with pytest.raises(SourceLoginRefused, match="SSL is required"):
        _reads(source_settings(mariadb, tls="required"))


@pytest.mark.parametrize("tls", [{}, {"tls": "required"}], ids=["without TLS", "with TLS"])
def test_caching_sha2_asks_the_server_for_its_key_or_trusts_tls(
    mysql_9: MySQL, fresh_name: FreshName, tls: dict[str, str]
) -> None:
    name = fresh_name("sha2")[-30:]
    mysql_9.execute(
        f"CREATE USER '{name}'@'%' IDENTIFIED WITH caching_sha2_password BY 'pässword'",
        f"GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO '{name}'@'%'",
    )
    settings = source_settings(mysql_9, user=name, password="pässword", **tls)
    for _ in range(2):  # the second login finds the password in the server's cache
        stream = open_source(settings, None, StartSettings())
        assert next(iter(stream.items())).position == stream.start.binlog
        stream.close()
    with pytest.raises(SourceLoginRefused):
        open_source(
            settings.model_copy(update={"password": settings.password.__class__("wrong")}),
            None,
            StartSettings(),
        )
    mysql_9.execute(f"DROP USER '{name}'@'%'")


def test_native_passwords_are_understood(mysql_5_6: MySQL56, mariadb_10_11: DebianMariaDB) -> None:
    for server in (mysql_5_6, mariadb_10_11):
        plugin = ask(server, f"SELECT plugin FROM mysql.user WHERE user = '{server.relay}'")[0][0]
        assert plugin in ("", "mysql_native_password")
        stream = open_source(source_settings(server), None, StartSettings())
        assert next(iter(stream.items())).position == stream.start.binlog
        stream.close()


def test_ed25519_of_mariadb_is_understood() -> None:
    try:
        plugins = DebianMariaDB.plugins()
    except EmbeddedError as refusal:
        pytest.skip(f"the plugin is not to be had: {refusal}")
    with factory(DebianMariaDB) as start:
        server = start({"plugin_dir": str(plugins), "plugin_maturity": "unknown"})
        server.execute(
            "INSTALL SONAME 'auth_ed25519'",
            "CREATE USER 'signed'@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')",
            "GRANT REPLICATION SLAVE, BINLOG MONITOR, SELECT ON *.* TO 'signed'@'%'",
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
        )
        assert _reads(source_settings(server, user="signed", password="secret"))
        with pytest.raises(SourceLoginRefused):
            _reads(source_settings(server, user="signed", password="Secret"))


@pytest.mark.parametrize("mode", ["preferred", "required"])
def test_a_server_of_older_tls_says_what_lets_it_pass(guarded: Guarded, mode: str) -> None:
    if not guarded.older:
        pytest.skip("this server speaks TLS 1.2 or later")
    with pytest.raises(SourceLoginRefused) as refused:
        _reads(source_settings(guarded.server, tls=mode))
    assert "tls_legacy" in refused.value.way_out


def test_a_certificate_that_the_server_refuses_is_named_as_ours(
    guarded: Guarded, tmp_path: Path
) -> None:
    certificate, key = Authority(tmp_path).client("relay")
    with pytest.raises(SourceLoginRefused) as refused:
        _reads(guarded.settings(tls_ca=guarded.authority.file, tls_cert=certificate, tls_key=key))
    assert "tls_cert" in refused.value.way_out
