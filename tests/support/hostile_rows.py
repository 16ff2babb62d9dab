"""Rows of requests that no browser and no client library sends."""

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

USERS: Final = "/api/v1/users"
DRAIN: Final = "/api/v1/placement/maintenance/srv"
DRY_RUN: Final = "/api/v1/mappings/dry-run"
CONFIGS: Final = "/api/v1/configs/ROMA_GROUP"
HOST: Final = "Host: 127.0.0.1"
CLOSE: Final = "Connection: close"
VIEWER: Final = "Authorization: Bearer <viewer>"
ADMIN: Final = "Authorization: Bearer <admin>"
CHUNKED: Final = "Transfer-Encoding: chunked"
UPGRADE: Final = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
)


def sent(target: str, *lines: str, body: str = "") -> str:
    """Return a request with these header lines."""
    return "\r\n".join([target, *lines, "", body])


RAW: Final[Mapping[str, tuple[str, int]]] = {
    "a second Host": (sent(f"GET {USERS} HTTP/1.1", HOST, "Host: evil.example", CLOSE), 400),
    "a foreign Host first": (sent(f"GET {USERS} HTTP/1.1", "Host: evil.example", HOST, CLOSE), 400),
    "no Host": (sent(f"GET {USERS} HTTP/1.1", VIEWER, CLOSE), 400),
    "an empty Host": (sent(f"GET {USERS} HTTP/1.1", "Host:", ADMIN, CLOSE), 421),
    "HTTP/1.0 without Host and token": (sent(f"GET {USERS} HTTP/1.0"), 401),
    "a foreign host in the target": (
        sent(f"GET http://evil.example{USERS} HTTP/1.1", HOST, ADMIN, CLOSE),
        404,
    ),
    "two tokens": (sent(f"GET {USERS} HTTP/1.1", HOST, VIEWER, ADMIN, CLOSE), 400),
    "two tokens, the stronger one first": (
        sent(f"GET {USERS} HTTP/1.1", HOST, ADMIN, VIEWER, CLOSE),
        400,
    ),
    "a wrong token and a right one": (
        sent(f"GET {USERS} HTTP/1.1", HOST, "Authorization: Bearer x", ADMIN, CLOSE),
        400,
    ),
    "two tokens in one line": (
        sent(f"GET {USERS} HTTP/1.1", HOST, f"{VIEWER}, Bearer <admin>", CLOSE),
        401,
    ),
    "a token of 60 kB": (
        sent(f"GET {USERS} HTTP/1.1", HOST, f"Authorization: Bearer {'x' * 60_000}", CLOSE),
        401,
    ),
    "a token of 200 kB": (
        sent(f"GET {USERS} HTTP/1.1", HOST, f"Authorization: Bearer {'x' * 200_000}", CLOSE),
        400,
    ),
    "NUL in a token": (sent(f"GET {USERS} HTTP/1.1", HOST, f"{ADMIN}\0", CLOSE), 400),
    "length and chunks": (
        sent(
            f"POST {DRY_RUN} HTTP/1.1",
            HOST,
            ADMIN,
            "Content-Length: 4",
            CHUNKED,
            CLOSE,
            body=f"0\r\n\r\nGET {USERS} HTTP/1.1\r\n{HOST}\r\n{ADMIN}\r\n\r\n",
        ),
        400,
    ),
    "two lengths": (
        sent(
            f"POST {DRY_RUN} HTTP/1.1",
            HOST,
            ADMIN,
            "Content-Length: 2",
            "Content-Length: 40",
            body="{}",
        ),
        400,
    ),
    "a negative length": (
        sent(f"POST {DRY_RUN} HTTP/1.1", HOST, ADMIN, "Content-Length: -1", body="{}"),
        400,
    ),
    "an unknown coding": (
        sent(f"POST {DRY_RUN} HTTP/1.1", HOST, ADMIN, "Transfer-Encoding: gzip, chunked"),
        400,
    ),
    "chunks without an end": (
        sent(f"POST {DRY_RUN} HTTP/1.1", HOST, ADMIN, CHUNKED, body="2\r\n{}\r\n"),
        408,
    ),
    "a chunk of 2^120 bytes": (
        sent(f"POST {DRY_RUN} HTTP/1.1", HOST, ADMIN, CHUNKED, body=f"{'F' * 30}\r\n"),
        400,
    ),
    "a token in a trailer": (
        sent(f"PUT {DRAIN} HTTP/1.1", HOST, CHUNKED, CLOSE, body=f"0\r\n{ADMIN}\r\n\r\n"),
        401,
    ),
    "slashes as escapes": (sent("GET /api%2fv1%2fusers HTTP/1.1", HOST, VIEWER, CLOSE), 403),
    "a letter as an escape": (sent("GET /api/v1/%75sers HTTP/1.1", HOST, VIEWER, CLOSE), 403),
    "another case": (sent("GET /API/v1/users HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "two slashes": (sent("GET /api/v1//users HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "a dot": (sent("GET /api/v1/./users HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "dots": (sent("GET /api/v1/mappings/../users HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "dots as escapes": (sent("GET /static/%2e%2e/%2e%2e/app.py HTTP/1.1", HOST, CLOSE), 404),
    "escapes twice": (sent("GET /static/%252e%252e/app.py HTTP/1.1", HOST, CLOSE), 404),
    "backslashes": (sent("GET /static/..%5c..%5capp.py HTTP/1.1", HOST, CLOSE), 404),
    "an absolute file": (sent("GET /static/%2fetc%2fpasswd HTTP/1.1", HOST, CLOSE), 404),
    "a path of a parameter": (sent("GET /api/v1/users;x=1 HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "NUL in a path": (sent("GET /api/v1/users%00 HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "bytes that are no text": (sent("GET /%ff%fe HTTP/1.1", HOST, ADMIN, CLOSE), 404),
    "a websocket": (sent("GET /api/v1/events HTTP/1.1", HOST, *UPGRADE), 401),
    "a websocket of another host": (
        sent("GET /api/v1/events HTTP/1.1", "Host: evil.example", *UPGRADE),
        421,
    ),
    "HTTP/2 by upgrade": (
        sent(
            f"GET {USERS} HTTP/1.1",
            HOST,
            "Upgrade: h2c",
            "Connection: Upgrade, HTTP2-Settings",
            "HTTP2-Settings: AAMAAABkAAQAAP__",
        ),
        401,
    ),
    "HEAD of a write": (sent(f"HEAD {DRAIN} HTTP/1.1", HOST, ADMIN, CLOSE), 405),
    "OPTIONS of a write": (sent(f"OPTIONS {DRAIN} HTTP/1.1", HOST, ADMIN, CLOSE), 204),
    "TRACE": (sent(f"TRACE {USERS} HTTP/1.1", HOST, ADMIN, CLOSE), 405),
    "CONNECT": (sent(f"CONNECT {USERS} HTTP/1.1", HOST, ADMIN, CLOSE), 405),
    "a method in small letters": (sent(f"put {DRAIN} HTTP/1.1", HOST, ADMIN, CLOSE), 405),
    "a method in a header": (
        sent(
            "GET /api/v1/tokens/vic?_method=DELETE HTTP/1.1",
            HOST,
            ADMIN,
            "X-HTTP-Method-Override: DELETE",
            CLOSE,
        ),
        405,
    ),
    "a space before the colon": (
        sent(f"GET {USERS} HTTP/1.1", HOST, "Authorization : Bearer <admin>", CLOSE),
        400,
    ),
    "half an end of line": (
        sent(f"GET {USERS} HTTP/1.1", HOST, f"X-A: 1\r{ADMIN}", CLOSE),
        400,
    ),
    "a request behind a refused one": (
        sent(
            f"PUT {DRAIN} HTTP/1.1",
            HOST,
            "Content-Length: 0",
            body=sent(f"PUT {DRAIN} HTTP/1.1", HOST, ADMIN, "Content-Length: 0", CLOSE),
        ),
        401,
    ),
    "a body that is announced by a stranger": (
        sent(f"PUT {DRAIN} HTTP/1.1", HOST, "Expect: 100-continue", "Content-Length: 10"),
        401,
    ),
}


DEEP: Final = "[" * 100_000
BODIES: Final[Mapping[str, tuple[str, str, str | bytes, int]]] = {
    "a deep document": ("POST", DRY_RUN, DEEP, 400),
    "a deep field": ("PUT", f"{USERS}/eve", f'{{"role":{DEEP}{"]" * 100_000}}}', 400),
    "5,000 digits": ("PUT", f"{USERS}/eve", f'{{"role":{"9" * 5_000}}}', 400),
    "no number": ("PUT", "/api/v1/instances/x/flow", '{"rows_per_second":NaN}', 422),
    "more than a float": ("PUT", "/api/v1/instances/x/flow", '{"rows_per_second":1e999}', 422),
    "packed bytes": ("PUT", f"{USERS}/eve", b"\x1f\x8b\x08\0", 400),
    "a foreign field": ("PUT", f"{USERS}/eve", '{"role":"viewer","is_admin":true}', 422),
    "a prototype": ("PUT", f"{USERS}/eve", '{"role":"viewer","__proto__":{"role":"admin"}}', 422),
    "a foreign document": ("PUT", CONFIGS, '{"com.evil":[{"a":1}]}', 422),
    "a field of no mapping": (
        "PUT",
        CONFIGS,
        '{"com.pajk.Roma.topics":[{"logicDb":"a","topic":"t","evil":1}]}',
        422,
    ),
    "a topic that climbs": (
        "PUT",
        CONFIGS,
        '{"com.pajk.Roma.topics":[{"logicDb":"a","topic":"../../x"}]}',
        422,
    ),
    "one field twice": ("PUT", f"{USERS}/eve", '{"role":"viewer","role":"admin"}', 400),
    "one field of a list twice": (
        "PUT",
        "/api/v1/instances/x/flow",
        '{"x":[{"paused":true,"paused":false}]}',
        400,
    ),
    "one key twice": (
        "PUT",
        CONFIGS,
        '{"com.pajk.Roma.topics":[],"com.pajk.Roma.topics":[{"logicDb":"a","topic":"t"}]}',
        400,
    ),
    "another group": ("PUT", "/api/v1/configs/..", "{}", 404),
    "a foreign field of a backup": (
        "POST",
        "/api/v1/backup/restore",
        '{"backup":"x","passphrase":"y","evil":1}',
        422,
    ),
    "a foreign document in an import": (
        "POST",
        "/mappings/import",
        f"file={quote(json.dumps({'com.evil': []}))}",
        400,
    ),
    "20,000 fields of a form": ("POST", "/mappings/dry-run", "&".join(["f=1"] * 20_000), 400),
}
