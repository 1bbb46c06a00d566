"""How much room file systems have."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.mond.room import LIMIT, Room, Rooms
from ganeti_tx.runtime.threads import InlineThreads, IThreads


@implementer(IThreads)
@define
class Hanging:
    """Threads whose calls end when the test says so."""

    calls: "list[Deferred[Any]]" = field(factory=list)

    def run(self, func: Callable[..., Any], *args: object) -> "Deferred[Any]":
        """See `IThreads`."""
        self.calls.append(Deferred())
        return self.calls[-1]


class RoomTests(SynchronousTestCase):
    """Real directories, and mounts that hang."""

    def of(self, rooms: Rooms, directory: Path) -> "Deferred[Room | None]":
        """The question."""
        return Deferred.fromCoroutine(rooms.of(directory))

    def test_real(self) -> None:
        """A directory has its file system's room; one that is not there yet has that of where it would be."""
        rooms = Rooms(InlineThreads(), Clock())
        here = Path(self.mktemp()).absolute()
        here.mkdir()
        stat = os.statvfs(here)
        for directory in (here, here / "a/b"):
            room = self.successResultOf(self.of(rooms, directory))
            assert room is not None
            self.assertEqual(room.size, stat.f_blocks * stat.f_frsize)
            self.assertLessEqual(room.free, room.size)

    def test_hangs(self) -> None:
        """One that does not answer in time is not known, and not asked again before it has answered."""
        clock, threads = Clock(), Hanging()
        rooms = Rooms(threads, clock)
        asked = self.of(rooms, Path("/dead"))
        clock.advance(LIMIT)
        self.assertIsNone(self.successResultOf(asked))
        self.assertIsNone(self.successResultOf(self.of(rooms, Path("/dead"))))
        self.assertEqual(len(threads.calls), 1)
        threads.calls[0].callback(Room(2, 1))
        asked = self.of(rooms, Path("/dead"))
        threads.calls[1].callback(Room(3, 1))
        self.assertEqual(self.successResultOf(asked), Room(3, 1))
        self.assertEqual(clock.getDelayedCalls(), [])

    def test_fails(self) -> None:
        """One that cannot be looked at is not known, also when it says so late."""
        clock, threads = Clock(), Hanging()
        rooms = Rooms(threads, clock)
        asked = self.of(rooms, Path("/x"))
        threads.calls[0].errback(OSError(5, "Input/output error"))
        self.assertIsNone(self.successResultOf(asked))
        asked = self.of(rooms, Path("/x"))
        clock.advance(LIMIT)
        threads.calls[1].errback(OSError(5, "Input/output error"))
        self.assertIsNone(self.successResultOf(asked))
