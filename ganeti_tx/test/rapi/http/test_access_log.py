"""The access log: one line a request, whatever clients send."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.http.access_log import DELAY, LONGEST, MOST_WAITING
from ganeti_tx.test.rapi.requests import OpenGate, Rapi

#: The combined log format, as tools take it apart.
COMBINED = re.compile(
    r'(\S+) (\S+) (\S+) \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) '
    r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"'
)


class AccessLogTests(SynchronousTestCase):
    """A file in a directory of the test's."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())
        self.rapi = Rapi(access_log=self.path)

    def lines(self) -> list[tuple[str, ...]]:
        """What was logged, taken apart."""
        self.rapi.clock.advance(DELAY)
        found = [COMBINED.fullmatch(line) for line in self.path.read_text("ascii").splitlines()]
        self.assertNotIn(None, found)
        return [each.groups() for each in found if each is not None]

    def test_line(self) -> None:
        """Who, when, what, and how it went."""
        self.rapi.get("/version", {"Referer": "https://x/", "User-Agent": "curl/8"})
        self.assertEqual(
            self.lines(),
            [("192.0.2.1", "-", "tester", "21/Sep/2026:14:13:20 +0000", "GET /version HTTP/1.1", "200", "2",
              "https://x/", "curl/8")],
        )  # fmt: skip

    def test_escaped(self) -> None:
        """Nothing that a client sends ends a field or a line."""
        rapi = self.rapi = Rapi(access_log=self.path, gate=OpenGate('mal "lory\n127.0.0.1 - ü'))
        rapi.connect().send(b'GET /2/"x HTTP/1.1\r\nHost: x\r\nUser-Agent: a" 200 \\ \x1b[31m\xff\r\n\r\n')
        rapi.get("/version")
        [first, second] = self.lines()
        self.assertEqual((first[4], first[8]), ("GET /2/\\x22x HTTP/1.1", "a\\x22 200 \\x5c \\x1b[31m\\xff"))
        self.assertEqual(second[2], "mal%20\\x22lory\\x0a127.0.0.1%20-%20\\xc3\\xbc")

    def test_long(self) -> None:
        """Who sends much of nothing does not fill the disk with it; the line stays one."""
        self.rapi.connect().send(
            b"GET /" + b"a" * 6000 + b" HTTP/1.1\r\nHost: x\r\nReferer: " + b"\xff" * 6000 + b"\r\n\r\n"
        )
        [line] = self.lines()
        self.assertEqual((line[4][-12:], line[7][-7:]), ("... HTTP/1.1", "\\xff..."))
        self.assertLess(len("".join(line)), 6 * LONGEST)

    def test_refused(self) -> None:
        """What was not read to its end is logged too."""
        self.rapi.connect().send(b"?\r\n\r\n")
        self.assertEqual([line[4:6] for line in self.lines()], [("-", "400")])

    def test_rotated(self) -> None:
        """When the file has been moved away or removed, a new one is begun."""
        self.rapi.get("/version")
        self.assertEqual(len(self.lines()), 1)
        self.path.rename(self.path.with_suffix(".1"))
        self.rapi.get("/version")
        self.assertEqual(len(self.lines()), 1)
        self.path.unlink()
        self.rapi.get("/version")
        self.assertEqual(len(self.lines()), 1)

    def test_not_for_others(self) -> None:
        """Nobody else may read who asked for what."""
        self.rapi.get("/version")
        self.lines()
        self.assertEqual(self.path.stat().st_mode & 0o007, 0)

    def test_many(self) -> None:
        """With much to write it is written at once."""
        for _ in range(MOST_WAITING // 80):
            self.rapi.get("/version")
        self.assertGreater(self.path.stat().st_size, MOST_WAITING // 2)

    def test_no_room(self) -> None:
        """When it cannot be written, requests are answered all the same, and that is logged once."""
        rapi = Rapi(access_log=Path("/dev/full"))
        for _ in range(3):
            self.assertEqual(rapi.get("/version").status, 200)
            rapi.clock.advance(DELAY)
