"""One machine: QEMU without KVM on the image, with disks of its own; started, cut from power, spoken to by SSH."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.test.lab.image import Image
from ganeti_tx.test.lab.kept import LabFailed, done
from ganeti_tx.test.lab.messages import SOCKET
from ganeti_tx.test.lab.network import NETWORKS, Network, address, tap
from ganeti_tx.test.lab.processes import Kept

QEMU = "qemu-system-x86_64"
#: MiB of memory by init; 384 boots, a node daemon with a nested guest wants this; all daemons of a master want more.
MEMORY = {"quick": 640, "systemd": 1280, "xen": 1536, "xen-hvm": 1536}
#: The size of the volume group's disk, and of the other one; what is not written takes no room.
DISK_SIZE = 4 << 30
#: Seconds until a machine answers by SSH, until a command must have ended, and between tries.
BOOT_LIMIT = 400.0
COMMAND_LIMIT = 120.0
INTERVAL = 0.3
SSH_OPTIONS = (
    "StrictHostKeyChecking=no",  # nobody else is in the namespace
    "UserKnownHostsFile=/dev/null",
    "LogLevel=ERROR",
    "ConnectTimeout=20",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=6",
)


@frozen
class Machine:
    """Machine `node` (1, 2, ...) of the lab in a directory."""

    state: Path
    node: int
    image: Image
    program: Path
    network: Network
    init: str = "quick"
    #: MiB; else what its init wants.
    memory: int | None = None

    @property
    def name(self) -> str:
        """For people."""
        return f"node{self.node}"

    @property
    def _qemu(self) -> Kept:
        return Kept(self.state / self.name)

    @property
    def console(self) -> Path:
        """All that it said since its last boot."""
        return self._qemu.log

    @property
    def data_disk(self) -> Path:
        """The file of its disk that nothing is on; it has it as /dev/vdc."""
        return self._disk("data.raw")

    def boot(self) -> None:
        """Switch it on; `wait` waits for it."""
        self._make_disks()
        self.network.plug(self.node)
        self._qemu.start(self.network.inside(["nice", "-n", "5", *self._command()]))

    def wait(self) -> None:
        """@raise LabFailed: it does not answer by SSH within `BOOT_LIMIT`."""
        deadline = time.monotonic() + BOOT_LIMIT
        up = f"lab: {self.name} is up"
        self._qemu.until(
            lambda: up in self.console.read_text(errors="replace"), f"{self.name} did not boot", BOOT_LIMIT
        )
        while (ended := self.ended("true", limit=BOOT_LIMIT)).returncode != 0:
            if time.monotonic() > deadline or not self.is_on:
                raise LabFailed(f"{self.name} does not answer by SSH: {ended.stderr}")
            time.sleep(INTERVAL)

    def cut(self) -> None:
        """Cut its power: what it had written stays on its disks."""
        self._qemu.end()
        self._socket.unlink(missing_ok=True)

    @property
    def is_on(self) -> bool:
        """Whether it has power."""
        return self._qemu.pid() is not None

    @property
    def _socket(self) -> Path:
        """Of the SSH connection that commands share."""
        return self.state / f"{self.name}.ssh"

    def ssh(self, *options: str) -> list[str]:
        """The command that another, as words for a shell, follows."""
        shared = ["-o", "ControlMaster=auto", "-o", "ControlPersist=600", "-o", f"ControlPath={self._socket}"]
        settings = [word for each in SSH_OPTIONS for word in ("-o", each)]
        start = ["ssh", "-F", "none", "-i", str(self.image.key), *settings, *shared, *options]
        return self.network.inside([*start, f"root@{address(self.node)}"])

    def to_agent(self) -> list[str]:
        """The command whose standard input and output are the agent's."""
        line = (
            f"for try in $(seq 600); do [ -S {SOCKET} ] && break; sleep 0.1; done; exec socat - UNIX-CONNECT:{SOCKET}"
        )
        return [*self.ssh(), line]

    def ended(self, line: str, *, text: str = "", limit: float = COMMAND_LIMIT) -> "subprocess.CompletedProcess[str]":
        """How a shell command ended there. @raise LabFailed: not in time."""
        try:
            return subprocess.run(
                [*self.ssh(), line],
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LabFailed(f"{self.name}: {line}: did not end within {limit:.0f} s") from None

    def run(self, line: str, *, text: str = "", limit: float = COMMAND_LIMIT) -> str:
        """What a shell command wrote that must succeed. @raise LabFailed: it does not."""
        ended = self.ended(line, text=text, limit=limit)
        if ended.returncode != 0:
            raise LabFailed(f"{self.name}: {line}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def _make_disks(self) -> None:
        """Those it has not: a layer over the image, the volume group's, and an empty one."""
        layer = self._disk("root.qcow2")
        if not layer.exists():
            done(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(self.image.root), str(layer)])
        for name in ("vg.raw", "data.raw"):
            if not self._disk(name).exists():
                with self._disk(name).open("wb") as disk:
                    os.truncate(disk.fileno(), DISK_SIZE)

    def _disk(self, name: str) -> Path:
        return self.state / f"{self.name}-{name}"

    def _command(self) -> list[str]:
        words = (
            "quiet panic=5 mitigations=off nokaslr audit=0 no_timer_check tsc=unstable net.ifnames=0 "
            f"random.trust_cpu=on root=/dev/vda lab.node={self.node} lab.init={self.init}"
        )
        return [
            QEMU, "-name", self.name, *self.image.boot_options(words), "-smp", str(self.image.processors),
            "-m", str(self.memory or MEMORY[self.init]),
            "-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio",
            *self._drive("d0", self._disk("root.qcow2"), "qcow2"), *self._drive("d1", self._disk("vg.raw"), "raw"),
            *self._drive("d2", self._disk("data.raw"), "raw"), *self._drive("d3", self.program, "raw,readonly=on"),
            *self._interfaces(), "-device", "virtio-rng-pci",
        ]  # fmt: skip

    @staticmethod
    def _drive(name: str, path: Path, form: str) -> Sequence[str]:
        """What is written is in the file, for whoever boots it again, when QEMU is killed."""
        cache = "cache=unsafe,discard=unmap"
        return [
            "-drive",
            f"if=none,id={name},file={path},{cache},format={form}",
            "-device",
            f"virtio-blk-pci,drive={name}",
        ]

    def _interfaces(self) -> list[str]:
        words: list[str] = []
        for net in NETWORKS:
            words += ["-netdev", f"tap,id=n{net},ifname={tap(self.node, net)},script=no,downscript=no"]
            words += ["-device", f"virtio-net-pci,netdev=n{net},mac=52:54:00:00:{net:02x}:{self.node:02x},romfile="]
        return words
