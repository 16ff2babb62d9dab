"""What is said of several rounds."""

from dataclasses import replace
from math import isnan

import pytest

from tools.bench.measuring.figures import Run, percent, summarize

A_RUN = Run(
    workload="orders",
    server="mariadb",
    contestant="relay",
    round=1,
    rows=1000,
    messages=1000,
    value_bytes=900_000,
    binlog_bytes=4_000_000,
    wall_s=2.0,
    process_s=0.5,
    broker_s=1.0,
    source_s=0.1,
    others_s=0.5,
    startup_s=3.0,
    peak_bytes=100_000_000,
)


def test_a_run_is_judged_by_wall_and_cpu() -> None:
    assert A_RUN.rows_per_second == 500
    assert A_RUN.rows_per_cpu_second == 2000


def test_a_run_shorter_than_the_clock_of_processes_has_no_figure_for_it() -> None:
    assert isnan(replace(A_RUN, process_s=0.0).rows_per_cpu_second)


def test_rounds_become_medians_and_the_highest_memory() -> None:
    rounds = [
        replace(A_RUN, round=number, wall_s=wall, peak_bytes=peak)
        for number, wall, peak in ((1, 1.0, 5), (2, 4.0, 9), (3, 2.0, 7))
    ]
    (summary,) = summarize(rounds, "peer")
    assert (summary.rounds, summary.rows_per_second, summary.slowest, summary.fastest) == (
        3,
        500,
        250,
        1000,
    )
    assert summary.peak_megabytes == 9 / 1_000_000
    assert summary.bytes_per_row == 900
    assert summary.other_cores == 0.5
    assert summary.binlog_megabytes_per_second == 2
    assert summary.times_reference is None


def test_ratios_refer_to_the_peer_on_the_same_server_and_workload() -> None:
    peer = replace(A_RUN, contestant="peer", wall_s=8.0, process_s=5.0)
    elsewhere = replace(peer, server="mysql", wall_s=1.0)
    found = {
        (each.server, each.contestant): each for each in summarize([A_RUN, peer, elsewhere], "peer")
    }
    assert found["mariadb", "relay"].times_reference == 4
    assert found["mariadb", "relay"].cpu_times_reference == pytest.approx(10)
    assert found["mariadb", "peer"].times_reference == 1
    assert found["mysql", "peer"].times_reference == 1


def test_memory_may_say_nothing() -> None:
    (summary,) = summarize([replace(A_RUN, peak_bytes=None)], "peer")
    assert summary.peak_megabytes is None


def test_a_share_of_one_core_may_exceed_a_hundred() -> None:
    assert percent(3.0, 2.0) == 150
