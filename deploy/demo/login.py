"""The administrator of the demo's admin."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from deploy.embedded.errors import NotReady
from deploy.embedded.processes import die_with_parent

_NAME: Final = "admin"
_RANDOM_BYTES: Final = 15
_SECONDS: Final = 60.0
_PROJECT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Login:
    """Name and password of the user."""

    name: str
    password: str


def add_user(config: Path) -> Login:
    """Add an administrator with a random password, by `roma users add`.

    The kernel ends the command if the calling thread ends, so call it from the main thread. Each
    run of the demo has new servers, so there is no user of an earlier run.

    Raises NotReady.
    """
    login = Login(_NAME, token_urlsafe(_RANDOM_BYTES))
    leash = [sys.executable, die_with_parent.__file__, str(os.getpid())]
    command = [sys.executable, "-m", "relay", "users", "add", login.name, "--role", "admin"]
    ran = subprocess.run(
        [*leash, *command, "--values", "--password-from-stdin", "--config", config],
        cwd=_PROJECT,
        input=f"{login.password}\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if ran.returncode:
        raise NotReady(f"roma users add did not add the demo's user: {ran.stdout}{ran.stderr}")
    return login
