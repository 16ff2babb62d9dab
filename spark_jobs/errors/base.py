"""The root of the jobs' errors."""

from typing import ClassVar


class JobError(Exception):
    """Root of the tree. `remedy` is the instruction for the operator."""

    remedy: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.args[0]} {self.remedy}".rstrip()


class JobFailed(JobError):
    """Spark ended the job for a reason that has no name here."""

    remedy = "Start again with --trace to see the whole output of Spark."
