"""`save_mapping.py URL FILE`: write a first mapping set through the admin; standard library only.

An active set is not changed, so that the stack can be started again after edits.
"""

import json
import os
import sys
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_GROUP: Final = "/api/v1/configs/ROMA_GROUP"
_ANSWER_SECONDS: Final = 20
_ALREADY_THERE: Final = 428  # the admin requires the number of the set that was edited


def main(url: str, file: Path) -> int:
    """Save all documents of the file in one step.

    The exit code is 0 when a set is active afterwards.
    """
    documents = json.loads(file.read_text(encoding="utf-8"))
    request = Request(url + _GROUP, json.dumps(documents).encode(), method="PUT")  # noqa: S310 - the operator names the address
    for name, value in _headers().items():
        request.add_header(name, value)
    try:
        with urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - as above
            sys.stdout.write(f"mapping set {json.load(answer)['set']['set']} is active\n")
    except HTTPError as exc:
        said = exc.read().decode()
        if exc.code != _ALREADY_THERE:
            sys.stderr.write(f"the admin refused the mapping ({exc.code}): {said}\n")
            return 1
        sys.stdout.write("a mapping set is already active; nothing was saved\n")
    return 0


def _headers() -> dict[str, str]:
    return {
        "Authorization": f"Bearer {os.environ['ADMIN_TOKEN']}",
        "Content-Type": "application/json",
        "X-Author": "docker-compose",
        "X-Comment": "the example",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
