"""The findings as a table for people."""

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from relay.preflight.finding import Finding, Verdict

_STYLES: Final = {
    Verdict.PASSED: "green",
    Verdict.WARNING: "yellow",
    Verdict.FAILED: "bold red",
    Verdict.NOT_CHECKED: "dim",
}


def preflight_table(findings: Sequence[Finding]) -> Table:
    """Return one row per finding; the remedy is below the sentence."""
    table = Table(title="Preflight")
    for heading in ("", "instance", "check"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what was found", overflow="fold")
    for each in findings:
        sentence = Text(each.sentence)
        if each.remedy:
            sentence.append(f"\n→ {each.remedy}", style="dim")
        table.add_row(
            Text(each.verdict.value, style=_STYLES[each.verdict]),
            each.instance,
            each.check,
            sentence,
        )
    return table
