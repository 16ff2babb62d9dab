"""A server of two processes, of which the second depends on the first."""

from abc import abstractmethod
from typing import Self

from deploy.embedded.errors import EmbeddedError, NotReady
from deploy.embedded.processes.process import ServerProcess


class TwoProcesses(ServerProcess):
    """A server with a second process, its companion, which starts when this process is ready, and
    stops before this process.
    """

    @property
    @abstractmethod
    def companion(self) -> ServerProcess:
        """Return the second process, which needs this one."""

    def start(self) -> Self:
        """Start both processes and return when the companion answers.

        Raises ServerDied or NotReady with the end of the log.
        """
        super().start()
        try:
            self.companion.start()
        except EmbeddedError as exc:
            tail = self.log_tail()
            self.kill()
            raise NotReady(f"{exc}\nThe log of {self.name} itself ends:\n{tail}") from exc
        self.start_seconds += self.companion.start_seconds
        return self

    def stop(self) -> None:
        """Stop the companion before this process."""
        self.companion.stop()
        super().stop()

    def kill(self) -> None:
        """Kill the companion before this process."""
        self.companion.kill()
        super().kill()

    def end_at_once(self) -> None:
        """Send SIGKILL to both processes without waiting for their end."""
        self.companion.end_at_once()
        super().end_at_once()

    def close(self) -> None:
        """Close the companion, then this process: remove their folders, release their ports."""
        self.companion.close()
        super().close()
