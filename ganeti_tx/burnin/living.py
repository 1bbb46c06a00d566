"""Whether instances live: by what the nodes say, and by what they answer themselves."""

import http.client
from collections.abc import Callable, Sequence

from attrs import frozen

from ganeti_tx.burnin.instances import RUNNING, Instances
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import OpExecError

PATH = "/hostname.txt"
HTTP_PORT = 80
#: Seconds between two looks, and for one answer.
PAUSE, ANSWER_LIMIT = 1.0, 5.0
MOST_ANSWER = 1024

#: What is wrong with an instance, or nothing.
Fetch = Callable[[str], str]


def fetched(name: str, port: int = HTTP_PORT) -> str:
    """Ask an instance for its name; why it does not live, or nothing."""
    connection = http.client.HTTPConnection(name, port, timeout=ANSWER_LIMIT)
    try:
        connection.request("GET", PATH)
        answer = connection.getresponse()
        said = answer.read(MOST_ANSWER).decode("utf-8", "replace").strip()
    except (OSError, UnicodeError, http.client.HTTPException) as error:
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
