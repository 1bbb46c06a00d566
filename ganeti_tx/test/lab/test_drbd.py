"""Real mirrors between two machines: what every disk keeps, and every mirror."""

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
from ganeti_tx.test.contracts.storage_abilities import MirrorContract
from ganeti_tx.test.fakes.storage import only
from ganeti_tx.test.lab.case import Chosen, runner_on, the_lab
from ganeti_tx.test.lab.network import address

GROUP = "xenvg"
SECRET = "0123456789abcdef0123456789abcdef01234567"
#: The program that connects, on the machines.
CONNECT = ["python3", "-I", "-S", "/lab/python/ganeti_tx/node/storage/drbd/connect.py"]
#: KiB a second, so slow that a synchronisation can be watched; and what it gets when it is to be over.
SLOW, FAST = 128, 61440
#: What an instance writes besides what is read again, in MiB: as much as takes some time to carry over.
MORE = 4
TEXT = 64
MINORS = "grep -o '^ *[0-9]*: cs' /proc/drbd | tr -dc '0-9\\n'"
RATE = f"for i in $({MINORS}); do drbdsetup disk-options $i --resync-rate={{}}k --c-plan-ahead=0; done"
NET = 1
LIMIT = 60.0


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

    def run(self, argv: Sequence[str], **options: Any) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        self.argvs.append(list(argv))
        return self.runner.run(argv, **options)


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


class DrbdTests(Chosen, MirrorContract):
    """The contract of mirrors, upon volumes of two machines."""

    always = frozenset(
        {
            "test_ability",
            "test_created",
            "test_written_to_both",
            "test_one_primary",
            "test_both_went_on",
            "test_new_volumes",
            "test_secret_not_in_arguments",
        }
    )
    renamable = False

    def trees(self) -> list[DeviceTree]:
        """See `StorageContract`."""
        self.lab = the_lab()
        runners = [runner_on(node) for node in (1, 2)]
        self.shells = [Shell(runner) for runner in runners]
        self.clean()
        self.addCleanup(self.clean)
        self.recorded = [Recording(runner) for runner in runners]
        return [tree_on(runner) for runner in self.recorded]

    def clean(self) -> None:
        """Nothing is left on the machines."""
        self.mend()
        for shell in self.shells:
            shell.run(
                "for each in $(drbdsetup show | awk '$1 == \"resource\" {print $2}'); do drbdsetup down $each; done"
            )
            shell.run("lvs --noheadings -o vg_name,lv_name | while read vg lv; do lvremove -f $vg/$lv; done")

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return mirror(node, number, size)

    def names(self, disk: DiskSpec) -> str:
        """See `StorageContract`."""
        return disk.uuid

    def settle(self) -> None:
        """See `StorageContract`."""
        self.meet()
        deadline = time.monotonic() + LIMIT
        self._synchronise_at(FAST)
        while self._moves() and time.monotonic() < deadline:
            time.sleep(0.2)
        self._synchronise_at(SLOW)

    def _synchronise_at(self, rate: int) -> None:
        """From now on; two sides that meet take the rate of one of them."""
        for shell in self.shells:
            shell.run(RATE.format(rate))

    def _moves(self) -> bool:
        moving = "cs:(Sync|WFBitMap|WFReport|WFSync|Starting)"
        return any(shell.run(f"grep -E '{moving}' /proc/drbd") for shell in self.shells)

    def split(self) -> None:
        """See `MirrorContract`: both sides have noticed."""
        self.lab.network.cut(2, NET)
        for shell in self.shells:
            shell.run("for i in $(seq 200); do grep -q 'cs:WFConnection' /proc/drbd && break; sleep 0.2; done")

    def mend(self) -> None:
        """See `MirrorContract`."""
        self.lab.network.mend(2, NET)
        self.meet()

    def meet(self) -> None:
        """See `MirrorContract`."""
        if self._has_devices():
            for shell in self.shells:
                shell.run("for i in $(seq 100); do grep -qE 'cs:(WFConn|Unconn)' /proc/drbd || break; sleep 0.2; done")

    def _has_devices(self) -> bool:
        return all(shell.run("grep ' cs:' /proc/drbd") for shell in self.shells)

    def pass_some_time(self) -> None:
        """See `MirrorContract`."""
        time.sleep(1)

    def lose_power(self, node: int) -> None:
        """See `MirrorContract`."""
        machine = self.lab.machine(node + 1)
        machine.cut()
        machine.boot()
        machine.wait()

    def write(self, node: int, content: str) -> None:
        """See `MirrorContract`."""
        path = self.path(node)
        first = f"printf %-{TEXT}s {content!r} | dd of={path} bs={TEXT} count=1 conv=notrunc,fsync status=none"
        rest = f"dd if=/dev/urandom of={path} bs=1M seek=1 count={MORE} conv=notrunc,fsync status=none"
        self.assertIn("written", self.shells[node].run(f"{first} && {rest} && echo written"))

    def read(self, node: int) -> str:
        """See `MirrorContract`."""
        return self.shells[node].run(f"dd if={self.path(node)} bs={TEXT} count=1 status=none").strip()

    def path(self, node: int) -> str:
        """The device on a node."""
        ends = self.disk(node=node).ends
        assert ends is not None
        return f"/dev/drbd{ends.local_minor}"

    def test_secret_not_in_arguments(self) -> None:
        """No program was told the secret in its argument list."""
        self.in_sync()
        seen = [str(argv) for each in self.recorded for argv in each.argvs]
        self.assertTrue(any("connect.py" in each for each in seen))
        self.assertFalse(any(SECRET in each for each in seen))
