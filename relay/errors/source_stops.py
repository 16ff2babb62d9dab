"""Errors of a source, or of the server that should replace it, that stop the instance."""

from relay.errors.stop import Stop


class SourceLoginRefused(Stop):
    """The server refused user or password."""

    code = "SOURCE_LOGIN_REFUSED"
    remedy = (
        "Correct user and password of the source. The instance logs in again by itself when the "
        "file of the password in secrets.folder "
        "or of a certificate changes; other settings need a restart."
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
        "Restore the missing binlog files on the source, or accept the loss: make a new first "
        "copy and start from "
        "`oldest` or `end` under a new epoch."
    )


class HistoryChanged(Stop):
    """The server at this address has a binlog history that differs from that of the position."""

    code = "HISTORY_CHANGED"
    remedy = (
        "Check which server answers at this address, and bring back the former one. "
        "After RESET, or after a permanent "
        "restore of an older copy: choose a new start position (`roma position set`), then "
        "repair the "
        "copies (`reconcile --repair`, or a new "
        "first copy)."
    )


class SourceLostTransactions(Stop):
    """The position is after the end of the source's binlog: the source lacks published
    transactions.
    """

    code = "SOURCE_LOST_TRANSACTIONS"
    remedy = (
        "Bring back the server, or the binlog, that has them. If they are permanently lost (crash "
        "without sync_binlog=1, an older copy "
        "restored): `roma position set` to the first transaction after the loss, then repair the "
        "copies (`reconcile --repair`, or a "
        "new first copy). A new position alone leaves rows in the copies that the source does "
        "not have."
    )


class SwitchRefused(Stop):
    """Another server cannot replace the source.

    The instance continues when that changes, or by an operator's order.
    """

    code = "SWITCH_REFUSED"
    remedy = "Bring the former server back, or remove the obstacle in the reason."


class StandbyPurged(SwitchRefused):
    """The server no longer has the binlog of transactions that were not published yet."""

    code = "STANDBY_PURGED"
    remedy = (
        "Bring the former server back. If it is permanently lost: accept the loss of "
        "the transactions named "
        "(POST /api/v1/instances/{name}/failover/accept-loss) and make a new first copy."
    )


class StandbyDiverged(SwitchRefused):
    """The server has other transactions where published ones should be."""

    code = "STANDBY_DIVERGED"
    remedy = (
        "Bring the server back that was read before, rebuild this one from it, or choose a new "
        "start position and make a new first copy."
    )


class StandbyLacks(SwitchRefused):
    """The server has applied all that it replicates, and published transactions, compared by
    digests, are missing.
    """

    code = "STANDBY_LACKS"
    remedy = (
        "Bring the former server back, or let this one replicate the missing transactions and "
        "order the switch again "
        "(POST /api/v1/instances/{name}/failover/switch). If it is lost: "
        "failover.switch_without_gtid = 'fallback' continues without it."
    )


class PlaceAmbiguous(SwitchRefused):
    """The digests match more than one position in the server's binlog, or none for certain."""

    code = "PLACE_AMBIGUOUS"
    remedy = (
        "Bring the former server back, remove the obstacle in the reason, or set "
        "failover.switch_without_gtid = 'fallback', "
        "which repeats up to fallback_interval_seconds of changes under a new epoch."
    )


class SwitchNeedsGtid(SwitchRefused):
    """Without GTIDs on both servers, nothing proves that the other server has the published
    transactions.
    """

    code = "SWITCH_NEEDS_GTID"
    remedy = (
        "Bring the former server back, or set failover.switch_without_gtid = 'fallback', which "
        "repeats up to fallback_interval_seconds of changes under a new epoch. To avoid "
        "repetitions at the next switch, set it to 'digest' before."
    )
