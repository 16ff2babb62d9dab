"""Checks whether an HTTP server is ready."""

import http.client
from typing import Final

from deploy.embedded.processes.ports import HOST

_TIMEOUT_S: Final = 2.0


def http_ok(port: int, path: str) -> bool:
    """Return whether GET of `path` on this machine's `port` answers 200 in time."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (http.client.HTTPException, OSError):
        return False
    finally:
        connection.close()
