"""A small cluster of Ceph on this machine: a monitor and one daemon that keeps objects in its memory, without systemd."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import which

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE

PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "rbd")
PACKAGES = "ceph-mon ceph-osd ceph-common qemu-block-extra"
HERE = "127.0.0.1"
#: Bytes that all objects together can have.
ROOM = 1 << 30
#: Seconds for a program, and for a daemon to end.
LIMIT = 120.0
INSTALLING = 600.0
ENDING = 20.0
#: What every program is told. Nobody but this machine reaches it, and it needs no keys.
SETTINGS = """[global]
fsid = {fsid}
mon host = {monitor}
auth cluster required = none
auth service required = none
auth client required = none
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 1
mon data avail warn = 2
auth allow insecure global id reclaim = false
public addr = {here}
mon data = {top}/mon
osd data = {top}/osd
osd objectstore = memstore
memstore device bytes = {room}
osd memory target = 939524096
[mon]
run dir = {top}
admin socket = {top}/$name.asok
log file = {top}/$name.log
[osd]
run dir = {top}
admin socket = {top}/$name.asok
log file = {top}/$name.log
"""


def missing() -> list[str]:
    """The programs that are not here."""
    return [program for program in PROGRAMS if which(program) is None]


def need_ceph() -> None:
    """A campaign installs it. @raise SkipTest: there can be none here, and why."""
    if os.geteuid() != 0:
        raise SkipTest("Ceph's daemons are started by root only")
    if missing() and CAMPAIGN_VARIABLE in os.environ:
        install()
    if missing():
        raise SkipTest(f"there is no {missing()[0]}; 'apt-get install --no-install-recommends {PACKAGES}' brings it")


def install() -> None:
    """@raise SkipTest: the packages cannot be had."""
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES.split()]
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=INSTALLING, check=False)
    if done.returncode != 0:
        raise SkipTest(f"Ceph cannot be installed: {done.stderr.strip()}")


class CephUnderTest:
    """Up with the pool `rbd` as soon as it is made; `close` ends both daemons and removes everything.

    @param here: the address at which clients find it. @param inside: gives the command that runs another where that address is.
    """

    def __init__(self, here: str = HERE, inside: Callable[[Sequence[str]], Sequence[str]] = list) -> None:
        self.here, self.inside = here, inside
        self.top = Path(tempfile.mkdtemp(prefix="gtxceph", dir="/tmp"))
        self.conf = self.top / "ceph.conf"
        try:
            self._begin()
        except BaseException:  # also when the tests are interrupted
            self.close()
            raise

    def run(self, *argv: str) -> str:
        """What a program of Ceph's prints. @raise AssertionError: it failed; with what it said."""
        command = self.inside([argv[0], "--conf", str(self.conf), *argv[1:]])
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def images(self) -> list[str]:
        """Those of the pool."""
        return self.run("rbd", "ls", "rbd").split()

    def write(self, spec: str, content: str) -> None:
        """Put a text at the beginning of an image, as who has it open does, and zeros behind it."""
        target = f"rbd:{spec}:conf={self.conf}"
        size = len(content)
        source = self.top / "text"
        source.write_text(content)
        subprocess.run(
            ["qemu-io", "-f", "raw", "-c", "write -z 0 64k", "-c", f"write -s {source} 0 {size}", target],
            capture_output=True, timeout=LIMIT, check=True,
        )  # fmt: skip

    def _begin(self) -> None:
        fsid, disk = str(uuid.uuid4()), str(uuid.uuid4())
        # Kernels speak the first version of the protocol unless they are told otherwise.
        monitor = f"[v2:{self.here}:{free_port()},v1:{self.here}:{free_port()}]"
        settings = {"fsid": fsid, "monitor": monitor, "here": self.here, "top": self.top, "room": ROOM}
        self.conf.write_text(SETTINGS.format(**settings))
        for part in ("mon", "osd"):
            (self.top / part).mkdir()
        map_file = str(self.top / "monmap")
        made = ["monmaptool", "--create", "--fsid", fsid, "--addv", "a", monitor, map_file]
        subprocess.run(made, capture_output=True, timeout=LIMIT, check=True)
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", map_file, "--keyring", "/dev/null")
        self.run("ceph-mon", "-i", "a")
        self.run("ceph", "osd", "new", disk)
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.run("ceph-osd", "-i", "0")
        self.run("ceph", "osd", "pool", "create", "rbd", "8")
        self.run("ceph", "osd", "pool", "application", "enable", "rbd", "rbd")

    def close(self) -> None:
        """Leave nothing."""
        for wanted in (signal.SIGTERM, signal.SIGKILL):
            for process in self._daemons():
                os.kill(process, wanted)
            end = time.monotonic() + ENDING
            while list(self._daemons()) and time.monotonic() < end:
                time.sleep(0.1)
        shutil.rmtree(self.top, ignore_errors=True)

    def _daemons(self) -> Iterator[int]:
        """Those that were told of our settings."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if words[0] in (b"ceph-mon", b"ceph-osd") and os.fsencode(self.conf) in words:
                    yield int(entry.name)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server((HERE, 0)) as server:
        port: int = server.getsockname()[1]
        return port


_up: list[CephUnderTest] = []


def ceph() -> CephUnderTest:
    """The one of this process, which ends with it."""
    if not _up:
        _up.append(CephUnderTest())
        atexit.register(_up[0].close)
    return _up[0]
