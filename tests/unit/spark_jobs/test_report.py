"""Standard output of a job for programs has the results alone."""

import subprocess
import sys

_PROGRAM = """
import os, subprocess, sys
from spark_jobs.spark_util.report import print_line, results

with results(as_json=True) as say:
    print_line("progress")
    os.write(1, b"library\\n")
    subprocess.run([sys.executable, "-c", "print('child')"], check=True)
    say('{"batch": 1}')
print("afterwards")
"""


def test_lines_of_libraries_and_children_go_to_standard_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout == '{"batch": 1}\nafterwards\n'
    assert sorted(done.stderr.splitlines()) == ["child", "library", "progress"]
