"""`roma zookeeper`: access rights of the installation's nodes."""

from collections import Counter
from typing import Annotated

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

access = typer.Typer(no_args_is_help=True, help="Access rights of the nodes in ZooKeeper.")
app.add_typer(access, name="zookeeper")


@access.command("show")
def show(config: ConfigFile, as_json: AsJson = False) -> None:
    """List who may use the nodes, each with the number of nodes and one example."""
    with told_errors():
        settings = settings_of(config)
        from relay.operations import ProtectedTree

        with zookeeper(settings) as session:
            rights = ProtectedTree(settings, session).rights()
        examples = {identities: path for path, identities in reversed(tuple(rights.items()))}
        for identities, count in Counter(rights.values()).most_common():
            if as_json:
                names = [str(_named(each)) for each in identities]
                print_json({"identities": names, "nodes": count, "example": examples[identities]})
                continue
            typer.echo(
                f"{count:6} nodes  {', '.join(map(_named, identities)) or 'nobody wholly'}  "
                f"{examples[identities]}"
            )


@access.command("identity")
def identity(config: ConfigFile) -> None:
    """Print the name of this configuration's login in the form that `zookeeper.acl` expects."""
    with told_errors():
        auth = settings_of(config).zookeeper.auth
        from relay.zk import digest_identity

        if auth is None:
            fields(identity=None)
            typer.echo("none: zookeeper.auth is not set")
            return
        name = (
            f"sasl:{auth.user}"
            if auth.scheme == "sasl"
            else digest_identity(auth.user, auth.password.get_secret_value())
        )
        fields(identity=name)
        typer.echo(name)


@access.command("protect")
def protect(
    config: ConfigFile,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Show which nodes would get other rights, and change nothing."
        ),
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Give every node the rights of `zookeeper.acl`. --yes names the installation.

    You may interrupt and repeat the command.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import ProtectedTree

        with zookeeper(settings) as session:
            tree = ProtectedTree(settings, session)
            changed, wanted = tree.to_change(), ", ".join(map(_named, tree.wanted()))
            fields(nodes=len(changed), identities=sorted(map(_named, tree.wanted())))
            typer.echo(
                f"{len(changed)} nodes get other rights: {wanted} may use them, and nobody else."
            )
            for path in changed if preview else ():
                typer.echo(f"  {path}")
            for name in tree.careless_relays():
                typer.echo(
                    f"Relay {name} creates nodes that every login may use. If it logs in with "
                    "another identity than zookeeper.acl names, it would lose its access."
                )
            if not preview:
                confirm(settings.installation, yes)
                typer.echo(
                    f"{tree.protect(who_does(actor, comment))} nodes were given other rights."
                )


def _named(identity: str) -> str:
    from relay.zk import EVERYBODY

    return "everybody" if identity == EVERYBODY else identity
