"""A set of machines in a directory: brought up, found again by another process, taken down."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from shutil import which

import msgspec
from attrs import frozen

from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.test.lab.image import Image, image
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.machine import QEMU, Machine
from ganeti_tx.test.lab.network import Network
from ganeti_tx.test.lab.program import program_disk
from ganeti_tx.test.lab.xen_image import CPUS, XenImage, xen_image

MOST = 9
#: What it takes on this machine, with the Debian package that has it.
PROGRAMS = {
    QEMU: "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "gcc": "gcc",
    "lz4": "lz4",
    "depmod": "kmod",
    "ssh": "openssh-client",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}


#: The inits of machines that run under Xen.
XEN = tuple(CPUS)


class Description(msgspec.Struct, frozen=True):
    """What a lab is made of; kept in its directory."""

    count: int
    init: str
    image: str
    program: str
    memory: int | None = None


def missing() -> str | None:
    """Why this machine can have no lab; None when it can."""
    if os.geteuid() != 0:
        return "the lab's machines need root, for their network"
    absent = sorted({package for program, package in PROGRAMS.items() if which(program) is None})
    if absent:
        return f"the lab needs Debian packages: {' '.join(absent)}"
    if not Path("/dev/net/tun").exists():
        return "the lab needs /dev/net/tun"
    return None


@frozen
class Lab:
    """The machines whose files are below a directory; they are numbered from 1."""

    state: Path

    def up(
        self,
        count: int = 2,
        init: str = "quick",
        told: Callable[[str], object] = lambda _line: None,
        memory: int | None = None,
    ) -> None:
        """Boot new machines, and wait until they answer. @raise LabFailed: they do not, or cannot.

        @param memory: MiB of each, for more than what its init wants.
        """
        if (reason := missing()) is not None:
            raise LabFailed(reason)
        if not 1 <= count <= MOST:
            raise LabFailed(f"a lab has 1 to {MOST} machines, not {count}")
        if self._file.exists():
            raise LabFailed(f"a lab is up in {self.state}")
        made = xen_image(told) if init in XEN else image(told)
        described = Description(count, init, str(made.directory), str(program_disk()), memory)
        self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file.write_bytes(msgspec.json.encode(described))
        told(f"Booting {count} machines ...")
        self.network.up()
        for machine in self.machines:
            machine.boot()
        for machine in self.machines:
            machine.wait()

    @property
    def network(self) -> Network:
        """What connects them."""
        return Network(self.state)

    @property
    def machines(self) -> list[Machine]:
        """All of them. @raise LabFailed: there is no lab."""
        try:
            known = msgspec.json.decode(self._file.read_bytes(), type=Description)
        except FileNotFoundError:
            raise LabFailed(f"no lab is up in {self.state}") from None
        place = Path(known.image)
        made = XenImage(place, CPUS[known.init]) if known.init in XEN else Image(place)
        program = Path(known.program)
        return [
            Machine(self.state, node, made, program, self.network, known.init, known.memory)
            for node in range(1, known.count + 1)
        ]

    def machine(self, node: int) -> Machine:
        """One of them. @raise LabFailed: there is none of that number."""
        machines = self.machines
        if not 1 <= node <= len(machines):
            raise LabFailed(f"the lab has nodes 1 to {len(machines)}, not {node}")
        return machines[node - 1]

    def down(self) -> None:
        """End and remove all of it; the image stays for the next one."""
        if not self._file.exists():
            return
        end_all(self.state)  # a cluster's processes outside
        for machine in self.machines:
            machine.cut()
        self.network.down()
        shutil.rmtree(self.state, ignore_errors=True)

    @property
    def _file(self) -> Path:
        return self.state / "lab.json"
