"""Errors of the jobs.

JobError
├── JobConfigurationError   the configuration file, or what it names, is wrong
└── JavaRefused             Spark 4.0 runs on JDK 17 or 21
"""


class JobError(Exception):
    """Root of the tree; the text says what is wrong and what to do."""


class JobConfigurationError(JobError):
    """Correct the configuration file and start again."""


class JavaRefused(JobError):
    """Set JAVA_HOME to a JDK 17 or 21."""
