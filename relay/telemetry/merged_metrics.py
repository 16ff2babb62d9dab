"""Merges the metrics of several processes into one text; the label `worker` distinguishes them.
Without input or output.
"""

from collections.abc import Iterable
from typing import Final

_HELP: Final = b"# HELP "


def merged(texts: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the samples of all texts in Prometheus' text format, by family.

    `texts`: the value of the label `worker` for a process, and what `metrics.render` returned in
    that process. With the value "" the samples get no label. A family has the head (HELP and TYPE)
    of the first text that contains it.
    """
    heads: dict[bytes, list[bytes]] = {}
    samples: dict[bytes, list[bytes]] = {}
    for worker, text in texts:
        label = f'worker="{worker}"'.encode() if worker else b""
        family, is_first = b"", True
        for line in text.split(b"\n"):
            if line.startswith(_HELP):
                family = line.split(b" ", 3)[2]
                is_first = family not in heads
                heads.setdefault(family, [])
            if line.startswith(b"#"):
                heads[family] += [line] if is_first else []
            elif line:
                samples.setdefault(family, []).append(_labelled(line, label))
    lines = [line for family, head in heads.items() for line in (*head, *samples.get(family, ()))]
    return b"".join(line + b"\n" for line in lines)


def _labelled(sample: bytes, label: bytes) -> bytes:
    """Return the line of a sample with one more label."""
    if not label:
        return sample
    name, space, value = sample.partition(b" ")
    name_with_brace, brace, rest = sample.partition(b"{")
    if brace and len(name_with_brace) < len(name):
        return name_with_brace + b"{" + label + b"," + rest
    return name + b"{" + label + b"}" + space + value
