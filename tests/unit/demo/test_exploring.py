"""What the demo says when it stays up for exploring."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deploy.demo.login import Login
from deploy.demo.run import exploring_lines


def test_every_login_is_told() -> None:
    stack: Any = SimpleNamespace(
        admin=SimpleNamespace(url="http://127.0.0.1:8080"),
        relay=SimpleNamespace(config=Path("/r/config.toml")),
        database=SimpleNamespace(address="127.0.0.1:3306", user="repl"),
        kafka=SimpleNamespace(bootstrap="127.0.0.1:9092"),
        spark=SimpleNamespace(copy_root="/copies"),
    )
    said = "\n".join(exploring_lines(stack, Login("admin", "a-random-one")))
    for part in (
        "http://127.0.0.1:8080, sign in as admin with the password a-random-one",
        "http://127.0.0.1:8080/docs, token demo-token",
        "user and password repl",
        "--config /r/config.toml",
        "127.0.0.1:9092",
    ):
        assert part in said
