"""Errors of a source, or of the server that should replace it, that stop the instance."""

from relay.errors.base import Stop


class SourceLoginRefused(Stop):
    """The server refused user or password."""

    code = "SOURCE_LOGIN_REFUSED"
    remedy = (
        "Correct user and password of the source. If the password or certificate is in a file (the "
        "password in secrets.folder), the instance logs in again when the file changes. After any "
        "other change, restart the relay."
    )


class SourceNotPermitted(Stop):
    """The account lacks a privilege."""

    code = "SOURCE_NOT_PERMITTED"
    remedy = (
        "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO the account of the relay."
    )


class SourceSettingsRefused(Stop):
    """The server's binlog settings leave out data that the relay needs."""

    code = "SOURCE_SETTINGS_REFUSED"
    remedy = (
        "Set log_bin=ON, binlog_format=ROW, binlog_row_image=FULL and binlog_row_metadata=FULL on "
        "the source."
    )


class ServerIdTaken(Stop):
    """Another replica of the source uses this server_id."""

    code = "SERVER_ID_TAKEN"
    remedy = "Give the instance a server_id that no other replica of this source has."


class BinlogPurged(Stop):
    """The source no longer has the binlog at the position."""

    code = "BINLOG_PURGED"
    remedy = (
        "Restore the missing binlog files on the source. If they are lost, accept the loss: set "
        "the position to the oldest file that is left (`roma position set`), then make a new first "
        "copy."
    )


class HistoryChanged(Stop):
    """The server at this address has another binlog than the one that the position belongs to."""

    code = "HISTORY_CHANGED"
    remedy = (
        "Check which server answers at this address, and start the former one there again. After "
        "RESET, or if an older copy was restored for good: set a new position (`roma position set "
        "--as-new`), then repair the copies (`roma reconcile --repair`, or a new first copy)."
    )


class SourceLostTransactions(Stop):
    """The position is after the end of the source's binlog: the source lacks published
    transactions.
    """

    code = "SOURCE_LOST_TRANSACTIONS"
    remedy = (
        "Start the server, or restore the binlog, that has these transactions. If they are "
        "permanently lost (a crash without sync_binlog=1, or an older copy was restored): set the "
        "position to the first transaction after the loss (`roma position set`), then repair the "
        "copies (`roma reconcile --repair`, or a new first copy), because they have rows that the "
        "source does not have."
    )


class SwitchRefused(Stop):
    """Another server cannot replace the source.

    The instance continues when the obstacle is removed, or when an operator acts as the remedy
    says.
    """

    code = "SWITCH_REFUSED"
    remedy = "Start the former server again, or remove the obstacle in the reason."


class StandbyPurged(SwitchRefused):
    """The server no longer has the binlog of transactions that were not published yet."""

    code = "STANDBY_PURGED"
    remedy = (
        "Start the former server again. If it is permanently lost: accept the loss of the "
        "transactions in the reason (POST /api/v1/instances/{name}/failover/accept-loss), then "
        "make a new first copy."
    )


class StandbyDiverged(SwitchRefused):
    """The server has other transactions than the published ones under the same numbers or
    coordinates.
    """

    code = "STANDBY_DIVERGED"
    remedy = (
        "Start the server again that was read before, or rebuild this one from it. If the former "
        "server is permanently lost: set a new position (`roma position set --as-new`), then make "
        "a new first copy."
    )


class StandbyLacks(SwitchRefused):
    """The server has applied all that it replicates, and digests show that it lacks published
    transactions.
    """

    code = "STANDBY_LACKS"
    remedy = (
        "Start the former server again, or let this one replicate the missing transactions and "
        "order the switch again (POST /api/v1/instances/{name}/failover/switch). If the former "
        "server is permanently lost: set failover.switch_without_gtid = 'fallback' to continue "
        "without those transactions."
    )


class PlaceAmbiguous(SwitchRefused):
    """Digests of transactions match several positions in the server's binlog, or prove none."""

    code = "PLACE_AMBIGUOUS"
    remedy = (
        "Start the former server again, or remove the obstacle in the reason. Or set "
        "failover.switch_without_gtid = 'fallback', which repeats up to fallback_interval_seconds "
        "of changes under a new epoch."
    )


class SwitchNeedsGtid(SwitchRefused):
    """Without GTIDs on both servers, nothing proves that the other server has the published
    transactions.
    """

    code = "SWITCH_NEEDS_GTID"
    remedy = (
        "Start the former server again. Or set failover.switch_without_gtid = 'fallback', which "
        "repeats up to fallback_interval_seconds of changes under a new epoch. To avoid "
        "repetitions at later switches, set it to 'digest' afterwards."
    )
