"""The errors of relay.source for a source that is missing, not set up, another one, or damaged."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.errors import (
    BinlogPurged,
    ConfigurationError,
    HistoryChanged,
    RelayError,
    ServerIdContested,
    ServerIdTaken,
    SourceLoginRefused,
    SourceLostTransactions,
    SourceNotPermitted,
    SourceSettingsRefused,
    SourceSilent,
    SourceUnreachable,
    UnsupportedEvent,
)
from relay.model.change import TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source import check_source, open_source
from tests.support.certificates import server_certificate
from tests.support.sources.purging import purge
from tests.support.sources.source_reading import ask, at, end_of, executed, read, source_settings

END = StartSettings(at="end")


def refusal(
    settings: SourceSettings, resume: SourcePosition | None = None, start: StartSettings = END
) -> RelayError:
    with pytest.raises(RelayError) as refused:
        open_source(settings, resume, start)
    return refused.value


def position_of(server: SqlServer, *, gtid: bool = True) -> SourcePosition:
    stream = open_source(source_settings(server, gtid=gtid), None, END)
    stream.close()
    return stream.start


def errors_of(settings: SourceSettings) -> list[RelayError]:
    return [
        check.error
        for check in check_source(settings)
        if check.error is not None and not check.warning
    ]


def test_a_good_source_passes_every_check(database: SqlServer) -> None:
    for form, length, branch, name in ask(database, "XA RECOVER"):  # of other tests on this server
        data = name if isinstance(name, bytes) else name.encode()
        gtrid, bqual = data[:length].hex(), data[length : length + branch].hex()
        database.execute(f"XA ROLLBACK X'{gtrid}',X'{bqual}',{form}")
    checks = check_source(source_settings(database))
    assert [check for check in checks if check.error is not None] == []
    assert len(checks) >= 6


def test_preflight_and_relay_say_the_same_of_a_wrong_password(database: SqlServer) -> None:
    settings = source_settings(database, password="wrong")
    error = refusal(settings)
    assert isinstance(error, SourceLoginRefused)
    assert [str(found) for found in errors_of(settings)] == [str(error)]


def test_unknown_hosts_and_closed_ports_are_unreachable(mariadb: MariaDB) -> None:
    unknown = refusal(source_settings(mariadb, host="no-such-host.invalid"))
    assert isinstance(unknown, SourceUnreachable)
    assert "no-such-host.invalid" in unknown.reason
    closed = refusal(source_settings(mariadb, port=1))
    assert isinstance(closed, SourceUnreachable)
    assert "127.0.0.1:1" in closed.reason


@pytest.mark.parametrize("granted", ["SELECT", "REPLICATION SLAVE, SELECT", "clients"])
def test_missing_grants_are_named(
    database: SqlServer, fresh_name: Callable[[str], str], granted: str
) -> None:
    name = fresh_name("grantee")[-30:]
    client = "REPLICATION CLIENT" if database.family == "mysql" else "BINLOG MONITOR"
    grants = f"{client}, SELECT" if granted == "clients" else granted
    database.execute(
        f"CREATE USER '{name}'@'%' IDENTIFIED BY 'x'", f"GRANT {grants} ON *.* TO '{name}'@'%'"
    )
    settings = source_settings(database, user=name, password="x")
    with pytest.raises(SourceNotPermitted, match="GRANT REPLICATION SLAVE") as refused:
        list(open_source(settings, None, END).items())
    assert [str(error) for error in errors_of(settings)] == [str(refused.value)]
    database.execute(f"DROP USER '{name}'@'%'")


def test_settings_that_would_need_guessing_are_refused_all_at_once(
    new_mariadb: Callable[..., MariaDB],
) -> None:
    server = new_mariadb(
        {"binlog_row_image": "MINIMAL", "binlog_row_metadata": "MINIMAL", "binlog_format": "MIXED"}
    )
    settings = source_settings(server, names="table_map")
    error = refusal(settings)
    assert isinstance(error, SourceSettingsRefused)
    for name in (
        "binlog_row_image is MINIMAL",
        "binlog_row_metadata is MINIMAL",
        "binlog_format is MIXED",
    ):
        assert name in error.reason
    assert [str(found) for found in errors_of(settings)] == [str(error)]


def test_a_source_without_binlog_is_refused(new_mariadb: Callable[..., MariaDB]) -> None:
    server = new_mariadb({"log_bin": None})
    error = refusal(source_settings(server))
    assert isinstance(error, SourceSettingsRefused)
    assert "log_bin is OFF" in error.reason


def test_a_second_relay_with_the_same_server_id_ends_the_first_by_name(database: SqlServer) -> None:
    settings = source_settings(database)
    first = open_source(settings, None, END)
    items = first.items()
    next(items)
    second = open_source(settings, None, END)
    with pytest.raises(ServerIdContested):
        for _ in items:
            pass
    second.close()


def test_the_sources_own_server_id_is_taken(database: SqlServer) -> None:
    settings = source_settings(database, server_id=database.port)
    error = refusal(settings)
    assert isinstance(error, ServerIdTaken)
    assert [str(found) for found in errors_of(settings)] == [str(error)]


def test_a_paused_source_is_silent(new_mariadb: Callable[..., MariaDB]) -> None:
    server = new_mariadb()
    stream = open_source(
        source_settings(server, heartbeat_seconds=0.2, read_timeout_seconds=1), None, END
    )
    items = stream.items()
    next(items)
    server.pause()
    with pytest.raises(SourceSilent):
        for _ in items:
            pass
    server.resume()


def test_a_killed_source_is_unreachable_and_can_be_resumed(
    new_mariadb: Callable[..., MariaDB],
) -> None:
    server = new_mariadb()
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    start = position_of(server)
    settings = source_settings(server)
    stream = open_source(settings, start, END)
    killer = threading.Timer(0.5, server.kill)
    killer.start()
    with pytest.raises(SourceUnreachable):
        for _ in stream.items():
            pass
    killer.join()
    assert isinstance(refusal(settings, start), SourceUnreachable)
    server.start()
    server.execute("INSERT INTO d.t VALUES (1)")
    items = read(settings, start, end_of(server))
    assert [type(item).__name__ for item in items if type(item).__name__ != "Advance"] == [
        "TransactionBegin",
        "RawRows",
        "TransactionEnd",
    ]


@pytest.fixture(params=["new_mariadb", "new_mysql"])
def own(request: pytest.FixtureRequest) -> SqlServer:
    """A server of the test's own, of each family."""
    start: Callable[[], SqlServer] = request.getfixturevalue(request.param)
    server = start()
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    return server


@pytest.mark.parametrize("gtid", [False, True], ids=["file", "gtid"])
def test_purged_binlogs_stop(own: SqlServer, gtid: bool) -> None:
    saved = position_of(own, gtid=gtid)
    own.execute(
        "INSERT INTO d.t VALUES (1)",
        "FLUSH BINARY LOGS",
        "INSERT INTO d.t VALUES (2)",
        "FLUSH BINARY LOGS",
    )
    purge(own)
    settings = source_settings(own, gtid=gtid)
    with pytest.raises(BinlogPurged):
        read(settings, saved, end_of(own))


def test_a_purged_file_does_not_matter_when_all_its_gtids_are_published(own: SqlServer) -> None:
    saved = position_of(own)
    own.execute("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (2)")
    purge(own)
    items = read(source_settings(own), saved, end_of(own))
    missing = GtidSet.parse(executed(own)).without(GtidSet.parse(saved.gtid_set))
    assert [item.gtid for item in items if isinstance(item, TransactionEnd)] == [str(missing)]


def reset(server: SqlServer) -> None:
    server.execute("RESET BINARY LOGS AND GTIDS" if server.family == "mysql" else "RESET MASTER")


@pytest.mark.parametrize("gtid", [False, True], ids=["file", "gtid"])
def test_a_reset_binlog_is_another_history_even_when_it_has_grown_again(
    own: SqlServer, gtid: bool
) -> None:
    saved = position_of(own, gtid=gtid)
    later = replace(
        saved, identity=replace(saved.identity, file_created_s=saved.identity.file_created_s - 100)
    )
    settings = source_settings(own, gtid=gtid)
    reset(own)
    assert isinstance(refusal(settings, saved), HistoryChanged | SourceLostTransactions)
    own.execute(*(f"INSERT INTO d.t VALUES ({number})" for number in range(20)))
    assert isinstance(refusal(settings, later), HistoryChanged)


def test_a_shorter_binlog_has_lost_transactions(own: SqlServer) -> None:
    saved = position_of(own, gtid=False)
    beyond = replace(saved, binlog=saved.binlog._replace(offset=saved.binlog.offset + 1000))
    error = refusal(source_settings(own, gtid=False), beyond)
    assert isinstance(error, SourceLostTransactions)
    assert str(beyond.binlog) in error.reason


def test_published_gtids_that_the_source_does_not_have_are_named(own: SqlServer) -> None:
    saved = position_of(own)
    uuid = saved.identity.server_uuid
    extra = f"{uuid}:1000-1003" if uuid else f"0-{own.port}-1000"
    ahead = replace(saved, gtid_set=str(GtidSet.parse(saved.gtid_set).with_gtid(extra)))
    error = refusal(source_settings(own), ahead)
    assert isinstance(error, SourceLostTransactions)
    assert extra in error.reason


def test_another_server_is_another_history(own: SqlServer) -> None:
    saved = position_of(own)
    other = SourceIdentity(
        "3e11fa47-71ca-11e1-9e33-c80aa9429562" if saved.identity.server_uuid else "",
        4711,
        saved.identity.file_created_s,
    )
    assert isinstance(refusal(source_settings(own), replace(saved, identity=other)), HistoryChanged)


@pytest.mark.parametrize(("file", "offset"), [("nothing.000001", 4), ("", 10**9), ("", 6)])
def test_a_start_at_no_place_is_a_matter_of_configuration(
    own: SqlServer, file: str, offset: int
) -> None:
    place = BinlogPosition(file or end_of(own).file, offset)
    error = refusal(source_settings(own), None, at(place))
    assert isinstance(error, ConfigurationError)
    assert str(place) in error.reason


def test_a_source_that_insists_on_tls_asks_for_tls_ca_and_is_read_with_it(
    new_mysql: Callable[..., MySQL], tmp_path: Path
) -> None:
    server = new_mysql(
        {"require_secure_transport": "ON", **server_certificate(tmp_path, "127.0.0.1")}
    )
    error = refusal(source_settings(server))
    assert isinstance(error, SourceLoginRefused)
    assert "tls_ca" in error.way_out
    stream = open_source(source_settings(server, tls_ca=tmp_path / "ca.pem"), None, END)
    items = stream.items()
    assert next(items).position == stream.start.binlog
    stream.close()
    assert list(items) == []


def test_a_certificate_that_is_not_the_hosts_is_refused(new_mysql: Callable[..., MySQL]) -> None:
    server = new_mysql()
    error = refusal(source_settings(server, tls_ca=server.data / "ca.pem"))
    assert isinstance(error, SourceLoginRefused)
    assert "TLS failed" in error.reason


def test_a_file_that_was_loaded_as_text_is_a_stop(own: SqlServer, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_text("1\n2\n")
    settings, saved = source_settings(own, statements="publish"), position_of(own)
    with own.connect(local_infile=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION binlog_format = STATEMENT")
        cursor.execute(f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE d.t")
    with pytest.raises(UnsupportedEvent, match="LOAD DATA in statement format"):
        read(settings, saved, end_of(own))
