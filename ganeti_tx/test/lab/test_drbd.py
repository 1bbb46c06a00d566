"""Real mirrors between two machines: what every disk keeps, and every mirror."""

import time
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from twisted.internet.defer import Deferred

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.test.contracts.storage_mirror import MirrorContract
from ganeti_tx.test.lab.case import Chosen, runner_on, the_lab
from ganeti_tx.test.lab.drbd import CLEAN, FAST, NET, SECRET, SLOW, Recording, Shell, mirror, tree_on

#: What an instance writes besides what is read again, in MiB: as much as takes some time to carry over.
MORE = 4
TEXT = 64
MINORS = "grep -o '^ *[0-9]*: cs' /proc/drbd | tr -dc '0-9\\n'"
#: Whether no device of a machine is with another any more.
APART = "! grep ' cs:' /proc/drbd | grep -qvE 'cs:(WFConnection|StandAlone|Unconfigured)'"
RATE = f"for i in $({MINORS}); do drbdsetup disk-options $i --resync-rate={{}}k --c-plan-ahead=0; done"
LIMIT = 60.0


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
            for line in CLEAN:
                shell.run(line)

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
        moving = "cs:(Sync|WFBitMap|WFReport|WFSync|Starting)|ds:[^ ]*(Attaching|Negotiating)"
        return any(shell.run(f"grep -E '{moving}' /proc/drbd") for shell in self.shells)

    def split(self) -> None:
        """See `MirrorContract`: both sides have noticed."""
        self.lab.network.cut(2, NET)
        self.miss()

    def miss(self) -> None:
        """See `MirrorContract`."""
        for shell in self.shells:
            shell.run(f"for i in $(seq 200); do {APART} && break; sleep 0.2; done")

    def mend(self) -> None:
        """See `MirrorContract`."""
        self.lab.network.mend(2, NET)
        self.meet()

    def meet(self) -> None:
        """See `MirrorContract`."""
        if self._may_meet():
            for shell in self.shells:
                shell.run("for i in $(seq 150); do grep -qE 'cs:(WFConn|Unconn)' /proc/drbd || break; sleep 0.2; done")

    def _may_meet(self) -> bool:
        """Whether each side has devices, and none has given up looking for the other."""
        found = [shell.run("grep ' cs:' /proc/drbd") for shell in self.shells]
        return all(found) and not any("cs:StandAlone" in text for text in found)

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

    def test_crashed(self) -> None:
        """What a crash of the primary side left undone in its metadata is done when it is assembled."""
        self.in_sync()
        self.write(0, "letters")
        self.lose_power(0)
        self.get(self.nodes[0].assemble(self.disk(node=0), False))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.assertTrue(self.recorded[0].ran("apply-al"))
        self.switch(1, 0)
        self.assertEqual(self.read(0), "letters")

    def test_time_left(self) -> None:
        """Seconds that a synchronisation takes yet are told while it runs."""
        self.create()
        self.assemble()
        told = [self.status(0).estimated_time]
        deadline = time.monotonic() + LIMIT
        while told[-1] is None and time.monotonic() < deadline:
            told.append(self.status(0).estimated_time)
        self.assertGreater(told[-1] or 0.0, 0.0)
        self.settle()
        self.assertIsNone(self.status(0).estimated_time)

    def test_cut_in_the_middle(self) -> None:
        """A call in whose middle the other side is cut off succeeds when it is done again and the other side is back."""
        self.in_sync()
        self.write(0, "letters")
        chance = Random(13)
        for name, call in self.calls():
            self.recorded[0].argvs.clear()
            self.recorded[0].before = self.cutting_before(chance.randint(0, 3))
            tried = Deferred.fromCoroutine(call())
            tried.addErrback(lambda failure: failure.trap(BlockDeviceError))
            self.assertTrue(tried.called, name)
            self.recorded[0].before = lambda _number: None
            self.mend()
            self.settle()
            self.get(call())
            self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.assertEqual(self.read(0), "letters")

    def cutting_before(self, which: int) -> Callable[[int], None]:
        """Pulls the cable before one of the programs is run."""

        def cut(number: int) -> None:
            if number == which:
                self.split()

        return cut

    def calls(self) -> list[tuple[str, Callable[[], Coroutine[Any, Any, object]]]]:
        """Those about one side that do not take the device from its instance; each leaves it as it was, together with the next."""
        own, disk = self.on(0)
        return [
            ("assemble", lambda: self.tree.assemble(disk, True)),
            ("become_secondary", lambda: own.become_secondary(disk)),
            ("become_primary", lambda: own.become_primary(disk)),
            ("disconnect", lambda: own.disconnect(disk)),
            ("connect", lambda: own.connect(disk, False)),
            ("detach_children", lambda: self.tree.detach_children(disk)),
            ("assemble with its own part", lambda: self.tree.assemble(disk, True)),
            ("shutdown", lambda: self.tree.shutdown(disk)),
            ("assemble from nothing", lambda: self.tree.assemble(disk, True)),
        ]
