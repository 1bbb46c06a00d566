"""Mirrors between two machines, driven through programs on them."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.task import Clock

from ganeti_tx.model.disk_templates.drbd import META_SIZE
from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.node.storage.drbd.driver import DrbdMirrors
from ganeti_tx.node.storage.drbd.kernel import Kernel
from ganeti_tx.node.storage.lvm.driver import LogicalVolumes
from ganeti_tx.node.storage.lvm.tools import LvmTools
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult
from ganeti_tx.test.fakes.storage import only
from ganeti_tx.test.lab.network import address

GROUP = "xenvg"
SECRET = "0123456789abcdef0123456789abcdef01234567"
#: The program that connects, on the machines.
CONNECT = ["python3", "-I", "-S", "/lab/python/ganeti_tx/node/storage/drbd/connect.py"]
#: KiB a second, so slow that a synchronisation can be watched; and what it gets when it is to be over.
SLOW, FAST = 128, 61440
#: The network that disks are mirrored over.
NET = 1
#: Leaves neither DRBD devices nor volumes on a machine.
CLEAN = (
    "for each in $(drbdsetup show | awk '$1 == \"resource\" {print $2}'); do drbdsetup down $each; done",
    "lvs --noheadings -o vg_name,lv_name | while read vg lv; do lvremove -f $vg/$lv; done",
)


class RealTime(Clock):
    """Time passes while somebody waits for it."""

    def callLater(self, delay: float, callable: Callable[..., object], *args: object, **kw: object) -> IDelayedCall:
        """See `IReactorTime`."""
        call = super().callLater(delay, callable, *args, **kw)
        time.sleep(delay)
        self.advance(delay)
        return call


@define
class Recording:
    """Remembers what was run."""

    runner: IProcessRunner
    argvs: list[list[str]] = field(factory=list)
    #: Called before each, with how many were run before.
    before: Callable[[int], object] = lambda _number: None

    def run(self, argv: Sequence[str], **options: Any) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        self.before(len(self.argvs))
        self.argvs.append(list(argv))
        return self.runner.run(argv, **options)

    def ran(self, word: str) -> bool:
        """Whether a program was run with a word among its arguments."""
        return any(word in argv for argv in self.argvs)


def tree_on(runner: Any) -> DeviceTree:
    """The disks of a machine."""
    return only(LogicalVolumes("plain", LvmTools(runner)), DrbdMirrors("drbd", Kernel(runner, CONNECT), RealTime()))


def volume(name: str, size: int) -> DiskSpec:
    """One part of a mirror."""
    return DiskSpec(uuid=name, dev_type="plain", size=size, logical_id=[GROUP, name])


def mirror(node: int, number: int, size: int, **params: Any) -> DiskSpec:
    """A mirror between the machines, as node 0 or 1 must know it."""
    here, there = (address(each + 1, NET) for each in (node, 1 - node))
    minors = (10 + number, 20 + number)
    return DiskSpec(
        uuid=f"d{number}",
        dev_type="drbd",
        size=size,
        logical_id=["uuid0", "uuid1", 11000 + number, *minors, SECRET],
        params={"resync-rate": SLOW, **params},
        children=[volume(f"d{number}_data", size), volume(f"d{number}_meta", META_SIZE)],
        ends=MirrorEnds(
            local_address=here,
            local_minor=minors[node],
            peer_address=there,
            peer_minor=minors[1 - node],
            port=11000 + number,
        ),
    )


@define
class Shell:
    """Commands on a machine."""

    runner: IProcessRunner

    def run(self, line: str) -> str:
        """What it printed, if it succeeded."""
        result: Any = self.runner.run(["sh", "-c", line], timeout=60).result
        return str(result.stdout.decode()) if result.succeeded else ""
