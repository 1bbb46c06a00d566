"""What a minor of a real module is set up as, and what becomes of it: on one machine, as nobody need answer."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IMirrorModule, MirrorModule
from ganeti_tx.test.contracts.storage import StorageTestCase
from ganeti_tx.test.lab.case import Chosen, runner_on, the_lab
from ganeti_tx.test.lab.drbd import CLEAN, NET, Recording, Shell, mirror, tree_on

MINOR = 10
DYNAMIC = {"dynamic-resync": True, "c-plan-ahead": 15, "c-max-rate": 7000, "c-min-rate": 300, "c-delay-target": 3}


class MinorTests(Chosen, StorageTestCase):
    """Minor 10 of the first machine."""

    always = frozenset()

    def setUp(self) -> None:
        super().setUp()
        the_lab().network.mend(1, NET)
        self.shell = Shell(runner_on(1))
        self.peer = Shell(runner_on(2))
        self.clean()
        self.addCleanup(self.clean)
        self.recorded = Recording(runner_on(1))
        self.tree = tree_on(self.recorded)

    def clean(self) -> None:
        """Nothing is left on the machine, and nobody answers it."""
        for shell in (self.shell, self.peer):
            for line in CLEAN:
                shell.run(line)

    def set_up(self, disk: DiskSpec) -> None:
        """Make a disk, and assemble it."""
        self.get(self.tree.create(disk, "web1"))
        self.get(self.tree.assemble(disk, False))

    def shown(self) -> str:
        """How the minor is set up."""
        return self.shell.run(f"drbdsetup show resource{MINOR} --show-defaults")

    def assert_shown(self, words: dict[str, str]) -> None:
        """The module has these values."""
        lines = [line.split("#")[0].strip().rstrip(";").split() for line in self.shown().splitlines()]
        told = {line[0]: line[1] for line in lines if len(line) == 2}
        self.assertEqual({name: told.get(name) for name in words}, words)

    def other(self) -> DiskSpec:
        """Another disk, which has the same minor."""
        disk = mirror(0, 1, 8)
        assert disk.ends is not None
        return replace(disk, ends=replace(disk.ends, local_minor=MINOR))

    def test_module(self) -> None:
        """Its version, the program that it calls, and the minors that are set up."""
        found = self.get(self.module())
        self.assertEqual((found.version[:4], found.helper, found.minors), ("8.4.", "/bin/true", []))
        self.set_up(mirror(0, 0, 8))
        self.assertEqual(self.get(self.module()).minors, [MINOR])

    async def module(self) -> MirrorModule:
        """As the node tells it."""
        return await IMirrorModule(self.tree.of(mirror(0, 0, 8))).module()

    def test_parameters(self) -> None:
        """Barriers, rates and an operator's own options are what the module has."""
        own: dict[str, Any] = {"disk-custom": "--al-extents=257", "net-custom": "--max-buffers=4000 --timeout=50"}
        self.set_up(
            mirror(0, 0, 8, **{"resync-rate": 1000, "disabled-barriers": "bf", "disable-meta-flush": True}, **own)
        )
        self.assert_shown({"resync-rate": "1000k", "c-plan-ahead": "0"})
        self.assert_shown({"disk-barrier": "no", "disk-flushes": "no", "md-flushes": "no", "disk-drain": "yes"})
        self.assert_shown({"al-extents": "257", "max-buffers": "4000", "timeout": "50", "protocol": "C"})

    def test_taken_over(self) -> None:
        """What is set up with our volumes stays up, and gets the rates of now: those of the dynamic controller."""
        self.set_up(mirror(0, 0, 8))
        self.recorded.argvs.clear()
        self.get(self.tree.assemble(mirror(0, 0, 8, **DYNAMIC), False))
        self.assertFalse(any(self.recorded.ran(word) for word in ("down", "new-minor", "attach", "disconnect")))
        self.assert_shown({"c-plan-ahead": "15", "c-max-rate": "7000k", "c-min-rate": "300k", "c-delay-target": "3"})

    def test_torn_down(self) -> None:
        """What has our minor with other volumes, and is not in use, is taken down."""
        self.set_up(mirror(0, 0, 8))
        self.set_up(self.other())
        self.assertIn("/dev/xenvg/d1_data", self.shown())
        self.assertNotIn("/dev/xenvg/d0_data", self.shown())

    def test_in_use(self) -> None:
        """What has our minor and is in use stays, and nothing is done."""
        self.set_up(mirror(0, 0, 8))
        self.shell.run(f"drbdsetup primary --force {MINOR}")
        self.shell.run(f"setsid sleep 300 < /dev/drbd{MINOR} > /dev/null 2>&1 & echo $! > /run/holder")
        self.addCleanup(self.shell.run, "kill $(cat /run/holder); sleep 0.5")
        disk = self.other()
        for child in disk.children:
            self.get(self.tree.create(child, "web1"))
        text = self.refused(self.tree.create(disk, "web1", on_children=True))
        self.assertIn("is set up with /dev/xenvg/d0_data and peer 10.99.1.2:11000, and cannot be taken down", text)
        self.assertIn("/dev/xenvg/d0_data", self.shown())
