"""Who may use the relay's nodes, on a real ZooKeeper with SASL and TLS: two identities, a stranger,
refused logins, rotation.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.deadline import Deadline
from relay.errors import (
    PlacementRefused,
    StoreLoginRefused,
    StoreNotPermitted,
    StoreTlsRefused,
    StoreUnreachable,
)
from relay.operations import ProtectedTree, Who
from relay.preflight.finding import Verdict
from relay.preflight.store_checks import check_store
from relay.settings import RelaySettings, ZooKeeperSettings, load_settings
from relay.zk import Create, Session, digest_identity
from tests.servers.fixtures import FreshName
from tests.support.certificates import Authority
from tests.support.waiting import wait_until

HOST = "127.0.0.1"
USERS = {"relay": "relay-secret", "admin": "admin-secret"}


@contextmanager
def session(hosts: str, **more: Any) -> Iterator[Session]:
    """A session whose calls give up after some seconds, connected or not."""
    found = Session(
        ZooKeeperSettings.model_validate({"hosts": hosts, "session_timeout_seconds": 4, **more}),
        answer_seconds=5,
    )
    try:
        yield found
    finally:
        found.stop()


def sasl(user: str, password: str = "") -> dict[str, str]:
    return {"scheme": "sasl", "user": user, "password": password or USERS[user]}


def digest(password: str) -> dict[str, str]:
    return {"scheme": "digest", "user": "relay", "password": password}


@contextmanager
def stranger(hosts: str) -> Iterator[KazooClient]:
    client = KazooClient(hosts=hosts, timeout=10)
    client.start(20)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@pytest.fixture
def secured(new_zookeeper: Callable[..., ZooKeeper], tmp_path: Path) -> ZooKeeper:
    return new_zookeeper(users=USERS, tls=Authority(tmp_path).java_server(HOST), tick_ms=500)


def test_two_identities_share_the_nodes_and_a_stranger_gets_nothing(
    secured: ZooKeeper, tmp_path: Path
) -> None:
    both = {"acl": ["sasl:relay", "sasl:admin"], "tls": {"ca": str(tmp_path / "ca.pem")}}
    with (
        session(secured.secure_hosts, auth=sasl("relay"), **both) as relay,
        session(secured.secure_hosts, auth=sasl("admin"), **both) as admin,
    ):
        for each in (relay, admin):
            each.start(Deadline.after(60))
        relay.put("/roma/x/definitions/shop", b"password")
        relay.create_ephemeral("/roma/x/leaders/shop", b"relay")
        relay.create_ephemeral_sequential("/roma/x/queue/n-", b"")
        relay.commit([Create("/roma/x/sets", b"1")])
        relay.ensure("/roma/x/empty/deep")
        assert admin.get("/roma/x/definitions/shop").value == b"password"
        admin.put("/roma/x/definitions/shop", b"changed by the admin")
        assert relay.get("/roma/x/definitions/shop", synced=True).value == b"changed by the admin"
        with stranger(secured.hosts) as nobody:
            paths = [
                "/roma/x",
                "/roma/x/definitions",
                "/roma/x/definitions/shop",
                "/roma/x/leaders/shop",
                "/roma/x/sets",
                "/roma/x/empty/deep",
            ]
            for path in paths:
                for act in (
                    nobody.get,
                    nobody.get_children,
                    lambda path: nobody.set(path, b""),
                    lambda path: nobody.create(f"{path}/own"),
                ):
                    with pytest.raises(NoAuthError):
                        act(path)
            with pytest.raises(NoAuthError):
                nobody.delete("/roma/x/leaders/shop")
        with session(secured.hosts) as other:
            other.start(Deadline.after(60))
            with pytest.raises(StoreNotPermitted, match="/roma/x/sets") as caught:
                other.get("/roma/x/sets")
            assert "zookeeper.auth" in caught.value.way_out


def test_nodes_of_the_creator_admit_the_creator_alone(secured: ZooKeeper) -> None:
    with (
        session(secured.hosts, auth=sasl("relay")) as relay,
        session(secured.hosts, auth=sasl("admin")) as admin,
    ):
        relay.start(Deadline.after(60))
        admin.start(Deadline.after(60))
        relay.put("/own/node", b"1")
        with pytest.raises(StoreNotPermitted):
            admin.get("/own/node")


def test_an_older_tree_is_protected_step_by_step(
    secured: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    name = fresh_name("protected")
    base = f"/roma/{name}"
    with session(secured.hosts) as old:
        old.start(Deadline.after(60))
        old.put(f"{base}/definitions/shop", b"password")
        old.create_ephemeral(f"{base}/relays/old", b"{}")
        with session(secured.hosts, auth=sasl("relay"), acl=["sasl:relay", "sasl:admin"]) as relay:
            relay.start(Deadline.after(60))
            tree = ProtectedTree(
                _settings(secured, kafka, name, acl=["sasl:relay", "sasl:admin"]), relay
            )
            assert tree.careless_relays() == ["old"]
            with pytest.raises(PlacementRefused, match="old"):
                tree.protect(Who("ann"))
            assert old.get(f"{base}/definitions/shop").value == b"password"
    with session(secured.hosts, auth=sasl("relay"), acl=["sasl:relay", "sasl:admin"]) as relay:
        relay.start(Deadline.after(60))
        settings = _settings(secured, kafka, name, acl=["sasl:relay", "sasl:admin"])
        tree = ProtectedTree(settings, relay)
        relay.protect(f"{base}/definitions")  # as an interrupted run leaves it
        before = tree.to_change()
        assert f"{base}/definitions/shop" in before
        assert f"{base}/definitions" not in before
        assert tree.protect(Who("ann", "audit finding")) == len(before)
        assert tree.to_change() == []
        assert tree.protect(Who("ann")) == 0
        with stranger(secured.hosts) as nobody, pytest.raises(NoAuthError):
            nobody.get(f"{base}/definitions/shop")
        with session(secured.hosts, auth=sasl("admin"), acl=["sasl:relay", "sasl:admin"]) as admin:
            admin.start(Deadline.after(60))
            assert admin.get(f"{base}/definitions/shop").value == b"password"
        newest, first = AuditTrail(settings.kafka, name).entries(10)
        assert (first.act, first.actor, first.before, first.after) == (
            "zookeeper.protect",
            "ann",
            {"nodes": len(before)},
            {"admitted": ["sasl:admin", "sasl:relay"]},
        )
        assert newest.before == {"nodes": 0}
    with session(secured.hosts, auth=sasl("relay"), acl="open") as relay:
        relay.start(Deadline.after(60))
        ProtectedTree(_settings(secured, kafka, name, acl="open"), relay).protect(
            Who("ann", "the way back")
        )
    with stranger(secured.hosts) as nobody:
        assert nobody.get(f"{base}/definitions/shop")[0] == b"password"


def test_a_digest_password_is_changed_by_way_of_both_identities(
    secured: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    name = fresh_name("digest")
    node, old, new = f"/roma/{name}/definitions/shop", digest("old"), digest("new")
    with session(secured.hosts, auth=old) as relay:
        relay.start(Deadline.after(60))
        relay.put(node, b"1")
        with session(secured.hosts, auth=new) as too_early:
            too_early.start(Deadline.after(60))
            with pytest.raises(StoreNotPermitted):
                too_early.get(node)
    both = ["creator", digest_identity("relay", "new")]
    with session(secured.hosts, auth=old, acl=both) as relay:
        relay.start(Deadline.after(60))
        ProtectedTree(_settings(secured, kafka, name, auth=old, acl=both), relay).protect(
            Who("ann")
        )
    with session(secured.hosts, auth=new) as relay:
        relay.start(Deadline.after(60))
        assert relay.get(node).value == b"1"
        ProtectedTree(_settings(secured, kafka, name, auth=new), relay).protect(Who("ann"))
    with session(secured.hosts, auth=old) as late:
        late.start(Deadline.after(60))
        with pytest.raises(StoreNotPermitted):
            late.get(node)


def test_preflight_warns_where_nobody_has_to_log_in(
    secured: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    name = fresh_name("warned")

    def found(**zookeeper: Any) -> tuple[Verdict, str]:
        findings = check_store(_settings(secured, kafka, name, **zookeeper)).findings
        return next(
            (each.verdict, each.sentence) for each in findings if each.check == "zookeeper access"
        )

    verdict, sentence = found(auth=None)
    assert (verdict, "passwords" in sentence) == (Verdict.WARNING, True)
    with session(secured.hosts) as old:
        old.start(Deadline.after(60))
        old.put(f"/roma/{name}/definitions/shop", b"password")
    assert "before zookeeper.acl was set" in found()[1]
    with session(secured.hosts, auth=sasl("relay")) as relay:
        relay.start(Deadline.after(60))
        ProtectedTree(_settings(secured, kafka, name), relay).protect(Who("ann"))
    assert "not encrypted" in found()[1]
    assert found(hosts=secured.secure_hosts, tls={"mode": "required"})[0] is Verdict.PASSED


def test_a_refused_login_is_told_and_tried_again_with_the_new_password(
    secured: ZooKeeper, tmp_path: Path
) -> None:
    password = tmp_path / "ZK"
    password.write_text("wrong", encoding="utf-8")
    settings = _from_file(tmp_path, secured.hosts).zookeeper
    session = Session(settings, answer_seconds=2)
    try:
        with pytest.raises(StoreUnreachable):
            _connect_and_read(session)
        wait_until(
            lambda: isinstance(session.unreachable(), StoreLoginRefused), "the refusal to be told"
        )
        assert "relay" in session.unreachable().reason
        password.write_text(USERS["relay"], encoding="utf-8")
        wait_until(lambda: _answers(session), "the login with the new password")
        assert not isinstance(session.unreachable(), StoreLoginRefused)
    finally:
        session.stop()


def test_a_password_that_is_changed_at_the_servers_needs_no_restart(
    secured: ZooKeeper, tmp_path: Path
) -> None:
    password = tmp_path / "ZK"
    password.write_text(USERS["relay"], encoding="utf-8")
    session = Session(_from_file(tmp_path, secured.hosts).zookeeper, answer_seconds=2)
    try:
        session.start(Deadline.after(60))
        session.put("/rotated/node", b"1")
        secured.users = {**USERS, "relay": "new-secret"}
        secured.restart()
        wait_until(
            lambda: isinstance(session.unreachable(), StoreLoginRefused),
            "the old password to be refused",
        )
        password.write_text("new-secret", encoding="utf-8")
        wait_until(lambda: _answers(session), "the login with the new password")
        assert session.get("/rotated/node").value == b"1"
    finally:
        session.stop()


def test_tls_that_does_not_fit_is_told_apart_from_silence(
    secured: ZooKeeper, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    wrong = {"tls": {"ca": str(Authority(other).file)}}
    for hosts, more in (
        (secured.secure_hosts, wrong),
        (secured.hosts, {"tls": {"mode": "required"}}),
        (secured.secure_hosts, {"tls": {"ca": "/no"}}),
    ):
        with session(hosts, **more) as found, pytest.raises(StoreTlsRefused, match=hosts):
            found.start(Deadline.after(2))


def test_new_certificates_on_disk_serve_the_next_connection(
    secured: ZooKeeper, tmp_path: Path
) -> None:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes((tmp_path / "ca.pem").read_bytes())
    with session(secured.secure_hosts, tls={"ca": str(trusted)}) as found:
        found.start(Deadline.after(60))
        found.put("/tls/node", b"1")
        second = tmp_path / "second"
        second.mkdir()
        authority = Authority(second)
        secured.tls = authority.java_server(HOST)
        secured.restart()
        wait_until(
            lambda: isinstance(found.unreachable(), StoreTlsRefused),
            "the new certificate to be refused",
        )
        trusted.write_bytes(authority.file.read_bytes())
        wait_until(lambda: _answers(found), "the new authority to be read")


def test_a_certificate_is_a_login_too(
    new_zookeeper: Callable[..., ZooKeeper], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    server = new_zookeeper(tls=authority.java_server(HOST, clients="need"), tick_ms=500)
    cert, key = authority.client("relay")
    with session(
        server.secure_hosts, tls={"ca": str(authority.file), "cert": str(cert), "key": str(key)}
    ) as found:
        found.start(Deadline.after(60))
        found.put("/mine/node", b"1")
        assert found.get("/mine/node").value == b"1"
    with stranger(server.hosts) as nobody, pytest.raises(NoAuthError):
        nobody.get("/mine/node")
    with (
        session(server.secure_hosts, tls={"ca": str(authority.file)}) as without,
        pytest.raises(StoreTlsRefused),
    ):
        _connect_and_read(without)


def _settings(
    server: ZooKeeper, kafka: Kafka, installation: str, **zookeeper: Any
) -> RelaySettings:
    reached = {
        "hosts": server.hosts,
        "session_timeout_seconds": 4,
        "auth": sasl("relay"),
        **zookeeper,
    }
    broker = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    return RelaySettings.model_validate(
        {"installation": installation, "kafka": broker, "zookeeper": reached}
    )


def _connect_and_read(session: Session) -> None:
    session.start(Deadline.after(3))
    session.get("/")


def _from_file(folder: Path, hosts: str) -> RelaySettings:
    file = folder / "relay.toml"
    file.write_text(
        f"""
[kafka]
bootstrap_servers = "k:1"
[zookeeper]
hosts = "{hosts}"
session_timeout_seconds = 4
[zookeeper.auth]
user = "relay"
password = "${{ZK}}"
[secrets]
folder = "{folder}"
""",
        encoding="utf-8",
    )
    return load_settings(file)


def _answers(session: Session) -> bool:
    try:
        session.put("/rotated/again", b"")
    except StoreUnreachable:
        return False
    return True
