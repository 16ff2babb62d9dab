"""Sends range queries to a Prometheus server. The only module that reads metrics from another
server.
"""

import json
import math
from collections.abc import Mapping
from http.client import HTTPException
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr
from urllib3.exceptions import HTTPError

from api.services.watch.history import Metric, Series

TIMEOUT_SECONDS: Final = 3.0
"""Seconds within which a query must be answered completely."""
MOST_BYTES: Final = 16_000_000
"""Largest accepted answer in bytes."""
_MOST_WORDS: Final = 200
"""So many characters of an error that Prometheus names are shown."""
_SHORTEST_RATE_S: Final = 60
"""Shortest interval of a rate in seconds, so that it spans some scrapes."""
_MS: Final = 1000


class PrometheusUnusable(Exception):
    """Prometheus returned no values. The text is a sentence that does not contain the URL's
    credentials.
    """


class PrometheusReader:
    """Queries rows per second and lag by instance. Thread-safe.

    labels  label → value that series must have in addition to the label of the instance
    """

    def __init__(self, url: SecretStr, labels: Mapping[str, str]) -> None:
        self._url = url
        self._more = "".join(f",{name}={json.dumps(value)}" for name, value in labels.items())

    def series(
        self, metric: Metric, name: str | None, from_ms: int, step_s: float, points: int
    ) -> dict[str, Series]:
        """Return `points` values of a metric for each instance, at intervals of `step_s` seconds.

        metric   the metric
        name     name of the instance; None: all instances
        from_ms  begin of the first interval in Unix milliseconds

        Raises PrometheusUnusable.
        """
        first_s = from_ms / _MS + step_s  # the value at a moment is of the step before it
        found = self._asked(
            {
                "query": self._query(metric, name, step_s),
                "start": f"{first_s:.3f}",
                "end": f"{first_s + (points - 1) * step_s:.3f}",
                "step": f"{step_s:.3f}",
            }
        )
        return {
            instance: Series(from_ms, step_s, _placed(values, first_s, step_s, points))
            for instance, values in found.items()
        }

    def _query(self, metric: Metric, name: str | None, step_s: float) -> str:
        instance = '=~".+"' if name is None else f"={json.dumps(name)}"
        chosen = f"{{instance{instance}{self._more}}}"
        if metric == "lag":
            return (
                f"max by (instance) (max_over_time(roma_lag_seconds{chosen}"
                f"[{math.ceil(step_s)}s]) >= 0)"
            )
        width = max(math.ceil(step_s), _SHORTEST_RATE_S)
        return f"sum by (instance) (rate(roma_published_rows_total{chosen}[{width}s]))"

    def _asked(self, parameters: Mapping[str, str]) -> dict[str, list[Any]]:
        url = self._url.get_secret_value().rstrip("/")
        shown = _shown(url)
        try:
            with requests.Session() as session:
                session.trust_env = False  # neither a proxy of the environment nor its .netrc
                with session.post(
                    f"{url}/api/v1/query_range",
                    data=parameters,
                    headers={"Accept-Encoding": "identity"},
                    timeout=TIMEOUT_SECONDS,
                    stream=True,
                    allow_redirects=False,
                ) as answer:
                    return _matrix(_body(answer, shown), answer.status_code, shown)
        except (requests.RequestException, HTTPError, HTTPException, OSError, ValueError) as exc:
            raise PrometheusUnusable(
                f"Prometheus at {shown} did not answer ({type(exc).__name__})."
            ) from None


def _shown(url: str) -> str:
    """Return host and port. Raises PrometheusUnusable if the URL has none."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
    except ValueError:
        pass
    raise PrometheusUnusable("api.prometheus_url is not an http or https address.")


def _body(answer: requests.Response, shown: str) -> bytes:
    """Read the answer within its time and size limits."""
    ends_s, body = monotonic() + TIMEOUT_SECONDS, bytearray()
    while part := answer.raw.read1(1 << 16):
        body += part
        if monotonic() > ends_s:
            raise PrometheusUnusable(
                f"Prometheus at {shown} did not send its whole answer within "
                f"{TIMEOUT_SECONDS:.0f} s."
            )
        if len(body) > MOST_BYTES:
            raise PrometheusUnusable(
                f"Prometheus at {shown} sent an answer of more than {MOST_BYTES:,} bytes."
            )
    return bytes(body)


def _matrix(body: bytes, status: int, shown: str) -> dict[str, list[Any]]:
    """Return the values by instance. Raises PrometheusUnusable for an answer of another form."""
    try:
        document = json.loads(body)
        if document["status"] != "success":
            words = " ".join(str(document.get("error", "")).split())[:_MOST_WORDS]
            raise PrometheusUnusable(f"Prometheus at {shown} refused the query: {words}")
        if document["data"]["resultType"] != "matrix":
            raise TypeError
        return {
            str(each["metric"]["instance"]): list(each["values"])
            for each in document["data"]["result"]
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise PrometheusUnusable(
            f"The server at {shown} (HTTP status {status}) does not answer as Prometheus does."
        ) from None


def _placed(values: list[Any], first_s: float, step_s: float, points: int) -> list[float | None]:
    placed: list[float | None] = [None] * points
    for each in values:
        try:
            at_s, value = float(each[0]), float(each[1])
            index = round((at_s - first_s) / step_s)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError):
            continue  # no sample: it shows as a gap
        if 0 <= index < points and math.isfinite(value):
            placed[index] = max(0.0, value)
    return placed
