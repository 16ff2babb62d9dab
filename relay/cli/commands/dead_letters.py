"""`roma dead-letter`: list rows that could not be published, and send them again."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from relay.cli.commands.peek import peek_tables
from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does
from relay.cli.find_instance import find_instance
from relay.cli.json_output import fields
from relay.cli.printing import print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.dead_letters import DamagedDeadLetter, DeadLetter, ListedDeadLetter
    from relay.operations import LetterMasks
    from relay.operations.replay import ReplayPreview
    from relay.settings import RelaySettings

dead_letters = typer.Typer(no_args_is_help=True, help="Messages and rows that no topic accepted.")
app.add_typer(dead_letters, name="dead-letter")

InstanceName = Annotated[
    str, typer.Option("--instance", help="The instance whose dead letters are meant.")
]
LetterId = Annotated[str, typer.Argument(help="The id, as `roma dead-letter list` shows it.")]


@dead_letters.command("list")
def list_letters(
    config: ConfigFile,
    instance: InstanceName,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line for machines.")
    ] = False,
) -> None:
    """Show the dead letters, the oldest first: id, time, reason, table, size, intended topic, and
    whether it was replayed. Damaged ones come last, with their offset in the topic.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.dead_letters import DeadLetterTopic

        one = find_instance(settings, instance)
        topic = DeadLetterTopic(settings.kafka, settings.installation, one.name)
        found, hidden = _masks(settings, one.name).list_of(topic, shows_keys=as_json)
        for listed in found.letters:
            hides = listed.letter.id in hidden
            print_json(_fields(listed, key_hidden=hides)) if as_json else typer.echo(_told(listed))
        for damaged in found.damaged:
            print_json(_damaged(damaged)) if as_json else typer.echo(_told_damage(damaged))


@dead_letters.command("show")
def show_letter(
    config: ConfigFile,
    instance: InstanceName,
    letter: LetterId,
    value: Annotated[
        bool, typer.Option("--value", help="Print only the value, byte for byte.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object that contains the value.")
    ] = False,
) -> None:
    """Show one dead letter: its metadata as JSON, then its value.

    If a mask or a rule of an instance hides columns of the value, the rows are printed without
    these columns instead of the value.
    """
    if as_json and value:
        raise typer.BadParameter("--json and --value exclude each other.")
    with told_errors():
        settings = settings_of(config)
        from relay.dead_letters import DeadLetterTopic

        one = find_instance(settings, instance)
        found = DeadLetterTopic(settings.kafka, settings.installation, one.name).letter(letter)
        masks = _masks(settings, one.name)
        metadata = _fields(found, key_hidden=masks.hides_key(found.letter))
        if value:
            masks.check_value(found.letter)
            typer.echo(found.letter.message.value or b"", nl=False)
        elif as_json:
            print_json({**metadata, **_value_fields(found.letter, masks)})
        else:
            print_json(metadata)
            _show_value(found.letter, masks)


@dead_letters.command("replay")
def replay_letter(
    config: ConfigFile,
    instance: InstanceName,
    letter: LetterId,
    again: Annotated[
        bool, typer.Option("--again", help="Send it also if it was already sent.")
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Send a dead letter to its topic with its own order key. The topic must be able to accept it.

    It shows how many newer changes of the same key the topic has, and asks for confirmation. It
    writes an audit entry.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import preview_replay, replay

        one = find_instance(settings, instance)
        preview = preview_replay(settings, one, letter, again=again)
        _show_replay(letter, preview)
        confirm(instance, yes)
        message = replay(settings, one, letter, who_does(actor, comment), again=again)
        fields(sent=True)
        typer.echo(
            f"Dead letter {letter} was sent to {message.topic}, partition {message.partition}."
        )


def _show_replay(letter: str, preview: "ReplayPreview") -> None:
    from dataclasses import asdict

    message, later = preview
    fields(id=letter, topic=message.topic, partition=message.partition, sent=False)
    fields(later=None if later is None else asdict(later))
    typer.echo(
        f"The message of dead letter {letter} will be sent to {message.topic}, with its original "
        "order key."
    )
    if later is not None:
        typer.echo(later.sentence(message.topic))


def _masks(settings: "RelaySettings", instance: str) -> "LetterMasks":
    from functools import partial

    from relay.operations import LetterMasks

    return LetterMasks(instance, partial(peek_tables, settings))


def _fields(listed: "ListedDeadLetter", *, key_hidden: bool) -> dict[str, Any]:
    replayed = None if listed.replay is None else listed.replay._asdict()
    fields = listed.letter.to_fields()
    key = None if key_hidden else fields["key"]
    return {**fields, "key": key, "key_hidden": key_hidden, "replayed": replayed}


def _damaged(found: "DamagedDeadLetter") -> dict[str, Any]:
    damage = found.damage
    return {
        "id": found.id,
        "record_offset": found.record_offset,
        "damaged": True,
        "code": damage.code,
        "reason": damage.reason,
        "remedy": damage.way_out,
    }


def _value_fields(letter: "DeadLetter", masks: "LetterMasks") -> dict[str, Any]:
    """Return the value as text, or as base64 if it is not UTF-8 (Avro, Protobuf).

    If it has hidden columns, return the rows without them.
    """
    from base64 import b64encode

    rows, value = masks.rows(letter, slice(None)), letter.message.value
    if rows.hides:
        shown = [each.fields() for each in rows.rows]
        return {"value": None, "value_base64": None, "value_hidden": True, "rows": shown}
    try:
        text = None if value is None else value.decode()
        return {"value": text, "value_base64": None, "value_hidden": False}
    except UnicodeDecodeError:
        coded = b64encode(value or b"").decode()
        return {"value": None, "value_base64": coded, "value_hidden": False}


def _show_value(letter: "DeadLetter", masks: "LetterMasks") -> None:
    """Print the value; if it has hidden columns, one JSON object for each row without them."""
    rows = masks.rows(letter, slice(None))
    if not rows.hides:
        typer.echo(letter.message.value or b"")
        return
    for each in rows.rows:
        print_json(each.fields())
    if rows.note:
        typer.echo(rows.note)


def _told_damage(found: "DamagedDeadLetter") -> str:
    damage = found.damage
    return (
        f"offset {found.record_offset}  {damage.code}  {found.id}  {damage.reason} {damage.way_out}"
    )


def _told(listed: "ListedDeadLetter") -> str:
    from datetime import UTC, datetime

    letter = listed.letter
    moment = datetime.fromtimestamp(letter.written_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    place = (
        f"{letter.message.topic}:{letter.message.partition}"
        if letter.is_message
        else letter.message.topic
    )
    sent = f"  sent again by {listed.replay.actor}" if listed.replay is not None else ""
    return (
        f"{letter.id}  {moment} UTC  {letter.code}  {letter.real}  {letter.value_bytes} bytes  "
        f"{place}{sent}"
    )
