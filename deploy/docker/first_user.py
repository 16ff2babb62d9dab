"""`first_user.py CONFIG FILE`: add the user `admin` to a new installation and print its password.

The random password is kept in FILE. If the installation has users, nothing changes and the path of
the file is printed, so that the stack can be started again.
"""

import json
import subprocess
import sys
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

_NAME: Final = "admin"
_RANDOM_BYTES: Final = 15
_PRIVATE: Final = 0o600


def main(config: str, file: Path) -> int:
    """Add the user if the installation has none. Return 0 if there are users afterwards, else 1."""
    found = _roma("users", "list", "--json", "--config", config)
    if found.returncode:
        return _failed(found)
    if json.loads(found.stdout):
        return _told(_where(file))
    password = _kept_password(file)
    access = ("--role", "admin", "--values", "--password-from-stdin")
    added = _roma("users", "add", _NAME, *access, "--config", config, typed=f"{password}\n")
    if added.returncode:
        return _failed(added)
    return _told(f"sign in at http://127.0.0.1:8080 as {_NAME} with the password {password}")


def _kept_password(file: Path) -> str:
    """Return the password of the file, which is written first where there is none.

    A start that ended before the user was added, or a ZooKeeper that lost the users, therefore
    gives the same password again.
    """
    if not file.exists():
        unfinished = file.with_suffix(".unfinished")
        unfinished.touch(_PRIVATE)
        unfinished.write_text(token_urlsafe(_RANDOM_BYTES) + "\n", encoding="utf-8")
        unfinished.rename(file)
    return file.read_text(encoding="utf-8").strip()


def _where(file: Path) -> str:
    if not file.exists():
        return "there are users already; none is added"
    return (
        f"there are users already; the first password of {_NAME}, unless it was changed, is in the "
        f"container's file {file}: docker compose run --rm --entrypoint cat user {file}"
    )


def _roma(*arguments: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "relay", *arguments]
    return subprocess.run(command, input=typed, capture_output=True, text=True, check=False)


def _told(sentence: str) -> int:
    sys.stdout.write(f"{sentence}\n")
    return 0


def _failed(ran: "subprocess.CompletedProcess[str]") -> int:
    sys.stderr.write(ran.stdout + ran.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
