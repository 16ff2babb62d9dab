"""Compares sources with copies: computes checksums, finds differing rows, tells lag from
differences, and repairs rows.
"""

from spark_jobs.comparison.findings import (
    WHOLE_LINES,
    Outcome,
    TableFindings,
    exit_code,
    findings_json,
    findings_table,
)
from spark_jobs.comparison.repair import Repair, why_unrepaired
from spark_jobs.comparison.row_lookup import Seen, TargetRow
from spark_jobs.comparison.table_comparison import TableComparison
from spark_jobs.comparison.verdict import DecidedRows, compare_until_decided
from spark_jobs.comparison.waiting import newest_waiting

__all__ = [
    "WHOLE_LINES",
    "DecidedRows",
    "Outcome",
    "Repair",
    "Seen",
    "TableComparison",
    "TableFindings",
    "TargetRow",
    "compare_until_decided",
    "exit_code",
    "findings_json",
    "findings_table",
    "newest_waiting",
    "why_unrepaired",
]
