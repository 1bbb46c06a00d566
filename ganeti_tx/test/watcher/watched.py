"""A node for the watcher in a directory of its own, with a master daemon in memory."""

from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.cli.fakes import FakeClient
from ganeti_tx.watcher.log import Log
from ganeti_tx.watcher.node import WatchedNode, run_program

NAME, OTHER = "node1.example.com", "node2.example.com"


@define
class Watched:
    """Its parts; `time` stands still."""

    root: Path
    time: float = 1000000.0
    lines: list[str] = field(factory=list)
    client: FakeClient = field(factory=FakeClient)

    @property
    def paths(self) -> Paths:
        """Below the directory."""
        return Paths(self.root)

    @property
    def node(self) -> WatchedNode:
        """As the watcher's parts take it."""
        log = Log("ganeti-watcher", lambda line: self.lines.append(line.decode().split(" ", 5)[5].strip()), self.now)
        return WatchedNode(
            NAME, self.paths, {"PATH": "/usr/bin:/bin", "MINE": "1"}, log, self.now, self.connect, run_program
        )

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.time

    def connect(self) -> FakeClient:
        """To the master daemon."""
        return self.client

    def put(self, path: Path, text: str, mode: int = 0o644) -> Path:
        """A file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def tell(self, resource: str, rows: list[list[Any]]) -> None:
        """What a query for a resource is answered; None is a value that is not known."""
        known = self.client.answers.get("Query")
        data = [[[0, value] if value is not None else [2, None] for value in row] for row in rows]

        def query(asked: str, fields: list[str], wanted: Any) -> Any:
            if asked == resource:
                return {"fields": [], "data": [row[: len(fields)] for row in data]}
            return known(asked, fields, wanted) if known else None

        self.client.answers["Query"] = query


class WatchedCase(SynchronousTestCase):
    """With a fresh node."""

    def setUp(self) -> None:
        """Make its directories."""
        self.watched = Watched(Path(self.mktemp()).absolute())
        for directory in (self.watched.paths.data_dir, self.watched.paths.run_dir, self.watched.paths.lock_dir):
            directory.mkdir(parents=True)
