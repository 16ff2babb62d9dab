"""Errors that prevent reading the sources, or comparing them with the relay's position."""

from spark_jobs.errors.base import JobError


class SourceUnreachable(JobError):
    """A source server does not answer, or ended the connection."""

    remedy = (
        "Check host and port of [[sources]] and the server, and start again; finished ranges "
        "are kept. If a query takes longer than sources.read_timeout_seconds, raise that setting "
        "or lower range_rows."
    )


class SourceRefused(JobError):
    """A source server refuses the login, or the user does not have a right."""

    remedy = (
        "Correct user and password of [[sources]], grant this user SELECT on the relayed tables, "
        "and start again."
    )


class SourceNotTheOne(JobError):
    """The source is another server than the one in the instance's position, so the instance's order
    key does not apply to its rows.
    """

    remedy = "Name in [[sources]] the server that the instance reads now, and start again."


class SourcesIncomplete(JobError):
    """Sources of a group, or a database of the mapping, are missing in `[[sources]]`: their keys
    would be deleted from the copies.
    """

    remedy = (
        "Name in [[sources]] every server that has shards of the tables, with a user that may "
        "SELECT from them, and every source of a "
        "group with the `name` that it has in [instances.group], and start again."
    )


class RulesDiffer(JobError):
    """The rules, masks, transforms or lookups in the job's configuration differ from the
    instance's.
    """

    remedy = (
        "Copy the rules, masks, transforms and lookups of the instance into its [[sources]], word "
        "for word and with the same salts, and start again. If they were just changed, first wait "
        "until the relay uses them."
    )


class TransformNotCopied(JobError):
    """A transform changes the table's rows in messages; a copy from the source cannot apply it."""

    remedy = (
        "Exclude these tables with filter_black_regex of [[sources]], or choose the others "
        "with --table. Only the stream copies the excluded tables."
    )


class PositionMissing(JobError):
    """An instance has no position record, because it has never published. A copy would lack the
    changes before the instance's first start.
    """

    remedy = (
        "Check installation and the instance's name; start the relay, wait until the instance "
        "runs, and start again."
    )


class PositionUnknown(JobError):
    """An instance's position record has a newer format than this version of the jobs can read,
    or is invalid.
    """

    remedy = (
        "Use the version of the jobs that matches the relay that leads the instance, and "
        "start again."
    )


class RelayBehind(JobError):
    """An instance did not publish in time all transactions that its source had committed before the
    copy.

    A schema change could therefore have a greater order key than the copied rows.
    """

    remedy = (
        "`roma status` shows the lag and the state of the instance. Wait until it has caught "
        "up, and start again. To let this job wait longer, raise bootstrap.patience_seconds."
    )


class TableUnknown(JobError):
    """No source has a real table for a logical name."""

    remedy = (
        "Check the table's name, the mapping, and filter and routing of [[sources]]. The job "
        "does not see tables that its user may not SELECT from."
    )


class TableChanged(JobError):
    """A table got other columns or another key, or was dropped, while the job read it."""

    remedy = (
        "Start again: this table is copied again under a new order key, and finished ranges of "
        "other tables are kept."
    )


class TableSwapped(TableChanged):
    """Another table had the name of a copied table while its rows were read."""


class TablesLeftOut(JobError):
    """Some tables could not be copied. The other tables were copied, unless the job was stopped
    before.
    """

    remedy = (
        "Correct the error of each table, and start again: finished tables are not copied again."
    )
