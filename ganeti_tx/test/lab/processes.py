"""Processes that live on when who started them has ended, until they are ended, or their time is over."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from attrs import frozen

from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.nodes.machine import NO_CLOCK, PATH

#: In the environment of all that lives for a lab: its directory.
MARK = "GANETI_LAB_STATE"
#: A lab that everybody has forgotten ends by itself.
LIFETIME = "12h"
#: Seconds until it must be there, and between looks.
START_LIMIT = 30.0
INTERVAL = 0.05


class Identity(msgspec.Struct, frozen=True):
    """A process: its number may be another's later, not with the same time of starting."""

    pid: int
    started: str


@frozen
class Kept:
    """One process; `name`.pid says which, in `name`.log is what it said."""

    name: Path

    @property
    def log(self) -> Path:
        """All that it said since it was started last."""
        return self.name.with_suffix(".log")

    @property
    def _file(self) -> Path:
        return self.name.with_suffix(".pid")

    def start(self, argv: Sequence[str]) -> None:
        """Start it in a process group of its own. @raise LabFailed: it runs."""
        if self.pid() is not None:
            raise LabFailed(f"{self.name.name} runs already")
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [*NO_CLOCK, "timeout", "--signal=KILL", LIFETIME, *argv],
                env={"PATH": PATH, "HOME": "/root", "LC_ALL": "C", MARK: str(self.name.parent)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._file.write_bytes(msgspec.json.encode(Identity(process.pid, started(process.pid) or "")))

    def pid(self) -> int | None:
        """Of the program itself; None when it does not run."""
        leader = self._leader()
        if leader is None:
            return None
        try:
            children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
        except OSError:
            return None
        return int(children[0]) if children else None

    def end(self) -> None:
        """Kill it, and all that it started."""
        leader = self._leader()
        if leader is not None:
            os.killpg(leader, signal.SIGKILL)
            while self._leader() is not None:
                time.sleep(INTERVAL)
        self._file.unlink(missing_ok=True)

    def until(self, ready: Callable[[], bool], why: str, limit: float = START_LIMIT) -> None:
        """Wait for it. @raise LabFailed: it has ended, or the time is over; with the last it said."""
        deadline = time.monotonic() + limit
        while not ready():
            if time.monotonic() > deadline or self._leader() is None:
                said = self.log.read_text(errors="replace").splitlines()[-20:]
                raise LabFailed("\n".join([f"{why} within {limit:.0f} s", *said]))
            time.sleep(INTERVAL)

    def _leader(self) -> int | None:
        """The leader of the group, if it still is that process."""
        try:
            known = msgspec.json.decode(self._file.read_bytes(), type=Identity)
        except FileNotFoundError:
            return None
        return known.pid if known.started == started(known.pid) else None


def started(pid: int) -> str | None:
    """When a process was started, in ticks since the boot; None when there is none, or only its exit status is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def end_marked(state: Path) -> None:
    """Kill all else that lives for the lab in a directory, also what was started just before its starter was killed."""
    mark = f"{MARK}={state}".encode()
    while found := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_marked(pid, mark)]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(INTERVAL)


def is_marked(pid: int, mark: bytes) -> bool:
    """Whether another process that runs has this in its environment."""
    return pid != os.getpid() and mark in environment(pid) and started(pid) is not None


def lives_for_a_lab(pid: int) -> bool:
    """Whether a process is one of a lab, which its guard takes down, or such a guard."""
    return any(each.startswith(f"{MARK}=".encode()) for each in environment(pid))


def environment(pid: int) -> list[bytes]:
    """What a process was given as its variables; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
