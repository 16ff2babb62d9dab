"""No answer, page, stream, log or entry of the audit trail gives away a secret or a hidden value.

The tests ask for every route of the table of rights. A new route is held to the strict rule: it
must answer, without any planted text. A route that may do otherwise needs a row below.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import httpx
import pytest
from confluent_kafka import Producer

from api.access.endpoints import RIGHTS
from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.model.message import OutboundMessage
from relay.settings import KafkaSettings
from relay.state import InstanceStatus, InstanceStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.relays import peeked
from tests.support.relays.admin_server import TOKEN
from tests.support.relays.peeked import Feed, peeked_admin
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

PLANTED: Final = "planted-secret"
"""The beginning of each secret of settings and accounts, and of each secret that a call sends."""
MASKED: Final = peeked.SECRET
"""A value in a column that an instance masks."""
VALUE: Final = "row-value-4711"
"""A value that only callers with the right `values` may read."""
LETTER: Final = "0001-0"
SOURCE: Final = {
    "host": "127.0.0.1",
    "port": 1,
    "user": "u",
    "server_id": 7,
    "password": f"{PLANTED}-1",
    "standby": {"host": "127.0.0.1", "port": 2, "user": "u", "password": f"{PLANTED}-2"},
}
MASKS: Final = [
    {"columns": r"shop_.*\..*\.email", "method": "hash", "salt": f"{PLANTED}-3"},
]
SETTINGS: Final = {
    "source": SOURCE,
    "masks": MASKS,
    "registry": {"url": "http://127.0.0.1:1", "user": "u", "password": f"{PLANTED}-4"},
    "claims": {"url": "memory://claims", "secrets": {"key": f"{PLANTED}-5"}},
}
NOWHERE: Final = "http://127.0.0.1:1"
"""An address at which nothing listens."""
KAFKA: Final = {
    "password": f"{PLANTED}-7",
    "client": {"ssl.key.password": f"{PLANTED}-8"},
}
"""Secrets that a login would send; the broker asks for none."""
API: Final = {
    "port": 0,
    "token": TOKEN,
    "prometheus_url": NOWHERE.replace("//", f"//u:{PLANTED}-9@"),
    "oidc": {
        "issuer": NOWHERE,
        "client_id": "relay",
        "client_secret": f"{PLANTED}-10",
        "public_url": "http://127.0.0.1:8080",
        "roles": {"operators": "operator"},
    },
}
HOSTILE: Final = {
    **dict.fromkeys(("password", "new", "old", "current", "secret", "token"), f"{PLANTED}-6"),
    **SETTINGS,
    "unknown": 1,
}
"""A body that no endpoint accepts, with secrets where a caller may have typed one."""

_OF_COPIES: Final = ("/preview", "/{number}/pause", "/{number}/resume", "/{number}/cancel")
SHOW_VALUES: Final = (
    "GET /dead-letters/{instance}/{letter}",
    "GET /api/v1/instances/{name}/dead-letters/{letter}/rows",
    "GET /api/v1/instances/{name}/dead-letters/{letter}/value",
    "GET /peek",
    "GET /api/v1/peek",
    "GET /instances/{name}/copies",
    "GET /api/v1/snapshots",
)
GIVES_VALUES: Final = frozenset(
    {
        *SHOW_VALUES,
        *(f"POST /api/v1/snapshots/{{number}}/{act}" for act in ("pause", "resume", "cancel")),
        "POST /peek",
        "POST /api/v1/peek",
        "POST /instances/{name}/copies",
        *(f"POST /instances/{{name}}/copies{each}" for each in _OF_COPIES),
        "POST /dead-letters/{instance}/{letter}/replay",
    }
)
"""Routes that show values of rows to callers with that right."""
STREAMS: Final = frozenset({"GET /api/v1/events", "GET /api/v1/peek"})
REFUSES: Final = {
    "GET /login/oidc": 503,
    "GET /login/oidc/callback": 403,
    "GET /first-admin": 403,
    "GET /api/v1/instances/{name}/mapping": 409,
    "GET /api/v1/instances/{name}/position/search": 422,
}
"""What this installation does not have or does not reach: the answer is an error, which is held to
the rule, too."""
QUERIES: Final[Mapping[str, dict[str, str]]] = {
    "GET /peek": {"table": "shop.client"},
    "GET /api/v1/peek": {"table": "shop.client", "from": "last"},
    "GET /api/v1/route": {"database": "shop_01", "table": "user"},
    "GET /api/v1/route/reverse": {"logical": "shop.client"},
    "GET /api/v1/subscriptions/table": {"database": "shop", "table": "client"},
    "GET /api/v1/mappings/proposal": {"table": "shop_01.user"},
    "GET /api/v1/instances/{name}/series": {"metric": "lag", "range": "1h"},
    "GET /api/v1/instances/{name}/states": {"range": "1h"},
}


@dataclass(frozen=True, slots=True)
class Planted:
    """The admin, what fills the templates of its routes, and a viewer's token."""

    admin: httpx.Client
    names: Mapping[str, str]
    numbers: Mapping[str, str]
    viewer: str
    trail: AuditTrail

    def path(self, endpoint: str) -> str:
        """Return a path that this installation has. Raises KeyError for an unknown parameter."""
        template = endpoint.partition(" ")[2]
        number = next((n for part, n in self.numbers.items() if part in template), "1")
        names = {**self.names, "number": number}
        if template.endswith("/settings"):
            names["name"] = "new"  # its settings are a document, which the endpoint answers
        return template.format(**names)


@pytest.fixture(scope="module")
def planted(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[Planted]:
    name = fresh_name("outlets")
    patch = pytest.MonkeyPatch()
    shop = {"name": "shop-a", **SETTINGS}
    patch.setattr(peeked, "INSTANCES", [shop, {"name": "crm", "source": SOURCE}])
    more = {"api": API, "zookeeper": _with_a_login(zookeeper.hosts)}
    with peeked_admin(zookeeper.hosts, kafka.bootstrap, name, KAFKA, **more) as (admin, feed):
        yield _filled(admin, feed, name, zookeeper)
    patch.undo()


def _with_a_login(hosts: str) -> dict[str, object]:
    login = {"scheme": "digest", "user": "relay", "password": f"{PLANTED}-11"}
    return {"hosts": hosts, "session_timeout_seconds": 4, "auth": login, "acl": "open"}


def _filled(admin: httpx.Client, feed: Feed, name: str, zookeeper: ZooKeeper) -> Planted:
    feed.state = VALUE
    feed.row("INSERT", "7")
    settings = KafkaSettings(
        bootstrap_servers=feed.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    letters = DeadLetterTopic(settings, name, "shop-a")
    letters.ensure()
    producer = Producer({"bootstrap.servers": feed.bootstrap})
    for message in letters.messages(_letter(), 1_000_000):
        producer.produce(letters.topic, message.value, message.key, 0)
    assert producer.flush(20) == 0
    with session_with(zookeeper.hosts) as session:
        store = InstanceStore(session, Paths(f"/roma/{name}"))
        store.put_status(InstanceStatus("shop-a", "RUNNING", relay="r1"))
    made = admin.put("/api/v1/instances/new/settings", json=SETTINGS)
    assert made.status_code in (200, 201), made.text
    user = {"role": "viewer", "password": f"{PLANTED}-of-a-user"}
    tag = {"If-Match": admin.get("/api/v1/users").headers["etag"]}
    assert admin.put("/api/v1/users/vic", json=user, headers=tag).status_code == 201
    own = {"owner": "vic", "role": "viewer"}
    token = admin.put("/api/v1/tokens/ci", json=own).json()["token"]
    wish = {"tables": ["shop.client"], "where": f"name = '{VALUE}'"}
    copy = admin.post("/api/v1/snapshots", json=wish)
    assert copy.status_code in (200, 201, 202), copy.text
    search = admin.post("/api/v1/erasures", json={"texts": [VALUE]}).json()["number"]
    names = {
        "group": "ROMA_GROUP",
        "data_id": "com.pajk.Roma.dbs",
        "version": "1",
        "name": "shop-a",
        "instance": "shop-a",
        "server": "s1",
        "letter": LETTER,
        "topic": name,
    }
    numbers = {"eras": search, "snapshots": _number(copy), "copies": _number(copy)}
    return Planted(admin, names, numbers, str(token), AuditTrail(settings, name))


def _number(copy: httpx.Response) -> str:
    found = copy.json()
    return str((found[0] if isinstance(found, list) else found)["id"])


def _letter() -> DeadLetter:
    message = {
        "type": "INSERT",
        "database": "shop",
        "table": "client",
        "pkNames": ["id"],
        "data": [{"id": "7", "name": VALUE}],
        "old": None,
        "mysqlType": {"id": "int", "name": "varchar(40)"},
        "es": 1,
    }
    value = json.dumps(message).encode()
    return DeadLetter(
        id=LETTER,
        code="MESSAGE_TOO_LARGE",
        reason="too large.",
        real="shop_01.user",
        logical="shop.client",
        file="b.000007",
        offset=4711,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=OutboundMessage("people", 0, b'["shop.client","7"]', value, ()),
        value_bytes=len(value),
    )


def _asked(planted: Planted, endpoint: str, token: str) -> tuple[int, str]:
    """Return the status, and headers and text of the answer; of a stream its first events."""
    method, path = endpoint.partition(" ")[0], planted.path(endpoint)
    is_page = not path.startswith("/api/")
    accept = "text/html" if is_page else "application/json"
    headers = {"Accept": accept, "Authorization": f"Bearer {token}"}
    query = QUERIES.get(endpoint, {})
    if method == "GET" and endpoint in STREAMS:
        with planted.admin.stream("GET", path, params=query, headers=headers) as answer:
            lines: list[str] = []
            for line in answer.iter_lines():
                lines.append(line)
                if line.startswith("data:") and len(lines) > 3:
                    break
            return answer.status_code, f"{answer.headers}\n" + "\n".join(lines)
    if method == "GET":
        answer = planted.admin.get(path, params=query, headers=headers)
    elif is_page:
        form = {key: str(each) for key, each in HOSTILE.items()}
        answer = planted.admin.request(method, path, data=form, headers=headers)
    else:
        answer = planted.admin.request(method, path, json=HOSTILE, headers=headers)
    return answer.status_code, f"{answer.headers}\n{answer.text}"


def _leaks(
    planted: Planted,
    endpoints: list[str],
    token: str,
    hidden: Callable[[str], tuple[str, ...]],
    statuses: dict[str, int],
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for endpoint in endpoints:
        statuses[endpoint], text = _asked(planted, endpoint, token)
        bad = [each for each in hidden(endpoint) if each in text]
        if bad:
            found[f"{endpoint} ({statuses[endpoint]})"] = bad
    return found


def _hidden_from_an_administrator(endpoint: str) -> tuple[str, ...]:
    secrets = (PLANTED, MASKED, TOKEN, "$argon2")
    return secrets if endpoint in GIVES_VALUES else (*secrets, VALUE)


def test_a_reader_with_every_right_gets_no_secret_and_values_only_where_they_belong(
    planted: Planted,
) -> None:
    reads = sorted(each for each in RIGHTS if each.startswith("GET "))
    statuses: dict[str, int] = {}
    assert _leaks(planted, reads, TOKEN, _hidden_from_an_administrator, statuses) == {}
    failed = {each: status for each, status in statuses.items() if status >= 400}
    assert failed == REFUSES


@pytest.mark.parametrize("endpoint", SHOW_VALUES)
def test_what_is_hidden_is_there(planted: Planted, endpoint: str) -> None:
    """Without this the other tests would hold for answers that are empty."""
    assert VALUE in _asked(planted, endpoint, TOKEN)[1]


def test_a_viewer_gets_no_value_from_any_route(planted: Planted) -> None:
    hidden = (PLANTED, MASKED, TOKEN, "$argon2", VALUE)
    statuses: dict[str, int] = {}
    every = sorted(RIGHTS)
    assert _leaks(planted, every, planted.viewer, lambda _: hidden, statuses) == {}
    failed = {each: status for each, status in statuses.items() if status >= 500}
    assert failed == {"GET /login/oidc": 503}, "nothing listens at the provider's address"


def test_refusals_logs_and_the_audit_trail_repeat_no_secret(
    planted: Planted, capfd: pytest.CaptureFixture[str]
) -> None:
    writes = sorted(each for each in RIGHTS if not each.startswith("GET "))
    statuses: dict[str, int] = {}
    assert _leaks(planted, writes, TOKEN, _hidden_from_an_administrator, statuses) == {}
    assert {each: status for each, status in statuses.items() if status >= 500} == {}
    wait_until(lambda: len(planted.trail.entries(500)) > 5, "entries of the audit trail")
    logged = "".join(capfd.readouterr())
    entries = "\n".join(map(str, planted.trail.entries(500)))
    for secret in _hidden_from_an_administrator(""):
        assert secret not in logged
        assert secret not in entries
