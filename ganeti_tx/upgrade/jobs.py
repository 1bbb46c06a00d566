"""The job queue during an upgrade: it takes no new jobs, and those that it has come to their end first."""

import time
from collections.abc import Callable

from attrs import field, frozen

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.runtime.paths import Paths

UNFINISHED = ("queued", "waiting", "running", "canceling")
#: Seconds until the jobs have ended (reference: config-history.json), and between looks, at first and later.
DRAIN_LIMIT = 129600.0
FIRST_INTERVAL, INTERVAL = 0.2, 10.0


@frozen
class Jobs:
    """Of this node's master daemon. `say` tells the operator."""

    paths: Paths
    say: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    connect: Callable[[str], Client] = field(default=Client)

    def can_be_asked(self) -> bool:
        """Whether the master daemon answers."""
        try:
            self.is_drained()
        except NoMasterError:
            return False
        return True

    def is_drained(self) -> bool:
        """@raise GanetiError: the master daemon does not answer"""
        with self._client() as client:
            (drained,) = client.query_config_values(["drain_flag"])
        return bool(drained)

    def drain(self) -> None:
        """Take no more jobs, and wait until none is left. @raise GanetiError: they do not come to their end."""
        with self._client() as client:
            client.set_drain_flag(True)
        told, interval, deadline = 0, FIRST_INTERVAL, self.now() + DRAIN_LIMIT
        while left := self._unfinished():
            if left != told:
                self.say(f"Waiting for {left} job(s) to end")
                told = left
            if self.now() > deadline:
                raise GanetiError(f"{left} job(s) have not ended within {DRAIN_LIMIT:.0f} s")
            self.sleep(interval)
            interval = min(2 * interval, INTERVAL)

    def open(self) -> None:
        """Take jobs again. @raise GanetiError: the master daemon does not answer."""
        with self._client() as client:
            client.set_drain_flag(False)

    def _unfinished(self) -> int:
        with self._client() as client:
            wanted = ["|", *(["==", "status", status] for status in UNFINISHED)]
            return len(client.query("job", ["id"], wanted)["data"])

    def _client(self) -> Client:
        return self.connect(str(self.paths.query_socket))
