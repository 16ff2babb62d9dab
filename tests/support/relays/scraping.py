"""Reads the metrics of a running relay as Prometheus does."""

import re
import ssl
from collections.abc import Mapping
from typing import Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until

NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""`verify` of a client that uses no TLS: loading the usual certificates takes 23 ms of CPU for each
client.
"""


def status_url(relay: RelayProcess) -> str:
    """Return the URL of the status server of the process that was started last, when its log has
    it.
    """
    found: list[str] = []

    def is_logged() -> bool:
        found.extend(re.findall(r"""url(?:=|": ")(http://[^\s"]+)""", relay.log_since_start()))
        return bool(found)

    wait_until(is_logged, "the address of the status server")
    return found[-1]


def scrape(relay: RelayProcess) -> dict[str, float]:
    """Every sample of the relay's own metrics, by name and the values of its labels but `instance`:
    `roma_dropped_rows_total,filter`.
    """
    text = httpx.get(
        f"{status_url(relay)}/metrics", trust_env=False, timeout=60, verify=NO_CERTIFICATES
    ).text
    return {
        ",".join(
            [
                sample.name,
                *(value for label, value in sorted(sample.labels.items()) if label != "instance"),
            ]
        ): sample.value
        for family in text_string_to_metric_families(text)
        if family.name.startswith("roma_")
        for sample in family.samples
    }


def wait_for_samples(relay: RelayProcess, expected: Mapping[str, float]) -> dict[str, float]:
    """Wait until the relay shows exactly these samples; return all of them."""
    seen: list[dict[str, float]] = []

    def shown() -> bool:
        seen.append(scrape(relay))
        return {name: seen[-1].get(name) for name in expected} == dict(expected)

    try:
        wait_until(shown, "the samples")
    except AssertionError as exc:
        different = {
            name: (seen[-1].get(name), value)
            for name, value in expected.items()
            if seen[-1].get(name) != value
        }
        raise AssertionError(f"shown and expected: {different}") from exc
    return seen[-1]
