"""Whether instances live: by what the nodes say, and by what they answer themselves."""

import http.client
import socket
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from ganeti_tx.burnin.instances import RUNNING, Instances
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import OpExecError, ResolverError
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.runtime.names import look_up

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PATH = "/hostname.txt"
HTTP_PORT = 80
#: Seconds between two looks, and for one answer from the connection to its last byte.
PAUSE, ANSWER_LIMIT = 1.0, 5.0
#: Bytes that are read of a file, and of an answer with all its headers.
MOST_ANSWER, MOST_RECEIVED = 1024, 1 << 16

#: What is wrong with an instance, or nothing.
Fetch = Callable[[str], str]


class LimitedSocket(socket.socket):
    """All that is done with it together has one end, and what it receives has a size: a limit of each read is none."""

    deadline: float
    left = MOST_RECEIVED

    def hurry(self) -> None:
        """Let the next operation take what is left of the time. @raise TimeoutError: nothing is."""
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the time for an answer is over")
        self.settimeout(remaining)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """As files made of sockets call it. @raise OSError: too late, or too much."""
        self.hurry()
        count = super().recv_into(buffer, nbytes, flags)
        self.left -= count
        if self.left < 0:
            raise OSError(f"the answer is longer than {MOST_RECEIVED} bytes")
        return count


def connected(name: str, port: int, limit: float) -> LimitedSocket:
    """A connection. @raise OSError: there is none in that time. @raise ResolverError: nobody knows the name."""
    deadline = time.monotonic() + limit
    _full_name, address = look_up(name)
    connection = LimitedSocket(family_of(address))
    connection.deadline = deadline
    try:
        connection.hurry()
        connection.connect((address, port))
    except OSError:
        connection.close()
        raise
    return connection


def fetched(name: str, port: int = HTTP_PORT, limit: float = ANSWER_LIMIT) -> str:
    """Ask an instance for its name; why it does not live, or nothing. @param limit: seconds for all of it."""
    connection = http.client.HTTPConnection(name, port)
    try:
        connection.sock = connected(name, port, limit)
        connection.request("GET", PATH)
        answer = connection.getresponse()
        said = answer.read(MOST_ANSWER).decode("utf-8", "replace").strip()
    except TimeoutError:
        return f"http://{name}{PATH} cannot be had: there is no whole answer after {limit:g} s"
    except (OSError, ResolverError, http.client.HTTPException) as error:
        return f"http://{name}{PATH} cannot be had: {error}"
    finally:
        connection.close()
    if answer.status != http.client.OK:
        return f"http://{name}{PATH} is answered with status {answer.status}"
    return "" if said == name else f"http://{name}{PATH} has {said[:80]!r}, not the instance's name"


@frozen
class Living:
    """Waits until all live, for as long as they may take."""

    session: Session
    instances: Instances
    limit: float
    #: None: the word of the nodes is enough.
    fetch: Fetch | None

    def check(self, names: Sequence[str]) -> None:
        """@raise OpExecError: one does not live when the time is over."""
        deadline = self.session.now() + self.limit
        while faults := self._faults(names):
            if self.session.now() >= deadline:
                raise OpExecError("; ".join(faults))
            self.session.sleep(PAUSE)

    def _faults(self, names: Sequence[str]) -> list[str]:
        statuses = self.instances.statuses()
        faults = [
            f"{name} does not run: its status is {statuses.get(name, 'unknown')}"
            for name in names
            if statuses.get(name) != RUNNING
        ]
        if faults or self.fetch is None:
            return faults
        return [f"{name} does not live: {why}" for name in names if (why := self.fetch(name))]
