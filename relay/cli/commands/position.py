"""`roma position`: show and change the position and the order key of an instance."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.find_instance import find_instance
from relay.cli.json_output import fields
from relay.cli.moment import MOMENT_HELP, moment
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.model.positions.position import BinlogPosition
    from relay.operations import InstancePosition

position = typer.Typer(no_args_is_help=True, help="Positions and order keys.")
app.add_typer(position, name="position")

Instance: TypeAlias = Annotated[str, typer.Argument(help="The instance's name.")]
Source: TypeAlias = Annotated[
    str | None, typer.Option("--source", help="Name of the source, for a group.")
]
Gtid: TypeAlias = Annotated[
    str, typer.Option("--gtid", help="The transaction, as the source prints it.")
]


@position.command("decode")
def decode(number: int, as_json: AsJson = False) -> None:
    """Print the parts of an execute position."""
    from relay.order import decompose

    parts = decompose(number)
    if as_json:
        print_json({"epoch": parts.epoch, "file_number": parts.file_number, "offset": parts.offset})
        return
    typer.echo(
        f"epoch {parts.epoch}, binlog file number {parts.file_number}, offset {parts.offset}"
    )


@position.command("show")
def show(instance: Instance, config: ConfigFile, as_json: AsJson = False) -> None:
    """Show the position of an instance, its order key, transactions to skip and the leader.

    It also shows the earliest position from which a replay has the same order keys.
    """
    with _position_of(instance, config) as found:
        from relay.operations import position_fields, shown

        now = found.show()
        print_json(position_fields(instance, now)) if as_json else typer.echo(shown(now))


@position.command("set")
def set_position(
    instance: Instance,
    config: ConfigFile,
    file: Annotated[str | None, typer.Option("--file", help="The binlog file.")] = None,
    offset: Annotated[
        int | None,
        typer.Option("--offset", min=4, help="The offset of a transaction's first event."),
    ] = None,
    gtid_set: Annotated[
        str | None,
        typer.Option(
            "--gtid-set",
            help="The GTIDs that the source had executed before the position. With --file they "
            "are checked; without --file they are the position.",
        ),
    ] = None,
    as_new: Annotated[
        bool,
        typer.Option(
            "--as-new", help="Publish the next rows with new order keys, under a new epoch."
        ),
    ] = False,
    only_ask: Annotated[
        bool, typer.Option("--preview", help="Show what would happen, and change nothing.")
    ] = False,
    source: Source = None,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Move an instance's position forward (skips the changes in between) or back (publishes them
    again).
    """
    with _position_of(instance, config) as found:
        from relay.operations import foretold, moved

        at = _named_place(file, offset)
        preview = found.preview(at, as_new=as_new, gtid_set=gtid_set, source=source)
        target = preview.reposition.target.binlog
        fields(
            instance=instance,
            kind=preview.reposition.kind.value,
            epoch=preview.reposition.after.epoch,
            file=target.file,
            offset=target.offset,
        )
        typer.echo(foretold(instance, preview))
        if not only_ask:
            confirm(instance, yes)
            done = found.reposition(
                at, who_does(actor, comment), as_new=as_new, gtid_set=gtid_set, source=source
            )
            typer.echo(moved(instance, done))


@position.command("search")
def search(
    instance: Instance,
    config: ConfigFile,
    timestamp: Annotated[datetime, typer.Option("--timestamp", parser=moment, help=MOMENT_HELP)],
    file: Annotated[
        str | None, typer.Option("--file", help="Search only in this binlog file.")
    ] = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="Search on the standby instead of the source.")
    ] = False,
    source: Source = None,
) -> None:
    """Find the last transaction boundary before a time. The command changes nothing."""
    with told_errors():
        settings = settings_of(config)
        from relay.operations import found_position, position_by_time

        known = find_instance(settings, instance, resolved=True)
        place = position_by_time(known, timestamp, file=file, standby=standby, source=source)
        fields(
            instance=instance,
            file=place.binlog.file,
            offset=place.binlog.offset,
            gtid_set=place.gtid_set,
        )
        typer.echo(found_position(instance, place, None if known.group is None else source))


@position.command("raise-floor")
def raise_floor(
    instance: Instance,
    config: ConfigFile,
    above: Annotated[
        str,
        typer.Option(
            "--above", help="The instance whose last order key the next ones will exceed."
        ),
    ],
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Raise the order key of an instance above that of another one, before a shard moves from the
    other one to this one.
    """
    with _position_of(instance, config) as found:
        typer.echo(
            f"The next order keys of {instance} will be above the last one that {above} has "
            f"published."
        )
        confirm(instance, yes)
        pair = found.raise_floor(above, who_does(actor, comment)).order
        fields(
            instance=instance,
            execute_time=pair.execute_time,
            execute_position=str(pair.execute_position),
        )
        typer.echo(f"{instance} continues above {pair.execute_time}.{pair.execute_position}.")


@position.command("repartition")
def repartition(
    instance: Instance,
    config: ConfigFile,
    topic: Annotated[
        str, typer.Option("--topic", help="The topic whose rows get other partitions.")
    ],
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions", min=1, help="The new number of partitions; default: partitions_num."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without", help="Another instance of the topic that is permanently removed."
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            help="Accept that keys of this logical table move, because a key column has another "
            "type or character set. The partition settings stay.",
        ),
    ] = None,
    only_ask: Annotated[
        bool, typer.Option("--preview", help="Show what would happen, and change nothing.")
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Assign future rows of a topic to partitions by the partition settings of the file.

    The command first shows the effect on consumers.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import Repartition, instance_of, partitioned_otherwise, repartitioned

        with zookeeper(settings) as session:
            found = Repartition(settings, instance_of(settings, instance, session), session)
            plan = found.plan(topic, partitions, table)
            fields(
                instance=instance,
                topic=topic,
                partitions_before=plan.before,
                partitions=plan.after.partitions,
            )
            typer.echo(repartitioned(instance, plan))
            if not only_ask:
                confirm(instance, yes)
                found.carry_out(plan, who_does(actor, comment), without=without)
                typer.echo(partitioned_otherwise(plan))


@position.command("skip")
def skip(
    instance: Instance,
    config: ConfigFile,
    gtid: Gtid,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Withdraw the skip, if the relay has not reached the transaction yet."
        ),
    ] = False,
    source: Source = None,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Skip one future transaction.

    When the relay reaches the transaction, it writes the tables and row counts to the audit trail.
    """
    with _position_of(instance, config) as found:
        of = f" of source {source}" if source else ""
        typer.echo(
            f"{instance} will {'publish' if undo else 'leave out'} the transaction {gtid}{of}."
        )
        confirm(instance, yes)
        change = found.unskip if undo else found.skip
        left = change(gtid, who_does(actor, comment), source)
        fields(instance=instance, skips=list(left))
        typer.echo(f"To be skipped: {', '.join(left) or 'nothing'}.")


def _named_place(file: str | None, offset: int | None) -> "BinlogPosition | None":
    """Return the coordinates, None if none are given."""
    from relay.model.positions.position import BinlogPosition

    if file is not None and offset is not None:
        return BinlogPosition(file, offset)
    if file is None and offset is None:
        return None
    raise typer.BadParameter("--file and --offset must be given together.")


@contextmanager
def _position_of(instance: str, config: Path) -> Iterator["InstancePosition"]:
    with told_errors():
        settings = settings_of(config)
        from relay.operations import InstancePosition, instance_of

        with zookeeper(settings) as session:
            yield InstancePosition(settings, instance_of(settings, instance, session), session)
