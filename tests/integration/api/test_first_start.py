"""The first start of an installation, and the certificate of the admin, on real servers."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import httpx
import pytest
from cryptography import x509

from api.first_start import FirstStart
from api.server import AdminServer, make_server
from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.errors import ConfigurationError
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.accounts import Grant, Role
from relay.operations import AccountEditor, Who
from relay.settings import LogSettings, RelaySettings
from relay.telemetry import set_up_logging
from tests.servers.fixtures import FreshName
from tests.support.certificates import Authority
from tests.support.relays.admin_server import admin_settings
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"


@pytest.fixture
def settings(zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName) -> RelaySettings:
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    return admin_settings(zookeeper.hosts, fresh_name("first"), kafka=brokers, api={"port": 0})


@contextmanager
def served(settings: RelaySettings) -> Iterator[AdminServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = make_server(settings, listener)
        server.first_start = FirstStart(server.admin, server.url)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="admin")
        thread.start()
        try:
            wait_until(lambda: server.started, "the admin to start")
            yield server
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


class Output:
    """What the admin prints and logs, gathered until a text is in it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._printed = ""
        self._log = StringIO()
        set_up_logging(LogSettings(), self._log)

    def until(self, wanted: str) -> str:
        wait_until(lambda: wanted in self.gather(), wanted)
        return self.gather()

    def gather(self) -> str:
        self._printed += self._capsys.readouterr().out
        return self._printed + self._log.getvalue()


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Output:
    return Output(capsys)


def link_in(output: Output) -> str:
    text = output.until("first administrator: ")
    return text.split("first administrator: ")[1].split()[0]


def test_the_link_makes_one_administrator(settings: RelaySettings, output: Output) -> None:
    with served(settings) as server, served(settings) as second:
        for each in (server, second):
            text = output.until(f"first administrator: {each.url}")
        links = [each.split()[0] for each in text.split("first administrator: ")[1:]]
        link = next(each for each in links if each.startswith(server.url))
        other = next(each for each in links if each.startswith(second.url))
        with httpx.Client(trust_env=False, timeout=60) as browser:
            for wrong in (f"{server.url}/first-admin", f"{link}x"):
                assert browser.get(wrong).json()["code"] == "FIRST_ADMIN_REFUSED"
            form = form_of(browser.get(link).text)
            filled = {**form, "name": "ann", "password": PASSWORD, "again": PASSWORD}
            address = f"{server.url}/first-admin"
            for wrong_field, status in (
                ({"again": "x"}, 400),
                ({"password": "short", "again": "short"}, 409),
                ({"csrf": "x"}, 403),
                ({"code": "x"}, 403),
            ):
                assert browser.post(address, data={**filled, **wrong_field}).status_code == status
            made = browser.post(address, data=filled)
            assert (made.status_code, made.headers["location"]) == (303, "./")
            shown = browser.get(f"{server.url}/api/v1/session").json()
            assert (shown["name"], "administer" in shown["rights"]) == ("ann", True)
            assert browser.post(address, data=filled).status_code == 403
        trail = AuditTrail(settings.kafka, settings.installation)
        wait_until(lambda: "user.added" in [each.act for each in trail.entries(9)], "the entry")
        with httpx.Client(trust_env=False, timeout=60) as stranger:
            filled = {**filled, **form_of(stranger.get(other).text), "name": "eve"}
            refused = stranger.post(f"{second.url}/first-admin", data=filled)
            assert refused.status_code == 409
            assert "There are users already." in refused.text


def form_of(page: str) -> dict[str, str]:
    names = ("csrf", "code")
    return {name: page.split(f'name="{name}" value="')[1].partition('"')[0] for name in names}


def test_a_zookeeper_that_came_back_empty_is_no_first_start(
    settings: RelaySettings, output: Output
) -> None:
    topic = f"{settings.installation}.position.shop"
    TopicAdmin(settings.kafka).create(TopicSpec(topic, 1, 1, {}))
    with served(settings):
        text = output.until("no_first_admin_link")
    assert topic in text
    assert "roma users add" in text
    assert "first administrator: " not in text


def test_with_users_nothing_is_offered(settings: RelaySettings, output: Output) -> None:
    with served(settings) as server:
        link_in(output)
        wait_until(
            lambda: (
                httpx.get(f"{server.url}/readyz", trust_env=False, timeout=60).status_code == 200
            ),
            "the admin to reach ZooKeeper",
        )
        editor = AccountEditor(settings, server.admin.session, server.admin.acts)
        editor.add_user("ann", Grant(Role.ADMIN), Who("test"))
        again = FirstStart(server.admin, server.url)
        again.print_link()
    assert output.gather().count("first administrator: ") == 1


def test_a_changed_certificate_is_used_without_a_restart(
    settings: RelaySettings, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    cert, key = authority.issue("admin", names)
    tls = {"port": 0, "token": "t", "tls": {"cert": str(cert), "key": str(key)}}
    secure = settings.model_copy(update={"api": type(settings.api).model_validate(tls)})
    with served(secure) as server:
        port = int(server.url.rpartition(":")[2])
        assert server.url.startswith("https://")
        first = shown_certificate(port)
        assert certificate_end(server.url, authority) == valid_until(first)
        client = ssl.create_default_context(cafile=str(authority.file))
        with httpx.Client(verify=client, trust_env=False, timeout=60) as browser:
            page = browser.get(f"https://localhost:{port}/login", headers={"Accept": "text/html"})
            assert page.headers["set-cookie"].startswith("__Host-roma_login=")
            assert "Secure" in page.headers["set-cookie"]
        key.write_bytes(b"half of a file")
        whole_cert, whole_key = authority.issue("other", names)
        assert shown_certificate(port) == first
        key.write_bytes(whole_key.read_bytes())
        cert.write_bytes(whole_cert.read_bytes())
        wait_until(lambda: shown_certificate(port) != first, "the changed certificate")
        assert certificate_end(server.url, authority) == valid_until(shown_certificate(port))


def test_files_that_hold_no_certificate_are_one_sentence(
    settings: RelaySettings, tmp_path: Path
) -> None:
    (tmp_path / "x.pem").write_bytes(b"x")
    tls = {"tls": {"cert": str(tmp_path / "x.pem"), "key": str(tmp_path / "missing.pem")}}
    broken = settings.model_copy(update={"api": type(settings.api).model_validate(tls)})
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(ConfigurationError, match=r"api\.tls"),
    ):
        make_server(broken, listener)


def shown_certificate(port: int) -> str:
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=10)


def certificate_end(url: str, authority: Authority) -> float:
    """What the metrics say about the end of the certificate, Unix seconds."""
    client = ssl.create_default_context(cafile=str(authority.file))
    address = url.replace("127.0.0.1", "localhost")
    shown = httpx.get(f"{address}/metrics", verify=client, trust_env=False, timeout=60).text
    [line] = [each for each in shown.splitlines() if each.startswith("roma_certificate_end")]
    return float(line.split()[-1])


def valid_until(certificate: str) -> float:
    return x509.load_pem_x509_certificate(certificate.encode()).not_valid_after_utc.timestamp()
