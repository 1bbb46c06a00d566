"""Two servers of Gluster without systemd: each has a network namespace of its own, with an address, and directories of its own."""

import atexit
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree, which
from xml.etree import ElementTree

from attrs import define, field
from twisted.trial.unittest import SkipTest

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.real.switch import Namespace, Switch

PROGRAMS = ("glusterd", "gluster", "mount.glusterfs")
#: How a server is told to have its own of what is in files; keepalive has to be said, or it refuses its peer.
CONFIGURATION = """\
volume management
    type mgmt/glusterd
    option working-directory {directory}/lib
    option run-directory {directory}/run
    option glusterd-sockfile {directory}/control
    option cluster-test-mode {directory}/log
    option transport-type socket
    option transport.socket.keepalive-time 10
    option transport.socket.keepalive-interval 2
    option transport.tcp-user-timeout 0
    option ping-timeout 0
    option event-threads 1
end-volume
"""
PORT = 24007
#: The volume with a copy on each server, and one that only the first has.
COPIED, ALONE = "gv0", "gv1"
#: Seconds after which clients give up a server that is silent, and after which servers look again for what has to be copied.
PATIENCE = 5
SETTINGS = {"network.ping-timeout": PATIENCE, "cluster.heal-timeout": 5}
LIMIT = 60.0  # seconds
#: A server looks for its address when it begins.
WAIT = "ip link set lo up; until ip -o -4 address show up | grep -q eth0; do sleep 0.05; done"
INSTALL = ("apt-get", "install", "-qq", "-y", "--no-install-recommends", "glusterfs-server", "qemu-block-extra")
INSTALL_LIMIT = 300.0


@define
class GlusterServers:
    """They are up after `begin`, and nothing of them is left after `end`, or when who began them is killed."""

    directory: Path = field(factory=lambda: Path(tempfile.mkdtemp(prefix="gtxgluster", dir="/tmp")))
    #: Other than that of another run at the same time.
    subnet: str = field(factory=lambda: f"198.18.{os.getpid() % 250 + 1}")
    _network: Switch = field(init=False)
    _spaces: list[Namespace] = field(factory=list, init=False)

    def begin(self) -> None:
        """@raise SkipTest: they are not installed, or who runs the tests may not mount."""
        need_gluster()
        self._network = Switch(self.subnet)
        try:
            for number in (0, 1):
                self._start(number)
            self._until(lambda: self._says("peer", "probe", self.addresses[1]) is not None)
            self._until(lambda: "Peer in Cluster (Connected)" in (self._says("peer", "status") or ""))
            self._until(lambda: self._make(COPIED, "replica", "2"))
            self._until(lambda: self._make(ALONE))
        except BaseException:
            self.end()
            raise

    @property
    def addresses(self) -> tuple[str, str]:
        """Of the servers."""
        return self._network.address(1), self._network.address(2)

    def params(self, volume: str = COPIED, access: str = "kernelspace") -> dict[str, object]:
        """The parameters of disks on a volume."""
        return {"host": self.addresses[0], "port": PORT, "volume": volume, "access": access}

    def brick(self, number: int, volume: str = COPIED) -> Path:
        """Where a server keeps its part of a volume."""
        return self.directory / str(number) / volume

    def kill_brick(self, number: int, volume: str = COPIED) -> None:
        """The process that serves it dies at once."""
        (process,) = processes_with(self.brick(number, volume))
        end(process)

    def start_bricks(self, volume: str = COPIED) -> None:
        """What has died is started again, and copies are alike again. A server may not have noticed the death yet."""
        self._until(lambda: self._says("volume", "start", volume, "force") is not None and self._is_served(volume))
        self._until(lambda: self._is_whole(volume))

    def cut(self, number: int) -> None:
        """Nobody reaches a server any more, which runs on."""
        self._network.cut(f"server{number}")

    def mend(self, number: int) -> None:
        """All reach it again, and copies are alike again."""
        self._network.mend(f"server{number}")
        self.start_bricks()

    def end(self) -> None:
        """End every process of theirs, and remove all that they had."""
        for space in self._spaces:
            space.end()
        for pid in list(processes_with(self.directory)):
            end(pid)
        self._network.end()
        rmtree(self.directory, ignore_errors=True)

    def _start(self, number: int) -> None:
        own = self.directory / str(number)
        for name in ("lib", "run", "log", COPIED, ALONE):
            (own / name).mkdir(parents=True)
        file = own / "glusterd.vol"
        file.write_text(CONFIGURATION.format(directory=own))
        options = ["-N", "-f", str(file), "-p", str(own / "glusterd.pid"), "-l", str(own / "log/glusterd.log")]
        space = Namespace.of(["sh", "-c", f"{WAIT}; glusterd {shlex.join(options)}; exit"])
        self._spaces.append(space)
        self._network.plug(f"server{number}", space.process.pid, "eth0", number + 1)

    def _make(self, volume: str, *kind: str) -> bool:
        """Whether a volume is there and started: a server that has just met its peer may refuse for a moment."""
        numbers = (0, 1) if kind else (0,)
        bricks = [f"{self.addresses[number]}:{self.brick(number, volume)}" for number in numbers]
        if self._says("volume", "info", volume) is None:
            self._says("volume", "create", volume, *kind, *bricks, "force")
            for name, value in SETTINGS.items():
                self._says("volume", "set", volume, name, str(value))
        return self._says("volume", "start", volume) is not None

    def _is_served(self, volume: str) -> bool:
        """Whether all of its bricks are, and what mends them."""
        told = ElementTree.fromstring(self._says("volume", "status", volume, "--xml") or "<none/>")
        found = [each.findtext("status") for each in told.iter("node") if each.find("path") is not None]
        return bool(found) and set(found) == {"1"}

    def _is_whole(self, volume: str) -> bool:
        """Whether nothing waits to be copied to a brick that had been away."""
        waiting = [
            entry
            for number in (0, 1)
            for entry in (self.brick(number, volume) / ".glusterfs/indices/xattrop").iterdir()
            if not entry.name.startswith("xattrop-")
        ]
        return not waiting

    def _says(self, *words: str) -> str | None:
        """What the first server answers to a command; None when it refuses."""
        argv = ["gluster", "--mode=script", f"--glusterd-sock={self.directory}/0/control", *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=3 * LIMIT, check=False)
        return done.stdout if done.returncode == 0 else None

    def _until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not true():
            assert time.monotonic() < deadline, f"see {self.directory}"
            time.sleep(0.1)


_up: list[GlusterServers] = []


def gluster_servers() -> GlusterServers:
    """Those of this process, which are begun when they are first needed and end with it. @raise SkipTest: as `begin`."""
    if not _up:
        servers = GlusterServers()
        servers.begin()
        _up.append(servers)
        atexit.register(servers.end)
    return _up[0]


def need_gluster() -> None:
    """A campaign installs it. @raise SkipTest: it cannot be used here, or this is no campaign, and takes too long for others."""
    if CAMPAIGN_VARIABLE not in os.environ:
        raise SkipTest("bin/lab campaign runs what needs servers of Gluster, which takes minutes")
    if any(which(name) is None for name in PROGRAMS) and os.geteuid() == 0:
        subprocess.run(INSTALL, stdin=subprocess.DEVNULL, capture_output=True, timeout=INSTALL_LIMIT, check=False)
    if missing := [name for name in PROGRAMS if which(name) is None]:
        raise SkipTest(f"{missing[0]} not found; install glusterfs-server")
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        raise SkipTest("mounting volumes of Gluster needs root, and /dev/fuse")


def processes_with(directory: Path) -> Iterator[int]:
    """Those of Gluster whose arguments name a directory: its servers', or the one that a volume is mounted on."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                program, _, arguments = (entry / "cmdline").read_bytes().partition(b"\0")
            except OSError:
                continue
            if b"gluster" in program and os.fsencode(directory) in arguments:
                yield int(entry.name)


def end(pid: int) -> None:
    """End a process that may have ended, and wait until it has: it is not ours to ask for."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            assert select.select([descriptor], [], [], LIMIT)[0], f"process {pid} does not end"
        finally:
            os.close(descriptor)
