"""Checks what the relay needs of a source before it reads the binlog. `preflight` and the relay
report the results with the same texts.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from relay.errors import PreparedUnknown, RelayError, SourceNotPermitted, SourceSettingsRefused
from relay.settings import SourceSettings
from relay.source.binlog_retention import retention
from relay.source.positions.resume import binlog_files
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import lacks_replication_slave
from relay.source.protocol.replica_id import free_server_id
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

XA_REMEDY: Final = (
    "Commit or roll them back on the source before the instance starts for the first time. "
    "Later XA transactions need no action."
)
CLOCK_LIMIT_SECONDS: Final = 60.0
_CLOCK_REMEDY: Final = (
    "Synchronize both machines with the same time servers. Change times and lag are computed "
    "from the source's clock."
)
_NAMELESS_REMEDY: Final = (
    "Set source.names = 'auto' or 'history': this server has no binlog_row_metadata, so its "
    "binlog has no column names. Set log_bin=ON and binlog_format=ROW on the source if the "
    "reason names them."
)
_KEYLESS: Final = (
    "a table without PRIMARY KEY is then published without a key, also where it has a unique index."
)
_WHOLE_IMAGES: Final = (
    "FULL",
    "FULL_NODUP",
)  # the latter says each value once, in one of an update's images


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """The result of one check of a source. `error` is None if it passed.

    `name` is the name of the check, and `detail` describes the state that was found. `warning`: the
    error does not prevent the relay from running.
    """

    name: str
    error: RelayError | None
    detail: str
    warning: bool = False


def check_source(
    settings: SourceSettings,
    clock_limit_s: float = CLOCK_LIMIT_SECONDS,
    *,
    replica: str = "",
    whole_images: bool = True,
) -> list[SourceCheck]:
    """Return the results of all checks of a source; if the login fails, only that result.

    Errors of the source are in the results and not raised. Clocks that differ by more than
    `clock_limit_s` seconds are a warning. `replica` names the reader, for choosing a server_id if
    none is configured. `whole_images` False: rows may lack columns.
    """
    try:
        connection = SourceConnection(settings)
    except RelayError as exc:
        return [SourceCheck("source login", exc, f"{settings.host}:{settings.port}")]
    try:
        return _logged_in(connection, settings, clock_limit_s, replica, whole_images=whole_images)
    except RelayError as exc:
        return [SourceCheck("source", exc, connection.address)]
    finally:
        connection.close()


def settings_error(
    server: ServerFacts, settings: SourceSettings, *, whole_images: bool = True
) -> RelayError | None:
    """Return one error that names all wrong binlog settings of the server; None if they are
    correct.

    `whole_images` False: rows may lack columns.
    """
    asked = _settings(server, settings, whole_images=whole_images)
    wrong = [
        f"{name} is {found or 'missing'} and must be {wanted}"
        for name, wanted, found in asked
        if found != wanted
    ]
    if not wrong:
        return None
    reason = (
        f"The binlog of the source ({server.version_text}) cannot be read without guessing: "
        f"{'; '.join(wrong)}."
    )
    nameless = settings.names == "table_map" and "binlog_row_metadata" not in server.variables
    return SourceSettingsRefused(reason, remedy=_NAMELESS_REMEDY if nameless else None)


def _logged_in(
    connection: SourceConnection,
    settings: SourceSettings,
    clock_limit_s: float,
    replica: str,
    *,
    whole_images: bool,
) -> list[SourceCheck]:
    server = read_server_facts(connection)
    return [
        SourceCheck("source login", None, f"{connection.address}, {server.version_text}"),
        SourceCheck(
            "source binlog settings",
            settings_error(server, settings, whole_images=whole_images),
            _binlog_detail(server),
        ),
        SourceCheck("source binlog retention", *retention(server.variables), warning=True),
        _asked("source grants", lambda: _grants(connection, server)),
        _asked(
            "source server_id",
            lambda: (
                None,
                _server_id(free_server_id(connection, settings, server, replica), settings),
            ),
        ),
        _tables(connection, server, settings),
        SourceCheck(
            "source checksums",
            None,
            f"binlog_checksum is {server.variables.get('binlog_checksum', 'unknown')}",
        ),
        _clock(connection, clock_limit_s),
        _xa(connection),
    ]


def _asked(name: str, ask: Callable[[], tuple[RelayError | None, str]]) -> SourceCheck:
    try:
        error, detail = ask()
    except RelayError as exc:
        return SourceCheck(name, exc, exc.reason)
    return SourceCheck(name, error, detail)


def _server_id(number: int, settings: SourceSettings) -> str:
    return (
        f"server_id {number}, which the relay chose"
        if settings.server_id is None
        else f"server_id {number}"
    )


def _binlog_detail(server: ServerFacts) -> str:
    names = ("binlog_format", "binlog_row_image", "binlog_row_metadata")
    return ", ".join(f"{name} {server.variables.get(name, 'missing')}" for name in names)


def _settings(
    server: ServerFacts, settings: SourceSettings, *, whole_images: bool
) -> list[tuple[str, str, str]]:
    """Return name, wanted and found value of every setting that decides whether a row event can
    be read.
    """
    found = {name: value.upper() for name, value in server.variables.items()}
    wanted = [("log_bin", "ON", found.get("log_bin", ""))]
    # Servers without the variable (MySQL before 5.6.2, MariaDB before 10.1.6) log every image
    # whole.
    image = found.get("binlog_row_image", "FULL")
    if whole_images and image not in _WHOLE_IMAGES:
        wanted.append(("binlog_row_image", "FULL", image))
    # MySQL releases that know only the row format may do without the variable.
    if settings.statements == "refuse":
        wanted.append(("binlog_format", "ROW", found.get("binlog_format", "ROW")))
    if settings.names == "table_map":
        wanted.append(("binlog_row_metadata", "FULL", found.get("binlog_row_metadata", "")))
    return wanted


def _grants(connection: SourceConnection, server: ServerFacts) -> tuple[RelayError | None, str]:
    """Every right is tried by using it.

    REPLICATION SLAVE shows in the grants, because using it would start a dump.
    """
    binlog_files(connection)
    granted = " ".join(_shown_grants(connection))
    if (
        "ALL PRIVILEGES ON *.*" in granted
        or "REPLICATION SLAVE" in granted
        or "REPLICA" in granted.replace("REPLICATION", "")
    ):
        return None, "REPLICATION SLAVE, REPLICATION CLIENT"
    return lacks_replication_slave(connection.address, server), "SHOW GRANTS"


def _tables(
    connection: SourceConnection, server: ServerFacts, settings: SourceSettings
) -> SourceCheck:
    """Columns that table maps do not name come from the catalogue, which shows an account only the
    tables that it may use.
    """
    readable = [line for line in _shown_grants(connection) if _may_select(line)]
    if readable:
        everywhere = any(" ON *.* " in f"{line} " for line in readable)
        return SourceCheck(
            "source tables", None, f"SELECT on {'all' if everywhere else 'some'} tables"
        )
    account = f"The account {settings.user!r} at {connection.address} has no SELECT"
    if not server.needs_history(settings):
        return SourceCheck(
            "source tables",
            SourceNotPermitted(f"{account}: {_KEYLESS}"),
            "SHOW GRANTS",
            warning=True,
        )
    metadata = server.variables.get("binlog_row_metadata", "missing")
    reason = (
        f"{account}, and the binlog has no names of columns (binlog_row_metadata is {metadata}): "
        f"the first row would stop the instance."
    )
    return SourceCheck("source tables", SourceNotPermitted(reason), "SHOW GRANTS")


def _shown_grants(connection: SourceConnection) -> list[str]:
    return [str(row[0]).upper() for row in connection.rows("SHOW GRANTS")]


def _may_select(grant: str) -> bool:
    """Return whether a line of SHOW GRANTS, in upper case, lets the account read tables.

    The rights of roles are not visible there.
    """
    privileges, on, _ = grant.partition(" ON ")
    return not on or "SELECT" in privileges or "ALL PRIVILEGES" in privileges


def clock_error(difference_s: float, limit_s: float) -> RelayError | None:
    """Return an error if the clocks of source and relay differ by more than `limit_s` seconds; None
    otherwise.

    `difference_s` is positive if the source is ahead.
    """
    if abs(difference_s) <= limit_s:
        return None
    sentence = (
        f"The source's clock and the relay's are more than {limit_s:g} s apart: the source's is "
        f"{_apart(difference_s)}."
    )
    return SourceSettingsRefused(sentence, remedy=_CLOCK_REMEDY)


def clock_difference_s(connection: SourceConnection) -> float:
    """Return by how many seconds the source's clock is ahead of the relay's, measured in the middle
    of a query.
    """
    before = time.time()
    theirs = float(connection.rows("SELECT UNIX_TIMESTAMP(SYSDATE(6))")[0][0])
    return theirs - (before + time.time()) / 2


def _apart(difference_s: float) -> str:
    # Whole seconds: two looks at the same clocks must give the same sentence.
    return f"{abs(difference_s):.0f} s {'ahead' if difference_s > 0 else 'behind'}"


def _clock(connection: SourceConnection, limit_s: float) -> SourceCheck:
    difference_s = clock_difference_s(connection)
    return SourceCheck(
        "source clock",
        clock_error(difference_s, limit_s),
        f"the source's clock is {_apart(difference_s)}",
        warning=True,
    )


def _xa(connection: SourceConnection) -> SourceCheck:
    try:
        prepared = connection.rows("XA RECOVER")
    except SourceNotPermitted:
        return SourceCheck(
            "source XA",
            None,
            "the account may not list prepared XA transactions (XA_RECOVER_ADMIN)",
        )
    if not prepared:
        return SourceCheck("source XA", None, "no prepared XA transactions")
    reason = (
        f"{len(prepared)} XA transactions are prepared now. An instance that starts after "
        "their XA PREPARE never reads their rows."
    )
    return SourceCheck("source XA", PreparedUnknown(reason, remedy=XA_REMEDY), reason, warning=True)
