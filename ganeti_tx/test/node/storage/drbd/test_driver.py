"""The driver on a node whose programs are scripted with what DRBD really said; `test/lab/test_drbd.py` is on real ones."""

import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import IMirror, IMirrorModule, MirrorModule
from ganeti_tx.node.storage.drbd.driver import DrbdMirrors
from ganeti_tx.node.storage.drbd.kernel import Kernel
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner
from ganeti_tx.test.node.storage.drbd.captured import captured

T = TypeVar("T")

SECRET = "c2VjcmV0LW9mLXRoZS1sYWI"
DATA, META = "/dev/xenvg/5f0b6c4e.disk0_data", "/dev/xenvg/5f0b6c4e.disk0_meta"
BELOW = (BlockDevStatus(dev_path=DATA, size=128), BlockDevStatus(dev_path=META, size=128))
ENDS = MirrorEnds(local_address="10.99.0.1", local_minor=0, peer_address="10.99.0.2", peer_minor=0, port=11000)
DISK = DiskSpec(
    uuid="d0",
    dev_type="drbd",
    size=128,
    logical_id=["a", "b", 11000, 0, 0, SECRET],
    children=[DiskSpec(uuid=name, dev_type="plain", size=128, logical_id=["xenvg", name]) for name in ("data", "meta")],
    ends=ENDS,
)
DONE = ProcessResult()
CONNECT = "connect-program"
#: Commands that only look.
LOOKS = ("cat", "status", "show", "get-gi")


class DriverTests(SynchronousTestCase):
    """One disk, whose minor is 0."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.runner = FakeProcessRunner(self.clock)
        self.runner.script(["drbdsetup"], DONE)
        self.runner.script(["drbdmeta"], DONE)
        self.runner.script(["dd"], DONE)
        self.runner.script([CONNECT], DONE)
        self.situation("connected-primary")
        self.runner.script(["cat", "/sys/module/drbd/parameters/usermode_helper"], ProcessResult(stdout=b"/bin/true\n"))
        self.driver = DrbdMirrors("drbd", Kernel(self.runner, [CONNECT]), self.clock)

    def say(self, words: str, stdout: str = "", status: int = 0, stderr: str = "") -> None:
        """What a program answers from now on."""
        self.runner.script(words.split(), ProcessResult(status=status, stdout=stdout.encode(), stderr=stderr.encode()))

    def situation(self, name: str, show: str | None = None) -> None:
        """What the module tells of itself."""
        self.say("cat /proc/drbd", captured("syncsource.proc_drbd"))
        self.say("drbdsetup status", captured(f"{name}.status"))
        self.say("drbdsetup show", captured(f"{show or name}.show"))

    def nothing_set_up(self) -> None:
        """No device is, till one is made."""
        self.say("drbdsetup show", "")
        self.say("drbdsetup status", status=10, stderr=captured("none.status_one.stderr"))

        def made(_call: Call) -> ProcessResult:
            self.say("drbdsetup status", captured("connected-primary.status"))
            return DONE

        self.runner.script(["drbdsetup", "new-minor"], made)

    def get(self, awaitable: Coroutine[Any, Any, T]) -> T:
        """What it gives at once."""
        return self.successResultOf(Deferred.fromCoroutine(awaitable))

    def refused(self, awaitable: Coroutine[Any, Any, object], seconds: int = 0) -> str:
        """The one line with which it fails, after some time."""
        failing = Deferred.fromCoroutine(awaitable)
        self.clock.pump([0.25] * 4 * seconds)
        text = str(self.failureResultOf(failing, BlockDeviceError).value)
        self.assertNotIn("\n", text)
        return text

    @property
    def done(self) -> list[str]:
        """The commands that changed something."""
        commands = (
            argv for argv in self.runner.commands if argv[0] not in LOOKS and argv[1:2] and argv[1] not in LOOKS
        )
        return [" ".join(argv) for argv in commands]

    @property
    def told(self) -> list[dict[str, Any]]:
        """What the program that connects was told."""
        return [json.loads(call.stdin) for call in self.runner.calls if call.argv == (CONNECT,)]

    def test_interfaces(self) -> None:
        """It provides what it says."""
        for interface in (IStorage, IMirror, IMirrorModule):
            self.assertTrue(verifyObject(interface, self.driver))

    def test_create(self) -> None:
        """The whole metadata volume is wiped before metadata are written."""
        self.nothing_set_up()
        self.get(self.driver.create(DISK, BELOW))
        self.assertEqual(
            self.done,
            [
                f"dd if=/dev/zero of={META} bs=1M count=128 oflag=direct conv=fsync status=none",
                f"drbdmeta --force /dev/drbd0 v08 {META} 0 create-md",
            ],
        )

    def test_create_existing(self) -> None:
        """What is set up with the same volumes exists, and its metadata stay."""
        self.assertIn("exists", self.refused(self.driver.create(DISK, BELOW)))
        self.assertEqual(self.done, [])

    def test_assemble(self) -> None:
        """Name, minor, volumes, connection; the secret goes to the program's input."""
        self.nothing_set_up()
        status = self.get(self.driver.assemble(DISK, False, BELOW))
        self.assertEqual((status.dev_path, status.size, status.is_degraded), ("/dev/drbd0", 128, False))
        self.assertEqual([line.split()[1] for line in self.done], ["new-resource", "new-minor", "attach"])
        (told,) = self.told
        self.assertEqual(
            (told["resource"], told["local"], told["peer"]), ("resource0", ["10.99.0.1", 11000], ["10.99.0.2", 11000])
        )
        self.assertIn([1, "text", SECRET], told["options"])
        self.assertFalse(any(SECRET in word for argv in self.runner.commands for word in argv))

    def test_taken_over(self) -> None:
        """A minor with our volumes and our connection is only told the rates of now."""
        self.get(self.driver.assemble(DISK, True, BELOW))
        self.assertEqual(self.done, ["drbdsetup disk-options 0 --resync-rate=61440k --c-plan-ahead=0"])
        self.assertEqual(self.told, [])

    def test_other_secret(self) -> None:
        """A connection with another secret, or to another node, is made anew."""
        other = replace(DISK, logical_id=["a", "b", 11000, 0, 0, "other"])
        self.get(self.driver.assemble(other, False, BELOW))
        self.assertIn("drbdsetup disconnect ipv4:10.99.0.1:11000 ipv4:10.99.0.2:11000", self.done)
        self.assertEqual(len(self.told), 1)

    def test_foreign_minor(self) -> None:
        """A minor with other volumes is taken down."""
        below = tuple(replace(each, dev_path=f"{each.dev_path}-new") for each in BELOW)
        self.get(self.driver.assemble(DISK, False, below))
        self.assertEqual(self.done[:2], ["drbdsetup secondary 0", "drbdsetup down resource0"])

    def test_minor_of_another(self) -> None:
        """What another disk has made of the minor meanwhile, as its port says, is not taken down."""
        other = replace(DISK, ends=replace(ENDS, port=11001))
        self.get(self.driver.shutdown(other))
        self.assertEqual(self.done, [])
        self.get(self.driver.shutdown(DISK))
        self.assertEqual(self.done, ["drbdsetup secondary 0", "drbdsetup down resource0"])

    def test_foreign_minor_in_use(self) -> None:
        """One that somebody has open is left as it is, and nothing is set up."""
        self.say("drbdsetup secondary", status=11, stderr=captured("down.one_minor_in_use.stderr"))
        below = tuple(replace(each, dev_path=f"{each.dev_path}-new") for each in BELOW)
        text = self.refused(self.driver.assemble(DISK, False, below))
        self.assertIn(f"minor 0 is set up with {DATA} and peer 10.99.0.2:11000", text)
        self.assertIn("held open", text)
        self.assertEqual(self.done, ["drbdsetup secondary 0"])

    def test_after_a_crash(self) -> None:
        """What the activity log has is applied, and the volumes are taken then."""
        self.nothing_set_up()
        unclean = ProcessResult(status=10, stderr=captured("attach.unclean-metadata.stderr").encode())
        answers = [unclean, DONE]
        self.runner.script(["drbdsetup", "attach"], lambda _call: answers.pop(0))
        self.get(self.driver.assemble(DISK, False, BELOW))
        self.assertEqual(
            [line for line in self.done if "attach" in line or "drbdmeta" in line][1],
            f"drbdmeta --force /dev/drbd0 v08 {META} 0 apply-al",
        )

    def test_without_metadata(self) -> None:
        """Volumes that DRBD never had are as good as none: the other side's data will do, and without them nothing is up."""
        self.situation("diskless-unconfigured", "diskless-primary")
        self.say("drbdsetup attach", status=10, stderr="0: Failure: (119) No valid meta-data signature found.\n")
        self.assertIn("nor good data on the other side", self.refused(self.driver.assemble(DISK, True, BELOW)))
        self.situation("diskless-primary")
        status = self.get(self.driver.assemble(DISK, True, BELOW))
        self.assertEqual((status.ldisk_status, status.is_degraded), (LocalDiskStatus.FAULTY, True))
        self.assertNotIn("create-md", " ".join(self.done))

    def test_new_volumes(self) -> None:
        """Volumes that replace others are filled whole: metadata that may be on them from before are wiped."""
        self.situation("diskless-primary")
        self.get(self.driver.attach_children(DISK, BELOW))
        self.assertEqual(
            [line.split()[:2] for line in self.done],
            [["dd", "if=/dev/zero"], ["drbdmeta", "--force"], ["drbdsetup", "attach"]],
        )

    def test_nothing_to_fill_from(self) -> None:
        """Without good data on the other side no metadata are wiped."""
        self.situation("diskless-unconfigured", "diskless-primary")
        self.assertIn("cannot be filled", self.refused(self.driver.attach_children(DISK, BELOW)))
        self.assertEqual(self.done, [])

    def test_failed_assembly(self) -> None:
        """Nothing is left set up."""
        self.nothing_set_up()
        self.say("drbdsetup attach", status=10, stderr="0: Failure: (104) Can not open backing device.\n")
        self.assertIn("Can not open", self.refused(self.driver.assemble(DISK, False, BELOW)))
        self.assertEqual(self.done[-1], "drbdsetup down resource0")

    def test_other_release(self) -> None:
        """A module that is none of 8.4 is refused with its version, one that is not loaded too."""
        self.say("cat /proc/drbd", "version: 9.1.12 (api:2/proto:110-121)\n")
        self.assertIn("9.1.12", self.refused(self.driver.assemble(DISK, False, BELOW)))
        self.say("cat /proc/drbd", status=1)
        self.assertIn("not loaded", self.refused(self.driver.create(DISK, BELOW)))
        self.assertEqual(self.done, [])

    def test_module(self) -> None:
        """Version, helper and minors."""
        self.assertEqual(self.get(self.driver.module()), MirrorModule("8.4.11", "/bin/true", [0]))

    def test_all_down(self) -> None:
        """Every device that is set up is taken down; what is held open for long is told, and is no reason to leave others."""
        self.say("drbdsetup show", captured("two-minors.show"))
        self.say("drbdsetup secondary 0", status=11, stderr=captured("down.one_minor_in_use.stderr"))
        ending = Deferred.fromCoroutine(self.driver.all_down())
        self.clock.pump([0.25] * 20)
        (fault,) = self.successResultOf(ending)
        self.assertIn("DRBD minor 0 cannot be taken down: ", fault)
        self.assertEqual(self.done[-2:], ["drbdsetup secondary 1", "drbdsetup down resource1"])

    def test_nothing_to_take_down(self) -> None:
        """A node without the module has no mirrors."""
        self.say("cat /proc/drbd", status=1, stderr="cat: /proc/drbd: No such file or directory")
        self.assertEqual((self.get(self.driver.all_down()), self.done), ([], []))

    def test_progress(self) -> None:
        """How far a synchronisation is, and the seconds that are left."""
        self.situation("syncsource", "connected-primary")
        status = self.get(self.driver.find(DISK))
        assert status is not None
        self.assertEqual((int(status.sync_percent or 0), status.estimated_time), (29, 6.0))
        self.assertEqual((status.is_degraded, status.ldisk_status), (True, LocalDiskStatus.OK))

    def test_not_set_up(self) -> None:
        """What is not set up is there if all of its volumes are."""
        self.nothing_set_up()
        found = self.get(self.driver.find(DISK, BELOW))
        assert found is not None
        self.assertEqual((found.size, found.ldisk_status), (128, LocalDiskStatus.UNKNOWN))
        self.assertIsNone(self.get(self.driver.find(DISK, (BELOW[0], None))))
        self.assertIsNone(self.get(self.driver.find(DISK)))

    def test_first_primary(self) -> None:
        """Of two sides that were never filled one says what the data are; of two others none does."""
        self.situation("connected-inconsistent", "wfconnection")
        for current, wanted in ((4, "drbdsetup primary 0 --force"), (5, "drbdsetup primary 0")):
            self.say("drbdsetup get-gi", f"{current:016X}:{0:016X}:{0:016X}:{0:016X}:0:0:0:1:0:1:0\n")
            self.get(self.driver.become_primary(DISK))
            self.assertEqual(self.done[-1], wanted)

    def test_not_good(self) -> None:
        """Without good data no side becomes primary, and none is forced to."""
        self.situation("wfconnection")
        self.say("drbdsetup primary", status=17, stderr=captured("primary.refused.stderr"))
        self.assertIn("UpToDate", self.refused(self.driver.become_primary(DISK), 10))
        self.assertEqual(set(self.done), {"drbdsetup primary 0"})

    def test_primary_lost(self) -> None:
        """A primary side that is gone is missed after twenty seconds and a half at most; one that stays is no reason to give up
        the rule.
        """
        there = captured("connected-primary.status").replace("role:Secondary", "role:Primary")
        self.say("drbdsetup status", there.replace("role:Primary", "role:Secondary", 1))
        self.assertIn("the other side is primary", self.refused(self.driver.become_primary(DISK), 23))
        becoming = Deferred.fromCoroutine(self.driver.become_primary(DISK))
        self.clock.pump([0.25] * 82)
        self.assertNoResult(becoming)
        self.say("drbdsetup status", captured("peer-lost.status").replace("role:Primary", "role:Secondary"))
        self.clock.pump([0.25])
        self.successResultOf(becoming)
        self.assertEqual(self.done, ["drbdsetup primary 0"])

    def test_both_primary(self) -> None:
        """A connection that is there is told to allow it, and again not to."""
        for both, word in ((True, "yes"), (False, "no")):
            self.say("drbdsetup show", captured("connected-primary.show" if both else "dual-primary.show"))
            self.get(self.driver.connect(DISK, both))
            self.assertTrue(self.done[-1].endswith(f"--protocol=C --allow-two-primaries={word}"), self.done)

    def test_alone(self) -> None:
        """One that stands alone is not parted again."""
        self.situation("split-brain", "attached-standalone")
        self.get(self.driver.disconnect(DISK))
        self.assertEqual(self.done, [])

    def test_last_copy(self) -> None:
        """The last good copy is not taken away; one that is gone needs not be."""
        self.situation("peer-lost", "connected-primary")
        self.assertIn("last good copy", self.refused(self.driver.detach_children(DISK)))
        self.situation("diskless-primary")
        self.get(self.driver.detach_children(DISK))
        self.assertEqual(self.done, [])

    def test_paused_twice(self) -> None:
        """What is held up already is no error."""
        self.say("drbdsetup pause-sync", status=10, stderr="0: Failure: (134) Sync-pause flag is already set\n")
        self.get(self.driver.pause_sync(DISK, True))

    def test_grow(self) -> None:
        """To the present size and more, whatever size is told."""

        def grown(_call: Call) -> ProcessResult:
            self.say("drbdsetup status", captured("connected-primary.status").replace("size:131072", "size:163840"))
            return DONE

        self.runner.script(["drbdsetup", "resize"], grown)
        self.get(self.driver.grow(replace(DISK, size=999), 32))
        self.assertEqual(self.done, ["drbdsetup resize 0 --size=160m"])

    def test_not_grown(self) -> None:
        """What the module calls a success, and has not done as the sides lost each other, is an error."""
        self.assertIn("still has 128 MiB, and cannot have 160", self.refused(self.driver.grow(DISK, 32)))

    def test_held_open(self) -> None:
        """A device that somebody has open for a moment is waited for."""
        self.say("drbdsetup secondary", status=11, stderr=captured("down.one_minor_in_use.stderr"))
        closing = Deferred.fromCoroutine(self.driver.shutdown(DISK))
        self.assertNoResult(closing)
        self.say("drbdsetup secondary")
        self.clock.advance(1)
        self.successResultOf(closing)
        self.assertEqual(self.done[-1], "drbdsetup down resource0")
